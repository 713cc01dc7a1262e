// Files that are no clusters, given as such: what they are and where they belong.
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Strings = std::vector<std::string>;

constexpr char kNode[] =
    "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 4, memory: 8Gi, pods: "
    "110}}\n";

struct Foreign {
  const char* name;
  const char* content;
  // What the message has, FILE standing for the path and FOLDER for its folder.
  const char* want;
};

TEST(ForeignInputTest, IsNamedWithWhatTakesIt) {
  const Foreign rows[] = {
      {"scenario.yaml", "apiVersion: schedsim/v1\nkind: Scenario\ninputs: [a.yaml]\n",
       "FILE:1:1: this is a scenario, expected objects of a cluster; run it with `schedsim run FILE`"},
      {"scheduler.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n",
       "FILE:1:1: this is the configuration of a scheduler, expected objects of a cluster; give it with "
       "`--config "
       "FILE`"},
      {"config", "apiVersion: v1\nkind: Config\nclusters: []\nusers: []\n",
       "this is a kubeconfig, expected objects of a cluster; dump the cluster with `kubectl --kubeconfig "
       "FILE get "},
      {"kwok.yaml", "apiVersion: config.kwok.x-k8s.io/v1alpha1\nkind: KwokConfiguration\n",
       "this is the configuration of kwok"},
      {"k.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
       "this is a kustomization, expected objects of a cluster; render it with `kubectl kustomize FOLDER | "},
      {"kustomization.yaml", "resources: [a.yaml]\n", "this is a kustomization"},
      {"Chart.yaml", "apiVersion: v2\nname: web\nversion: 0.1.0\n",
       "this is the head of a Helm chart, expected objects of a cluster; render the chart with `helm "
       "template "
       "FOLDER | schedsim run -f -`"},
      {"values.yaml", "replicas: 3\n", "this is the values of a Helm chart"},
      {"kubelet.yaml", "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n",
       "this is the configuration of a component of Kubernetes"},
      {"out.jsonl", R"({"t":0,"ev":"bind","pod":"default/a","node":"n","digest":"1"})",
       "this is a trace, expected objects of a cluster; give it to `schedsim why NAMESPACE/POD FILE`"},
      {"record.yaml",
       "apiVersion: v1\nkind: Node\nmetadata: {name: n2, creationTimestamp: \"$(time-offset-nanosecond "
       "-5)\"}\n",
       "this is a recording of kwok, expected objects of a cluster; replay it with `schedsim run FILE`"},
      {"audit.log", R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata"})",
       "this is an audit log, expected objects of a cluster; give it to `schedsim calibrate FILE`"},
      {"cases.jsonl", R"({"name":"a-1","objects":[],"end":1})",
       "this is a case of the conformance suite, expected objects of a cluster; run it with `schedsim run "
       "FILE "
       "--case NAME`"},
      {"traces.jsonl", R"({"case":"a-1","trace":[]})", "give it to `schedsim conform CASES FILE`"},
      {"report.json", R"({"apiVersion":"schedsim/v1","kind":"RunReport","nodes":1})",
       "this is the report of a run"},
      {"deployment.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\n",
       "a template must be rendered first"},
  };
  for (const Foreign& row : rows) {
    const TestFolder folder;
    const std::string nodes = folder.Write("nodes.yaml", kNode);
    const std::string path = folder.Write(row.name, row.content);
    const ProgramResult result = RunProgram({"run", "-f", nodes, "-f", path});
    EXPECT_EQ(result.exit_code, 2) << row.name << "\n" << result.err;
    EXPECT_EQ(result.out, "") << row.name;
    const std::string want =
        absl::StrReplaceAll(row.want, {{"FILE", path}, {"FOLDER", path.substr(0, path.rfind('/'))}});
    EXPECT_TRUE(absl::StrContains(result.err, want)) << row.name << "\n" << result.err;
  }
}

