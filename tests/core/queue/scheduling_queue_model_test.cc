// The scheduling queue against a naive one: random calls, after each of which both must have the same pods in
// the same places, and must have told of the same moves.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/rng.h"
#include "core/queue/scheduling_queue.h"
#include "gtest/gtest.h"
#include "tests/core/queue/naive_queue.h"
#include "tests/core/queue/queue_world.h"
#include "tests/random_seeds.h"

namespace schedsim::queue {
namespace {

using framework::ClusterEvent;
using framework::EventResource;
using framework::QueuedPodInfo;

constexpr uint64_t kSeedCount = 24;
constexpr int kStepCount = 3000;
constexpr int kPodNameCount = 14;
constexpr int kNodeNameCount = 4;

class MoveRecorder : public QueueObserver {
 public:
  void OnMove(const Move& move) override {
    moves.push_back(
        DescribeMove(move.pod.key, move.from, move.to, move.event, move.in_flight_event, move.answers));
  }

  std::vector<MoveText> moves;
};

std::string Describe(const QueuedPodInfo& pod, SubQueue place) {
  std::string text = absl::StrCat(
      pod.key, " in ", static_cast<int>(place), ": uid ", pod.pod_info->Uid(), ", version ",
      pod.pod_info->pod->metadata.resource_version, ", attempts ", pod.attempts, ", rejected ",
      pod.unschedulable_count, ", errors ", pod.consecutive_errors_count, ", by ",
      pod.unschedulable_plugins.to_ullong(), " and ", pod.pending_plugins.to_ullong(), ", gated by ",
      pod.gating_plugin.value_or(-1), ", since ", absl::ToUnixMillis(pod.timestamp));
  if (pod.initial_attempt_timestamp.has_value()) {
    absl::StrAppend(&text, ", first tried ", absl::ToUnixMillis(*pod.initial_attempt_timestamp));
  }
  if (pod.flush_timestamp.has_value()) {
    absl::StrAppend(&text, ", flushed ", absl::ToUnixMillis(*pod.flush_timestamp));
  }
  return text;
}

// Both queues, and the cluster that they hear of.
class Pair {
 public:
  explicit Pair(uint64_t seed)
      : rng_(seed),
        world_(static_cast<api::KubernetesLine>(seed % api::kKubernetesLineCount)),
        nominator_(world_.informer_cache, world_.symbols()),
        options_{.reference = seed % 3 == 0},
        queue_(options_, world_.line(), world_.clock(), world_.frameworks(), nominator_,
               [this] { poppable_ = true; }),
        naive_(options_, world_) {
    queue_.set_observer(&recorder_);
    for (int32_t i = 0; i < 12; ++i) {
      auto spec = std::make_shared<api::PodSpec>();
      spec->priority = i % 3;
      spec->scheduler_name = i == 11 ? "somebody-else" : kSchedulerNames[i % 5 == 0 ? 1 : 0];
      if (i % 4 == 1) spec->scheduling_gates.push_back({.name = "gate"});
      specs_.push_back(std::move(spec));
    }
  }

  // One random call; returns what it was.
  std::string Step() {
    const int64_t choice = Below(100);
    if (choice < 16) return AddPod();
    if (choice < 26) return UpdatePod();
    if (choice < 32) return DeletePod();
    if (choice < 47) return Pop();
    if (choice < 62) return Fail();
    if (choice < 64) return Bind();
    if (choice < 80) return MoveAll();
    if (choice < 84) return Activate();
    if (choice < 87) return Shut();
    return Advance();
  }

