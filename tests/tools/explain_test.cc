// schedsim explain: an attempt of one pod, node by node.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/tools/five_pods.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Json = nlohmann::json;

// Beside the five pods: a larger node that is tainted, and a pod of another scheduler.
constexpr char kMore[] = R"(---
apiVersion: v1
kind: Namespace
metadata: {name: other}
---
apiVersion: v1
kind: Node
metadata: {name: node-2}
spec: {taints: [{key: dedicated, value: db, effect: NoSchedule}]}
status: {allocatable: {cpu: 16, memory: 8Gi, pods: 110}}
---
apiVersion: v1
kind: Pod
metadata: {name: foreign, namespace: default}
spec:
  schedulerName: theirs
  containers: [{name: c, image: i}]
)";

class ExplainCommand : public testing::Test {
 protected:
  ProgramResult Explain(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "explain");
    arguments.insert(arguments.end(), {"-f", cluster_});
    return RunProgram(arguments);
  }

  const TestFolder folder_;
  const std::string cluster_ = folder_.Write("cluster.yaml", absl::StrCat(kFivePods, kMore));
};

TEST_F(ExplainCommand, TellsOfAPendingPod) {
  const ProgramResult result = Explain({"wide"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* part :
       {"default/wide\n", "attempt 1: fits on none of 2 nodes", "Insufficient cpu (NodeResourcesFit)",
        "The scheduler's message:\n0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated "
        "taint(s).",
        "  tolerate dedicated=db:NoSchedule\n      on node-2\n",
        "cpu: asks for 9, 1 of 4 is free; 1 pod uses 3: default/high 3 (nominated)"}) {
    EXPECT_TRUE(absl::StrContains(result.out, part)) << part << "\n" << result.out;
  }
}

TEST_F(ExplainCommand, TellsOfAPreemptionAndOfTheAttemptAfterIt) {
  const ProgramResult first = Explain({"default/high", "--attempt", "1"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_TRUE(absl::StrContains(first.out, "Preemption makes room on node-1. Victims: default/low."))
      << first.out;
  EXPECT_TRUE(absl::StrContains(first.out, "It is the only node where preemption helps.")) << first.out;
  const ProgramResult last = Explain({"default/high"});
  EXPECT_TRUE(absl::StrContains(last.out, "attempt 2: fits on 1 of 1 node looked at, takes node-1"))
      << last.out;
  EXPECT_TRUE(absl::StrContains(last.out, "The pod was nominated to node-1: it was tried first")) << last.out;
}

TEST_F(ExplainCommand, OneNodeAlone) {
  const ProgramResult result = Explain({"wide", "--node", "node-2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "nearest miss: tolerate dedicated=db:NoSchedule")) << result.out;
  EXPECT_FALSE(absl::StrContains(result.out, "node-1:")) << result.out;
  const ProgramResult unknown = Explain({"wide", "--node", "node-3"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(unknown.err,
            "schedsim explain: no node node-3 in the attempt, which has 2 nodes; did you mean node-1?\n");
}

TEST_F(ExplainCommand, PodsWithoutAnAttempt) {
  EXPECT_TRUE(absl::StrContains(Explain({"gated"}).out, "it is gated by wait (spec.schedulingGates)"));
  EXPECT_TRUE(absl::StrContains(Explain({"foreign"}).out, "for another scheduler, theirs"));
  const ProgramResult placed = Explain({"low"});
  EXPECT_EQ(placed.exit_code, 0);
  EXPECT_TRUE(absl::StrContains(placed.out, "On node-1 from the start")) << placed.out;
}

// With the namespace of its own there is no doubt what pod/NAME means.
TEST_F(ExplainCommand, TakesKubectlsFormBesideANamespace) {
  const ProgramResult result = Explain({"pod/wide", "-n", "default"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StartsWith(result.out, "default/wide\n")) << result.out;
}

TEST_F(ExplainCommand, SaysWhatIsNotThere) {
  struct Case {
    std::vector<std::string> arguments;
    const char* want;
  };
  const Case cases[] = {
      {{"wyde"}, "no pod wyde in the run, expected one such as default/wide"},
      {{"pod/wide"}, "no pod pod/wide in the run"},
      {{"pod/wide"}, "; expected NAMESPACE/NAME or NAME, such as wide"},
      {{"high"}, "pod high is in several namespaces, expected one of default/high, other/high"},
      {{"wide", "--attempt", "7"}, "no attempt 7 of pod default/wide, which has one attempt, 1"},
      {{"gated", "--attempt", "1"}, "no attempt 1 of pod default/gated, which was never tried"},
      {{"wide", "--attempt", "0"}, "--attempt: \"0\" is not a count, expected a whole number from 1 on"},
      {{"wide", "--top", "many"}, "--top: \"many\" is not a count, expected a whole number from 1 on"},
  };
  for (const Case& row : cases) {
    const ProgramResult result = Explain(row.arguments);
    EXPECT_EQ(result.exit_code, 2) << row.want;
    EXPECT_EQ(result.out, "") << row.want;
    EXPECT_TRUE(absl::StrContains(result.err, row.want)) << result.err;
  }
}

TEST_F(ExplainCommand, Json) {
  const ProgramResult result = Explain({"wide", "--output", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["kind"], "Explanation");
  EXPECT_EQ(json["pod"], "default/wide");
  EXPECT_EQ(json["nodes"], 2);
  ASSERT_EQ(json["refused"].size(), 2);
  EXPECT_EQ(json["refused"][0]["node"], "node-2");
  EXPECT_EQ(json["refused"][0]["miss"]["changes"][0]["change"], "tolerate");
  EXPECT_EQ(json["refused"][1]["facts"][0]["free"], "1");
  EXPECT_EQ(json["refused"][1]["miss"]["changes"][0]["amount"], "8");
}

// Looking on changes nothing.
TEST_F(ExplainCommand, TheRunIsThatOfRun) {
  const Json report = Json::parse(RunProgram({"run", "-f", cluster_, "--output", "json"}).out);
  const Json explained = Json::parse(Explain({"default/high", "--output", "json"}).out);
  int found = 0;
  for (const Json& pod : report["pods"]) {
    if (pod["name"] != "high" || pod["namespace"] != "default") continue;
    ++found;
    EXPECT_EQ(pod["node"], "node-1");
    EXPECT_EQ(pod["node"], explained["host"]);
  }
  EXPECT_EQ(found, 1);
}

// What the run has to say is said, also where the pod is not there.
TEST_F(ExplainCommand, SaysWhatTheRunWarnsOf) {
  const std::string scenario = folder_.Write("scenario.yaml", R"(
apiVersion: schedsim/v1
kind: Scenario
metadata: {name: failing}
inputs: [cluster.yaml]
timeline:
- at: 5s
  delete: {kind: Pod, name: nobody, namespace: default}
end: 10s
)");
  const ProgramResult run = RunProgram({"run", scenario});
  ASSERT_EQ(run.exit_code, 1) << run.err;
  const ProgramResult explain = RunProgram({"explain", "wide", scenario});
  EXPECT_EQ(explain.exit_code, 1) << explain.err;
  EXPECT_TRUE(absl::StrContains(explain.out, "default/wide\n")) << explain.out;
  constexpr char kFailure[] = "timeline[0].delete: there is no Pod nobody in namespace default";
  EXPECT_TRUE(absl::StrContains(explain.err, kFailure)) << explain.err;
  const ProgramResult nobody = RunProgram({"explain", "nobody", scenario});
  EXPECT_EQ(nobody.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(nobody.err, "no pod nobody in the run")) << nobody.err;
  EXPECT_TRUE(absl::StrContains(nobody.err, kFailure)) << nobody.err;
}

}  // namespace
}  // namespace schedsim
