#include "sim/controllers/cron_job.h"

#include <string>
#include <vector>

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

// Virtual zero is the beginning of a minute; what is made then is due one minute later.
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
  EXPECT_TRUE(cluster.All("Job").empty());
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
  EXPECT_EQ(jobs_after("Allow"), "tick-15778081 tick-15778082 ");
  EXPECT_EQ(jobs_after("Forbid"), "tick-15778081 ");
  EXPECT_EQ(jobs_after("Replace"), "tick-15778082 ");
}

TEST(CronJobController, SaysWhichOfItsActiveJobsTheInputLacks) {
  const auto warnings_with = [](const std::string& policy) {
    std::string dump = CronJob(absl::StrCat("schedule: '0 * * * *', concurrencyPolicy: ", policy, ", "));
    dump.insert(dump.rfind('\n'), "\nstatus: {active: [{kind: Job, name: tick-1}]}");
    WorkloadCluster cluster(Nodes(1) + dump);
    cluster.Run();
    return cluster.simulation().controllers().Warnings();
  };
  EXPECT_EQ(
      warnings_with("Forbid"),
      std::vector<std::string>{"CronJob default/tick: its Job tick-1, which status.active names, is not in "
                               "the input; it counts as ended, though concurrencyPolicy is Forbid"});
  EXPECT_TRUE(warnings_with("Allow").empty());
}

TEST(CronJobController, WaitsWhileSuspendedAndDropsWhatIsTooLate) {
  WorkloadCluster cluster(Nodes(1) +
                          CronJob("schedule: '0 * * * *', suspend: true, startingDeadlineSeconds: 60, "));
  cluster.Patch(1800, "CronJob", "tick", R"({"spec": {"suspend": false}})");
  cluster.Run(1900);
  EXPECT_TRUE(cluster.All("Job").empty());
}

// A CronJob that a cluster gave out, and whose last job was due at eight in the evening; it is midnight.
std::string OfCluster(const std::string& fields) {
  std::string text = CronJob(fields);
  const std::string name = "name: tick";
  text.replace(text.find(name), name.size(), name + ", uid: u, creationTimestamp: '1999-12-31T00:00:00Z'");
  return text + "status: {lastScheduleTime: '1999-12-31T20:00:00Z'}\n";
}

// As the real one does when it starts again: of all times that it missed the last one counts.
TEST(CronJobController, MakesOneJobForTheTimesThatItMissed) {
  WorkloadCluster cluster(Nodes(1) + OfCluster("schedule: '30 * * * *', "));
  cluster.Run(10);
  ASSERT_EQ(cluster.All("Job").size(), 1U);
  EXPECT_EQ(cluster.Status("CronJob", "tick")["lastScheduleTime"], "1999-12-31T23:30:00Z");
}

TEST(CronJobController, DropsTimesThatItMissedByMoreThanItsDeadline) {
  WorkloadCluster late(Nodes(1) + OfCluster("schedule: '30 * * * *', startingDeadlineSeconds: 1799, "));
  late.Run(10);
  EXPECT_TRUE(late.All("Job").empty());
  WorkloadCluster suspended(Nodes(1) + OfCluster("schedule: '30 * * * *', suspend: true, "));
  suspended.Run(10);
  EXPECT_TRUE(suspended.All("Job").empty());
  WorkloadCluster fresh(Nodes(1) + CronJob("schedule: '* * * * *', "));
  fresh.Run(10);
  EXPECT_TRUE(fresh.All("Job").empty()) << "what is new is first due at the next minute";
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
  WorkloadCluster cluster(Nodes(1) + OfCluster("schedule: '* * * * *', timeZone: Mars/Olympus, "));
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
      "---\napiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: tick-15778081}\nspec: {}\n");
  cluster.Run(70);
  EXPECT_EQ(cluster.All("Job").size(), 2U);
  EXPECT_EQ(cluster.Pods("tick-").size(), 1U);
}

}  // namespace
}  // namespace schedsim::sim
