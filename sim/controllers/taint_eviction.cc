#include "sim/controllers/taint_eviction.h"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "core/api/node.h"
#include "core/base/go_time.h"
#include "sim/controllers/disruption_target.h"
#include "sim/controllers/node_fields.h"

namespace schedsim::sim {
namespace {

std::vector<api::Taint> NoExecuteTaintsOf(const api::Object* object) {
  std::vector<api::Taint> taints;
  if (object == nullptr) return taints;
  for (const api::Taint& taint : static_cast<const api::Node&>(*object).spec.taints) {
    if (taint.effect == kNoExecute) taints.push_back(taint);
  }
  return taints;
}

bool SameTolerations(const api::Pod& a, const api::Pod& b) {
  if (a.spec == b.spec) return true;
  const auto same = [](const api::Toleration& x, const api::Toleration& y) {
    return x.key == y.key && x.operator_ == y.operator_ && x.value == y.value && x.effect == y.effect &&
           x.toleration_seconds == y.toleration_seconds;
  };
  const auto& tolerations = a.spec->tolerations;
  const auto& others = b.spec->tolerations;
  return std::equal(tolerations.begin(), tolerations.end(), others.begin(), others.end(), same);
}

// How long a pod may stay on its node, and since when that counts.
struct Stay {
  absl::Duration time;  // Zero, a time, or infinite.
  absl::Time since;
};

// The shortest time of all tolerations that are used, one for each taint; zero when one taint has none.
// Source: kubernetes v1.37, pkg/controller/tainteviction/taint_eviction.go, getMinTolerationTime. The largest
// number means for ever, and so does what becomes negative as a number of nanoseconds.
Stay StayOf(const api::Pod& pod, const std::vector<api::Taint>& taints,
            const std::map<std::string, absl::Time>& times, absl::Time now) {
  int64_t shortest = INT64_MAX;
  absl::Time since = now;
  for (const api::Taint& taint : taints) {
    const api::Toleration* const found = api::FindToleration(pod.spec->tolerations, taint);
    if (found == nullptr) return {.time = absl::ZeroDuration(), .since = now};
    if (!found->toleration_seconds.has_value()) continue;
    shortest = std::min(shortest, std::max<int64_t>(*found->toleration_seconds, 0));
    const auto time = times.find(taint.key);
    if (time != times.end()) since = std::min(since, time->second);
  }
  const bool is_infinite = shortest == INT64_MAX || GoSeconds(shortest) < absl::ZeroDuration();
  return {.time = is_infinite ? absl::InfiniteDuration() : GoSeconds(shortest), .since = since};
}

// The pod was not on its node before.
absl::Time OnNodeSince(const api::Pod& pod) {
  return std::max(pod.metadata.creation_timestamp.value_or(absl::InfinitePast()),
                  pod.status.start_time.value_or(absl::InfinitePast()));
}

}  // namespace

void TaintEvictionController::Start() {
  started_ = true;
  std::map<std::string, Times> times;
  for (const auto& [key, object] : server_.List(api::Kind::kNode)) {
    std::vector<api::Taint> taints = NoExecuteTaintsOf(object.get());
    if (taints.empty()) continue;
    const std::string& name = object->metadata.name;
    tainted_[name] = std::move(taints);
    times[name] = NoExecuteTimes(static_cast<const api::Node&>(*object));
  }
  if (tainted_.empty()) return;
  Fill();
  std::vector<api::ObjectPtr> pods;
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) pods.push_back(object);
  for (const api::ObjectPtr& object : pods) {
    const auto& pod = static_cast<const api::Pod&>(*object);
    const auto found = times.find(pod.node_name);
    if (found != times.end()) LookAt(pod, found->second);
  }
}

void TaintEvictionController::Fill() {
  if (is_filled_) return;
  is_filled_ = true;
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    const auto& pod = static_cast<const api::Pod&>(*object);
    if (!pod.node_name.empty()) pods_[pod.node_name].insert(key);
  }
}

