#include "sim/autoscaler/node_deletion.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/node.h"
#include "sim/autoscaler/drainability.h"
#include "sim/autoscaler/node_pool.h"
#include "sim/cluster/eviction.h"
#include "sim/controllers/node_fields.h"

namespace schedsim::sim {
namespace {

// Flags and constants of Cluster Autoscaler: --node-delete-delay-after-taint, EvictionRetryTime,
// --max-pod-eviction-time, --max-graceful-termination-sec with PodEvictionHeadroom, and the sleep in
// DrainNode.
constexpr absl::Duration kDelayAfterTaint = absl::Seconds(5);
constexpr absl::Duration kEvictionRetryTime = absl::Seconds(10);
constexpr absl::Duration kEvictionTimeMax = absl::Minutes(2);
constexpr absl::Duration kTerminationTimeMax = absl::Seconds(630);
constexpr absl::Duration kPollPeriod = absl::Seconds(5);

// A copy to be changed; nullptr: there is no such node.
std::shared_ptr<api::Node> CopyOf(const ApiServer& server, const std::string& node_name) {
  const api::ObjectPtr stored = server.Find(api::Kind::kNode, "Node", "", node_name);
  return stored == nullptr ? nullptr : std::static_pointer_cast<api::Node>(stored->Clone());
}

}  // namespace

void SetNodeTaint(ApiServer& server, const std::string& node_name, absl::string_view key,
                  absl::string_view value, absl::string_view effect) {
  const std::shared_ptr<api::Node> node = CopyOf(server, node_name);
  if (node == nullptr) return;
  std::erase_if(node->spec.taints, [key](const api::Taint& taint) { return taint.key == key; });
  node->spec.taints.push_back(
      {.key = std::string(key), .value = std::string(value), .effect = std::string(effect)});
  server.Update(node).IgnoreError();
}

void ClearNodeTaint(ApiServer& server, const std::string& node_name, absl::string_view key) {
  const std::shared_ptr<api::Node> node = CopyOf(server, node_name);
  if (node == nullptr || !HasTaint(*node, key)) return;
  std::erase_if(node->spec.taints, [key](const api::Taint& taint) { return taint.key == key; });
  server.Update(node).IgnoreError();
}

void NodeDeletions::Begin(const std::string& node_name, bool drains) {
  deletions_[node_name] = {.begun = loop_.Now(), .drains = drains, .deadline = {}, .pods = {}, .evicted = {}};
  SetNodeTaint(server_, node_name, kToBeDeletedTaint, absl::StrCat(absl::ToUnixSeconds(loop_.Now())),
               "NoSchedule");
  After(kDelayAfterTaint, node_name, &NodeDeletions::Proceed);
}

size_t NodeDeletions::drain_count() const {
  return static_cast<size_t>(std::count_if(deletions_.begin(), deletions_.end(),
                                           [](const auto& entry) { return entry.second.drains; }));
}

void NodeDeletions::After(absl::Duration delay, const std::string& node_name, Step step) {
  const absl::Time begun = deletions_.at(node_name).begun;
  loop_.At(loop_.Now() + delay, EventLoop::Phase::kStep, [this, node_name, begun, step] {
    const auto found = deletions_.find(node_name);
    if (found != deletions_.end() && found->second.begun == begun) (this->*step)(node_name, found->second);
  });
}

// The pods are those that are there now: some may have come or gone since.
void NodeDeletions::Proceed(const std::string& node_name, Deletion& deletion) {
  BudgetTracker budgets(server_);
  PodsToMove to_move = FindPodsToMove(snapshot_.PodsOn(node_name), server_, loop_.Now(), budgets);
  const bool is_empty = to_move.blocked.empty() && to_move.pods.empty();
  if (!deletion.drains && !is_empty) {
    Fail(node_name, "the node is no longer empty");
  } else if (!to_move.blocked.empty()) {
    Fail(node_name, to_move.blocked);
  } else {
    deletion.pods = std::move(to_move.pods);
    deletion.deadline = loop_.Now() + kEvictionTimeMax;
    Evict(node_name, deletion);
  }
}

void NodeDeletions::Evict(const std::string& node_name, Deletion& deletion) {
  std::vector<api::PodPtr> left;
  std::string refusal;
  for (const api::PodPtr& pod : deletion.pods) {
    if (!IsThere(*pod)) continue;
    const Eviction eviction = EvictPod(*pod, loop_.Now(), server_);
    if (eviction.outcome == Eviction::Outcome::kEvicted) {
      deletion.evicted.push_back(pod);
      continue;
    }
    left.push_back(pod);
    if (refusal.empty()) {
      refusal = absl::StrCat("failed to evict pod ", pod->Key(), ": ",
                             eviction.cause.empty() ? eviction.message : eviction.cause);
    }
  }
  deletion.pods = std::move(left);
  if (deletion.pods.empty()) {
    deletion.deadline = loop_.Now() + kTerminationTimeMax;
    AwaitEnd(node_name, deletion);
  } else if (loop_.Now() + kEvictionRetryTime >= deletion.deadline) {
    Fail(node_name, std::move(refusal));
  } else {
    After(kEvictionRetryTime, node_name, &NodeDeletions::Evict);
  }
}

void NodeDeletions::AwaitEnd(const std::string& node_name, Deletion& deletion) {
  std::erase_if(deletion.evicted, [this](const api::PodPtr& pod) { return !IsThere(*pod); });
  if (deletion.evicted.empty()) {
    Delete(node_name);
  } else if (loop_.Now() >= deletion.deadline) {
    Fail(node_name, absl::StrCat("pod ", deletion.evicted.front()->Key(), " remains after timeout"));
  } else {
    After(kPollPeriod, node_name, &NodeDeletions::AwaitEnd);
  }
}

void NodeDeletions::Delete(const std::string& node_name) {
  deletions_.erase(node_name);
  ended_(node_name, "");
  server_.Delete(api::Kind::kNode, "Node", "", node_name).IgnoreError();
}

void NodeDeletions::Fail(const std::string& node_name, std::string failure) {
  deletions_.erase(node_name);
  ended_(node_name, failure);
  ClearNodeTaint(server_, node_name, kToBeDeletedTaint);
}

bool NodeDeletions::IsThere(const api::Pod& pod) const {
  const api::PodPtr now = server_.FindPod(pod.metadata.namespace_, pod.metadata.name);
  return now != nullptr && now->metadata.uid == pod.metadata.uid;
}

}  // namespace schedsim::sim
