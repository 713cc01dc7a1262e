// Configurations of kwokctl in the place of the scheduler's, and the version that an input is from.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/tools/archive_writer.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

constexpr absl::string_view kScheduler =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    "profiles:\n- schedulerName: ";

using Strings = std::vector<std::string>;

std::string Scheduler(absl::string_view name) { return absl::StrCat(kScheduler, name, "\n"); }

std::string Node(absl::string_view name, absl::string_view kubelet = "") {
  return absl::StrCat("apiVersion: v1\nkind: Node\nmetadata: {name: ", name,
                      "}\nstatus: {allocatable: {cpu: \"8\", memory: 16Gi, pods: \"110\"}",
                      kubelet.empty() ? "" : absl::StrCat(", nodeInfo: {kubeletVersion: \"", kubelet, "\"}"),
                      "}\n---\n");
}

std::string Pod(absl::string_view name, absl::string_view scheduler) {
  return absl::StrCat("apiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
                      "}\nspec: {schedulerName: ", scheduler, ", containers: [{name: c, image: i}]}\n---\n");
}

ProgramResult Print(const std::string& config, const Strings& more = {}) {
  Strings arguments = {"config", "print", "--config", config};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return RunProgram(arguments);
}

TEST(KwokctlConfigTest, NamesTheSchedulersConfiguration) {
  const TestFolder folder;
  folder.Write("sched.yaml", Scheduler("mine"));
  const std::string path =
      folder.Write("kwok.yaml",
                   "apiVersion: config.kwok.x-k8s.io/v1alpha1\nkind: KwokctlConfiguration\noptions:\n"
                   "  kubeSchedulerConfig: ./sched.yaml\n  heartbeatFactor: 1\n");
  const ProgramResult result = Print(path);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "schedulerName: mine")) << result.out;
  EXPECT_TRUE(
      absl::StrContains(result.err, absl::StrCat("note: ", path,
                                                 ":1:1: what kwokctl is told here has no "
                                                 "effect on the simulation: options.heartbeatFactor")))
      << result.err;
}

TEST(KwokctlConfigTest, OtherSchedulersComeBesideIt) {
  const TestFolder folder;
  const std::string path = folder.Write("kwok.yaml",
                                        "apiVersion: config.kwok.x-k8s.io/v1alpha1\nkind: "
                                        "KwokctlConfiguration\noptions: {kubeVersion: v1.36.3}\n");
  const std::string cluster =
      folder.Write("cluster.yaml", absl::StrCat(Node("n1"), Pod("a", "default-scheduler"), Pod("b", "mine")));
  const ProgramResult result = RunProgram({"run", "-f", cluster, "--config", path, "--other-scheduler",
                                           folder.Write("other.yaml", Scheduler("mine"))});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "Kubernetes      1.36\n")) << result.out;
  EXPECT_TRUE(absl::StrContains(result.out, "Scheduler       mine: 1 attempt, 1 bound\n")) << result.out;
}

// kwokctl goes by the kind alone, and the last document goes before the others.
TEST(KwokctlConfigTest, FlagsOfTheSchedulerCount) {
  const TestFolder folder;
  folder.Write("files/sched.yaml", Scheduler("patched"));
  const std::string path =
      folder.Write("kwok.yaml",
                   "kind: KwokctlConfiguration\noptions: {kubeSchedulerConfig: none.yaml}\n---\n"
                   "kind: KwokctlConfiguration\ncomponentsPatches:\n- name: kube-scheduler\n  extraArgs:\n"
                   "  - {key: config, value: /etc/extra/sched.yaml}\n  - {key: v, value: \"5\"}\n"
                   "  - {key: feature-gates, value: OpportunisticBatching=false}\n"
                   "  extraVolumes:\n  - {name: a, hostPath: ./files, mountPath: /etc/extra}\n"
                   "- name: etcd\n  extraArgs: [{key: log-level, value: debug}]\n");
  const ProgramResult result = Print(path);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "schedulerName: patched")) << result.out;
  EXPECT_TRUE(absl::StrContains(result.err, "flag --v of kube-scheduler, componentsPatches of etcd"))
      << result.err;
}

