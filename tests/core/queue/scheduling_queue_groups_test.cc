// Groups of pods that stand in the queue as one.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/feature_gates.h"
#include "core/queue/scheduling_queue.h"
#include "gtest/gtest.h"
#include "tests/core/queue/queue_world.h"

namespace schedsim::queue {
namespace {

using framework::Code;
using framework::QueuedPodGroupInfo;
using framework::QueuedPodInfo;

api::LineBehavior LineWithGroups() {
  api::FeatureGates gates(api::KubernetesLine::k1_37);
  CHECK(gates.Set("GenericWorkload=true").ok());
  return api::LineBehaviorOf(gates);
}

class GroupsTest : public testing::Test {
 protected:
  GroupsTest()
      : world_(api::KubernetesLine::k1_37),
        nominator_(world_.informer_cache, world_.symbols()),
        queue_({}, LineWithGroups(), world_.manual_clock, world_.frameworks(), nominator_, [] {}) {}

  framework::PodInfoPtr MakePod(const std::string& name, const std::string& group) {
    auto spec = std::make_shared<api::PodSpec>();
    spec->scheduler_name = kSchedulerNames[0];
    spec->pod_group_name = group;
    auto pod = std::make_shared<api::Pod>();
    pod->metadata.namespace_ = "a";
    pod->metadata.name = name;
    pod->metadata.uid = absl::StrCat("uid-", name);
    pod->spec = std::move(spec);
    return world_.pod_infos().Make(std::move(pod));
  }

  static api::PodGroupPtr MakeGroup(const std::string& name) {
    auto group = std::make_shared<api::PodGroup>();
    group->metadata.namespace_ = "a";
    group->metadata.name = name;
    return group;
  }

  // "active: ..., backoff: ...", with the parts that have pods.
  std::string Places() const {
    const SchedulingQueue::State state = queue_.GetState();
    std::vector<std::string> parts;
    const auto add = [&parts](const char* name, const std::vector<const QueuedPodInfo*>& pods) {
      std::vector<std::string> names;
      for (const QueuedPodInfo* pod : pods) names.push_back(pod->pod_info->pod->metadata.name);
      if (!names.empty()) parts.push_back(absl::StrCat(name, ": ", absl::StrJoin(names, " ")));
    };
    add("active", state.active);
    add("backoff", state.backoff);
    add("unschedulable", state.unschedulable);
    add("incomplete", state.incomplete);
    add("pending", state.pending);
    return absl::StrJoin(parts, ", ");
  }

  std::unique_ptr<QueuedPodGroupInfo> PopGroup() {
    QueuedPodInfoPtr popped = queue_.Pop();
    CHECK(popped != nullptr && popped->is_group);
    return std::unique_ptr<QueuedPodGroupInfo>(static_cast<QueuedPodGroupInfo*>(popped.release()));
  }

  // Hands back all pods of the group as failed, and ends its cycle.
  void Fail(const QueuedPodGroupInfo& group) {
    for (const auto& member : group.members) {
      queue_.AddUnschedulableIfNotPresent(std::make_unique<QueuedPodInfo>(*member));
    }
    queue_.AddAttemptedPodGroupIfNeeded(group, Code::kUnschedulable);
  }

  QueueWorld world_;
  Nominator nominator_;
  SchedulingQueue queue_;
};

TEST_F(GroupsTest, PodsAreIncompleteWithoutTheObjectOfTheirGroup) {
  queue_.Add(MakePod("p1", "g"));
  queue_.Add(MakePod("p2", ""));
  EXPECT_EQ(Places(), "active: p2, incomplete: p1");
  queue_.AddPodGroup(MakeGroup("g"));
  EXPECT_EQ(Places(), "active: p1 p2");
  queue_.DeletePodGroup(*MakeGroup("g"));
  EXPECT_EQ(Places(), "active: p2, incomplete: p1");
}

TEST_F(GroupsTest, AGroupIsPoppedAsOne) {
  queue_.AddPodGroup(MakeGroup("g"));
  queue_.Add(MakePod("p1", "g"));
  queue_.Add(MakePod("p2", "g"));
  const auto group = PopGroup();
  EXPECT_EQ(group->members.size(), 2);
  EXPECT_EQ(group->attempts, 1);
  EXPECT_EQ(group->members[0]->attempts, 1);
  EXPECT_EQ(Places(), "");
}

TEST_F(GroupsTest, PodsThatComeDuringTheCycleArePending) {
  queue_.AddPodGroup(MakeGroup("g"));
  queue_.Add(MakePod("p1", "g"));
  const auto group = PopGroup();
  queue_.Add(MakePod("p2", "g"));
  EXPECT_EQ(Places(), "pending: p2");
  Fail(*group);
  EXPECT_EQ(Places(), "backoff: p1 p2");
}

TEST_F(GroupsTest, WhatIsLeftOfAScheduledGroupIsActiveAtOnce) {
  queue_.AddPodGroup(MakeGroup("g"));
  queue_.Add(MakePod("p1", "g"));
  const auto group = PopGroup();
  queue_.Add(MakePod("p2", "g"));
  queue_.AddAttemptedPodGroupIfNeeded(*group, Code::kSuccess);
  EXPECT_EQ(Places(), "active: p2");
}

TEST_F(GroupsTest, AFailedGroupIsNotPoppedBeforeItsBackoffIsOver) {
  queue_.AddPodGroup(MakeGroup("g"));
  queue_.Add(MakePod("p1", "g"));
  Fail(*PopGroup());
  EXPECT_FALSE(queue_.HasPoppable());
  world_.manual_clock.Advance(absl::Seconds(2));
  queue_.FlushBackoffCompleted();
  EXPECT_EQ(Places(), "active: p1");
}

TEST_F(GroupsTest, OneGatedPodGatesItsGroup) {
  queue_.AddPodGroup(MakeGroup("g"));
  queue_.Add(MakePod("p1", "g"));
  world_.shut.insert("uid-p2");
  queue_.Add(MakePod("p2", "g"));
  EXPECT_EQ(Places(), "unschedulable: p1 p2");
  queue_.Delete(*MakePod("p2", "g")->pod);
  EXPECT_EQ(Places(), "unschedulable: p1");
  queue_.Activate({MakePod("p1", "g")->pod});
  EXPECT_EQ(Places(), "active: p1");
}

}  // namespace
}  // namespace schedsim::queue
