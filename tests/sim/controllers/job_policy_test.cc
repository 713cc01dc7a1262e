#include "sim/controllers/job_policy.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "sim/controllers/owned_pods.h"
#include "tests/sim/controllers/workload_cluster.h"

namespace schedsim::sim {
namespace {

std::string Job(const std::string& fields, const std::string& metadata = "") {
  return absl::StrCat("---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: work", metadata, "}\nspec: {",
                      fields,
                      "template: {metadata: {labels: {app: work}}, spec: {restartPolicy: Never, containers: "
                      "[{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}\n");
}

absl::string_view Holds(const api::Pod& pod) { return pod.status.phase == "Pending" ? "Running" : ""; }

// A job of pods that run until they are told otherwise, on nodes with room.
class JobPolicyTest : public testing::Test {
 protected:
  void Start(const std::string& fields) {
    cluster_.emplace(Nodes(2) + Job(fields));
    cluster_->options().next_phase = Holds;
  }
  // The first pod whose name begins so ends `at` seconds after the start.
  void End(double at, const std::string& prefix, const std::string& status) {
    cluster_->At(at, [prefix, status](Simulation& simulation) {
      for (const auto& [key, object] : simulation.server().List(api::Kind::kPod)) {
        if (!absl::StartsWith(object->metadata.name, prefix)) continue;
        if (!IsActive(static_cast<const api::Pod&>(*object))) continue;
        const std::string patch = absl::StrCat(R"({"status": )", status, "}");
        ASSERT_TRUE(
            codec::ReadText(patch, "patch.json", {}, [&](const codec::Document& document) {
              return simulation.server().Patch(*object, codec::PatchType::kMerge, document.root).status();
            }).ok());
        return;
      }
      FAIL() << "no pod " << prefix;
    });
  }
  static std::string Exit(int code, const std::string& more = "") {
    return absl::StrCat(R"({"phase": ")", code == 0 ? "Succeeded" : "Failed", R"(", )", more,
                        R"("containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": )", code,
                        "}}}]}");
  }
  std::string Message(const std::string& type) {
    const nlohmann::json status = cluster_->Status("Job", "work");
    for (const nlohmann::json& condition : status["conditions"]) {
      if (condition["type"] == type) return condition.value("message", std::string());
    }
    return "";
  }