TEST(KwokctlConfigTest, GatesAndVersionAreChecked) {
  const TestFolder folder;
  const std::string gates = folder.Write(
      "kwok.yaml",
      "kind: KwokctlConfiguration\noptions:\n  kubeVersion: v1.36.1\n  kubeFeatureGates: Nonesuch=true\n");
  EXPECT_EQ(Print(gates).exit_code, 2);
  EXPECT_TRUE(absl::StrContains(
      Print(gates).err,
      absl::StrCat(gates,
                   ":4:21: options.kubeFeatureGates: Nonesuch: Kubernetes 1.36 has no such feature gate")))
      << Print(gates).err;
  const std::string version =
      folder.Write("version.yaml", "kind: KwokctlConfiguration\noptions: {kubeVersion: v1.35.0}\n");
  EXPECT_EQ(Print(version).out, RunProgram({"config", "print", "--kubernetes-version", "1.35"}).out);
  // The command line goes before it.
  EXPECT_EQ(Print(version, {"--kubernetes-version", "1.37"}).out, RunProgram({"config", "print"}).out);
  const std::string old =
      folder.Write("old.yaml", "kind: KwokctlConfiguration\noptions: {kubeVersion: v1.29.0}\n");
  EXPECT_EQ(Print(old).out, RunProgram({"config", "print"}).out);
  EXPECT_TRUE(absl::StrContains(Print(old).err, "options.kubeVersion v1.29.0, which can't be simulated"))
      << Print(old).err;
  const std::string list =
      folder.Write("list.yaml", "kind: KwokctlConfiguration\noptions: {kubeSchedulerConfig: [a]}\n");
  EXPECT_TRUE(absl::StrContains(
      Print(list).err,
      absl::StrCat(list, ":2:32: options.kubeSchedulerConfig: expected a string, got a list")))
      << Print(list).err;
}

TEST(KwokctlConfigTest, RunsTheClusterThatItSays) {
  const TestFolder folder;
  folder.Write("sched.yaml", Scheduler("mine"));
  const std::string path =
      folder.Write("kwok.yaml",
                   "kind: KwokctlConfiguration\noptions:\n  kubeSchedulerConfig: sched.yaml\n"
                   "  disable: [kube-controller-manager]\n  enableCRDs: [Stage]\n");
  const std::string stage =
      "apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {name: ready}\nspec:\n"
      "  resourceRef: {apiGroup: v1, kind: Pod}\n  selector:\n    matchExpressions:\n"
      "    - {key: .status.phase, operator: In, values: [Pending]}\n"
      "    - {key: .spec.nodeName, operator: Exists}\n"
      "  next:\n    statusTemplate: |\n      phase: Failed\n---\n";
  const std::string cluster =
      folder.Write("a.yaml", Node("node-1") + Pod("a", "mine") + Pod("b", "other") + stage);
  const ProgramResult result = RunProgram({"run", "-f", cluster, "--config", path, "--output", "objects"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, "disables kube-controller-manager")) << result.err;
  EXPECT_FALSE(absl::StrContains(result.err, "which are not played")) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "Failed")) << result.out;
}

// A pipe has nothing left for whoever reads it a second time.
TEST(KwokctlConfigTest, ADescriptorIsReadOnce) {
  const TestFolder folder;
  const std::string config = folder.Write("sched.yaml", Scheduler("mine"));
  const std::string cluster = folder.Write("a.yaml", Node("node-1", "v1.35.1") + Pod("a", "mine"));
  for (const char* path : {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}) {
    const ProgramResult printed =
        RunShell(absl::StrCat("cat ", config, " | \"$SCHEDSIM\" config print --config ", path));
    EXPECT_EQ(printed.exit_code, 0) << path << printed.err;
    EXPECT_TRUE(absl::StrContains(printed.out, "schedulerName: mine")) << path << printed.out;
    const ProgramResult run =
        RunShell(absl::StrCat("cat ", config, " | \"$SCHEDSIM\" run -f ", cluster, " --config ", path));
    EXPECT_EQ(run.exit_code, 0) << path << run.err;
    EXPECT_TRUE(absl::StrContains(run.err, "which is not followed beside a configuration"))
        << path << run.err;
  }
}

