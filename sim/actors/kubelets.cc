#include "sim/actors/kubelets.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "core/api/node.h"
#include "sim/cluster/node_condition.h"
#include "sim/cluster/pod_finalizers.h"

namespace schedsim::sim {
namespace {

// Whether the pod is not ready although its containers are: its node was not heard. With readiness gates,
// somebody else says more.
bool IsReadyAgain(const api::Pod& pod) {
  const api::PodCondition* ready = pod.FindCondition("Ready");
  const bool has_gates = pod.json != nullptr && absl::StrContains(pod.json->ToString(), "\"readinessGates\"");
  const api::PodCondition* containers = pod.FindCondition("ContainersReady");
  return !pod.IsTerminal() && ready != nullptr && ready->status == "False" && containers != nullptr &&
         containers->status == "True" && !has_gates;
}

}  // namespace

Kubelets::Kubelets(const Latency& termination, const Rng& rng, Interleaving& interleaving, ApiServer& server,
                   Trace& trace)
    : termination_(termination),
      rng_(rng.Fork("latency/pod-termination")),
      interleaving_(interleaving),
      server_(server),
      trace_(trace) {
  server_.set_grace_period([this](const api::Pod& pod) { return GracePeriod(pod); });
  server_.Watch([this](const WatchEvent& event) { OnEvent(event); });
}

std::optional<absl::Duration> Kubelets::GracePeriod(const api::Pod& pod) {
  const bool silent = silent_.count(pod.node_name) > 0;
  const bool is_ending = pod.metadata.deletion_timestamp.has_value();
  if (is_ending && ends_terminating_pods_) return std::nullopt;
  // Nobody else ends a pod that was being deleted when the run began.
  if (termination_.IsZero() && !silent) {
    if (ends_terminating_pods_ && IsHeldByFinalizers(pod)) being_deleted_ = pod.metadata.uid;
    return absl::ZeroDuration();
  }
  if (is_ending) return std::nullopt;
  // Nobody is there to keep to it.
  if (silent) return kDefaultGracePeriod;
  const absl::Duration grace = termination_.Draw(rng_);
  if (grace > absl::ZeroDuration()) being_deleted_ = pod.metadata.uid;
  return grace;
}

void Kubelets::OnEvent(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind == api::Kind::kNode) return OnNode(event);
  if (being_deleted_.empty() || event.new_object == nullptr) return;
  if (event.new_object->metadata.uid != being_deleted_) return;
  being_deleted_.clear();
  auto pod = std::static_pointer_cast<const api::Pod>(event.new_object);
  const absl::Time end = *pod->metadata.deletion_timestamp;
  EndAt(end, std::move(pod));
}

// A node that is deleted takes its kubelet along.
void Kubelets::OnNode(const WatchEvent& event) {
  if (!ends_terminating_pods_ || (event.new_object != nullptr && event.old_object != nullptr)) return;
  if (event.new_object == nullptr) {
    silent_.insert(event.old_object->metadata.name);
  } else {
    SetSilent(event.new_object->metadata.name, false);
  }
}

void Kubelets::EndAt(absl::Time end, api::PodPtr pod) {
  // The recorder cuts the end to microseconds, and lets evictions take nanoseconds.
  if (interleaving_.pops_last()) {
    end = absl::UnixEpoch() + absl::Floor(end - absl::UnixEpoch(), absl::Microseconds(1));
  }
  terminating_[end].push_back(std::move(pod));
  interleaving_.EndPod(end, [this] { EndNext(); });
}

void Kubelets::EndNext() {
  std::vector<api::PodPtr>& pods = terminating_.begin()->second;
  const size_t index = interleaving_.ChooseEnding(pods);
  const api::PodPtr pod = pods[index];
  pods.erase(pods.begin() + static_cast<ptrdiff_t>(index));
  if (pods.empty()) terminating_.erase(terminating_.begin());
  if (silent_.count(pod->node_name) == 0) End(*pod);
}

void Kubelets::End(const api::Pod& pod) {
  const api::PodPtr now = server_.FindPod(pod.metadata.namespace_, pod.metadata.name);
  if (now == nullptr || now->metadata.uid != pod.metadata.uid) return;
  if (ends_terminating_pods_ && IsHeldByFinalizers(*now)) {
    if (now->IsTerminal()) return;
    auto failed = std::static_pointer_cast<api::Pod>(now->Clone());
    failed->status.phase = "Failed";
    server_.Update(failed).IgnoreError();
    return;
  }
  if (server_.Delete(api::Kind::kPod, "Pod", now->metadata.namespace_, now->metadata.name).ok())
    trace_.Gone(*now);
}

void Kubelets::EndTerminatingPods(absl::Time now) {
  ends_terminating_pods_ = true;
  for (const auto& [key, object] : server_.List(api::Kind::kNode)) {
    if (IsKubeletUnheard(static_cast<const api::Node&>(*object))) silent_.insert(object->metadata.name);
  }
  // Few pods are, so that these alone are put in order.
  std::map<std::string, api::PodPtr> terminating;
  server_.ForEachPod([&](const api::Pod& pod) {
    if (pod.metadata.deletion_timestamp.has_value())
      terminating[pod.Key()] = server_.FindPod(pod.metadata.namespace_, pod.metadata.name);
  });
  for (auto& [key, pod] : terminating) {
    // Where the node is not in the input, nobody knows whether its kubelet works.
    const bool has_node = server_.Find(api::Kind::kNode, "Node", "", pod->node_name) != nullptr;
    if (!has_node || pod->IsTerminal()) continue;
    const absl::Time end = std::max(now, *pod->metadata.deletion_timestamp);
    EndAt(end, std::move(pod));
  }
}

void Kubelets::SetSilent(absl::string_view node_name, bool silent) {
  if (silent) {
    silent_.emplace(node_name);
    return;
  }
  if (silent_.erase(std::string(node_name)) == 0) return;
  std::vector<api::PodPtr> pods;
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    auto pod = std::static_pointer_cast<const api::Pod>(object);
    if (pod->node_name == node_name) pods.push_back(std::move(pod));
  }
  for (const api::PodPtr& pod : pods) {
    if (pod->metadata.deletion_timestamp.has_value()) {
      End(*pod);
    } else if (ends_terminating_pods_ && IsReadyAgain(*pod)) {
      auto ready = std::static_pointer_cast<api::Pod>(pod->Clone());
      api::PodCondition condition = *pod->FindCondition("Ready");
      condition.status = "True";
      ready->SetCondition(std::move(condition));
      server_.Update(ready).IgnoreError();
    }
  }
}

}  // namespace schedsim::sim
