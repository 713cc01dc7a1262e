// Entries of a timeline that cannot mean what they say: refused when the scenario is read, or failures of the
// run.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Json = nlohmann::json;

constexpr char kCluster[] = R"(apiVersion: schedsim/v1
kind: Scenario
objects:
- {apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {taints: [{key: k, value: v, effect: NoSchedule}]}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}
- {apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}
timeline:
)";

ProgramResult RunEntry(const std::string& entry) {
  const TestFolder folder;
  folder.Write("nothing.yaml", "# no object\n");
  return RunProgram(
      {"run", folder.Write("scenario.yaml", absl::StrCat(kCluster, "- ", entry, "\n")), "--output", "json"});
}

struct RefusedEntry {
  const char* entry;
  const char* error;  // A part of the message.
};

void ExpectRefused(const std::vector<RefusedEntry>& rows) {
  for (const RefusedEntry& row : rows) {
    const ProgramResult result = RunEntry(row.entry);
    EXPECT_EQ(result.exit_code, 2) << row.entry << result.err;
    EXPECT_TRUE(absl::StrContains(result.err, row.error)) << row.entry << "\n" << result.err;
  }
}

TEST(TimelineEntryTest, WhatNamesNothingOrTwoThingsIsRefusedWhenRead) {
  ExpectRefused({
      {"create: []", ":7:11: timeline[0].create: expected at least one object, got none"},
      {"update: []", ":7:11: timeline[0].update: expected at least one object, got none"},
      {"create: nothing.yaml", ":7:11: timeline[0].create: expected at least one object, got none"},
      {"create: {apiVersion: v1, kind: List, items: []}", "timeline[0].create: expected at least one object"},
      {"drain: []", ":7:10: timeline[0].drain: expected at least one name of a node, got an empty list"},
      {"drain: \"\"", ":7:10: timeline[0].drain: expected a name that is not empty"},
      {"drain: {nodes: []}", ":7:18: timeline[0].drain.nodes: expected at least one name of a node"},
      {"cordon: [n1, \"\"]", ":7:16: timeline[0].cordon: expected a name that is not empty"},
      {"waitUntil: {drained: []}", ":7:24: timeline[0].waitUntil.drained: expected at least one name"},
      {"delete: {name: a, names: [b]}", ":7:28: timeline[0].delete.names: expected either name or names"},
      {"cordon: {name: n1, names: [n2]}", ":7:29: timeline[0].cordon.names: expected either name or names"},
      {"taint: {nodes: n1, taints: [{key: a b, effect: NoSchedule}]}",
       ":7:37: timeline[0].taint.taints[0].key: "},
      {"taint: {nodes: n1, taints: [{key: a, value: b c, effect: NoSchedule}]}",
       ":7:47: timeline[0].taint.taints[0].value: "},
      {"untaint: {nodes: n1, taints: [{key: /a}]}", ":7:39: timeline[0].untaint.taints[0].key: "},
      {"delete: {names: [a], selector: b=c}",
       "timeline[0].delete.name: expected either name, names or selector"},
      {"delete: {names: [], selector: b=c}",
       "timeline[0].delete.name: expected either name, names or selector"},
      {"cordon: {name: n1, selector: b=c}",
       "timeline[0].cordon.name: expected either name, names or selector"},
  });
}