TEST(KwokctlConfigTest, SaysWhatItDoesNotRead) {
  const TestFolder folder;
  const std::string path = folder.Write(
      "kwok.yaml", "kind: KwokctlConfiguration\noptions: {}\ncomponents: [{name: kube-scheduler}]\n");
  EXPECT_TRUE(absl::StrContains(Print(path).err, "has no effect on the simulation: components"))
      << Print(path).err;
  const std::string kwok = folder.Write("of-kwok.yaml",
                                        "kind: KwokctlConfiguration\n---\nkind: KwokConfiguration\noptions: "
                                        "{enableCRDs: [Stage], manageNodesWithLabelSelector: type=kwok}\n");
  EXPECT_TRUE(absl::StrContains(Print(kwok).err,
                                absl::StrCat(kwok,
                                             ":3:1: what kwok is told here has no effect on the simulation: "
                                             "options.manageNodesWithLabelSelector\n")))
      << Print(kwok).err;
  const std::string both =
      folder.Write("both.yaml", absl::StrCat("kind: KwokctlConfiguration\n---\n", Scheduler("mine")));
  EXPECT_EQ(Print(both).exit_code, 2);
  EXPECT_TRUE(absl::StrContains(
      Print(both).err,
      absl::StrCat(both, ":3:1: kind: KubeSchedulerConfiguration beside a KwokctlConfiguration")))
      << Print(both).err;
}

TEST(KwokctlConfigTest, RefusesFieldsOfAnotherType) {
  const TestFolder folder;
  const std::pair<std::string, std::string> cases[] = {
      {"options: [a]\n", "2:10: options: expected a map, got a list"},
      {"options: {}\ncomponentsPatches: {name: kube-scheduler}\n",
       "3:20: componentsPatches: expected a list, got a map"},
      {"componentsPatches:\n- {name: kube-scheduler, extraArgs: {key: config}}\n",
       "3:37: componentsPatches of kube-scheduler: extraArgs: expected a list, got a map"},
      {"componentsPatches:\n- {name: kube-scheduler, extraVolumes: x}\n",
       "3:40: componentsPatches of kube-scheduler: extraVolumes: expected a list, got a string"},
      {"---\nkind: KwokConfiguration\noptions: x\n", "4:10: options: expected a map, got a string"},
      {"---\nkind: KwokConfiguration\noptions: {enableCRDs: Stage}\n",
       "4:23: options.enableCRDs: expected a list, got a string"}};
  for (const auto& [text, what] : cases) {
    const std::string path = folder.Write("kwok.yaml", absl::StrCat("kind: KwokctlConfiguration\n", text));
    const ProgramResult result = Print(path);
    EXPECT_EQ(result.exit_code, 2) << text;
    EXPECT_TRUE(absl::StrContains(result.err, absl::StrCat(path, ":", what))) << text << result.err;
  }
}

TEST(KwokctlConfigTest, IsNoInput) {
  const TestFolder folder;
  const std::string path = folder.Write(
      "kwok.yaml", "apiVersion: config.kwok.x-k8s.io/v1alpha1\nkind: KwokctlConfiguration\noptions: {}\n");
  const ProgramResult result = RunProgram({"run", "-f", path});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, absl::StrCat("give it with `--config ", path, "`")))
      << result.err;
}

