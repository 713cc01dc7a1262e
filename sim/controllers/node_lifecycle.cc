#include "sim/controllers/node_lifecycle.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/pod.h"
#include "core/api/taints.h"
#include "core/base/status_macros.h"
#include "sim/controllers/node_fields.h"
#include "sim/controllers/workload_fields.h"

namespace schedsim::sim {
namespace {

constexpr absl::Duration kPeriod = absl::Seconds(5);
// What kwok's nodes take from their creation until they may be used; most kubelets take longer.
constexpr absl::Duration kTimeToReady = absl::Milliseconds(100);

constexpr char kReady[] = "Ready";
constexpr char kUnknown[] = "Unknown";

// The taint of a condition that has this status.
struct ConditionTaint {
  absl::string_view type;
  absl::string_view status;
  absl::string_view key;
};
constexpr ConditionTaint kConditionTaints[] = {
    {kReady, "False", api::kTaintNodeNotReady},
    {kReady, kUnknown, api::kTaintNodeUnreachable},
    {"MemoryPressure", "True", "node.kubernetes.io/memory-pressure"},
    {"DiskPressure", "True", "node.kubernetes.io/disk-pressure"},
    {"NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"},
    {"PIDPressure", "True", "node.kubernetes.io/pid-pressure"},
};

// What a kubelet says of a condition when all is well. NetworkUnavailable is not the kubelet's.
struct PressureText {
  const char* type;
  const char* reason;
  const char* message;
};
constexpr PressureText kPressures[] = {
    {"MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
    {"DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
    {"PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
};

api::Taint TaintOf(absl::string_view key, absl::string_view effect) {
  return {.key = std::string(key), .value = "", .effect = std::string(effect)};
}

// What keeps the NoSchedule taints of a node from being as its conditions ask for. A taint of a condition
// that the node does not have stays: a file that has no conditions knows better.
TaintChange NoScheduleChange(const api::Node& node) {
  TaintChange change;
  const auto want = [&](absl::string_view key, bool is_wanted) {
    if (is_wanted == HasTaint(node, key, kNoSchedule)) return;
    (is_wanted ? change.added : change.removed).push_back(TaintOf(key, kNoSchedule));
  };
  for (const ConditionTaint& taint : kConditionTaints) {
    const absl::string_view status = ConditionOf(node, taint.type);
    if (!status.empty()) want(taint.key, status == taint.status);
  }
  want(api::kTaintNodeUnschedulable, node.spec.unschedulable);
  return change;
}

bool SameZone(const api::Node& a, const api::Node& b) {
  return a.metadata.labels == b.metadata.labels || ZoneOf(a) == ZoneOf(b);
}

// Whether the zone of both counts both in the same way.
bool CountAlike(const api::Node& a, const api::Node& b) {
  return IsNotReady(a) == IsNotReady(b) && IsExcludedFromDisruption(a) == IsExcludedFromDisruption(b);
}

absl::Status NoNode(const std::string& name) {
  return absl::NotFoundError(absl::StrCat("there is no Node ", name));
}

std::shared_ptr<const api::Node> FindNode(const ApiServer& server, const std::string& name) {
  return std::static_pointer_cast<const api::Node>(server.Find(api::Kind::kNode, "Node", "", name));
}

}  // namespace

void NodeLifecycleController::OnEvent(const WatchEvent& event) {
  if (!started_) return;
  const auto* before = static_cast<const api::Node*>(event.old_object.get());
  const auto* now = static_cast<const api::Node*>(event.new_object.get());
  const bool stays = before != nullptr && now != nullptr && SameZone(*before, *now);
  if (!stays || !CountAlike(*before, *now)) {
    if (before != nullptr) zones_.Count(*before, -1);
    if (now != nullptr) zones_.Count(*now, 1);
    if (before != nullptr && !stays) zones_.Forget(*before);
    if (!looks_ && zones_.IsStale()) LookAt(loop_.Now());
  }
  if (now == nullptr) {
    silences_.erase(before->metadata.name);
    noted_.erase(before->metadata.name);
    coming_.erase(before->metadata.name);
    return;
  }
  if (before == nullptr) OnNewNode(*now);
  Note(*now);
}

void NodeLifecycleController::OnNewNode(const api::Node& node) {
  const bool gets_ready = !others_say_ready_ && ConditionOf(node, kReady).empty() &&
                          HasTaint(node, api::kTaintNodeNotReady, kNoSchedule);
  if (!gets_ready) return;
  coming_.insert(node.metadata.name);
  no_schedule_.Add(node.metadata.name, kTimeToReady);
}

TaintChange NodeLifecycleController::NoScheduleChangeOf(const api::Node& node) const {
  TaintChange change = NoScheduleChange(node);
  const bool gets_ready = coming_.count(node.metadata.name) > 0 && ConditionOf(node, kReady).empty() &&
                          HasTaint(node, api::kTaintNodeNotReady, kNoSchedule);
  if (gets_ready) change.removed.push_back(TaintOf(api::kTaintNodeNotReady, kNoSchedule));
  return change;
}

void NodeLifecycleController::Start() {
  started_ = true;
  start_ = loop_.Now();
  std::vector<std::string> names;
  for (const auto& [key, object] : server_.List(api::Kind::kNode)) {
    const auto& node = static_cast<const api::Node&>(*object);
    zones_.Count(node, 1);
    if (!NoScheduleChange(node).empty() || NeedsLook(node)) names.push_back(node.metadata.name);
  }
  zones_.Settle();
  for (const std::string& name : names) {
    // Whoever refuses it now is asked again.
    if (!SetNoScheduleTaints(name).ok()) no_schedule_.Add(name);
    const auto node = FindNode(server_, name);
    if (node != nullptr) Note(*node);
  }
}

// What a look changes it has seen to itself.
void NodeLifecycleController::Note(const api::Node& node) {
  if (looks_) return;
  if (!NoScheduleChange(node).empty()) no_schedule_.Add(node.metadata.name);
  if (!NeedsLook(node)) return;
  noted_.insert(node.metadata.name);
  LookAt(loop_.Now());
}

bool NodeLifecycleController::IsLost(const api::Node& node) const {
  const auto silence = silences_.find(node.metadata.name);
  return silence != silences_.end() && silence->second.end <= loop_.Now();
}

bool NodeLifecycleController::NeedsLook(const api::Node& node) const {
  const absl::string_view ready = ConditionOf(node, kReady);
  if (ready != kUnknown && IsLost(node)) return true;
  const bool is_not_ready = HasTaint(node, api::kTaintNodeNotReady, kNoExecute);
  const bool is_unreachable = HasTaint(node, api::kTaintNodeUnreachable, kNoExecute);
  if (ready == "True") return is_not_ready || is_unreachable || zones_.Waits(node);
  if (ready == "False") return is_unreachable || (!is_not_ready && !zones_.Waits(node));
  if (ready == kUnknown) return is_not_ready || (!is_unreachable && !zones_.Waits(node));
  return false;
}

absl::Status NodeLifecycleController::SetNoScheduleTaints(const std::string& node_name) {
  const auto node = FindNode(server_, node_name);
  if (node == nullptr) return absl::OkStatus();
  const TaintChange change = NoScheduleChangeOf(*node);
  if (!change.empty()) {
    RETURN_IF_ERROR(SwapTaints(node_name, change.added, change.removed, loop_.Now(), server_));
  }
  coming_.erase(node_name);
  return absl::OkStatus();
}

void NodeLifecycleController::Check(const std::string& node_name, const absl::Status& status) {
  if (!status.ok()) Warn(absl::StrCat("Node ", node_name, ": ", status.message()), warnings_);
}

void NodeLifecycleController::LookAt(absl::Time time) {
  absl::Time at = start_ + absl::Ceil(std::max(time, loop_.Now()) - start_, kPeriod);
  if (looked_ >= at) at += kPeriod;
  if (look_time_ <= at) return;
  if (look_time_ != absl::InfiniteFuture()) loop_.Cancel(look_);
  look_time_ = at;
  look_ = loop_.At(at, EventLoop::Phase::kWork, [this] { Look(); });
}

void NodeLifecycleController::Look() {
  look_time_ = absl::InfiniteFuture();
  looked_ = loop_.Now();
  looks_ = true;
  const absl::Time now = loop_.Now();
  for (const auto& [name, silence] : silences_) {
    if (silence.end <= now) noted_.insert(name);
  }
  std::set<std::string> noted;
  noted.swap(noted_);
  std::set<std::string> lost;
  for (const std::string& name : noted) LookAtNode(name, lost);
  if (!lost.empty()) MarkPodsNotReady(lost);
  const EvictionZones::Change change = zones_.Update(now);
  if (change == EvictionZones::Change::kStopped) StopEvictions();
  while (const std::optional<std::string> name = zones_.Next(now)) {
    const auto node = FindNode(server_, *name);
    if (node != nullptr && IsNotReady(*node)) SetNoExecuteTaint(*node);
  }
  looks_ = false;
  if (change == EvictionZones::Change::kResumed) ResumeEvictions();
  absl::Time next = zones_.NextTime();
  for (const auto& [name, silence] : silences_) {
    if (silence.end > now) next = std::min(next, silence.end);
  }
  if (next != absl::InfiniteFuture()) LookAt(next);
}

// The taints NoSchedule come first where both are due.
void NodeLifecycleController::LookAtNode(const std::string& node_name, std::set<std::string>& lost) {
  auto node = FindNode(server_, node_name);
  if (node == nullptr) return;
  const absl::string_view before = ConditionOf(*node, kReady);
  if (before != kUnknown && IsLost(*node)) {
    // Of one that said that it is not ready, the pods have their conditions from its kubelet.
    if (before != "False") lost.insert(node_name);
    SetUnknown(*node);
  }
  Check(node_name, SetNoScheduleTaints(node_name));
  node = FindNode(server_, node_name);
  const absl::string_view ready = ConditionOf(*node, kReady);
  if (!IsNotReady(*node)) {
    zones_.Forget(*node);
    if (!ready.empty()) RemoveNoExecuteTaints(node_name);
    return;
  }
  const bool is_unreachable = HasTaint(*node, api::kTaintNodeUnreachable, kNoExecute);
  const bool is_not_ready = HasTaint(*node, api::kTaintNodeNotReady, kNoExecute);
  if (ready == kUnknown ? is_not_ready : is_unreachable) {
    // Its pods have to leave anyway, so this one need not wait.
    zones_.Forget(*node);
    SetNoExecuteTaint(*node);
  } else if (!is_not_ready && !is_unreachable) {
    zones_.Wait(*node);
  }
}

// The one in place of the other.
void NodeLifecycleController::SetNoExecuteTaint(const api::Node& node) {
  api::Taint added = TaintOf(api::kTaintNodeNotReady, kNoExecute);
  api::Taint removed = TaintOf(api::kTaintNodeUnreachable, kNoExecute);
  if (ConditionOf(node, kReady) == kUnknown) std::swap(added, removed);
  Check(node.metadata.name, SwapTaints(node.metadata.name, {added}, {removed}, loop_.Now(), server_));
}

void NodeLifecycleController::RemoveNoExecuteTaints(const std::string& node_name) {
  const std::vector<api::Taint> removed = {TaintOf(api::kTaintNodeNotReady, kNoExecute),
                                           TaintOf(api::kTaintNodeUnreachable, kNoExecute)};
  Check(node_name, SwapTaints(node_name, {}, removed, loop_.Now(), server_));
}

void NodeLifecycleController::SetUnknown(const api::Node& node) {
  std::vector<NodeConditionChange> changes;
  for (const char* type : {kReady, "MemoryPressure", "DiskPressure", "PIDPressure"}) {
    const absl::string_view status = ConditionOf(node, type);
    if (status == kUnknown) continue;
    // A node without Ready had a kubelet all the same.
    const bool was_there = !status.empty() || type == kReady;
    changes.push_back({.type = type,
                       .status = kUnknown,
                       .reason = was_there ? "NodeStatusUnknown" : "NodeStatusNeverUpdated",
                       .message = was_there ? "Kubelet stopped posting node status."
                                            : "Kubelet never posted node status."});
  }
  Check(node.metadata.name, SetConditions(node, changes, loop_.Now(), server_));
}

// Source: kubernetes v1.37, pkg/controller/util/node, MarkPodsNotReady.
void NodeLifecycleController::MarkPodsNotReady(const std::set<std::string>& node_names) {
  std::vector<api::PodPtr> pods;
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    auto pod = std::static_pointer_cast<const api::Pod>(object);
    const api::PodCondition* ready = pod->FindCondition(kReady);
    if (ready == nullptr || ready->status == "False" || node_names.count(pod->node_name) == 0) continue;
    pods.push_back(std::move(pod));
  }
  for (const api::PodPtr& pod : pods) {
    auto marked = std::static_pointer_cast<api::Pod>(pod->Clone());
    api::PodCondition ready = *pod->FindCondition(kReady);
    ready.status = "False";
    marked->SetCondition(std::move(ready));
    server_.Update(marked).IgnoreError();
  }
}

void NodeLifecycleController::StopEvictions() {
  std::vector<std::string> names;
  for (const auto& [key, object] : server_.List(api::Kind::kNode)) {
    if (HasNoExecuteTaint(static_cast<const api::Node&>(*object))) names.push_back(object->metadata.name);
  }
  for (const std::string& name : names) RemoveNoExecuteTaints(name);
}

// Nobody was heard before, so the silence of those that are not given up yet says nothing.
void NodeLifecycleController::ResumeEvictions() {
  const absl::Time now = loop_.Now();
  for (auto& [name, silence] : silences_) {
    if (silence.end > now) silence.end = now + silence.grace;
  }
  for (const auto& [key, object] : server_.List(api::Kind::kNode)) {
    Note(static_cast<const api::Node&>(*object));
  }
}

absl::Status NodeLifecycleController::MissHeartbeats(const std::string& node_name,
                                                     absl::Duration grace_period) {
  if (FindNode(server_, node_name) == nullptr) return NoNode(node_name);
  const Silence silence = {.end = loop_.Now() + grace_period, .grace = grace_period};
  if (silences_.emplace(node_name, silence).second) LookAt(silence.end);
  return absl::OkStatus();
}

absl::Status NodeLifecycleController::SetNotReady(const std::string& node_name) {
  const auto node = FindNode(server_, node_name);
  if (node == nullptr) return NoNode(node_name);
  return SetConditions(*node,
                       {{.type = kReady,
                         .status = "False",
                         .reason = "KubeletNotReady",
                         .message = "container runtime is down"}},
                       loop_.Now(), server_);
}

absl::Status NodeLifecycleController::Recover(const std::string& node_name) {
  const auto node = FindNode(server_, node_name);
  if (node == nullptr) return NoNode(node_name);
  silences_.erase(node_name);
  std::vector<NodeConditionChange> changes = {{.type = kReady,
                                               .status = "True",
                                               .reason = "KubeletReady",
                                               .message = "kubelet is posting ready status"}};
  for (const PressureText& pressure : kPressures) {
    if (ConditionOf(*node, pressure.type).empty()) continue;
    changes.push_back(
        {.type = pressure.type, .status = "False", .reason = pressure.reason, .message = pressure.message});
  }
  return SetConditions(*node, changes, loop_.Now(), server_);
}

}  // namespace schedsim::sim
