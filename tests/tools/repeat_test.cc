// Commands that repeat the run of a trace.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Json = nlohmann::ordered_json;
using Strings = std::vector<std::string>;

// `web-2` finds no place.
constexpr char kCluster[] = R"(
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 9}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 8, memory: 8Gi, pods: 9}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web-0}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 3}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web-1}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 3}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web-2}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 6}}}]}}
)";

// Takes the fullest node.
constexpr char kMostAllocated[] =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
    "- pluginConfig:\n  - name: NodeResourcesFit\n    args: {scoringStrategy: {type: MostAllocated, "
    "resources: [{name: cpu, weight: 1}]}}\n"
    "  plugins: {score: {disabled: [{name: NodeResourcesBalancedAllocation}]}}\n";

class RepeatedRunTest : public testing::Test {
 protected:
  RepeatedRunTest()
      : cluster_(folder_.Write("cluster.yaml", kCluster)),
        config_(folder_.Write("most.yaml", kMostAllocated)),
        a_(folder_.Path("a.jsonl.zst")),
        b_(folder_.Path("b.jsonl")) {
    Record({"-f", cluster_, "--trace", a_});
    Record({"-f", cluster_, "--config", config_, "--trace", b_});
  }

  static void Record(Strings arguments) {
    arguments.insert(arguments.begin(), "run");
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }

  static void ExpectRefused(const Strings& arguments, absl::string_view want) {
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 2) << absl::StrJoin(arguments, " ") << "\n" << result.out;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(absl::StrContains(result.err, want)) << result.err << "\nexpected: " << want;
  }

  const TestFolder folder_;
  const std::string cluster_;
  const std::string config_;
  const std::string a_;
  const std::string b_;
};

TEST_F(RepeatedRunTest, ExplainSaysTheSameOfATraceAsOfItsRun) {
  for (const char* pod : {"web-0", "default/web-2"}) {
    const ProgramResult run = RunProgram({"explain", pod, "-f", cluster_});
    const ProgramResult trace = RunProgram({"explain", pod, "--trace", a_});
    EXPECT_EQ(trace.exit_code, 0) << trace.err;
    EXPECT_EQ(trace.out, run.out);
  }
}

TEST_F(RepeatedRunTest, DiffNamesTheCauseFromTracesThatDoNotSayIt) {
  const ProgramResult result = RunProgram({"diff", a_, b_, "--output", "json"});
  ASSERT_EQ(result.exit_code, 1) << result.err;
  Json traces = Json::parse(result.out);
  EXPECT_EQ(traces["firstDifference"]["cause"]["kind"], "score");
  EXPECT_EQ(traces["firstDifference"]["cause"]["plugin"], "NodeResourcesFit");
  const Json runs =
      Json::parse(RunProgram({"diff", "-f", cluster_, "--b-config", config_, "--output", "json"}).out);
  for (const char* field : {"firstDifference", "counts", "plugins", "pods", "messages"})
    EXPECT_EQ(traces[field], runs[field]) << field;
  const Json without = Json::parse(RunProgram({"diff", a_, b_, "--no-causes", "--output", "json"}).out);
  EXPECT_EQ(without["firstDifference"]["cause"]["kind"], "unknown");
  EXPECT_EQ(traces["counts"]["movedUnknown"], 0);
  EXPECT_EQ(without["counts"]["movedUnknown"], without["counts"]["moved"]);
  traces["counts"]["movedUnknown"] = without["counts"]["movedUnknown"];
  EXPECT_EQ(without["counts"], traces["counts"]);
}

TEST_F(RepeatedRunTest, AFileThatChangedIsNamed) {
  folder_.Write("cluster.yaml", absl::StrReplaceAll(kCluster, {{"cpu: 6", "cpu: 5"}}));
  const std::string want = absl::StrCat(cluster_, ": is not what the run that is repeated read");
  ExpectRefused({"explain", "web-0", "--trace", a_}, want);
  ExpectRefused({"diff", a_, b_}, want);
  // Nothing has to be repeated where nothing differs, and nothing where nobody wants to know why.
  EXPECT_EQ(RunProgram({"diff", a_, a_}).exit_code, 0);
  EXPECT_EQ(RunProgram({"diff", a_, b_, "--no-causes"}).exit_code, 1);
  std::filesystem::remove(cluster_);
  ExpectRefused({"explain", "web-0", "--trace", a_}, absl::StrCat(cluster_, ": No such file"));
}