  void Compare() {
    std::vector<MoveText> expected_moves = naive_.TakeMoves();
    std::vector<MoveText> moves = std::exchange(recorder_.moves, {});
    if (any_order_) {
      std::sort(moves.begin(), moves.end());
      std::sort(expected_moves.begin(), expected_moves.end());
    }
    EXPECT_EQ(moves, expected_moves);
    std::vector<std::string> expected;
    size_t poppable = 0;
    size_t waiting = 0;
    size_t active = 0;
    size_t gated = 0;
    for (const NaiveQueue::Entry* entry : naive_.Entries()) {
      expected.push_back(Describe(entry->pod, entry->place));
      poppable += entry->place == SubQueue::kActive || entry->place == SubQueue::kBackoff ? 1 : 0;
      waiting += entry->place != SubQueue::kUnschedulable ? 1 : 0;
      active += entry->place == SubQueue::kActive ? 1 : 0;
      gated += entry->place == SubQueue::kUnschedulable && entry->pod.Gated() ? 1 : 0;
    }
    EXPECT_EQ(Pods(), expected);
    EXPECT_EQ(queue_.HasPoppable(), poppable > 0);
    EXPECT_EQ(queue_.AnyWaitingForTime(), waiting > 0);
    EXPECT_EQ(queue_.unschedulable_count(), expected.size() - waiting);
    const SchedulingQueue::Counts counts = queue_.GetCounts();
    EXPECT_EQ(counts.active, active);
    EXPECT_EQ(counts.backoff, waiting - active);
    EXPECT_EQ(counts.gated, gated);
    EXPECT_EQ(counts.unschedulable, expected.size() - waiting - gated);
    const bool came = std::any_of(expected_moves.begin(), expected_moves.end(), [](const MoveText& move) {
      return absl::StrContains(move, "-> 2") || absl::StrContains(move, "-> 3");
    });
    EXPECT_TRUE(poppable_ || !came) << "on_poppable was not called";
    const std::map<std::string, std::vector<std::string>> nominations = naive_.Nominations();
    for (int64_t i = 0; i < kNodeNameCount; ++i) {
      const std::string node = absl::StrCat("n", i);
      std::vector<std::string> uids;
      for (const framework::PodInfoPtr& pod :
           nominator_.NominatedPodsForNode(world_.symbols().Intern(node))) {
        uids.emplace_back(pod->Uid());
      }
      const auto found = nominations.find(node);
      EXPECT_EQ(uids, found == nominations.end() ? std::vector<std::string>() : found->second) << node;
    }
    EXPECT_EQ(nominator_.empty(), nominations.empty());
  }

 private:
  int64_t Below(int64_t bound) { return rng_.Below(bound); }
  bool Chance(int64_t percent) { return Below(100) < percent; }

  // All pods of the queue, by key.
  std::vector<std::string> Pods() const {
    std::vector<std::string> pods;
    const SchedulingQueue::State state = queue_.GetState();
    const auto add = [&pods](const std::vector<const QueuedPodInfo*>& from) {
      for (const QueuedPodInfo* pod : from) pods.push_back(Describe(*pod, pod->sub_queue));
    };
    add(state.active);
    add(state.backoff);
    add(state.unschedulable);
    std::sort(pods.begin(), pods.end());
    return pods;
  }

  std::shared_ptr<api::Pod> NewPod(const std::string& name) {
    auto pod = std::make_shared<api::Pod>();
    pod->kind_name = "Pod";
    pod->metadata.namespace_ = "default";
    pod->metadata.name = name;
    pod->metadata.uid = absl::StrCat("uid-", ++uid_count_);
    Change(*pod, /*may_leave=*/false);
    return pod;
  }
  // `may_leave`: to another scheduler, which only an update may do.
  void Change(api::Pod& pod, bool may_leave) {
    pod.metadata.resource_version = ++version_;
    if (Chance(50)) pod.metadata.labels.Set("x", absl::StrCat(Below(3)));
    if (pod.spec == nullptr || Chance(30)) {
      // The last spec is that of another scheduler.
      const int64_t own_count = static_cast<int64_t>(specs_.size()) - 1;
      const int64_t index = may_leave && Chance(10) ? own_count : Below(own_count);
      pod.spec = specs_[static_cast<size_t>(index)];
    }
    if (Chance(20)) pod.status.nominated_node_name = Chance(50) ? RandomNode() : "";
  }
  std::string RandomNode() { return absl::StrCat("n", Below(kNodeNameCount)); }
  std::string RandomName() { return absl::StrCat("p", Below(kPodNameCount)); }
  // nullptr: there is none of a random name.
  api::PodPtr RandomPod() { return world_.informer_cache.FindPod("default", RandomName()); }

