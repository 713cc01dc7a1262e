#include "sim/controllers/cron_job.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/sim/controllers/workload_cluster.h"

namespace schedsim::sim {
namespace {

std::string CronJob(const std::string& fields) {
  return absl::StrCat("---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: tick}\nspec: {", fields,
                      "jobTemplate: {metadata: {labels: {of: tick}}, spec: {template: {spec: {restartPolicy: "
                      "Never, containers: [{name: c, image: i}]}}}}}\n");
}

absl::string_view Holds(const api::Pod& pod) { return pod.status.phase == "Pending" ? "Running" : ""; }

// Virtual zero is the beginning of a minute, and the first time.
TEST(CronJobController, MakesAJobEachTimeAndKeepsTheLastThree) {
  WorkloadCluster cluster(Nodes(1) + CronJob("schedule: '* * * * *', "));
  cluster.Run(310);
  const std::vector<nlohmann::json> jobs = cluster.All("Job");
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[2]["metadata"]["name"], "tick-15778085");
  EXPECT_EQ(jobs[2]["metadata"]["labels"]["of"], "tick");
  EXPECT_EQ(cluster.Pods("tick-").size(), 3U) << "pods go with their jobs";
  EXPECT_EQ(cluster.Status("CronJob", "tick")["lastScheduleTime"], "2000-01-01T00:05:00Z");
  EXPECT_FALSE(cluster.Status("CronJob", "tick").contains("active"));
}

TEST(CronJobController, DoesNotKeepARunFromEnding) {
  WorkloadCluster cluster(Nodes(1) + CronJob("schedule: '*/5 * * * *', "));
  cluster.Run();
  EXPECT_LT(cluster.simulation().now() - cluster.simulation().zero(), absl::Minutes(1));
  EXPECT_EQ(cluster.All("Job").size(), 1U);
}

TEST(CronJobController, HeedsItsConcurrencyPolicy) {
  const auto jobs_after = [](const std::string& policy) {
    WorkloadCluster cluster(
        Nodes(1) + CronJob(absl::StrCat("schedule: '* * * * *', concurrencyPolicy: ", policy, ", ")));
    cluster.options().next_phase = Holds;
    cluster.Run(130);
    std::string names;
    for (const nlohmann::json& job : cluster.All("Job")) {
      absl::StrAppend(&names, job["metadata"]["name"].get<std::string>(), " ");
    }
    return names;
  };
  EXPECT_EQ(jobs_after("Allow"), "tick-15778080 tick-15778081 tick-15778082 ");
  EXPECT_EQ(jobs_after("Forbid"), "tick-15778080 ");
  EXPECT_EQ(jobs_after("Replace"), "tick-15778082 ");
}

TEST(CronJobController, WaitsWhileSuspendedAndDropsWhatIsTooLate) {
  WorkloadCluster cluster(Nodes(1) +
                          CronJob("schedule: '0 * * * *', suspend: true, startingDeadlineSeconds: 60, "));
  cluster.Patch(1800, "CronJob", "tick", R"({"spec": {"suspend": false}})");
  cluster.Run(1900);
  EXPECT_TRUE(cluster.All("Job").empty());
}

// Virtual zero is one o'clock in the morning in Berlin.
TEST(CronJobController, FollowsTheClocksOfItsTimeZone) {
  WorkloadCluster cluster(Nodes(1) + CronJob("schedule: '30 2 * * *', timeZone: Europe/Berlin, "));
  cluster.Run(2 * 3600);
  ASSERT_EQ(cluster.All("Job").size(), 1U);
  EXPECT_EQ(cluster.Status("CronJob", "tick")["lastScheduleTime"], "2000-01-01T01:30:00Z");
}

TEST(CronJobController, MakesNoJobInATimeZoneThatIsNone) {
  // Such a CronJob is refused, but a cluster with other time zones may have it.
  std::string of_cluster = CronJob("schedule: '* * * * *', timeZone: Mars/Olympus, ");
  of_cluster.replace(of_cluster.find("name: tick"), 10, "name: tick, uid: u");
  WorkloadCluster cluster(Nodes(1) + of_cluster);
  cluster.Run(100);
  EXPECT_TRUE(cluster.All("Job").empty());
  ASSERT_EQ(cluster.simulation().controllers().Warnings().size(), 1U);
  EXPECT_EQ(cluster.simulation().controllers().Warnings()[0],
            "CronJob default/tick: spec.timeZone: Invalid value: \"Mars/Olympus\": unknown time zone "
            "Mars/Olympus");
}

TEST(CronJobController, FindsItsJobsBesideAKindOfTheSameName) {
  WorkloadCluster cluster(
      Nodes(1) + CronJob("schedule: '* * * * *', ") +
      "---\napiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: tick-15778080}\nspec: {}\n");
  cluster.Run(50);
  EXPECT_EQ(cluster.All("Job").size(), 2U);
  EXPECT_EQ(cluster.Pods("tick-").size(), 1U);
}

}  // namespace
}  // namespace schedsim::sim
