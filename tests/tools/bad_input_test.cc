// Bad input and bad usage, as a user meets them: exit code 2 and a message that says where and what.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Strings = std::vector<std::string>;

constexpr char kNode[] =
    "apiVersion: v1\n"
    "kind: Node\n"
    "metadata:\n"
    "  name: n1\n"
    "status:\n"
    "  allocatable: {cpu: 4, memory: 8Gi, pods: 110}\n";

constexpr char kPod[] =
    "apiVersion: v1\n"
    "kind: Pod\n"
    "metadata:\n"
    "  name: p1\n"
    "  namespace: default\n"
    "spec:\n"
    "  containers: [{name: c, image: app}]\n";

std::string Documents(const Strings& documents) { return absl::StrJoin(documents, "---\n"); }

// A pod whose only container has this as `requests`.
std::string PodWithRequests(absl::string_view requests) {
  return absl::StrCat(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p1}\nspec:\n  containers:\n  - name: c\n    image: app\n"
      "    resources:\n      requests: ",
      requests, "\n");
}

std::string DeepNesting(int depth) {
  return absl::StrCat("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: deep}\ndata: ",
                      std::string(depth, '['), std::string(depth, ']'), "\n");
}

// 9 lists of 9 of the list before.
std::string AliasBomb() {
  std::string text =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\na0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i <= 9; ++i) {
    absl::StrAppend(&text, "a", i, ": &a", i, " [");
    for (int j = 0; j < 9; ++j) absl::StrAppend(&text, j == 0 ? "" : ", ", "*a", i - 1);
    absl::StrAppend(&text, "]\n");
  }
  return text;
}

struct BadFile {
  const char* name;
  std::string content;
  // What the message has, `FILE` standing for the file's path.
  Strings want;
};

void ExpectRefused(const BadFile& bad, const char* file_name, const std::string& content) {
  const TestFolder folder;
  const std::string path = folder.Write(file_name, content);
  const ProgramResult result = RunProgram({"run", "-f", path});
  EXPECT_EQ(result.exit_code, 2) << bad.name << "\n" << result.out << result.err;
  EXPECT_EQ(result.out, "") << bad.name;
  for (const std::string& want : bad.want) {
    const std::string text = absl::StrReplaceAll(want, {{"FILE", path}});
    EXPECT_TRUE(absl::StrContains(result.err, text)) << bad.name << ": no \"" << text << "\" in\n"
                                                     << result.err;
  }
}

