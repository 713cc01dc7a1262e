#include "sim/controllers/job.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/sim/controllers/workload_cluster.h"

namespace schedsim::sim {
namespace {

std::string Job(const std::string& fields) {
  return absl::StrCat("---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: work}\nspec: {", fields,
                      "template: {metadata: {labels: {app: work}}, spec: {restartPolicy: Never, containers: "
                      "[{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}\n");
}

absl::string_view Fails(const api::Pod& pod) {
  return pod.status.phase == "Pending" ? "Running" : pod.status.phase == "Running" ? "Failed" : "";
}
absl::string_view Holds(const api::Pod& pod) { return pod.status.phase == "Pending" ? "Running" : ""; }

TEST(JobController, RunsAsManyPodsAsItIsTo) {
  WorkloadCluster cluster(Nodes(1) + Job("parallelism: 3, completions: 10, "));
  size_t most = 0;
  cluster.At(0.0001, [&most](Simulation& simulation) {
    simulation.server().Watch([&](const WatchEvent&) {
      size_t active = 0;
      for (const auto& [key, object] : simulation.server().List(api::Kind::kPod)) {
        if (IsActive(static_cast<const api::Pod&>(*object))) ++active;
      }
      most = std::max(most, active);
    });
  });
  cluster.Run();
  EXPECT_EQ(cluster.Pods("work-").size(), 10U);
  EXPECT_LE(most, 3U);
  const nlohmann::json status = cluster.Status("Job", "work");
  EXPECT_EQ(status["succeeded"], 10);
  EXPECT_FALSE(status.contains("active"));
  EXPECT_EQ(cluster.Condition("Job", "work", "Complete"), "True CompletionsReached");
  EXPECT_EQ(cluster.Condition("Job", "work", "SuccessCriteriaMet"), "True CompletionsReached");
}

TEST(JobController, IsCompleteAfterTheFirstSuccessWithoutCompletions) {
  WorkloadCluster cluster(Nodes(1) + Job("parallelism: 4, "));
  cluster.Run();
  EXPECT_EQ(cluster.Status("Job", "work")["succeeded"], 4);
  EXPECT_EQ(cluster.Condition("Job", "work", "Complete"), "True CompletionsReached");
}

TEST(JobController, TriesAgainLaterAndLaterUntilTheBackoffLimit) {
  WorkloadCluster cluster(Nodes(1) + Job("backoffLimit: 2, "));
  cluster.options().next_phase = Fails;
  cluster.Run();
  EXPECT_EQ(cluster.Status("Job", "work")["failed"], 3);
  EXPECT_EQ(cluster.Condition("Job", "work", "FailureTarget"), "True BackoffLimitExceeded");
  EXPECT_EQ(cluster.Condition("Job", "work", "Failed"), "True BackoffLimitExceeded");
  // 10 s after the first failure, 20 s after the second one.
  const absl::Duration time = cluster.simulation().now() - cluster.simulation().zero();
  EXPECT_GE(time, absl::Seconds(30));
  EXPECT_LE(time, absl::Seconds(35));
}

TEST(JobController, RunsEachIndexOnce) {
  WorkloadCluster cluster(Nodes(1) + Job("completionMode: Indexed, parallelism: 2, completions: 5, "));
  cluster.Run();
  EXPECT_EQ(cluster.Status("Job", "work")["completedIndexes"], "0-4");
  ASSERT_EQ(cluster.Pods("work-3-").size(), 1U);
  EXPECT_EQ(
      *cluster.Pods("work-3-")[0]->metadata.annotations.Find("batch.kubernetes.io/job-completion-index"),
      "3");
}

// The API server sets one of each where neither is there.
TEST(JobController, AnIndexedJobWithoutCountsHasOneIndex) {
  WorkloadCluster cluster(Nodes(1) + Job("completionMode: Indexed, "));
  cluster.Run();
  EXPECT_EQ(cluster.Status("Job", "work")["completedIndexes"], "0");
}

TEST(JobController, CountsFailuresOfEachIndex) {
  WorkloadCluster cluster(Nodes(1) + Job("completionMode: Indexed, parallelism: 4, completions: 4, "
                                         "backoffLimitPerIndex: 0, maxFailedIndexes: 3, "));
  cluster.options().next_phase = Fails;
  cluster.Run();
  EXPECT_EQ(cluster.Status("Job", "work")["failedIndexes"], "0-3");
  EXPECT_EQ(cluster.Condition("Job", "work", "Failed"), "True MaxFailedIndexesExceeded");
}

TEST(JobController, SuspendsAndResumesWithoutCounting) {
  WorkloadCluster cluster(Nodes(1) + Job("parallelism: 2, completions: 2, "));
  cluster.options().next_phase = Holds;
  cluster.Patch(10, "Job", "work", R"({"spec": {"suspend": true}})");
  cluster.Run();
  EXPECT_TRUE(cluster.Pods("work-").empty());
  EXPECT_EQ(cluster.Status("Job", "work").value("failed", 0), 0);
  EXPECT_EQ(cluster.Condition("Job", "work", "Suspended"), "True JobSuspended");
  cluster.Patch(20, "Job", "work", R"({"spec": {"suspend": false}})");
  cluster.Run();
  EXPECT_EQ(cluster.Pods("work-").size(), 2U);
  EXPECT_EQ(cluster.Condition("Job", "work", "Suspended"), "False JobResumed");
}

TEST(JobController, EndsAtItsDeadline) {
  WorkloadCluster cluster(Nodes(1) + Job("activeDeadlineSeconds: 8, "));
  cluster.options().next_phase = Holds;
  cluster.Run(20);
  EXPECT_TRUE(cluster.Pods("work-").empty());
  EXPECT_EQ(cluster.Status("Job", "work")["failed"], 1);
  EXPECT_EQ(cluster.Condition("Job", "work", "Failed"), "True DeadlineExceeded");
}

TEST(JobController, GoesSomeTimeAfterItsEnd) {
  WorkloadCluster cluster(Nodes(1) + Job("ttlSecondsAfterFinished: 5, "));
  cluster.Run(20);
  EXPECT_TRUE(cluster.Get("Job", "work").is_null());
  EXPECT_TRUE(cluster.Pods("work-").empty()) << "and its pods with it";
}

TEST(JobIndexes, AreWrittenAsRanges) {
  EXPECT_EQ(IndexesText({0, 1, 3, 5, 6, 7}), "0,1,3,5-7");
  EXPECT_EQ(ParseIndexes("0,1,3,5-7"), (Indexes{0, 1, 3, 5, 6, 7}));
  EXPECT_EQ(IndexesText(ParseIndexes("")), "");
}

// Of a group whose key comes first.
TEST(JobController, LeavesAloneAKindOfTheSameName) {
  WorkloadCluster cluster(
      Nodes(1) + Job("ttlSecondsAfterFinished: 5, ") +
      "---\napiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: work}\nspec: {tasks: []}\n");
  size_t pods = 0;
  cluster.At(4, [&pods](Simulation& simulation) { pods = simulation.server().List(api::Kind::kPod).size(); });
  cluster.Run(20);
  EXPECT_EQ(pods, 1U);
  const std::vector<nlohmann::json> jobs = cluster.All("Job");
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0]["apiVersion"], "batch.volcano.sh/v1alpha1");
}

TEST(JobIndexes, LeavesOutWhatNoJobHas) {
  EXPECT_EQ(ParseIndexes("9223372036854775807-9223372036854775807"), Indexes());
  EXPECT_EQ(ParseIndexes("-9223372036854775808-5,3,7-5,2,9"), (Indexes{3, 9}));
}

}  // namespace
}  // namespace schedsim::sim