TEST_F(RepeatedRunTest, AFileThatCameIntoAFolderIsNamed) {
  folder_.Write("in/a.yaml", kCluster);
  const std::string trace = folder_.Path("folder.jsonl");
  Record({"-f", folder_.Path("in"), "--trace", trace});
  EXPECT_EQ(RunProgram({"explain", "web-0", "--trace", trace}).exit_code, 0);
  const std::string more = folder_.Write(
      "in/b.yaml",
      "{apiVersion: v1, kind: Pod, metadata: {name: other}, spec: {containers: [{name: c, image: i}]}}");
  ExpectRefused({"explain", "web-0", "--trace", trace}, absl::StrCat(more, ": is new"));
}

TEST_F(RepeatedRunTest, ARunThatDecidesOtherwiseIsAnError) {
  // As a version of the program writes it that decides otherwise from the third attempt on.
  std::string trace = FileContent(b_);
  const size_t attempt = trace.find(R"("ev":"attempt","pod":"default/web-2")");
  const size_t digest = trace.find(R"("digest":")", attempt) + 10;
  ASSERT_LT(digest, trace.size());
  trace.replace(digest, 16, "0123456789abcdef");
  const std::string other = folder_.Write(
      "other.jsonl", absl::StrReplaceAll(trace, {{R"("program":"schedsim )", R"("program":"schedsim 9.)"}}));
  ExpectRefused({"explain", "web-0", "--trace", other},
                absl::StrCat(other, ": the run, repeated by schedsim "));
  ExpectRefused({"explain", "web-0", "--trace", other},
                "attempt 3, of default/web-2, is not that of the trace");
  // What is wanted comes before.
  EXPECT_EQ(RunProgram({"diff", a_, other}).exit_code, 1);
}

TEST_F(RepeatedRunTest, InputsAreFoundInAnotherFolder) {
  const std::string trace = folder_.Path("relative.jsonl");
  const std::string folder = folder_.Path("");
  const ProgramResult run = RunShell(absl::StrCat("cd ", folder,
                                                  " && \"$SCHEDSIM\" run -f cluster.yaml --config "
                                                  "most.yaml --trace relative.jsonl"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ExpectRefused({"explain", "web-0", "--trace", trace}, "cluster.yaml: No such file");
  const ProgramResult found = RunProgram({"explain", "web-0", "--trace", trace, "--inputs", folder});
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_EQ(found.out, RunProgram({"explain", "web-0", "-f", cluster_, "--config", config_}).out);
}

TEST_F(RepeatedRunTest, StandardInputIsReadAgain) {
  const std::string trace = folder_.Path("piped.jsonl");
  ASSERT_EQ(RunProgram({"run", "-f", "-", "--trace", trace}, kCluster).exit_code, 0);
  EXPECT_EQ(RunProgram({"explain", "web-0", "--trace", trace}, kCluster).exit_code, 0);
  const ProgramResult other = RunProgram({"explain", "web-0", "--trace", trace}, "kind: List");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(other.err, "standard input: is not what the run that is repeated read"))
      << other.err;
}

TEST_F(RepeatedRunTest, AScenarioIsRepeatedWithAllThatItNames) {
  const std::string trace = folder_.Path("scenario.jsonl");
  const std::string scenario = SCHEDSIM_SOURCE_DIR "/scenarios/preemption-burst/scenario.yaml";
  Record({scenario, "--seed", "5", "--trace", trace, "--trace-level", "full"});
  const std::string records = FileContent(trace);
  const size_t pod = records.find(R"("ev":"bind","pod":")") + 19;
  const std::string name = records.substr(pod, records.find('"', pod) - pod);
  const ProgramResult result = RunProgram({"explain", name, "--trace", trace});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, RunProgram({"explain", name, scenario, "--seed", "5"}).out);
}

TEST_F(RepeatedRunTest, RefusesWhatHasNoRunToRepeat) {
  ExpectRefused({"explain", "web-0", "--trace", a_, "-f", cluster_},
                "expected no other run beside it, got -f");
  const std::string recorded = SCHEDSIM_SOURCE_DIR "/tests/conformance/traces-1.37/queue.jsonl.gz";
  ExpectRefused({"explain", "web-0", "--trace", recorded}, "does not say of which run it is");
  const std::string headless = folder_.Write("headless.jsonl", "{\"t\":0,\"ev\":\"final\",\"pods\":{}}\n");
  ExpectRefused({"explain", "web-0", "--trace", headless}, "does not say of which run it is");
  const std::string evil = folder_.Write(
      "evil.jsonl",
      R"({"t":0,"ev":"run","program":"x","arguments":["--no-such"],"inputs":[],"digest":"0000000000000000"})");
  ExpectRefused({"explain", "web-0", "--trace", evil}, "the arguments of the run that the trace is of: ");
}

}  // namespace
}  // namespace schedsim