  std::string AddPod() {
    const std::string name = RandomName();
    api::PodPtr pod = world_.informer_cache.FindPod("default", name);
    if (pod != nullptr && Chance(80)) return "nothing";
    // Now and then a pod that is known comes once more.
    if (pod == nullptr) pod = NewPod(name);
    world_.informer_cache.Set(pod);
    const framework::PodInfoPtr info = world_.pod_infos().Make(pod);
    queue_.Add(info);
    naive_.Add(info);
    return absl::StrCat("add ", name);
  }

  std::string UpdatePod() {
    const api::PodPtr old_pod = RandomPod();
    if (old_pod == nullptr) return "nothing";
    auto pod = std::make_shared<api::Pod>(*old_pod);
    Change(*pod, /*may_leave=*/true);
    world_.informer_cache.Set(pod);
    const framework::PodInfoPtr info = world_.pod_infos().Make(pod);
    queue_.Update(old_pod, info);
    naive_.Update(old_pod, info);
    return absl::StrCat("update ", pod->metadata.name);
  }

  std::string DeletePod() {
    const api::PodPtr pod = RandomPod();
    if (pod == nullptr) return "nothing";
    world_.informer_cache.Erase(*pod);
    queue_.Delete(*pod);
    naive_.Delete(*pod);
    return absl::StrCat("delete ", pod->metadata.name);
  }

  std::string Pop() {
    QueuedPodInfoPtr pod = queue_.Pop();
    const std::optional<QueuedPodInfo> expected = naive_.Pop();
    EXPECT_EQ(pod == nullptr ? "none" : Describe(*pod, SubQueue::kInFlight),
              expected.has_value() ? Describe(*expected, SubQueue::kInFlight) : "none");
    if (pod == nullptr) return "pop none";
    // As the scheduling cycle does.
    pod->unschedulable_plugins.reset();
    pod->pending_plugins.reset();
    in_flight_.push_back(std::move(pod));
    return absl::StrCat("pop ", in_flight_.back()->key);
  }

  // Takes a random pod that is in flight; nullptr: none is.
  QueuedPodInfoPtr Land() {
    if (in_flight_.empty()) return nullptr;
    const auto at = in_flight_.begin() + Below(static_cast<int64_t>(in_flight_.size()));
    QueuedPodInfoPtr pod = std::move(*at);
    in_flight_.erase(at);
    return pod;
  }

  // The attempt of a pod fails, by an error or by plugins.
  std::string Fail() {
    QueuedPodInfoPtr pod = Land();
    if (pod == nullptr) return "nothing";
    if (Chance(80)) {
      for (const char* plugin : kRejectingPlugins) {
        const size_t bit = static_cast<size_t>(world_.plugin_names().IdOf(plugin));
        if (Chance(40)) (Chance(20) ? pod->pending_plugins : pod->unschedulable_plugins).set(bit);
      }
    }
    const api::PodPtr known = world_.informer_cache.FindPod("default", pod->pod_info->pod->metadata.name);
    if (known != nullptr && known->metadata.uid == pod->pod_info->Uid()) {
      pod->pod_info = world_.pod_infos().Make(known);
    }
    const std::string key = pod->key;
    naive_.AddUnschedulableIfNotPresent(*pod);
    queue_.AddUnschedulableIfNotPresent(std::move(pod));
    return absl::StrCat("fail ", key);
  }

  // The attempt of a pod succeeds.
  std::string Bind() {
    const QueuedPodInfoPtr pod = Land();
    if (pod == nullptr) return "nothing";
    queue_.Done(*pod->pod_info->pod);
    naive_.Done(pod->pod_info->pod->metadata.uid);
    return absl::StrCat("done ", pod->key);
  }