TEST(ForeignInputTest, IsNamedInThePlaceOfAScenarioAndOfAConfigurationToo) {
  const TestFolder folder;
  const std::string nodes = folder.Write("nodes.yaml", kNode);
  const std::string scenario = folder.Write("scenario.yaml", "apiVersion: schedsim/v1\nkind: Scenario\n");
  const std::string trace =
      folder.Write("out.jsonl", R"({"t":0,"ev":"bind","pod":"default/a","node":"n","digest":"1"})");
  const std::string audit =
      folder.Write("audit.log", R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata"})");
  const std::string config = folder.Write(
      "config.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n");
  const std::pair<Strings, std::string> rows[] = {
      {{"run", trace},
       absl::StrCat("out.jsonl:1:1: this is a trace, expected a scenario; give it to `schedsim why "
                    "NAMESPACE/POD ",
                    trace, "`")},
      {{"run", audit},
       "audit.log: the log has no write that scheduling depends on, expected some of pods and nodes"},
      {{"run", config},
       "this is the configuration of a scheduler, expected a scenario; give it with `--config "},
      {{"run", "-f", nodes, "--config", nodes}, "nodes.yaml:2:7: kind: no kind \"Node\" is registered"},
      {{"run", "-f", nodes, "--config", nodes}, "; objects of a cluster are given with `-f FILE`"},
      {{"run", "-f", nodes, "--config", scenario}, "scenario.yaml:2:7: kind: no kind \"Scenario\""},
      {{"run", "-f", nodes, "--config", scenario}, "; a scenario is run with `schedsim run FILE`"},
  };
  for (const auto& [arguments, want] : rows) {
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 2) << want << result.err;
    EXPECT_TRUE(absl::StrContains(result.err, want)) << want << "\n" << result.err;
  }
}

TEST(ForeignInputTest, ASecondFileWithoutItsOptionIsNamed) {
  const TestFolder folder;
  const std::string nodes = folder.Write("nodes.yaml", kNode);
  const std::string more = folder.Write("more.yaml", absl::StrReplaceAll(kNode, {{"n1", "n2"}}));
  for (const Strings& arguments : {Strings{"run", "-f", nodes, more}, Strings{"run", more, "-f", nodes}}) {
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(absl::StrContains(result.err, absl::StrCat("-f ", more))) << result.err;
  }
}

TEST(InputFilesTest, WhatMayNeverEndIsRefusedAndNeverWaitedFor) {
  const TestFolder folder;
  folder.Write("nodes.yaml", kNode);
  const std::string fifo = folder.Path("pods.yaml");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {fifo, folder.Path("")}) {
    const ProgramResult result = RunProgram({"run", "-f", path});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(absl::StrContains(result.err, ": is a FIFO, expected a file")) << result.err;
  }
  const ProgramResult why = RunProgram({"why", "p", fifo});
  EXPECT_EQ(why.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(why.err, ": is a FIFO, expected a file")) << why.err;
  const ProgramResult trace = RunProgram({"run", "-f", folder.Write("n.yaml", kNode), "--trace", fifo});
  EXPECT_EQ(trace.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(trace.err, ": is a FIFO that nobody reads, expected a file")) << trace.err;
  const ProgramResult device = RunProgram({"run", "-f", "/dev/zero"});
  EXPECT_EQ(device.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(device.err, "/dev/zero: is a device")) << device.err;
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(InputFilesTest, WithoutMemoryTheProgramSaysSo) {
  const TestFolder folder;
  const std::string path = folder.Write("zeros.yaml.gz", Gzip(std::string(100'000'000, ' ')));
  struct rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
  const struct rlimit small = {.rlim_cur = 150'000'000, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &small), 0);
  const ProgramResult result = RunProgram({"run", "-f", path});
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "schedsim: out of memory, expected less input or more memory\n");
}
#endif

TEST(InputFilesTest, StandardInputHasSeveralNames) {
  for (const char* name : {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}) {
    const ProgramResult result = RunProgram({"run", "-f", name}, kNode);
    EXPECT_EQ(result.exit_code, 0) << name << "\n" << result.err;
    EXPECT_TRUE(absl::StrContains(result.out, "Nodes           1\n")) << result.out;
  }
}

TEST(InputFilesTest, WhatAShellPutsInThePlaceOfACommandIsReadAndWritten) {
  const TestFolder folder;
  const std::string nodes = folder.Write("n.yaml", kNode);
  const std::string trace = folder.Path("trace.jsonl");
  const ProgramResult result =
      RunShell(absl::StrCat("export SCHEDSIM; exec bash -c '\"$SCHEDSIM\" run -f <(cat ", nodes,
                            ") --trace >(cat > ", trace, ") && ", "\"$SCHEDSIM\" run -f ", nodes, " --trace ",
                            trace, ".2 && ", "\"$SCHEDSIM\" why nobody <(cat ", trace, ".2)'"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.out, "Nodes           1\n")) << result.out << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, "nobody")) << result.err;
}

