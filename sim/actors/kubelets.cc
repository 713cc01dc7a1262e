#include "sim/actors/kubelets.h"

#include <vector>

#include "core/base/status_macros.h"

namespace schedsim::sim {

absl::Status Kubelets::DeletePod(const api::Pod& pod) {
  const std::string& name_space = pod.metadata.namespace_;
  const std::string& name = pod.metadata.name;
  const api::PodPtr stored = server_.FindPod(name_space, name);
  const bool is_running = stored != nullptr && !stored->node_name.empty() && !stored->IsTerminal();
  if (!is_running) return server_.Delete(api::Kind::kPod, "Pod", name_space, name);
  const bool silent = silent_.count(stored->node_name) > 0;
  // Even one that was being deleted when the run began.
  if (termination_.IsZero() && !silent) return server_.Delete(api::Kind::kPod, "Pod", name_space, name);
  if (stored->metadata.deletion_timestamp.has_value()) return absl::OkStatus();
  // Nobody is there to keep to it.
  if (silent) return server_.MarkDeleted(*stored, kDefaultGracePeriod);
  const absl::Duration termination = termination_.Draw(rng_);
  if (termination == absl::ZeroDuration()) return server_.Delete(api::Kind::kPod, "Pod", name_space, name);
  RETURN_IF_ERROR(server_.MarkDeleted(*stored, termination));
  const absl::Time end = loop_.Now() + termination;
  terminating_[end].push_back(stored);
  loop_.At(end, EventLoop::Phase::kSpawned, [this] { EndNext(); });
  return absl::OkStatus();
}

// Each end is a thread of its own, so that what one sets off comes before the next.
void Kubelets::EndNext() {
  std::vector<api::PodPtr>& pods = terminating_.begin()->second;
  const size_t index = choice_ != nullptr ? choice_->ChooseEnding(pods) : 0;
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