  std::string MoveAll() {
    static const std::vector<std::pair<EventResource, framework::ActionType>>* const kEvents =
        new std::vector<std::pair<EventResource, framework::ActionType>>{
            {EventResource::kNode, framework::kAdd},
            {EventResource::kNode, framework::kUpdateNodeLabel},
            {EventResource::kNode, framework::kUpdateNodeTaint},
            {EventResource::kNode, framework::kUpdateNodeAllocatable},
            {EventResource::kAssignedPod, framework::kAdd},
            {EventResource::kAssignedPod, framework::kDelete},
            {EventResource::kAssignedPod, framework::kUpdatePodLabel},
            {EventResource::kPersistentVolume, framework::kAdd},
        };
    const auto& [resource, action] = (*kEvents)[static_cast<size_t>(Below(8))];
    const ClusterEvent event = {.resource = resource, .action = action};
    api::ObjectPtr object;
    if (resource == EventResource::kAssignedPod) {
      object = RandomPod();
      if (object == nullptr) object = NewPod("elsewhere");
    } else {
      auto node = std::make_shared<api::Node>();
      node->metadata.name = RandomNode();
      node->metadata.uid = absl::StrCat("node-uid-", Below(4));
      node->metadata.labels.Set("x", absl::StrCat(Below(3)));
      object = node;
    }
    const api::ObjectPtr old_object = action == framework::kAdd ? nullptr : object;
    const api::ObjectPtr new_object = action == framework::kDelete ? nullptr : object;
    SchedulingQueue::PreCheck pre_check;
    if (Chance(20)) pre_check = [](const api::Pod& pod) { return pod.Priority() <= 1; };
    queue_.MoveAllToActiveOrBackoffQueue(event, old_object, new_object, pre_check);
    naive_.MoveAllToActiveOrBackoffQueue(event, old_object, new_object, pre_check);
    return absl::StrCat("move all at ", EventLabel(event, world_.line()), " of ", object->metadata.name);
  }

  std::string Activate() {
    std::vector<api::PodPtr> pods;
    for (int64_t i = Below(3); i >= 0; --i) {
      if (api::PodPtr pod = RandomPod(); pod != nullptr) pods.push_back(std::move(pod));
    }
    queue_.Activate(pods);
    naive_.Activate(pods);
    return absl::StrCat("activate ", pods.size());
  }

  std::string Shut() {
    const api::PodPtr pod = RandomPod();
    if (pod == nullptr) return "nothing";
    const std::string& uid = pod->metadata.uid;
    if (world_.shut.erase(uid) == 0) world_.shut.insert(uid);
    return absl::StrCat("shut ", pod->metadata.name);
  }

  // Time goes on, with the flushes that fall into it.
  std::string Advance() {
    const bool far = Chance(5);
    const int64_t milliseconds = far ? 1000 * (1 + Below(400)) : Below(2500);
    int64_t left = milliseconds;
    while (left > 0) {
      const int64_t now = absl::ToUnixMillis(world_.clock().Now());
      const int64_t step = std::min(left, 1000 - now % 1000);
      world_.manual_clock.Advance(absl::Milliseconds(step));
      left -= step;
      if ((now + step) % 1000 != 0) continue;
      queue_.FlushBackoffCompleted();
      naive_.FlushBackoffCompleted();
      if ((now + step) % 30'000 != 0) continue;
      queue_.FlushUnschedulableLeftover();
      naive_.FlushUnschedulableLeftover();
    }
    // Pods whose errors' backoff ends at one time come in no order that counts.
    any_order_ = true;
    return absl::StrCat("advance ", milliseconds, " ms");
  }

 public:
  void Begin() {
    any_order_ = false;
    poppable_ = false;
  }

 private:
  Rng rng_;
  QueueWorld world_;
  Nominator nominator_;
  const SchedulingQueue::Options options_;
  bool poppable_ = false;
  bool any_order_ = false;
  SchedulingQueue queue_;
  NaiveQueue naive_;
  MoveRecorder recorder_;
  std::vector<std::shared_ptr<const api::PodSpec>> specs_;
  std::vector<QueuedPodInfoPtr> in_flight_;
  int64_t uid_count_ = 0;
  uint64_t version_ = 0;
};

class SchedulingQueueModelTest : public testing::TestWithParam<uint64_t> {};

TEST_P(SchedulingQueueModelTest, DoesWhatTheNaiveQueueDoes) {
  SCOPED_TRACE(RepeatCommand(GetParam(), "*SchedulingQueueModelTest*"));
  Pair pair(GetParam());
  for (int step = 0; step < kStepCount; ++step) {
    pair.Begin();
    const std::string what = pair.Step();
    pair.Compare();
    ASSERT_FALSE(HasFailure()) << "in step " << step << ": " << what;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SchedulingQueueModelTest, testing::ValuesIn(SeedsToRun(kSeedCount)),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace schedsim::queue
