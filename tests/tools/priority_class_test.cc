// Pods and their priority classes, as the API server admits them.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Json = nlohmann::json;

constexpr char kNode[] =
    "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: \"2\", memory: 8Gi, pods: "
    "\"110\"}}\n---\n";

std::string Pod(const std::string& name, const std::string& spec, const std::string& metadata = "") {
  return absl::StrCat("apiVersion: v1\nkind: Pod\nmetadata: {name: ", name, metadata, "}\nspec: {", spec,
                      ", containers: [{name: c, image: x, resources: {requests: {cpu: \"1\"}}}]}\n---\n");
}

std::string Class(const std::string& name, int value, const std::string& more = "") {
  return absl::StrCat("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: ", name,
                      "}\nvalue: ", value, "\n", more, "---\n");
}

ProgramResult RunManifests(const std::string& manifests) {
  const TestFolder folder;
  return RunProgram({"run", "-f", folder.Write("a.yaml", kNode + manifests), "--output", "json"});
}

// The names of the pods on the node.
std::vector<std::string> Bound(const ProgramResult& result) {
  std::vector<std::string> names;
  const Json report = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object()) return names;
  for (const Json& pod : report["pods"]) {
    if (pod["node"] == "n1") names.push_back(pod["name"].get<std::string>());
  }
  return names;
}