TEST(BadInputTest, IsRefusedWithItsPlace) {
  const BadFile files[] = {
      {"broken YAML",
       "apiVersion: v1\nkind: Node\nmetadata: {name: n1\nstatus: {}\n",
       {"FILE:4:7: invalid YAML: a map in braces is not closed, in a map that starts on line 3, expected `,` "
        "or `}`"}},
      {"a tab", "apiVersion: v1\nkind: Node\nmetadata:\n\tname: n1\n", {"FILE:4:1", "tab"}},
      {"a duplicate key",
       "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nkind: Pod\n",
       {"FILE:4:1", "kind"}},
      {"two documents joined without ---", absl::StrCat(kNode, kPod), {"FILE:7:1", "apiVersion", "---"}},
      {"an unknown unit",
       PodWithRequests("{cpu: 100q}"),
       {"FILE:9:23: spec.containers[0].resources.requests[cpu]: \"100q\"", "expected a number with"}},
      {"a negative quantity",
       PodWithRequests("{cpu: -1}"),
       {"FILE:9:23: spec.containers[0].resources.requests[cpu]: Invalid value: \"-1\": must be greater than "
        "or equal to 0"}},
      {"a number beyond all",
       PodWithRequests("{memory: 1e400}"),
       {"FILE:9:26: spec.containers[0].resources.requests[memory]: \"1e400\" is out of range"}},
      {"a pod without containers",
       "apiVersion: v1\nkind: Pod\nmetadata: {name: p1}\nspec: {}\n",
       {"FILE:4:7: spec.containers: Required value"}},
      {"a fraction of a replica",
       "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 2.5}\n",
       {"FILE:4:18: spec.replicas: expected an integer, got the number 2.5 (Deployment d)"}},
      {"a namespace of a name that none may have",
       "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: Team_A}\n"
       "spec: {containers: [{name: c, image: i}]}\n",
       {"FILE:1:1: Namespace \"Team_A\" is invalid: metadata.name"}},
      {"an object of a cluster in such a namespace",
       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, uid: u, namespace: Team_A}\n",
       {"FILE:1:1: Namespace \"Team_A\" is invalid: metadata.name"}},
      {"a node twice", Documents({kNode, kNode}), {"FILE:8:1", "n1", "FILE:1:1"}},
      {"two pods of one name", Documents({kNode, kPod, kPod}), {"FILE:16:1", "default/p1", "FILE:8:1"}},
      {"a selector with an unknown operator",
       "apiVersion: v1\nkind: Pod\nmetadata: {name: p1}\nspec:\n  containers: [{name: c, image: app}]\n"
       "  affinity:\n    nodeAffinity:\n      requiredDuringSchedulingIgnoredDuringExecution:\n"
       "        nodeSelectorTerms:\n        - matchExpressions: [{key: a, operator: Between, values: [b]}]\n",
       {"FILE:10:49: spec.affinity.nodeAffinity",
        "nodeSelectorTerms[0].matchExpressions[0].operator: Invalid value: \"Between\": not a valid selector "
        "operator"}},
      {"NUL bytes",
       absl::StrCat("apiVersion: v1\nkind: Node\nmetadata: {name: n", std::string(1, '\0'), "1}\n"),
       {"FILE:3:19", "control characters"}},
      {"nesting of 100", DeepNesting(100), {"FILE:4:", "nested too deeply"}},
      {"an alias bomb", AliasBomb(), {"FILE:7:20", "aliases"}},
      {"a wrong type",
       "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: [cpu]}\n",
       {"FILE:4:23: status.allocatable: expected a map of quantities"}},
      {"no kind", "apiVersion: v1\nmetadata: {name: n1}\n", {"FILE:1:1", "kind"}},
      {"no name",
       "apiVersion: v1\nkind: Node\nstatus: {}\n",
       {"FILE:1:1: metadata.name: Required value: name or generateName is required"}},
      {"text that is no object", "hello\n", {"FILE:1:1"}},
  };
  for (const BadFile& bad : files) ExpectRefused(bad, "bad.yaml", bad.content);
}

TEST(BadInputTest, JsonIsRefusedWithItsPlace) {
  const BadFile files[] = {
      {"broken JSON", "{\"apiVersion\": \"v1\",\n \"kind\": \"Node\",\n}\n", {"FILE:"}},
      {"a duplicate key",
       "{\"apiVersion\": \"v1\",\n \"kind\": \"Node\",\n \"metadata\": {\"name\": \"n\"},\n \"kind\": "
       "\"Pod\"}\n",
       {"FILE:4:", "kind"}},
      {"a negative quantity",
       "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"p\"},\n"
       " \"spec\": {\"containers\": [{\"name\": \"c\", \"image\": \"a\",\n"
       "  \"resources\": {\"requests\": {\"cpu\": \"-1\"}}}]}}\n",
       {"FILE:3:", "spec.containers[0].resources.requests", "-1"}},
  };
  for (const BadFile& bad : files) ExpectRefused(bad, "bad.json", bad.content);
}

TEST(BadInputTest, ATruncatedArchiveIsRefused) {
  std::string text;
  for (int i = 0; i < 2000; ++i) absl::StrAppend(&text, "# ", i * 7919 % 10007, "\n");
  const std::string gzip = Gzip(absl::StrCat(text, kNode));
  ExpectRefused({"gzip", "", {"FILE: truncated at byte ", ", expected a complete gzip file"}}, "bad.yaml.gz",
                gzip.substr(0, gzip.size() / 2));
  const std::string xz = Xz(absl::StrCat(text, kNode));
  ExpectRefused({"xz", "", {"FILE: truncated at byte ", ", expected a complete xz file"}}, "bad.yaml.xz",
                xz.substr(0, xz.size() / 2));
  ExpectRefused({"no gzip", "", {"FILE: not an archive, expected a complete gzip file"}}, "bad.yaml.gz",
                kNode);
}