TEST(TimelineEntryTest, AValueOfAnotherTypeOrOutOfRangeIsRefusedWhenRead) {
  ExpectRefused({
      {"create: 7",
       ":7:11: timeline[0].create: expected an object, a list of objects or the path of a file, got "},
      {"delete: 7", ":7:11: timeline[0].delete: expected a map, got the number 7"},
      {"delete: {names: [a, \"\"]}", "timeline[0].delete.name: expected a name that is not empty"},
      {"delete: {kind: \"\", name: a}", "timeline[0].delete.kind: expected the name of a kind"},
      {"delete: {kind: pods, name: a}", "timeline[0].delete.kind: there is no kind pods, expected Pod"},
      {"delete: {selector: a, count: 0}", "timeline[0].delete.count: expected a whole number above zero"},
      {"delete: {selector: a, allowMissing: true, count: -1}", "timeline[0].delete.count: expected a whole "},
      {"complete: [a]", ":7:13: timeline[0].complete: expected a map, got a list"},
      {"cordon: [7]", ":7:12: timeline[0].cordon: expected the name of a node, got a number"},
      {"taint: 7", "timeline[0].taint: expected a map, got the number 7"},
      {"taint: {nodes: n1, taints: [{effect: NoSchedule}]}", "taint.taints[0]: expected a taint with a key"},
      {"taint: {nodes: n1, taints: []}", "timeline[0].taint.taints: expected a list with at least one taint"},
      {"label: 7", "timeline[0].label: expected a map, got the number 7"},
      {"label: {kind: Node, name: n1, labels: {\"a b\": c}}", ":7:49: timeline[0].label.labels[a b]: "},
      {"label: {kind: Node, name: n1, labels: {}}", "label.labels: expected a map with at least one label"},
      {"drain: {nodes: n1, timeout: soon}", "timeline[0].drain.timeout: \"soon\" is not a duration"},
      {"nodeDown: {nodes: n1, gracePeriod: soon}", "nodeDown.gracePeriod: \"soon\" is not a duration"},
      {"scale: 7", "timeline[0].scale: expected a map, got the number 7"},
      {"scale: {replicas: 1}", "timeline[0].scale.name: expected the name of a workload"},
      {"scale: {name: a, replicas: 1000001}", "scale.replicas: expected a whole number from 0 to 1000000"},
      {"waitUntil: 7", "timeline[0].waitUntil: expected a map, got the number 7"},
      {"waitUntil: {pending: -1}", "waitUntil.pending: expected a whole number that is not negative"},
      {"waitUntil: {bound: {kind: Node, name: n1}}", "timeline[0].waitUntil.bound: expected pods"},
      {"patch: 7", "timeline[0].patch: expected a map, got the number 7"},
      {"patch: {name: a, type: json, patch: {}}",
       "timeline[0].patch.patch: expected a list of operations, a JSON patch, got a map"},
      {"patch: {name: a, type: strategic, patch: []}",
       "timeline[0].patch.patch: expected a map, a strategic merge patch, got a list"},
  });
}

TEST(TimelineEntryTest, ATaintThatIsNotThereCannotBeTakenAway) {
  const struct {
    const char* entry;
    const char* failure;  // nullptr: none.
  } kRows[] = {
      {"untaint: {nodes: n1, taints: [{key: nope}]}",
       "timeline[0].untaint: taint \"nope\" not found on Node n1"},
      {"untaint: {nodes: n1, taints: [{key: k, effect: NoExecute}]}", "taint \"k:NoExecute\" not found"},
      {"untaint: {nodes: [n1, n2], taints: [{key: k}]}", "taint \"k\" not found on Node n2"},
      {"untaint: {nodes: {names: [n1, n2], allowMissing: true}, taints: [{key: k}]}", nullptr},
      {"untaint: {nodes: n1, taints: [{key: k}]}", nullptr},
      {"untaint: {nodes: n1, taints: [{key: k, effect: NoSchedule}]}", nullptr},
  };
  for (const auto& row : kRows) {
    const ProgramResult result = RunEntry(row.entry);
    EXPECT_EQ(result.exit_code, row.failure == nullptr ? 0 : 1) << row.entry << result.err;
    const Json report = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
    ASSERT_TRUE(report.is_object()) << result.err;
    ASSERT_EQ(report["failures"].size(), row.failure == nullptr ? 0U : 1U) << row.entry << result.err;
    if (row.failure == nullptr) continue;
    const std::string failure = report["failures"][0];
    EXPECT_TRUE(absl::StrContains(failure, row.failure)) << failure;
    EXPECT_TRUE(absl::EndsWith(failure, "; allowMissing: true where that is meant")) << failure;
  }
}

TEST(TimelineEntryTest, WhatIsCreatedHasNoStatusOfItsOwn) {
  const ProgramResult result = RunEntry(
      "create: {apiVersion: v1, kind: Pod, metadata: {name: done}, spec: {containers: [{name: c, image: "
      "i}]}, "
      "status: {phase: Succeeded}}");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err,
                                "Pod default/done: status: left out, as by the API server, since the "
                                "object is a manifest; with metadata.uid it counts as a cluster's"))
      << result.err;
  const Json report = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(report.is_object()) << result.err;
  EXPECT_EQ(report["finished"], 0);
}

TEST(TimelineEntryTest, APatchThatTheApiServerCannotDecodeIsRefused) {
  const ProgramResult result = RunEntry("patch: {kind: Node, name: n1, patch: {spec: {externalID: 5}}}");
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const Json report = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(report.is_object()) << result.err;
  ASSERT_EQ(report["failures"].size(), 1U);
  const std::string failure = report["failures"][0];
  EXPECT_TRUE(absl::StrContains(failure, "spec.externalID: expected a string, got the number 5")) << failure;
}

}  // namespace
}  // namespace schedsim