TEST(PriorityClassTest, APodThatNamesNoneThatExistsIsRefusedWithItsPlace) {
  const ProgramResult result = RunManifests(Pod("hi", "priorityClassName: gold") + Class("gold", 1000) +
                                            Pod("unk", "priorityClassName: no-such-class"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(absl::StrContains(
      result.err,
      "a.yaml:16:1: pods \"unk\" is forbidden: no PriorityClass with name no-such-class was found"))
      << result.err;
}

TEST(PriorityClassTest, AValueOrANameThatIsNotForUsersIsRefusedWithItsPlace) {
  constexpr char kName[] =
      "\" is invalid: metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for "
      "system use only. error: ";
  const std::pair<std::string, std::string> kRows[] = {
      {Class("top", 1'000'000'001),
       "a.yaml:6:1: PriorityClass.scheduling.k8s.io \"top\" is invalid: value: Forbidden: maximum allowed "
       "value "
       "of a user defined priority is 1000000000"},
      {Class("system-own", 5),
       absl::StrCat("\"system-own", kName, "system-own is not a known system priority class")},
      {Class("system-node-critical", 5),
       absl::StrCat(kName, "value of system-node-critical PriorityClass must be 2000001000")},
      {Class("system-node-critical", 2'000'001'000, "globalDefault: true\n"),
       absl::StrCat(kName, "globalDefault of system-node-critical PriorityClass must be false")},
  };
  for (const auto& [manifest, want] : kRows) {
    const ProgramResult result = RunManifests(manifest);
    EXPECT_EQ(result.exit_code, 2) << want;
    EXPECT_TRUE(absl::StrContains(result.err, want)) << want << "\n" << result.err;
  }
  const ProgramResult good =
      RunManifests(Class("top", 1'000'000'000) + Class("system-node-critical", 2'000'001'000));
  EXPECT_EQ(good.exit_code, 0) << good.err;
}

TEST(PriorityClassTest, WhatPassedAdmissionBeforeIsLetThrough) {
  for (const std::string& pod :
       {Pod("a", "priority: 7, priorityClassName: gone", ", uid: u"),
        Pod("a", "priorityClassName: gone", ", uid: u"),
        Pod("a", "priorityClassName: gone", ", resourceVersion: \"7\""),
        Pod("a", "priority: 7, preemptionPolicy: Never, priorityClassName: gold", ", uid: u") +
            Class("gold", 1000)}) {
    const ProgramResult result = RunManifests(pod);
    EXPECT_EQ(result.exit_code, 0) << pod << result.err;
    EXPECT_EQ(Bound(result), (std::vector<std::string>{"a"})) << pod;
  }
}

// What kube-apiserver v1.37.2 says.
TEST(PriorityClassTest, AManifestThatContradictsItsClassIsRefused) {
  const std::string gold = Class("gold", 1000);
  const std::string never = Class("gold", 1000, "preemptionPolicy: Never\n");
  const std::string by_default = Class("gold", 1000, "globalDefault: true\n");
  const std::pair<std::string, std::string> kRows[] = {
      {Pod("a", "priority: 7, priorityClassName: gold") + gold,
       "pods \"a\" is forbidden: the integer value of priority (7) must not be provided in pod spec; "
       "priority "
       "admission controller computed 1000 from the given PriorityClass name"},
      {Pod("a", "priority: 0, priorityClassName: system-node-critical"),
       "the integer value of priority (0) must not be provided in pod spec; priority admission controller "
       "computed 2000001000 from"},
      {Pod("a", "priority: 7") + by_default, "the integer value of priority (7) must not be provided"},
      {Pod("a", "priority: 7, priorityClassName: gone") + gold, "no PriorityClass with name gone was found"},
      {Pod("a", "preemptionPolicy: Never, priorityClassName: gold") + gold,
       "the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission "
       "controller computed PreemptLowerPriority from the given PriorityClass name"},
      {Pod("a", "preemptionPolicy: PreemptLowerPriority, priorityClassName: gold") + never,
       "the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; "
       "priority "
       "admission controller computed Never from"},
  };
  for (const auto& [manifests, want] : kRows) {
    const ProgramResult result = RunManifests(manifests);
    EXPECT_EQ(result.exit_code, 2) << want;
    EXPECT_TRUE(absl::StrContains(result.err, want)) << want << "\n" << result.err;
  }
  for (const std::string& manifests :
       {Pod("a", "priority: 1000, priorityClassName: gold") + gold,
        Pod("a", "preemptionPolicy: Never, priorityClassName: gold") + never,
        Pod("a", "preemptionPolicy: PreemptLowerPriority, priorityClassName: gold") + gold,
        Pod("a", "priority: 7, preemptionPolicy: Never") + gold}) {
    const ProgramResult result = RunManifests(manifests);
    EXPECT_EQ(result.exit_code, 0) << manifests << result.err;
  }
}

TEST(PriorityClassTest, TheSystemClassesAlwaysExist) {
  const ProgramResult result =
      RunManifests(Pod("low", "nodeSelector: {}") + Pod("low-2", "nodeSelector: {}") +
                   Pod("dns", "priorityClassName: system-cluster-critical") +
                   Pod("net", "priorityClassName: system-node-critical"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Bound(result), (std::vector<std::string>{"dns", "net"}));
}

TEST(PriorityClassTest, OfSeveralDefaultsTheLowestCounts) {
  const ProgramResult result =
      RunManifests(Pod("plain", "nodeSelector: {}") + Pod("plain-2", "nodeSelector: {}") +
                   Pod("mid", "priorityClassName: middle") + Class("high", 100, "globalDefault: true\n") +
                   Class("low", 10, "globalDefault: true\n") + Class("middle", 50));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::vector<std::string> bound = Bound(result);
  EXPECT_EQ(bound.size(), 2U);
  EXPECT_NE(std::find(bound.begin(), bound.end(), "mid"), bound.end());
}

TEST(PriorityClassTest, ABoundPodMayComeBeforeItsClass) {
  const ProgramResult result =
      RunManifests(Pod("a", "nodeName: n1, priorityClassName: gold") + Class("gold", 1000));
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST(PriorityClassTest, ATimelineCannotCreateSuchAPodEither) {
  const TestFolder folder;
  const std::string scenario = folder.Write("scenario.yaml", R"(apiVersion: schedsim/v1
kind: Scenario
objects:
- {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "2", pods: "9"}}}
timeline:
- create: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {priorityClassName: gold, containers: [{name: c, image: x}]}}
- create: {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: gold}, value: 5}
- create: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {priorityClassName: gold, containers: [{name: c, image: x}]}}
)");
  const ProgramResult result = RunProgram({"run", scenario, "--output", "json"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const Json report = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(report.is_object()) << result.err;
  ASSERT_EQ(report["failures"].size(), 1U) << report["failures"];
  EXPECT_TRUE(absl::EndsWith(
      report["failures"][0].get<std::string>(),
      "timeline[0].create: pods \"a\" is forbidden: no PriorityClass with name gold was found"))
      << report["failures"][0];
  EXPECT_EQ(Bound(result), (std::vector<std::string>{"a"}));
}

TEST(PriorityClassTest, PodsOfAWorkloadAreRefusedToo) {
  const TestFolder folder;
  const std::string scenario = folder.Write("scenario.yaml", R"(apiVersion: schedsim/v1
kind: Scenario
objects:
- {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "2", pods: "9"}}}
- apiVersion: apps/v1
  kind: ReplicaSet
  metadata: {name: web}
  spec: {replicas: 0, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {priorityClassName: gold, containers: [{name: c, image: x}]}}}
timeline:
- scale: {kind: ReplicaSet, name: web, replicas: 2}
)");
  const ProgramResult result = RunProgram({"run", scenario, "--output", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(Bound(result).empty());
  const ProgramResult objects = RunProgram({"run", scenario, "--output", "objects"});
  EXPECT_TRUE(absl::StrContains(objects.out, "is forbidden: no PriorityClass with name gold was found"))
      << objects.out;
}

}  // namespace
}  // namespace schedsim