TEST(InputFilesTest, LinksThatLeadNowhereOrInACircleAreErrors) {
  const TestFolder folder;
  folder.Write("a/nodes.yaml", kNode);
  std::filesystem::create_directory_symlink(".", folder.Path("a/x"));
  std::filesystem::create_directory_symlink(".", folder.Path("a/y"));
  std::filesystem::create_directory(folder.Path("b"));
  std::filesystem::create_symlink("b.yaml", folder.Path("b/a.yaml"));
  std::filesystem::create_symlink("a.yaml", folder.Path("b/b.yaml"));
  std::filesystem::create_directory(folder.Path("c"));
  std::filesystem::create_symlink("none.yaml", folder.Path("c/a.yaml"));
  const std::pair<const char*, const char*> rows[] = {
      {"a", "a/x: links to the folder "},
      {"b", "b/a.yaml: Too many levels of symbolic links, expected"},
      {"c", "c/a.yaml: No such file or directory, expected"},
  };
  for (const auto& [name, want] : rows) {
    const ProgramResult result = RunProgram({"run", "-f", folder.Path(name)});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(absl::StrContains(result.err, want)) << result.err;
  }
}

TEST(InputFilesTest, MarksOfOtherFormatsAreUnderstoodOrNamed) {
  constexpr char kFlow[] =
      "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4}}}\n";
  constexpr char kJson[] = R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2"}})";
  const std::string second = absl::StrReplaceAll(kNode, {{"n1", "n2"}});
  const std::pair<std::string, std::string> good[] = {
      {"flow style", absl::StrCat(kFlow, "---\n", kJson)},
      {"flow style behind JSON", absl::StrCat(kJson, "\n---\n", kFlow)},
      {"YAML behind JSON", absl::StrCat(kJson, "\n---\n", kNode)},
      {"JSON behind YAML", absl::StrCat(kNode, "---\n", kJson)},
      {"a mark of UTF-8", absl::StrCat("\xef\xbb\xbf", kNode, "---\n", second)},
      {"marks of UTF-8 behind ---", absl::StrCat(kNode, "---\n\xef\xbb\xbf", second)},
      {"marks of UTF-8 before ---", absl::StrCat(kNode, "\xef\xbb\xbf---\n", second)},
      {"marks of UTF-8 and CRLF", absl::StrReplaceAll(absl::StrCat("\xef\xbb\xbf---\n\xef\xbb\xbf", kNode,
                                                                   "\xef\xbb\xbf---\n\xef\xbb\xbf", second),
                                                      {{"\n", "\r\n"}})},
      {"marks of UTF-8 before JSON",
       absl::StrCat(kJson, "\n\xef\xbb\xbf", absl::StrReplaceAll(kJson, {{"n2", "n3"}}))},
      {"CRLF", absl::StrReplaceAll(absl::StrCat(kNode, "---\n", second), {{"\n", "\r\n"}})},
  };
  for (const auto& [name, content] : good) {
    const TestFolder folder;
    const ProgramResult result = RunProgram({"run", "-f", folder.Write("nodes.yaml", content)});
    EXPECT_EQ(result.exit_code, 0) << name << "\n" << result.err;
    EXPECT_TRUE(absl::StrContains(result.out, "Nodes           2\n")) << name << "\n" << result.out;
  }
  const TestFolder folder;
  const std::string separated = folder.Write(
      "nodes.json",
      absl::StrCat("---\n", kJson, "\n---\n", absl::StrReplaceAll(kJson, {{"n2", "n3"}}), "\n---\n"));
  EXPECT_EQ(RunProgram({"run", "-f", separated}).exit_code, 0) << RunProgram({"run", "-f", separated}).err;

  std::string utf16 = "\xff\xfe";
  for (const char* c = kNode; *c != '\0'; ++c) utf16 += {*c, '\0'};
  const std::string path = folder.Write("utf16.yaml", utf16);
  const ProgramResult result = RunProgram({"run", "-f", path});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            absl::StrCat("schedsim run: ", path,
                         ": is UTF-16, expected UTF-8; `iconv -f UTF-16 -t UTF-8` converts it\n"));
}

}  // namespace
}  // namespace schedsim
