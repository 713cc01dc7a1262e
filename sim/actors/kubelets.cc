#include "sim/actors/kubelets.h"

#include <memory>
#include <utility>

namespace schedsim::sim {

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
  // Even a pod that was being deleted when the run began goes at once.
  if (termination_.IsZero() && !silent) return absl::ZeroDuration();
  if (pod.metadata.deletion_timestamp.has_value()) return std::nullopt;
  // Nobody is there to keep to it.
  if (silent) return kDefaultGracePeriod;
  const absl::Duration grace = termination_.Draw(rng_);
  if (grace > absl::ZeroDuration()) being_deleted_ = pod.metadata.uid;
  return grace;
}

void Kubelets::OnEvent(const WatchEvent& event) {
  if (being_deleted_.empty() || event.new_object == nullptr) return;
  if (event.new_object->metadata.uid != being_deleted_) return;
  being_deleted_.clear();
  auto pod = std::static_pointer_cast<const api::Pod>(event.new_object);
  const absl::Time end = *pod->metadata.deletion_timestamp;
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
  if (server_.Delete(api::Kind::kPod, "Pod", now->metadata.namespace_, now->metadata.name).ok())
    trace_.Gone(*now);
}

void Kubelets::SetSilent(absl::string_view node_name, bool silent) {
  if (silent) {
    silent_.emplace(node_name);
    return;
  }
  if (silent_.erase(std::string(node_name)) == 0) return;
  std::vector<api::PodPtr> ending;
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    auto pod = std::static_pointer_cast<const api::Pod>(object);
    if (pod->node_name == node_name && pod->metadata.deletion_timestamp.has_value()) ending.push_back(pod);
  }
  for (const api::PodPtr& pod : ending) End(*pod);
}

}  // namespace schedsim::sim
