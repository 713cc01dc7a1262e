// schedsim why: the story of one pod, from a trace.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/tools/five_pods.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Json = nlohmann::json;

constexpr char kRecorded[] = SCHEDSIM_SOURCE_DIR "/tests/conformance/traces-1.37/queue.jsonl.gz";

// The text as if lines had no end.
std::string OneLine(const std::string& text) {
  const std::vector<std::string> words = absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  return absl::StrJoin(words, " ");
}

class Why : public testing::Test {
 protected:
  // Writes the trace of kFivePods.
  std::string Trace(const std::string& level = "full") const {
    const std::string path = folder_.Path(level + ".jsonl");
    const std::string cluster = folder_.Write("cluster.yaml", kFivePods);
    const ProgramResult run = RunProgram({"run", "-f", cluster, "--trace", path, "--trace-level", level});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return path;
  }

  const TestFolder folder_;
};

TEST_F(Why, TellsOfPreemptionBackoffAndBinding) {
  const ProgramResult why = RunProgram({"why", "default/high", Trace()});
  EXPECT_EQ(why.exit_code, 0) << why.err;
  EXPECT_EQ(why.out, R"(default/high

      -0.004 s  to the active queue: it is new
       0.000 s  attempt 1: fits on none of 1 node
                       1 node  Insufficient cpu (NodeResourcesFit)
                  preemption takes node-1, victims: default/low; beyond
                    disruption budgets: 0
       0.000 s  to the pool of unschedulable pods: the attempt failed
       0.000 s  nominated to node-1
       0.000 s  to the backoff queue until 1.000 s: AssignedPodDelete of
                default/low: NodeResourcesFit says Queue
       0.002 s  taken for an attempt: the active queue is empty, so it need not
                wait for the end of its backoff
       0.002 s  attempt 2: fits on 1 of 1 node looked at, takes node-1
       0.002 s  bound to node-1
                  it is the only node that was found to fit

Bound to node-1 0.002 s after it came into the queue, in attempt 2.
)");
}

TEST_F(Why, NamesThePreemptorOfAVictim) {
  const ProgramResult why = RunProgram({"why", "low", Trace()});
  EXPECT_EQ(why.out,
            "default/low\n\n       0.000 s  deleted as a victim of preemption for default/high\n\nGone; it "
            "was on node-1.\n");
}

// The nominated node is tried before the others, and among them again.
TEST_F(Why, CountsANodeThatWasLookedAtTwiceOnce) {
  folder_.Write("nominated.yaml", R"(
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
  status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
- apiVersion: v1
  kind: Pod
  metadata: {name: p0, namespace: default}
  spec: {nodeName: n1, priority: 0, containers: [{name: c, image: "app:1", resources: {requests: {cpu: 2}}}]}
  status: {phase: Running}
- apiVersion: v1
  kind: Pod
  metadata: {name: p1, namespace: default}
  spec: {priority: 10, containers: [{name: c, image: "app:1", resources: {requests: {cpu: 3}}}]}
)");
  const std::string scenario = folder_.Write("scenario.yaml", R"(
apiVersion: schedsim/v1
kind: Scenario
metadata: {name: nominated}
inputs: [nominated.yaml]
latency: {podTermination: 60s}
timeline:
- at: 5s
  create:
    apiVersion: v1
    kind: Pod
    metadata: {name: p2, namespace: default}
    spec: {priority: 100, containers: [{name: c, image: "app:1", resources: {requests: {cpu: 1500m}}}]}
end: 10m
)");
  const std::string trace = folder_.Path("nominated.jsonl");
  ASSERT_EQ(RunProgram({"run", scenario, "--trace", trace, "--trace-level", "full"}).exit_code, 0);
  const ProgramResult why = RunProgram({"why", "p1", trace, "--output", "json"});
  const Json story = Json::parse(why.out);
  int attempts_when_nominated = 0;
  bool is_nominated = false;
  for (const Json& entry : story["entries"]) {
    if (entry["kind"] == "nomination") is_nominated = entry["node"] == "n1";
    if (entry["kind"] != "attempt") continue;
    attempts_when_nominated += is_nominated ? 1 : 0;
    EXPECT_EQ(entry["reasons"],
              Json::parse(R"([{"nodes":1,"reason":"Insufficient cpu","plugin":"NodeResourcesFit"}])"));
  }
  EXPECT_EQ(attempts_when_nominated, 1);
}