TEST(BadInputTest, AWrongTypeInAKindThatSchedulingIgnoresIsNoError) {
  const TestFolder folder;
  const std::string path = folder.Write(
      "objects.yaml",
      Documents({kNode, kPod,
                 "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i}\nspec: [1]\n",
                 "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\nspec: 7\n"}));
  const ProgramResult result = RunProgram({"run", "-f", path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "Ingress")) << result.out;
  EXPECT_TRUE(absl::StrContains(result.out, "Thing")) << result.out;
}

TEST(BadInputTest, PodsOnMissingNodesAreOneWarningAndWithStrictAnError) {
  const TestFolder folder;
  constexpr char kLost[] =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: lost-NUMBER}\n"
      "spec: {nodeName: ghost, containers: [{name: c, image: app}]}\n";
  const std::string path =
      folder.Write("objects.yaml", Documents({kNode, absl::StrReplaceAll(kLost, {{"NUMBER", "1"}}),
                                              absl::StrReplaceAll(kLost, {{"NUMBER", "2"}})}));
  const std::string want =
      absl::StrCat(path, ":8:1: pod default/lost-1 on node ghost and 1 more: no such node in the input");
  const ProgramResult lenient = RunProgram({"run", "-f", path});
  EXPECT_EQ(lenient.exit_code, 0);
  EXPECT_TRUE(absl::StrContains(lenient.err, absl::StrCat("warning: ", want))) << lenient.err;
  const ProgramResult strict = RunProgram({"run", "-f", path, "--strict"});
  EXPECT_EQ(strict.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(strict.err, want)) << strict.err;
  EXPECT_EQ(strict.out, "");
}

TEST(BadInputTest, AConfigurationIsRefusedWithItsPlace) {
  constexpr char kHead[] = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
  const BadFile files[] = {
      {"an unknown field",
       absl::StrCat(kHead, "profiles:\n- schedulerNmae: x\n"),
       {"FILE:4:3", "schedulerNmae"}},
      {"a plugin that does not exist",
       absl::StrCat(kHead, "profiles:\n- plugins:\n    filter:\n      enabled: [{name: NoSuchPlugin}]\n"),
       {"FILE", "NoSuchPlugin", "does not exist"}},
      {"a plugin at a point that it does not have",
       absl::StrCat(kHead, "profiles:\n- plugins:\n    filter:\n      enabled: [{name: ImageLocality}]\n"),
       {"FILE", "ImageLocality", "does not extend"}},
      {"a value out of range",
       absl::StrCat(kHead, "percentageOfNodesToScore: 101\n"),
       {"FILE", "percentageOfNodesToScore", "101"}},
      {"a wrong version",
       "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n",
       {"FILE:1:", "v1beta3"}},
      {"an extender",
       absl::StrCat(kHead, "extenders: [{urlPrefix: 'http://x', filterVerb: f}]\n"),
       {"FILE", "extenders"}},
      {"a tab", absl::StrCat(kHead, "profiles:\n\t- x\n"), {"FILE:4:1"}},
  };
  for (const BadFile& bad : files) {
    const TestFolder folder;
    const std::string path = folder.Write("config.yaml", bad.content);
    const ProgramResult result =
        RunProgram({"run", "-f", folder.Write("nodes.yaml", kNode), "--config", path});
    EXPECT_EQ(result.exit_code, 2) << bad.name << "\n" << result.out << result.err;
    for (const std::string& want : bad.want) {
      const std::string text = absl::StrReplaceAll(want, {{"FILE", path}});
      EXPECT_TRUE(absl::StrContains(result.err, text)) << bad.name << ": no \"" << text << "\" in\n"
                                                       << result.err;
    }
  }
}

