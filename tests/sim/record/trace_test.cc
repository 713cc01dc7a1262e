// The trace of what happens in the queue.
#include "sim/record/trace.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

constexpr char kNode[] = R"(
apiVersion: v1
kind: Node
metadata: {name: node}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
)";

std::string Pod(absl::string_view name, int cpu, absl::string_view more = "") {
  return absl::StrCat(
      "\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
      ", namespace: default}\nspec:\n  containers: [{name: c, image: i, resources: {requests: {cpu: ", cpu,
      "}}}]\n", more);
}

// The move records of a pod, without its name and the digest.
std::vector<std::string> Moves(const SmallCluster& cluster, absl::string_view pod) {
  const std::string start = absl::StrCat("\"ev\":\"move\",\"pod\":\"default/", pod, "\",");
  std::vector<std::string> moves;
  for (const std::string& record : cluster.records) {
    const size_t at = record.find(start);
    if (at == std::string::npos) continue;
    const size_t from = at + start.size();
    const std::string time = record.substr(1, at - 1);
    moves.push_back(absl::StrCat(time, record.substr(from, record.find(",\"digest\"") - from)));
  }
  return moves;
}

TEST(TraceMoves, NameTheEventTheObjectAndTheHint) {
  SmallCluster cluster(absl::StrCat(kNode, Pod("first", 3), Pod("second", 3)));
  cluster.DeletePod(30, "first");
  cluster.Run(60);
  EXPECT_EQ(
      Moves(cluster, "second"),
      (std::vector<std::string>{
          R"("t":-0.001,"from":"","to":"active","event":"UnscheduledPodAdd")",
          R"("t":0.001,"from":"active","to":"inFlight","event":"Pop")",
          R"("t":0.001,"from":"inFlight","to":"unschedulable","event":"ScheduleAttemptFailure")",
          R"("t":30,"from":"unschedulable","to":"active","event":"AssignedPodDelete","object":"default/first",)"
          R"("hints":[{"plugin":"NodeResourcesFit","answer":"Queue"}])",
          R"("t":30,"from":"active","to":"inFlight","event":"Pop")"}));
}

TEST(TraceMoves, TellOfBackoffAndOfPopsBeforeItsEnd) {
  SmallCluster cluster(absl::StrCat(kNode, Pod("first", 3), Pod("second", 3)));
  cluster.DeletePod(0.5, "first");
  cluster.Run(60);
  EXPECT_EQ(
      Moves(cluster, "second").at(3),
      R"("t":0.5,"from":"unschedulable","to":"backoff","event":"AssignedPodDelete","object":"default/first",)"
      R"("hints":[{"plugin":"NodeResourcesFit","answer":"Queue"}],"backoffExpiration":1)");
  EXPECT_EQ(Moves(cluster, "second").at(4),
            R"("t":0.5,"from":"backoff","to":"inFlight","event":"PopFromBackoffQ")");
}

TEST(TraceMoves, TellOfTheFlush) {
  SmallCluster cluster(absl::StrCat(kNode, Pod("large", 5)));
  cluster.Run(400);
  EXPECT_EQ(Moves(cluster, "large").at(3),
            R"("t":330,"from":"unschedulable","to":"active","event":"UnschedulableTimeout")");
}

TEST(TraceMoves, NameTheGateAndWhatLiftsIt) {
  SmallCluster cluster(absl::StrCat(kNode, Pod("gated", 1, "  schedulingGates: [{name: wait}]\n")));
  cluster.Update(10, Pod("gated", 1).substr(5));
  cluster.Run(20);
  const std::vector<std::string> moves = Moves(cluster, "gated");
  EXPECT_EQ(
      moves.at(0),
      R"("t":-0.001,"from":"","to":"unschedulable","event":"UnscheduledPodAdd","gatedBy":"SchedulingGates")");
  EXPECT_EQ(
      moves.at(1),
      R"("t":10,"from":"unschedulable","to":"active","event":"TargetPodUpdatePodSchedulingGatesEliminated",)"
      R"("hints":[{"plugin":"SchedulingGates","answer":"none"}])");
}

TEST(TraceMoves, CarryTheOldNamesBefore137) {
  SmallCluster cluster(absl::StrCat(kNode, Pod("pod", 1)), api::KubernetesLine::k1_36);
  cluster.Run(20);
  EXPECT_EQ(Moves(cluster, "pod").at(0),
            R"("t":-0.001,"from":"","to":"active","event":"UnschedulablePodAdd")");
}

TEST(TraceMoves, ChangeNoDecision) {
  SmallCluster cluster(absl::StrCat(kNode, Pod("first", 3), Pod("second", 3)));
  cluster.DeletePod(30, "first");
  const std::string with = cluster.Run(60)->trace().DecisionDigest();
  cluster.options.trace_level = TraceLevel::kDecisions;
  EXPECT_EQ(cluster.Run(60)->trace().DecisionDigest(), with);
  for (const std::string& record : cluster.records)
    EXPECT_FALSE(absl::StrContains(record, "\"move\"")) << record;
}

}  // namespace
}  // namespace schedsim::sim
