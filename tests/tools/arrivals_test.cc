// Open systems as a user sees them: templates, arrivals, lifetimes, rounds, the measured window, the tables.
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

constexpr char kNodes[] = R"(apiVersion: schedsim/v1
kind: Scenario
objects:
- count: 4
  template:
    apiVersion: v1
    kind: Node
    metadata: {name: "n{{add .Index 1}}", labels: {zone: "z{{mod .Index 2}}"}}
    status: {allocatable: {cpu: "4", memory: 8Gi, pods: "20"}}
)";

// An arrival with a pod that asks for `cpu`.
std::string Source(const std::string& name, const std::string& fields, const std::string& cpu = "1") {
  return absl::StrCat("- name: ", name, "\n  ", absl::StrJoin(absl::StrSplit(fields, '\n'), "\n  "),
                      "\n  template: {apiVersion: v1, kind: Pod, metadata: {name: \"", name,
                      "-{{.Index}}\"}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: ",
                      cpu, "}}}]}}\n");
}

TEST(TemplateTest, MakesObjectsThatDifferInTheirIndex) {
  const Played played = Play(absl::StrCat(kNodes, R"(- count: 3
  template: {apiVersion: v1, kind: Pod, metadata: {name: "p-{{.Index}}"}, spec: {nodeSelector: {zone: "z1"}, containers: [{name: c, image: i}]}}
)"));
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.report["nodes"], 4);
  ASSERT_EQ(played.report["pods"].size(), 3U);
  const std::set<std::string> nodes = {played.NodeOf("p-0"), played.NodeOf("p-1"), played.NodeOf("p-2")};
  EXPECT_EQ(nodes, (std::set<std::string>{"n2", "n4"})) << "those of zone z1";
}

TEST(TemplateTest, CreateTakesThemAsWell) {
  const Played played = Play(absl::StrCat(kNodes, R"(timeline:
- at: 1s
  create:
    count: 3
    template: {apiVersion: v1, kind: Pod, metadata: {name: "p-{{.Index}}"}, spec: {containers: [{name: c, image: i}]}}
)"));
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.Times("bind", "p-2"), (Times{1.002}));
}

TEST(RepeatTest, RoundsBeginAtTheirTimesAndIndicesGoOn) {
  const Played played = Play(absl::StrCat(kNodes, R"(timeline:
- at: 10s
  repeat:
    every: 30s
    times: 3
    timeline:
    - create: {count: 2, template: {apiVersion: v1, kind: Pod, metadata: {name: "p-{{.Index}}"}, spec: {containers: [{name: c, image: i}]}}}
    - after: 5s
      delete: {selector: ""}
- after: 1s
  cordon: n1
)"));
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.Times("step"), (Times{10, 15.001, 40, 45.001, 70, 75.001, 76.001}));
  EXPECT_EQ(played.Times("bind", "p-0"), (Times{10}));
  EXPECT_EQ(played.Times("bind", "p-3"), (Times{40.001}));
  EXPECT_EQ(played.Times("bind", "p-5"), (Times{70.001}));
}

TEST(RepeatTest, ARoundWaitsForTheOneBefore) {
  const Played played = Play(absl::StrCat(kNodes, R"(timeline:
- repeat:
    every: 1s
    times: 2
    timeline:
    - cordon: n1
    - after: 3s
      uncordon: n1
)"));
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.Times("step"), (Times{0, 3.001, 3.002, 6.003}));
}

TEST(ArrivalsTest, PodsLeaveWhenTheirLifetimesAreOver) {
  const Played played =
      Play(absl::StrCat(kNodes, "latency: {podTermination: 1s}\narrivals:\n",
                        Source("a", "every: 10s\ncount: 2\nlifetime: 30s"),
                        Source("b", "every: 1s\ncount: 1\nlifetime: 5s\nending: Succeeded")));
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.Times("bind", "a-0"), (Times{10}));
  EXPECT_EQ(played.Times("bind", "a-1"), (Times{20}));
  EXPECT_EQ(played.Times("gone", "a-0"), (Times{41}));
  EXPECT_EQ(played.Times("gone", "a-1"), (Times{51}));
  EXPECT_EQ(played.Pod("b-0")["status"], "Finished");
  EXPECT_EQ(played.Pod("b-0")["reason"], "Succeeded");
}