void TaintEvictionController::OnEvent(const WatchEvent& event) {
  if (!started_) return;
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind == api::Kind::kNode) return OnNode(event);
  if (is_filled_) OnPod(event);
}

void TaintEvictionController::OnPod(const WatchEvent& event) {
  const auto* before = static_cast<const api::Pod*>(event.old_object.get());
  const auto* now = static_cast<const api::Pod*>(event.new_object.get());
  if (now == nullptr) {
    const auto known = pods_.find(before->node_name);
    if (known != pods_.end()) known->second.erase(before->Key());
    CancelOf(before->metadata.uid);
    return;
  }
  if (now->node_name.empty()) return;
  const bool stays = before != nullptr && before->node_name == now->node_name;
  if (!stays) pods_[now->node_name].insert(now->Key());
  if (!stays || !SameTolerations(*before, *now)) LookAt(*now, {});
}

void TaintEvictionController::OnNode(const WatchEvent& event) {
  std::vector<api::Taint> taints = NoExecuteTaintsOf(event.new_object.get());
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  const std::string& name = object.metadata.name;
  const auto known = tainted_.find(name);
  if (known == tainted_.end() ? taints.empty() : known->second == taints) return;
  const bool has_taints = !taints.empty();
  if (has_taints) {
    tainted_[name] = std::move(taints);
  } else {
    tainted_.erase(known);
  }
  // Evictions of a node that is gone go on, until its pods are collected.
  if (event.new_object == nullptr) return;
  Fill();
  // Looking at a pod may delete it, so the list is a copy.
  const std::set<std::string> keys = pods_[name];
  for (const std::string& key : keys) {
    const api::ObjectPtr pod = server_.FindByKey(api::Kind::kPod, "Pod", key);
    if (pod == nullptr) continue;
    if (has_taints) {
      LookAt(static_cast<const api::Pod&>(*pod), {});
    } else {
      CancelOf(pod->metadata.uid);
    }
  }
}

// An eviction that is to come stays so, whatever taints follow, until there are none or one is not tolerated.
// Pods that are over go as well.
void TaintEvictionController::LookAt(const api::Pod& pod, const Times& times) {
  const auto tainted = tainted_.find(pod.node_name);
  if (tainted == tainted_.end() || pod.metadata.deletion_timestamp.has_value()) return;
  const std::string& uid = pod.metadata.uid;
  const absl::Time now = loop_.Now();
  const Stay stay = StayOf(pod, tainted->second, times, now);
  if (stay.time == absl::InfiniteDuration()) {
    CancelOf(uid);
    return;
  }
  const auto known = evictions_.find(uid);
  const bool is_known = known != evictions_.end() && known->second.since < now;
  if (stay.time > absl::ZeroDuration() && is_known) return;
  CancelOf(uid);
  const absl::Time since = std::min(now, std::max(stay.since, OnNodeSince(pod)));
  // Work of its own also where it is due now: whoever made this change goes on first.
  const uint64_t work = loop_.At(std::max(now, since + stay.time), EventLoop::Phase::kWork,
                                 [this, uid, name_space = pod.metadata.namespace_, name = pod.metadata.name] {
                                   Evict(uid, name_space, name);
                                 });
  evictions_[uid] = {.work = work, .since = since};
}

void TaintEvictionController::CancelOf(const std::string& pod_uid) {
  auto found = evictions_.find(pod_uid);
  if (found == evictions_.end()) return;
  loop_.Cancel(found->second.work);
  evictions_.erase(found);
}

void TaintEvictionController::Evict(const std::string& pod_uid, const std::string& name_space,
                                    const std::string& name) {
  evictions_.erase(pod_uid);
  const api::PodPtr pod = server_.FindPod(name_space, name);
  if (pod == nullptr || pod->metadata.uid != pod_uid || pod->metadata.deletion_timestamp.has_value()) return;
  SetDisruptionTarget(*pod, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint",
                      server_, trace_);
  server_.DeletePod(*pod).IgnoreError();
}

}  // namespace schedsim::sim