TEST(BadUsageTest, IsRefused) {
  const TestFolder folder;
  const std::string nodes = folder.Write("nodes.yaml", kNode);
  const std::string empty = folder.Path("empty");
  folder.Write("empty/notes.txt", "nothing");
  struct Usage {
    Strings arguments;
    Strings want;
  };
  const Usage usages[] = {
      {{}, {"expected a command"}},
      {{"walk"}, {"expected a command"}},
      {{"run"}, {"--filename"}},
      {{"run", "-f", folder.Path("missing.yaml")}, {"missing.yaml", "o such file"}},
      {{"run", "-f", empty}, {"empty", ".yaml"}},
      {{"run", "-f", nodes, "--untill", "5s"}, {"--untill"}},
      {{"run", "-f", nodes, "--until", "soon"}, {"--until", "soon", "expected"}},
      {{"run", "-f", nodes, "--until", "-5s"}, {"--until", "-5s", "expected"}},
      {{"run", "-f", nodes, "--start", "yesterday"}, {"--start", "yesterday", "RFC 3339"}},
      {{"run", "-f", nodes, "--bound", "drop"}, {"--bound", "drop", "reset"}},
      {{"run", "-f", nodes, "--bound", "reset==x"}, {"--bound: selector \"=x\": column 1: found `=`"}},
      {{"run", "-f", nodes, "--bound", "reset=app in (a"},
       {"--bound: selector \"app in (a\": column 10: found the end of the selector, expected `,` or `)`"}},
      {{"run", "-f", nodes, "--kubernetes-version", "new"}, {"new", "1.37"}},
      {{"run", "-f", nodes, "--feature-gates", "NoSuchGate=true"}, {"--feature-gates", "NoSuchGate"}},
      {{"run", "-f", nodes, "--output", "xml"}, {"--output", "xml"}},
      {{"run", "-f", nodes, "--trace-level", "all"}, {"--trace-level", "all"}},
      {{"run", "-f", nodes, "--seed", "x"}, {"--seed", "x"}},
      {{"run", "-f", nodes, "--config", folder.Path("none.yaml")}, {"none.yaml"}},
      {{"run", "-f", nodes, "--trace", folder.Path("no/such/folder/out.jsonl")}, {"out.jsonl"}},
      {{"conform", folder.Path("none.jsonl"), folder.Path("none.jsonl")}, {"none.jsonl"}},
      {{"conform", nodes, nodes}, {"nodes.yaml"}},
      {{"calibrate", SCHEDSIM_SOURCE_DIR "/tests/tools/kwok-real/formats/audit.log.gz", "--config",
        folder.Write("extenders.yaml",
                     "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                     "extenders: [{urlPrefix: 'http://x', filterVerb: f}]\n")},
       {"extenders.yaml: extenders: not called here, expected none; the first is http://x"}},
      {{"conform",
        folder.Write("extenders.jsonl",
                     R"({"name":"a-1","end":1,"objects":[],"config":{"apiVersion":)"
                     R"("kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",)"
                     R"("extenders":[{"urlPrefix":"http://x","filterVerb":"f"}]}})"),
        folder.Write("traces.jsonl", R"({"case":"a-1","trace":[]})")},
       {"extenders.jsonl:1:45: config.extenders: not called here, expected none; the first is http://x"}},
  };
  for (const Usage& usage : usages) {
    const ProgramResult result = RunProgram(usage.arguments);
    const std::string command = absl::StrJoin(usage.arguments, " ");
    EXPECT_EQ(result.exit_code, 2) << command << "\n" << result.out << result.err;
    for (const std::string& want : usage.want) {
      EXPECT_TRUE(absl::StrContains(result.err, want)) << command << ": no \"" << want << "\" in\n"
                                                       << result.err;
    }
  }
}

}  // namespace
}  // namespace schedsim