TEST(ArrivalsTest, ALifetimeRunsFromTheBindingOn) {
  // 16 cores: the second pod fits when the first one is gone.
  const Played played =
      Play(absl::StrCat(kNodes, "latency: {podTermination: 1s}\narrivals:\n",
                        Source("a", "bursts: {every: 1h, size: 5}\ncount: 5\nlifetime: 1m", "4")));
  EXPECT_EQ(played.exit_code, 0) << played.err;
  const Times bound = played.Times("bind", "a-4");
  ASSERT_EQ(bound.size(), 1U);
  EXPECT_GE(bound[0], 60);
  EXPECT_EQ(played.Times("gone", "a-4"), (Times{bound[0] + 61}));
}

TEST(ArrivalsTest, RowsOfAFileHaveTimesLifetimesAndFields) {
  const TestFolder folder;
  folder.Write("jobs.csv", "at,cpu,lifetime\n20,3,\n5s,2,10s\n");
  const std::string scenario = folder.Write(
      "scenario.yaml", absl::StrCat(kNodes, "arrivals:\n", Source("a", "file: jobs.csv", "\"{{.cpu}}\"")));
  const ProgramResult result = RunProgram({"run", scenario, "--pods", folder.Path("pods.csv")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(FileContent(folder.Path("pods.csv")),
            "namespace,name,status,node,created_microseconds,first_attempt_microseconds,bound_microseconds,"
            "gone_microseconds,waiting_microseconds,attempts,measured,requests.cpu_milli\n"
            "default,a-0,Deleted,n1,5000000,5000000,5000000,15000000,0,1,true,2000\n"
            "default,a-1,Bound,n1,20000000,20000000,20000000,,0,1,true,3000\n");
}

TEST(ArrivalsTest, AnotherSourceChangesNoDraw) {
  const std::string one =
      Source("a", "poisson: {rate: 1/s}\nlifetime: {distribution: exponential, mean: 5s}");
  const std::string other = Source("b", "poisson: {rate: 2/s}");
  const Played alone = Play(absl::StrCat(kNodes, "end: 20s\narrivals:\n", one));
  const Played behind = Play(absl::StrCat(kNodes, "end: 20s\narrivals:\n", other, one));
  const Played again = Play(absl::StrCat(kNodes, "end: 20s\narrivals:\n", one));
  const Played seeded = Play(absl::StrCat(kNodes, "end: 20s\narrivals:\n", one), {"--seed", "2"});
  const auto arrivals = [](const Played& played) {
    Times times;
    for (const Json& record : played.Records("attempt")) {
      if (absl::StartsWith(record["pod"].get<std::string>(), "default/a-") && record["attempts"] == 1)
        times.push_back(record["t"].get<double>());
    }
    return times.size();
  };
  EXPECT_GT(arrivals(alone), 10U);
  EXPECT_EQ(arrivals(alone), arrivals(behind));
  EXPECT_EQ(alone.report["digest"], again.report["digest"]);
  EXPECT_NE(alone.report["digest"], seeded.report["digest"]);
}

TEST(ArrivalsTest, WhatIsRefusedIsAFailure) {
  const Played played = Play(absl::StrCat(kNodes,
                                          "arrivals:\n- {name: a, every: 1s, count: 3, template: "
                                          "{apiVersion: v1, kind: Pod, metadata: {name: p}, "
                                          "spec: {containers: [{name: c, image: i}]}}}\n"));
  EXPECT_EQ(played.exit_code, 1);
  ASSERT_EQ(played.report["failures"].size(), 1U);
  EXPECT_TRUE(absl::StrContains(played.report["failures"][0].get<std::string>(),
                                "arrivals[0]: pods \"p\" already exists (and 1 more objects were refused)"))
      << played.report["failures"];
}

TEST(MeasureTest, CountsWhatWasCreatedInTheWindow) {
  const Played played = Play(absl::StrCat(kNodes, "end: 60s\nmeasure: {from: 20s, until: 50s}\narrivals:\n",
                                          Source("a", "every: 10s\nlifetime: 15s", "2")));
  EXPECT_EQ(played.exit_code, 0) << played.err;
  const Json measured = played.report["measured"];
  EXPECT_EQ(measured["fromMicroseconds"], 20'000'000);
  EXPECT_EQ(measured["untilMicroseconds"], 50'000'000);
  EXPECT_EQ(measured["created"], 3) << "at 20, 30 and 40 s";
  EXPECT_EQ(measured["bound"], 3);
  EXPECT_EQ(measured["gone"], 3) << "the last one at 55 s";
  EXPECT_EQ(measured["waiting"], 0);
  EXPECT_EQ(measured["bindings"], 3);
  EXPECT_EQ(measured["latencyMicroseconds"]["max"], 0);
  // From 20 to 25, from 30 to 35 and from 40 to 45 s two pods, otherwise one: 3 cores of 16 on average.
  EXPECT_EQ(measured["resources"][0]["name"], "cpu");
  EXPECT_EQ(measured["resources"][0]["meanPercent"], "18.75");
  EXPECT_EQ(played.report["warnings"], Json::array());
}

// What was bound before is nobody's decision of the run.
TEST(MeasureTest, PodsThatCameWithANodeDoNotCount) {
  const Played played = Play(absl::StrCat(
      kNodes,
      "- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: n1, containers: [{name: c, image: "
      "i}]}}\n- {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {containers: [{name: c, image: "
      "i}]}}\nend: 10s\nmeasure: {from: 0s}\n"));
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.report["measured"]["created"], 1);
  EXPECT_EQ(played.report["measured"]["bound"], 1);
}

TEST(MeasureTest, ARunThatEndsBeforeTheWindowIsNamed) {
  const Played played = Play(
      absl::StrCat(kNodes, "measure: {from: 1h}\narrivals:\n", Source("a", "every: 10s\ncount: 3", "2")));
  EXPECT_EQ(played.exit_code, 0) << played.err;
  ASSERT_EQ(played.report["warnings"].size(), 1U) << played.report["warnings"];
  const auto warning = played.report["warnings"][0].get<std::string>();
  EXPECT_TRUE(absl::StartsWith(warning, "measure.from: the run ended at ")) << warning;
  EXPECT_TRUE(absl::EndsWith(warning, ", before 1h, so nothing was measured; `end` makes it go on"))
      << warning;
}

// Shares are of the time in which a node is there, and amounts may be more than 64 bits hold.
TEST(TablesTest, NodesThatAreGoneHaveNoShare) {
  const TestFolder folder;
  const std::string pod =
      "- {apiVersion: v1, kind: Pod, metadata: {name: NAME}, spec: {nodeName: n1, containers: [{name: c, "
      "image: "
      "i, resources: {requests: {cpu: 4, memory: 5Ei}}}]}}\n";
  const std::string scenario = folder.Write(
      "scenario.yaml",
      absl::StrCat(
          "apiVersion: schedsim/v1\nkind: Scenario\nobjects:\n- {apiVersion: v1, kind: Node, metadata: "
          "{name: n1}, status: {allocatable: {cpu: 8, memory: 7Ei, pods: 9}}}\n",
          absl::StrReplaceAll(pod, {{"NAME", "a"}}), absl::StrReplaceAll(pod, {{"NAME", "b"}}),
          "timeline:\n- {at: 10s, delete: {kind: Node, name: n1}}\nend: 40s\nmeasure: {from: 0s}\n"));
  const ProgramResult result = RunProgram(
      {"run", scenario, "--controllers", "none", "--nodes", folder.Path("nodes.json"), "-o", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Json node = Json::parse(FileContent(folder.Path("nodes.json")))["rows"][0];
  EXPECT_EQ(node["mean_share.cpu_basis_points"], 10'000);
  EXPECT_EQ(node["mean_share.memory_basis_points"], 14'285);
  EXPECT_EQ(node["requested.memory_bytes"], std::numeric_limits<int64_t>::max());
  const Json measured = Json::parse(result.out)["measured"]["resources"];
  EXPECT_EQ(measured[0]["meanPercent"], "100.00") << measured;
  EXPECT_EQ(measured[1]["meanPercent"], "142.85") << measured;
}

TEST(TablesTest, NodesHaveTheirShares) {
  const TestFolder folder;
  const std::string scenario = folder.Write(
      "scenario.yaml",
      absl::StrCat(kNodes, "end: 40s\narrivals:\n", Source("a", "every: 10s\ncount: 1\nlifetime: 10s", "2")));
  const ProgramResult result =
      RunProgram({"run", scenario, "--nodes", folder.Path("nodes.json"), "--pods", folder.Path("pods.json")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Json nodes = Json::parse(FileContent(folder.Path("nodes.json")));
  EXPECT_EQ(nodes["kind"], "NodeTable");
  ASSERT_EQ(nodes["rows"].size(), 4U);
  const Json node = nodes["rows"][0];
  EXPECT_EQ(node["name"], "n1");
  EXPECT_EQ(node["gone_microseconds"], nullptr);
  EXPECT_EQ(node["pods"], 0);
  EXPECT_EQ(node["pods_bound"], 1);
  EXPECT_EQ(node["allocatable.cpu_milli"], 4000);
  EXPECT_EQ(node["requested_max.cpu_milli"], 2000);
  EXPECT_EQ(node["mean_share.cpu_basis_points"], 1250) << "half of it for a quarter of the time";
  EXPECT_EQ(Json::parse(FileContent(folder.Path("pods.json")))["rows"][0]["requests.cpu_milli"], 2000);
}

TEST(TablesTest, TheSeriesHasARowForEachChange) {
  const TestFolder folder;
  const std::string scenario = folder.Write(
      "scenario.yaml",
      absl::StrCat(kNodes, "end: 40s\narrivals:\n", Source("a", "every: 10s\ncount: 1\nlifetime: 10s", "2")));
  const ProgramResult result = RunProgram({"run", scenario, "--series", folder.Path("series.csv")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(FileContent(folder.Path("series.csv")),
            "time_microseconds,nodes,bound,pending,active,backoff,unschedulable,gated,attempts,evicted,"
            "requested.cpu_milli,allocatable.cpu_milli,requested.ephemeral-storage_bytes,"
            "allocatable.ephemeral-storage_bytes,requested.memory_bytes,allocatable.memory_bytes,"
            "requested.pods,allocatable.pods\n"
            "0,4,0,0,0,0,0,0,0,0,0,16000,0,0,0,34359738368,0,80\n"
            "10000000,4,1,0,0,0,0,0,1,0,2000,16000,0,0,0,34359738368,1,80\n"
            "20000000,4,0,0,0,0,0,0,1,0,0,16000,0,0,0,34359738368,0,80\n"
            "40000000,4,0,0,0,0,0,0,1,0,0,16000,0,0,0,34359738368,0,80\n");
}

TEST(ArrivalsTest, WhatIsWrongIsNamedWithItsPlace) {
  const std::string pod =
      "template: {apiVersion: v1, kind: Pod, metadata: {name: \"p{{.Index}}\"}, spec: {containers: [{name: "
      "c, image: i}]}}";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"arrivals: {}", "scenario.yaml:3:11: arrivals: expected a list, got a map"},
      {absl::StrCat("arrivals:\n- {every: 1s, count: 1, ", pod, "}"),
       "arrivals[0].name: expected a name for the source"},
      {absl::StrCat("arrivals:\n- {name: a, every: 1s, ", pod, "}"),
       "arrivals[0].until: expected a time, or a count"},
      {absl::StrCat("arrivals:\n- {name: a, count: 1, ", pod, "}"),
       "arrivals[0]: expected one process: every, poisson"},
      {absl::StrCat("arrivals:\n- {name: a, count: 1, every: 1s, poisson: {rate: 1/s}, ", pod, "}"),
       "arrivals[0]: expected one process"},
      {absl::StrCat("arrivals:\n- {name: a, count: 1, poisson: {rate: 5}, ", pod, "}"),
       "arrivals[0].poisson.rate: \"\" is not a rate"},
      {absl::StrCat("arrivals:\n- {name: a, count: 1, poisson: {rate: 0/s}, ", pod, "}"),
       "arrivals[0].poisson.rate: expected at least 1/d"},
      {absl::StrCat("arrivals:\n- {name: a, count: 1, bursts: {every: 1s, size: {min: 3, max: 2}}, ", pod,
                    "}"),
       "arrivals[0].bursts.size: expected a whole number above zero"},
      {absl::StrCat("arrivals:\n- {name: a, count: 1, diurnal: {rates: [{rate: 0/s}]}, ", pod, "}"),
       "arrivals[0].diurnal.rates: expected a list of times with rates, one of them above zero"},
      {absl::StrCat(
           "arrivals:\n- {name: a, count: 1, diurnal: {rates: [{at: 2h, rate: 1/s}, {at: 1h, rate: 2/s}]}, ",
           pod, "}"),
       "arrivals[0].diurnal.rates[1].at: expected a time behind that of the entry before"},
      {absl::StrCat("arrivals:\n- {name: a, file: none.csv, ", pod, "}"), "arrivals[0].file"},
      {absl::StrCat("arrivals:\n- {name: a, every: 1s, count: 0, ", pod, "}"),
       "arrivals[0].count: expected a whole number above zero"},
      {absl::StrCat("arrivals:\n- {name: a, every: 1s, count: 1, from: 5s, until: 5s, ", pod, "}"),
       "arrivals[0].until: expected a time behind"},
      {absl::StrCat("end: 10s\narrivals:\n- {name: a, every: 1s, count: 1, from: 10s, ", pod, "}"),
       "arrivals[0].from: expected a time before the end, 10s"},
      {absl::StrCat("end: 0s\narrivals:\n- {name: a, every: 1s, count: 1, ", pod, "}"),
       "arrivals[0].from: expected a time before the end, 0"},
      {absl::StrCat("arrivals:\n- {name: a, every: 1s, count: 1, ending: Lost, ", pod, "}"),
       "arrivals[0].ending: expected Deleted, Succeeded or Failed"},
      {absl::StrCat("arrivals:\n- {name: a, every: 1s, count: 1, ending: Failed, ", pod, "}"),
       "arrivals[0].ending: expected a lifetime beside it"},
      {"arrivals:\n- {name: a, every: 1s, count: 1, lifetime: 5s, ending: Failed, template: {apiVersion: v1, "
       "kind: Node, metadata: {name: node-1}}}",
       "arrivals[0].ending: expected Deleted, which other objects than pods are"},
      {"arrivals:\n- {name: a, every: 1s, count: 1, template: {apiVersion: v1, kind: Deployment, metadata: "
       "{name: a}}}",
       "kind: Kubernetes 1.34 to 1.37 serves no Deployment in v1, expected apps/v1"},
      {absl::StrCat("arrivals:\n- {name: a, every: 1s, count: 1, color: red, ", pod, "}"),
       "unknown field \"arrivals[0].color\""},
      {"arrivals:\n- {name: a, every: 1s, count: 1}", "arrivals[0].template: expected an object"},
      {"arrivals:\n- {name: a, every: 1s, count: 1, template: {apiVersion: v1, kind: Pod, metadata: {name: "
       "\"{{.Index\"}}}",
       "unclosed action"},
      {"objects:\n- {count: 0, template: {apiVersion: v1, kind: Node, metadata: {name: a}}}",
       "objects[0].count: expected a whole number from 1"},
      {"objects:\n- {count: 2, template: x}", "objects[0].template: expected an object"},
      {"timeline:\n- repeat: {times: 2, timeline: []}",
       "timeline[0].repeat.timeline: expected a list of entries"},
      {"timeline:\n- repeat: {timeline: [{cordon: a}]}",
       "timeline[0].repeat.times: expected a whole number from 1"},
      {"timeline:\n- repeat: {times: 2, timeline: [{at: 1s, cordon: a}]}",
       "timeline[0].repeat.timeline[0].at: expected after"},
      {"timeline:\n- {cordon: a, repeat: {times: 2, timeline: [{cordon: a}]}}",
       "timeline[0]: expected one action, got repeat as well"},
      {"end: 5s\nmeasure: {from: 5s}", "measure.from: expected a time before the end"}};
  for (const auto& [text, what] : cases) {
    const Played played = Play(absl::StrCat("apiVersion: schedsim/v1\nkind: Scenario\n", text, "\n"));
    EXPECT_EQ(played.exit_code, 2) << text;
    EXPECT_TRUE(absl::StrContains(played.err, what)) << text << "\n" << played.err;
  }
}

}  // namespace
}  // namespace schedsim