TEST_F(Why, NamesTheOtherSchedulerOfAPod) {
  const std::string cluster = folder_.Write("foreign.yaml", R"(
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
---
apiVersion: v1
kind: Pod
metadata: {name: custom, namespace: default}
spec: {schedulerName: my-scheduler, containers: [{name: c, image: x}]}
)");
  const std::string trace = folder_.Path("foreign.jsonl");
  for (const char* level : {"full", "decisions"}) {
    ASSERT_EQ(RunProgram({"run", "-f", cluster, "--trace", trace, "--trace-level", level}).exit_code, 0);
    const ProgramResult why = RunProgram({"why", "custom", trace});
    EXPECT_TRUE(absl::StartsWith(OneLine(why.out),
                                 "default/custom Pending: it is for another scheduler, my-scheduler, which "
                                 "is none of the profiles of this run."))
        << why.out;
    EXPECT_EQ(absl::StrContains(why.out, "The trace has"), level == std::string("decisions")) << why.out;
    const Json story = Json::parse(RunProgram({"why", "custom", trace, "--output", "json"}).out);
    EXPECT_EQ(story["otherScheduler"], "my-scheduler");
    EXPECT_EQ(story["state"], "Pending");
  }
}

TEST_F(Why, SaysWhatCouldWakeAPendingPod) {
  const ProgramResult why = RunProgram({"why", "wide", Trace()});
  EXPECT_TRUE(absl::StrContains(
      OneLine(why.out),
      "Pending after 1 attempt, in the pool of unschedulable pods since 0.001 s, rejected by "
      "NodeResourcesFit. "
      "What could wake it: NodeAdd, NodeUpdateNodeAllocatable, PodDelete, PodUpdatePodScaleDown, "
      "resource.k8s.io/DeviceClassAdd, resource.k8s.io/DeviceClassUpdate (NodeResourcesFit); otherwise the "
      "flush at 330.000 s."))
      << why.out;
}

TEST_F(Why, NamesTheGate) {
  const ProgramResult why = RunProgram({"why", "gated", Trace()});
  EXPECT_TRUE(absl::StrContains(why.out, "gated by SchedulingGates: it is new")) << why.out;
  EXPECT_TRUE(absl::StrContains(
      OneLine(why.out),
      "gated by SchedulingGates. What could wake it: TargetPodUpdatePodSchedulingGatesEliminated "))
      << why.out;
}

TEST_F(Why, ReadsCompressedTracesAndStandardInput) {
  const std::string trace = Trace();
  const std::string text = FileContent(trace);
  const std::string plain = RunProgram({"why", "wide", trace}).out;
  EXPECT_EQ(RunProgram({"why", "wide", folder_.Write("t.gz", Gzip(text))}).out, plain);
  EXPECT_EQ(RunProgram({"why", "wide", folder_.Write("t.xz", Xz(text))}).out, plain);
  EXPECT_EQ(RunProgram({"why", "wide", "-"}, text).out, plain);
  EXPECT_EQ(RunProgram({"why", "wide", "-"}, Gzip(text)).out, plain);
}

TEST_F(Why, SaysWhatATraceOfDecisionsLacks) {
  const ProgramResult why = RunProgram({"why", "wide", Trace("decisions")});
  EXPECT_EQ(why.exit_code, 0);
  EXPECT_TRUE(absl::StrContains(why.out, "     1 node  Insufficient cpu\n")) << why.out;
  EXPECT_TRUE(absl::StrContains(OneLine(why.out), "it was not written with --trace-level full")) << why.out;
}