  std::optional<WorkloadCluster> cluster_;
};

TEST_F(JobPolicyTest, AnExitCodeFailsTheWholeJob) {
  Start(
      "parallelism: 2, completions: 2, podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {operator: "
      "In, "
      "values: [1]}}, {action: FailJob, onExitCodes: {containerName: c, operator: In, values: [42, "
      "43]}}]}, ");
  End(5, "work-", Exit(42));
  cluster_->Run();
  EXPECT_EQ(cluster_->Condition("Job", "work", "FailureTarget"), "True PodFailurePolicy");
  EXPECT_EQ(cluster_->Condition("Job", "work", "Failed"), "True PodFailurePolicy");
  ASSERT_EQ(cluster_->Pods("work-").size(), 1U) << "the other one was deleted";
  EXPECT_EQ(Message("Failed"),
            absl::StrCat("Container c for pod default/", cluster_->Pods("work-")[0]->metadata.name,
                         " failed with exit code 42 matching FailJob rule at index 1"));
  EXPECT_EQ(cluster_->Status("Job", "work")["failed"], 2);
}

TEST_F(JobPolicyTest, AFailureThatIsIgnoredDoesNotCount) {
  Start(
      "backoffLimit: 0, podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: "
      "DisruptionTarget}]}]}, ");
  End(5, "work-", Exit(1, R"("conditions": [{"type": "DisruptionTarget", "status": "True"}], )"));
  cluster_->Run(60);
  EXPECT_EQ(cluster_->Status("Job", "work").value("failed", 0), 0);
  EXPECT_EQ(cluster_->Status("Job", "work").value("active", 0), 1) << "another one in its place";
  EXPECT_EQ(cluster_->Pods("work-").size(), 2U);
}

TEST_F(JobPolicyTest, OneThatNoRuleFitsCounts) {
  Start(
      "backoffLimit: 0, podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {operator: NotIn, values: "
      "[1]}}, "
      "{action: Ignore, onExitCodes: {containerName: c, operator: In, values: [2]}}]}, ");
  End(5, "work-", Exit(1));
  cluster_->Run();
  EXPECT_EQ(cluster_->Condition("Job", "work", "Failed"), "True BackoffLimitExceeded");
}

TEST_F(JobPolicyTest, AnIndexFailsByItself) {
  Start(
      "completionMode: Indexed, completions: 2, parallelism: 2, backoffLimitPerIndex: 5, podFailurePolicy: "
      "{rules: [{action: FailIndex, onExitCodes: {operator: NotIn, values: [1, 2]}}]}, ");
  End(5, "work-0-", Exit(7));
  End(6, "work-1-", Exit(1));
  End(60, "work-1-", Exit(0));
  cluster_->Run();
  EXPECT_EQ(cluster_->Status("Job", "work")["failedIndexes"], "0");
  EXPECT_EQ(cluster_->Status("Job", "work")["completedIndexes"], "1");
  EXPECT_EQ(cluster_->Condition("Job", "work", "Failed"), "True FailedIndexes");
  EXPECT_EQ(cluster_->Pods("work-0-").size(), 1U) << "it is not tried again";
  ASSERT_EQ(cluster_->Pods("work-1-").size(), 2U);
}

TEST_F(JobPolicyTest, FailuresOfAnIndexThatAreIgnoredAreCountedApart) {
  Start(
      "completionMode: Indexed, completions: 1, parallelism: 1, backoffLimitPerIndex: 0, podFailurePolicy: "
      "{rules: [{action: Ignore, onExitCodes: {operator: In, values: [3]}}]}, ");
  End(5, "work-0-", Exit(3));
  cluster_->Run(60);
  std::string ignored;
  for (const api::PodPtr& pod : cluster_->Pods("work-0-")) {
    const auto* count = pod->metadata.annotations.Find("batch.kubernetes.io/job-index-ignored-failure-count");
    if (count != nullptr) ignored += *count;
  }
  EXPECT_EQ(ignored, "1");
  EXPECT_EQ(cluster_->Status("Job", "work").value("failedIndexes", ""), "");
}

TEST_F(JobPolicyTest, EnoughIndexesEndTheJob) {
  Start(
      "completionMode: Indexed, completions: 4, parallelism: 4, successPolicy: {rules: [{succeededCount: 3}, "
      "{succeededIndexes: '1-2', succeededCount: 1}]}, ");
  End(5, "work-0-", Exit(0));
  End(10, "work-2-", Exit(0));
  cluster_->Run();
  EXPECT_EQ(cluster_->Condition("Job", "work", "SuccessCriteriaMet"), "True SuccessPolicy");
  EXPECT_EQ(cluster_->Condition("Job", "work", "Complete"), "True SuccessPolicy");
  EXPECT_EQ(Message("Complete"), "Matched rules at index 1");
  EXPECT_EQ(cluster_->Status("Job", "work")["completedIndexes"], "0,2");
  EXPECT_EQ(cluster_->Status("Job", "work").value("failed", 0), 0) << "those that were deleted do not count";
  EXPECT_EQ(cluster_->Pods("work-").size(), 2U);
}

// They are not kept one by one.
TEST(IndexRangesTest, MayBeLong) {
  IndexRanges ranges;
  ASSERT_EQ(IndexRanges::Read("0,2-4,6-2147483646", 2'147'483'647, ranges), absl::OkStatus());
  EXPECT_EQ(ranges.count(), 2'147'483'645);
  EXPECT_EQ(ranges.CountOf({}), 0);
  EXPECT_EQ(ranges.CountOf({0, 1, 2, 4, 5, 6, 2'147'483'646, 2'147'483'647}), 5);
}

const struct {
  const char* fields;
  const char* error;
} kMalformed[] = {
    {"podFailurePolicy: {rules: [{action: Explode}]}",
     "spec.podFailurePolicy.rules[0].action: expected Count, Ignore, FailIndex or FailJob"},
    {"podFailurePolicy: {rules: [{action: Count}]}",
     "spec.podFailurePolicy.rules[0].onExitCodes: expected either this or onPodConditions"},
    {"podFailurePolicy: {rules: [{action: Count, onExitCodes: {operator: Is, values: [1]}}]}",
     "spec.podFailurePolicy.rules[0].onExitCodes.operator: expected In or NotIn"},
    {"podFailurePolicy: {rules: [{action: FailIndex, onExitCodes: {operator: In, values: [1]}}]}",
     "spec.podFailurePolicy.rules[0].action: expected no FailIndex without spec.backoffLimitPerIndex"},
    {"podFailurePolicy: {rules: 7}", "spec.podFailurePolicy.rules: expected a list"},
    {"successPolicy: {rules: [{succeededCount: 1}]}",
     "spec.successPolicy: expected none, since the job is not Indexed"},
    {"completionMode: Indexed, completions: 2, successPolicy: {rules: [{}]}",
     "spec.successPolicy.rules[0]: expected succeededIndexes or succeededCount"},
    {"completionMode: Indexed, completions: 2, successPolicy: {rules: [{succeededIndexes: '1-2'}]}",
     "spec.successPolicy.rules[0].succeededIndexes: expected indexes below 2, such as 0,2-4, got \"1-2\""},
    {"completionMode: Indexed, completions: 9, successPolicy: {rules: [{succeededIndexes: '1-2-3'}]}",
     "spec.successPolicy.rules[0].succeededIndexes: expected indexes, and ranges of them, such as 0,2-4, "
     "got "
     "\"1-2-3\""},
    {"completionMode: Indexed, completions: 9, successPolicy: {rules: [{succeededIndexes: '1,x'}]}",
     "spec.successPolicy.rules[0].succeededIndexes: expected indexes, and ranges of them, such as 0,2-4, "
     "got "
     "\"1,x\""},
    {"completionMode: Indexed, completions: 9, successPolicy: {rules: [{succeededIndexes: '3,1'}]}",
     "spec.successPolicy.rules[0].succeededIndexes: expected indexes in rising order, such as 0,2-4, got "
     "\"3,1\""},
    {"completionMode: Indexed, completions: 9, successPolicy: {rules: [{succeededIndexes: '1-1'}]}",
     "spec.successPolicy.rules[0].succeededIndexes: expected indexes in rising order, such as 0,2-4, got "
     "\"1-1\""},
    {"completionMode: Indexed, completions: 2, successPolicy: {rules: [{succeededCount: 3}]}",
     "spec.successPolicy.rules[0].succeededCount: expected at most 2, got 3"},
    {"completionMode: Indexed, completions: 9, successPolicy: {rules: [{succeededIndexes: '1-2', "
     "succeededCount: 3}]}",
     "spec.successPolicy.rules[0].succeededCount: expected at most 2, got 3"},
    {"podFailurePolicy: {rules: [{action: Count, onExitCodes: {operator: In, values: [0, 1]}}]}",
     "spec.podFailurePolicy.rules[0].onExitCodes.values: expected no 0 where the operator is In"},
    {"podFailurePolicy: {rules: [{action: Count, onExitCodes: {operator: NotIn, values: [2, 1]}}]}",
     "spec.podFailurePolicy.rules[0].onExitCodes.values: expected numbers in order, each once"},
    {"podFailurePolicy: {rules: [{action: Count, onExitCodes: {containerName: x, operator: In, values: "
     "[1]}}]}",
     "spec.podFailurePolicy.rules[0].onExitCodes.containerName: expected a container of the template"},
    {"podFailurePolicy: {rules: [{action: Count, onPodConditions: [{type: a, status: Maybe}]}]}",
     "spec.podFailurePolicy.rules[0].onPodConditions.status: expected True, False or Unknown"},
    {"completionMode: Sorted", "spec.completionMode: expected NonIndexed or Indexed, got \"Sorted\""},
    {"completionMode: Indexed, completions: null, parallelism: 1",
     "spec.completions: expected a number, since the job is Indexed"},
    {"completionMode: Indexed, completions: 1, parallelism: 100001",
     "spec.parallelism: expected at most 100000, got 100001"},
    {"backoffLimitPerIndex: 1", "spec.backoffLimitPerIndex: expected none, since the job is not Indexed"},
    {"completionMode: Indexed, completions: 3, maxFailedIndexes: 1",
     "spec.backoffLimitPerIndex: expected a number, since there is maxFailedIndexes"},
    {"completionMode: Indexed, completions: 3, backoffLimitPerIndex: 1, maxFailedIndexes: 4",
     "spec.maxFailedIndexes: expected at most 3, got 4"},
    {"completionMode: Indexed, completions: 100001, backoffLimitPerIndex: 1",
     "spec.maxFailedIndexes: expected a number, since there are more than 100000 completions and a "
     "backoffLimitPerIndex"},
    {"completionMode: Indexed, completions: 100001, parallelism: 10001, backoffLimitPerIndex: 1, "
     "maxFailedIndexes: 1",
     "spec.parallelism: expected at most 10000, got 10001"},
    {"podReplacementPolicy: Never",
     "spec.podReplacementPolicy: expected Failed or TerminatingOrFailed, got \"Never\""},
    {"podReplacementPolicy: TerminatingOrFailed, podFailurePolicy: {rules: []}",
     "spec.podReplacementPolicy: expected Failed, since there is a podFailurePolicy, got "
     "\"TerminatingOrFailed\""},
};

TEST_F(JobPolicyTest, SaysWhatIsMalformed) {
  for (const auto& [fields, error] : kMalformed) {
    WorkloadCluster cluster(Nodes(1) + Job(absl::StrCat(fields, ", "), ", uid: u"));
    cluster.Run();
    const std::vector<std::string> warnings = cluster.simulation().controllers().Warnings();
    ASSERT_EQ(warnings.size(), 1U) << fields;
    EXPECT_EQ(warnings[0], absl::StrCat("Job default/work: ", error));
    EXPECT_TRUE(cluster.Pods("work-").empty()) << fields;
  }
}

}  // namespace
}  // namespace schedsim::sim