TEST(ServerVersionTest, FollowsTheKubeletsWhereTheyAgree) {
  const TestFolder folder;
  constexpr char kNote[] =
      "note: Kubernetes 1.35 is simulated, as the input is from v1.35.4-gke.1 by the kubelets of the nodes; "
      "--kubernetes-version chooses another";
  const std::string nodes = Node("a", "v1.35.4-gke.1") + Node("b", "v1.35.2") + Node("c", "fake");
  const std::string path = folder.Write("a.yaml", nodes);
  const ProgramResult followed = RunProgram({"run", "-f", path});
  EXPECT_TRUE(absl::StrContains(followed.err, kNote)) << followed.err;
  EXPECT_TRUE(absl::StrContains(followed.out, "1.35")) << followed.out;
  EXPECT_FALSE(absl::StrContains(RunProgram({"run", "-f", path, "--kubernetes-version", "1.36"}).err, kNote));
  const std::string mixed = folder.Write("b.yaml", nodes + Node("d", "v1.36.0"));
  EXPECT_TRUE(absl::StrContains(RunProgram({"run", "-f", mixed}).err,
                                "note: Kubernetes 1.37 is simulated, though the kubelets of the nodes say "
                                "v1.35.4-gke.1, v1.36.0; --kubernetes-version chooses another"));
  EXPECT_FALSE(absl::StrContains(RunProgram({"run", "-f", mixed}).err, "is simulated, as the input"));
  // A node that does not say its version may have any.
  for (const char* other : {"", "1.35.0", "unknown"}) {
    const std::string some = folder.Write("d.yaml", nodes + Node("d", other));
    const std::string err = RunProgram({"run", "-f", some}).err;
    EXPECT_FALSE(absl::StrContains(err, "is simulated, as the input")) << other;
    EXPECT_TRUE(absl::StrContains(err, "though the kubelets of the nodes say v1.35.4-gke.1 or nothing"))
        << err;
  }
  const std::string fake = folder.Write("e.yaml", nodes + Node("d", "kwok-v0.7.0"));
  EXPECT_TRUE(absl::StrContains(RunProgram({"run", "-f", fake}).err, kNote));
  const std::string old = folder.Write("c.yaml", Node("a", "v1.28.1"));
  EXPECT_FALSE(absl::StrContains(RunProgram({"run", "-f", old}).err, "is simulated, as the input"));
  EXPECT_TRUE(absl::StrContains(RunProgram({"run", "-f", old}).err,
                                "is simulated, though the kubelets of the nodes say v1.28.1;"));
}

TEST(ServerVersionTest, FollowsTheFileOfASupportBundle) {
  const TestFolder folder;
  const std::vector<std::pair<std::string, std::string>> files = {
      {"b/version.yaml", "versionNumber: 1\n"},
      {"b/cluster-info/cluster_version.json", R"({"info": {"gitVersion": "v1.36.2"}, "string": "v1.36.2"})"},
      {"b/cluster-resources/nodes.json",
       R"({"apiVersion": "v1", "kind": "NodeList", "items": [{"metadata": {"name": "n"}, "status":
           {"nodeInfo": {"kubeletVersion": "v1.35.0"}}}]})"}};
  const ProgramResult packed = RunProgram({"run", "-f", folder.Write("b.tar", Pack(files, /*zip=*/false))});
  EXPECT_TRUE(
      absl::StrContains(packed.err, "note: Kubernetes 1.36 is simulated, as the input is from v1.36.2 by "))
      << packed.err;
  EXPECT_TRUE(absl::StrContains(packed.err, "b.tar!b/cluster-info/cluster_version.json")) << packed.err;
  for (const auto& [name, content] : files) folder.Write(absl::StrCat("d/", name), content);
  const ProgramResult unpacked = RunProgram({"run", "-f", folder.Path("d")});
  EXPECT_TRUE(absl::StrContains(unpacked.err, "is from v1.36.2 by ")) << unpacked.err;
}

}  // namespace
}  // namespace schedsim
