#include "sim/controllers/taint_eviction.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/time/time.h"
#include "core/api/node.h"
#include "core/api/taints.h"
#include "sim/controllers/disruption_target.h"
#include "sim/kernel/go_time.h"

namespace schedsim::sim {
namespace {

// What admission gives every pod that tolerates neither of the two by itself.
// Source: kubernetes v1.37, plugin/pkg/admission/defaulttolerationseconds.
constexpr int64_t kDefaultTolerationSeconds = 300;

constexpr char kNoExecute[] = "NoExecute";

bool HasNoExecuteTaint(const api::Node& node) {
  return std::any_of(node.spec.taints.begin(), node.spec.taints.end(),
                     [](const api::Taint& taint) { return taint.effect == kNoExecute; });
}

// How long the pod may stay on the node: zero, a time, or infinite. The shortest time of all tolerations that
// are used, one for each taint; zero when one taint has none.
// Source: kubernetes v1.37, pkg/controller/tainteviction/taint_eviction.go, getMinTolerationTime. The largest
// number means for ever, and so does what becomes negative as a number of nanoseconds.
absl::Duration TimeToStay(const api::Pod& pod, const api::Node& node) {
  int64_t shortest = INT64_MAX;
  for (const api::Taint& taint : node.spec.taints) {
    if (taint.effect != kNoExecute) continue;
    const std::vector<api::Toleration>& tolerations = pod.spec->tolerations;
    const auto found =
        std::find_if(tolerations.begin(), tolerations.end(),
                     [&](const api::Toleration& toleration) { return api::Tolerates(toleration, taint); });
    std::optional<int64_t> seconds = 0;
    if (found != tolerations.end()) {
      seconds = found->toleration_seconds;
    } else if (taint.key == api::kTaintNodeNotReady || taint.key == api::kTaintNodeUnreachable) {
      seconds = kDefaultTolerationSeconds;
    }
    if (seconds.has_value()) shortest = std::min(shortest, std::max<int64_t>(*seconds, 0));
  }
  if (shortest == INT64_MAX || GoSeconds(shortest) < absl::ZeroDuration()) return absl::InfiniteDuration();
  return GoSeconds(shortest);
}

}  // namespace

void TaintEvictionController::Start() {
  started_ = true;
  std::vector<api::ObjectPtr> pods;
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) pods.push_back(object);
  for (const api::ObjectPtr& pod : pods) LookAt(static_cast<const api::Pod&>(*pod));
}

void TaintEvictionController::OnEvent(const WatchEvent& event) {
  if (!started_) return;
  if (event.new_object == nullptr) {
    if (event.old_object->kind == api::Kind::kPod) CancelOf(event.old_object->metadata.uid);
    return;
  }
  if (event.new_object->kind == api::Kind::kPod) {
    LookAt(static_cast<const api::Pod&>(*event.new_object));
    return;
  }
  if (event.new_object->kind != api::Kind::kNode) return;
  const auto& node = static_cast<const api::Node&>(*event.new_object);
  const bool had =
      event.old_object != nullptr && HasNoExecuteTaint(static_cast<const api::Node&>(*event.old_object));
  if (!had && !HasNoExecuteTaint(node)) return;
  // Looking at a pod may delete it, so the list is a copy.
  std::vector<api::ObjectPtr> pods;
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    if (static_cast<const api::Pod&>(*object).node_name == node.metadata.name) pods.push_back(object);
  }
  for (const api::ObjectPtr& pod : pods) LookAt(static_cast<const api::Pod&>(*pod));
}

// An eviction that is due stays due, whatever taints follow, until there are none.
void TaintEvictionController::LookAt(const api::Pod& pod) {
  if (pod.node_name.empty() || pod.IsTerminal() || pod.metadata.deletion_timestamp.has_value()) return;
  const api::ObjectPtr object = server_.Find(api::Kind::kNode, "Node", "", pod.node_name);
  if (object == nullptr) return;
  const std::string& uid = pod.metadata.uid;
  const absl::Duration stay = TimeToStay(pod, static_cast<const api::Node&>(*object));
  if (stay == absl::InfiniteDuration()) {
    CancelOf(uid);
    return;
  }
  if (stay > absl::ZeroDuration() && evictions_.count(uid) > 0) return;
  CancelOf(uid);
  // Work of its own also where it is due now: whoever made this change goes on first.
  evictions_[uid] = loop_.At(loop_.Now() + stay, EventLoop::Phase::kWork,
                             [this, uid, name_space = pod.metadata.namespace_, name = pod.metadata.name] {
                               Evict(uid, name_space, name);
                             });
}

void TaintEvictionController::CancelOf(const std::string& pod_uid) {
  auto found = evictions_.find(pod_uid);
  if (found == evictions_.end()) return;
  loop_.Cancel(found->second);
  evictions_.erase(found);
}

void TaintEvictionController::Evict(const std::string& pod_uid, const std::string& name_space,
                                    const std::string& name) {
  const api::PodPtr pod = server_.FindPod(name_space, name);
  if (pod == nullptr || pod->metadata.uid != pod_uid || pod->metadata.deletion_timestamp.has_value()) {
    evictions_.erase(pod_uid);
    return;
  }
  // The patch makes this look at the pod again; its eviction is still on record then.
  SetDisruptionTarget(*pod, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint",
                      server_, trace_);
  CancelOf(pod_uid);
  server_.DeletePod(*pod).IgnoreError();
}

}  // namespace schedsim::sim
