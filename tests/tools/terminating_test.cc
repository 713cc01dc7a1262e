// Pods that are ending when a run begins: they are gone when their grace period is over, whatever else
// happens.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

// `victim` fills the only node and is gone 20 s after virtual zero; `urgent` waits for it, nominated.
std::string Dump() {
  return FileContent(SCHEDSIM_SOURCE_DIR "/tests/tools/cases/terminating-in-dump/dump.yaml");
}

Json RunDump(const std::string& dump, const Strings& more = {}) {
  Strings arguments = {"run", "-f", "-", "--output", "json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProgramResult result = RunProgram(arguments, dump);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
}

Json PodOf(const Json& report, const std::string& name) {
  for (const Json& pod : report["pods"]) {
    if (pod["name"] == name) return pod;
  }
  return nullptr;
}

TEST(TerminatingPods, EndWithTheirGracePeriodAndMakeRoomForThePreemptor) {
  const Json report = RunDump(Dump());
  EXPECT_EQ(PodOf(report, "urgent")["node"], "n1");
  EXPECT_EQ(PodOf(report, "small")["status"], "Pending");
  EXPECT_TRUE(PodOf(report, "victim").is_null() || PodOf(report, "victim")["status"] != "Bound");
}

TEST(TerminatingPods, AreNotScheduledAnew) {
  const Json report = RunDump(Dump(), {"--bound", "reset"});
  EXPECT_EQ(PodOf(report, "urgent")["node"], "n1");
  EXPECT_TRUE(PodOf(report, "victim").is_null() || PodOf(report, "victim")["status"] != "Pending");
}

TEST(TerminatingPods, OfASilentNodeStay) {
  const Json report = RunDump(absl::StrReplaceAll(Dump(), {{"status: \"True\"", "status: Unknown"}}));
  EXPECT_EQ(PodOf(report, "urgent")["status"], "Pending");
}

TEST(TerminatingPods, ThatAFinalizerHoldsFailAndLeaveTheirRoom) {
  const std::string held =
      absl::StrReplaceAll(Dump(), {{"{name: victim, ", "{name: victim, finalizers: [example.com/wait], "}});
  const Json report = RunDump(held);
  EXPECT_EQ(PodOf(report, "urgent")["node"], "n1");
}

TEST(TerminatingPods, EndInAScenarioAtTheEndOfTheirGracePeriod) {
  const TestFolder folder;
  const std::string dump = folder.Write("dump.yaml", Dump());
  const Played played = Play(absl::StrCat("apiVersion: schedsim/v1\nkind: Scenario\ninputs: [", dump, "]\n"));
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.Times("gone", "victim"), Times{20});
  EXPECT_EQ(played.NodeOf("urgent"), "n1");
}

TEST(TerminatingPods, ThatAFinalizerHoldsStayUntilItIsTakenOff) {
  const std::string held =
      Cluster(0) +
      "- {apiVersion: v1, kind: Pod, metadata: {name: held, finalizers: [example.com/wait]}, spec: "
      "{nodeName: n1, containers: [{name: c, image: i}]}}\ntimeline:\n"
      "- at: 5s\n  delete: {name: held}\n";
  const Played stays = Play(held + "end: 1m\n");
  EXPECT_EQ(stays.Times("gone", "held"), Times{});
  EXPECT_EQ(stays.report["deleted"], 0);
  const Played goes =
      Play(held +
           "- at: 20s\n  patch: {name: held, type: merge, patch: {metadata: {finalizers: null}}}\n"
           "end: 1m\n");
  EXPECT_EQ(goes.exit_code, 0) << goes.err;
  EXPECT_EQ(goes.report["deleted"], 1);
  EXPECT_TRUE(goes.Pod("held").is_null() || goes.Pod("held")["status"] == "Gone") << goes.Pod("held");
}

TEST(TerminatingPods, ThatWaitForANodeAreHeldByFinalizersToo) {
  const Played played =
      Play(Cluster(0) +
           "- {apiVersion: v1, kind: Pod, metadata: {name: held, finalizers: [example.com/wait]}, "
           "spec: {nodeSelector: {no: where}, containers: [{name: c, image: i}]}}\ntimeline:\n"
           "- at: 5s\n  delete: {name: held}\nend: 10s\n");
  EXPECT_EQ(played.report["deleted"], 0);
  EXPECT_EQ(played.report["terminating"], 1) << played.report;
}

// A node with room for one of the pods; `owner` is what is being deleted.
std::string DumpOf(const std::string& owner, const std::string& pod_metadata) {
  return absl::StrCat(
      "apiVersion: v1\nkind: List\nitems:\n"
      "- {apiVersion: v1, kind: Node, metadata: {name: n1, uid: un}, status: {allocatable: {cpu: 4, memory: "
      "8Gi, "
      "pods: 9}, conditions: [{type: Ready, status: 'True'}]}}\n- ",
      owner, "\n- {apiVersion: v1, kind: Pod, metadata: {name: old, uid: uo, ", pod_metadata,
      "}, spec: {nodeName: n1, containers: [{name: c, image: i, resources: {requests: {cpu: 4}}}]}, status: "
      "{phase: "
      "Running}}\n"
      "- {apiVersion: v1, kind: Pod, metadata: {name: urgent, namespace: default, uid: uu}, spec: "
      "{containers: "
      "[{name: c, image: i, resources: {requests: {cpu: 4}}}]}, status: {phase: Pending}}\n");
}

TEST(TerminatingPods, OfOwnersAndNamespacesThatAreBeingDeletedGo) {
  const std::string time = "deletionTimestamp: '2026-05-01T12:00:00Z'";
  const auto set = [&time](const std::string& finalizer) {
    return absl::StrCat(
        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: rs, namespace: default, uid: ur, ", time,
        ", finalizers: [", finalizer,
        "]}, spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: "
        "b}}, spec: {containers: [{name: c, image: i}]}}}}");
  };
  const std::string owned =
      "namespace: default, labels: {a: b}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: "
      "rs, uid: "
      "ur, controller: true}]";
  EXPECT_EQ(PodOf(RunDump(DumpOf(set("foregroundDeletion"), owned)), "urgent")["node"], "n1");
  EXPECT_EQ(PodOf(RunDump(DumpOf(set("orphan"), owned)), "urgent")["status"], "Pending");
  EXPECT_EQ(PodOf(RunDump(DumpOf(set("example.com/wait"), owned)), "urgent")["status"], "Pending");
  const std::string name_space =
      absl::StrCat("{apiVersion: v1, kind: Namespace, metadata: {name: team, uid: ut, ", time,
                   "}, status: {phase: Terminating}}");
  EXPECT_EQ(PodOf(RunDump(DumpOf(name_space, "namespace: team")), "urgent")["node"], "n1");
}

}  // namespace
}  // namespace schedsim