TEST_F(Why, ShowsWhatATerminalWouldActOn) {
  const std::string trace = folder_.Write(
      "escapes.jsonl",
      R"({"t":0,"ev":"inexact","pod":"default/\u001b[31mred","reason":"\u001b]0;title\u0007\nsecond line"})"
      "\n"
      R"({"t":0,"ev":"final","pods":{}})"
      "\n");
  const ProgramResult why = RunProgram({"why", "default/\x1b[31mred", trace});
  EXPECT_EQ(why.exit_code, 0) << why.err;
  EXPECT_TRUE(absl::StartsWith(why.out, "default/\\x1b[31mred\n")) << why.out;
  EXPECT_TRUE(absl::StrContains(why.out, "\\x1b]0;title\\x07\\nsecond line\n")) << why.out;
  EXPECT_FALSE(absl::StrContains(why.out, "\x1b")) << why.out;
}

TEST_F(Why, ShortensLongNamesInMessages) {
  const std::string name(20'000'000, 'x');
  const std::string trace = folder_.Write(
      "long.jsonl",
      absl::StrCat(R"({"t":0,"ev":"final","pods":{"default/)", name, R"(":{"node":1}}})", "\n"));
  const ProgramResult why = RunProgram({"why", "default/x", trace});
  EXPECT_EQ(why.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(why.err, "long.jsonl:1: final: pods.default/xxx")) << why.err.substr(0, 500);
  EXPECT_LT(why.err.size(), 1000U);
}

TEST_F(Why, SaysThatATraceIsCutOff) {
  const std::string whole = FileContent(Trace());
  EXPECT_FALSE(absl::StrContains(RunProgram({"why", "wide", Trace()}).out, "does not reach the end"));
  const std::string cut = whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1);
  const ProgramResult why = RunProgram({"why", "wide", folder_.Write("cut.jsonl", cut)});
  EXPECT_EQ(why.exit_code, 0) << why.err;
  EXPECT_TRUE(absl::StrContains(why.out, "The trace does not reach the end of the run")) << why.out;
}

TEST_F(Why, NamesCloseOnesForAnUnknownPod) {
  const ProgramResult why = RunProgram({"why", "default/wild", Trace()});
  EXPECT_EQ(why.exit_code, 2);
  EXPECT_TRUE(
      absl::StrContains(why.err, "no pod default/wild in the trace, expected one such as default/wide"))
      << why.err;
  EXPECT_EQ(why.out, "");
}

TEST_F(Why, NamesExplainForACluster) {
  const ProgramResult why = RunProgram({"why", "wide", "-f", "cluster.yaml"});
  EXPECT_EQ(why.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(why.err, "-f: expected a trace; of a cluster, schedsim explain tells why"))
      << why.err;
  const ProgramResult form = RunProgram({"why", "po/wide", Trace()});
  EXPECT_TRUE(absl::StrContains(form.err, "; expected NAMESPACE/NAME or NAME, such as wide")) << form.err;
}

TEST_F(Why, AsksForTheNamespaceOfAnAmbiguousName) {
  const ProgramResult why = RunProgram({"why", "high", Trace()});
  EXPECT_EQ(why.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(why.err, "several namespaces, expected one of default/high, other/high"))
      << why.err;
}

TEST_F(Why, PrintsJson) {
  const ProgramResult why = RunProgram({"why", "default/high", Trace(), "--output", "json"});
  const Json story = Json::parse(why.out);
  EXPECT_EQ(story["kind"], "PodStory");
  EXPECT_EQ(story["state"], "Bound");
  EXPECT_EQ(story["node"], "node-1");
  const Json& attempt = story["entries"][1];
  EXPECT_EQ(attempt["reasons"],
            Json::parse(R"([{"nodes":1,"reason":"Insufficient cpu","plugin":"NodeResourcesFit"}])"));
  const Json& move = story["entries"][4];
  EXPECT_EQ(move["event"], "AssignedPodDelete");
  EXPECT_EQ(move["object"], "default/low");
  EXPECT_EQ(move["hints"], Json::parse(R"([{"plugin":"NodeResourcesFit","answer":"Queue"}])"));
}

TEST_F(Why, TellsWhichPluginMadeTheDifference) {
  const std::string cluster = folder_.Write("two.yaml", R"(
apiVersion: v1
kind: Node
metadata: {name: small}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
---
apiVersion: v1
kind: Node
metadata: {name: large}
status: {allocatable: {cpu: 16, memory: 32Gi, pods: 110}}
---
apiVersion: v1
kind: Pod
metadata: {name: pod, namespace: default}
spec:
  containers: [{name: c, image: i, resources: {requests: {cpu: 2, memory: 4Gi}}}]
)");
  const std::string trace = folder_.Path("two.jsonl");
  ASSERT_EQ(RunProgram({"run", "-f", cluster, "--trace", trace, "--trace-level", "full"}).exit_code, 0);
  const ProgramResult why = RunProgram({"why", "pod", trace});
  EXPECT_TRUE(
      absl::StrContains(OneLine(why.out), ", 37 ahead of small; most of it is NodeResourcesFit's: +37 "))
      << why.out;
}

TEST_F(Why, ReadsRecordedTracesOfTheRealScheduler) {
  const ProgramResult why = RunProgram({"why", "default/pod-3", kRecorded, "--case", "queue-3"});
  EXPECT_EQ(why.exit_code, 0) << why.err;
  EXPECT_TRUE(absl::StrContains(why.out,
                                "      0.0010 s  in the pool of unschedulable pods\n"
                                "     14.5395 s  attempt 2: fits on 1 of 1 node looked at, takes node-1\n"))
      << why.out;
  EXPECT_TRUE(absl::StrContains(why.out, "The trace has no moves in the queue")) << why.out;
  const ProgramResult which = RunProgram({"why", "default/pod-3", kRecorded});
  EXPECT_EQ(which.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(which.err, "several cases, expected --case with one of 40: queue-1,"))
      << which.err;
}

TEST_F(Why, NamesThePlaceOfWhatIsNoTrace) {
  const std::string good = R"({"t":0,"ev":"bind","pod":"default/a","node":"n"})";
  const struct {
    std::string text;
    std::string error;
  } rows[] = {
      {"", "bad: empty, expected a trace"},
      {good + "\nkind: Pod\n", "bad:2: expected a record of a trace"},
      {good + "\n" + good.substr(0, good.size() - 3), "bad:2: the line ends within a record"},
      {good + "\n{\"ev\":\"bind\",\"pod\":\"default/a\",}\n", "bad:2:32: malformed JSON, expected a"},
      {good + "\n{\"t\":0,\"ev\":\"bind\",\"pod\":\"default/a\"}\n",
       "bad:2: bind: node: missing, expected it in each such record"},
      {good + "\n{\"t\":0,\"ev\":\"bind\",\"pod\":\"default/a\",\"node\":[]}\n",
       "bad:2: bind: node: expected a string, got a list"},
      {good + "\n{\"ev\":\"bind\",\"pod\":\"default/a\",\"node\":\"n\"}\n",
       "bad:2: expected a record of a trace: t: missing"},
      {"{\"case\":\"c-1\",\"trace\":[" + good + ",{}]}\n", "bad:1: expected a record of a trace: t: missing"},
      {"{\"case\":\"c-1\",\"trace\":[" + good + ",}\n", "bad:1:"},
  };
  for (const auto& row : rows) {
    const ProgramResult why = RunProgram({"why", "default/a", folder_.Write("bad", row.text)});
    EXPECT_EQ(why.exit_code, 2);
    EXPECT_TRUE(absl::StrContains(why.err, row.error)) << why.err;
    EXPECT_FALSE(absl::StrContains(why.err, "json.exception")) << why.err;
    EXPECT_EQ(why.out, "");
  }
  EXPECT_EQ(RunProgram({"why", "a", folder_.Path("missing")}).exit_code, 2);
}

}  // namespace
}  // namespace schedsim
