#include "sim/controllers/pod_gc.h"

#include <memory>
#include <vector>

#include "sim/controllers/disruption_target.h"

namespace schedsim::sim {
namespace {

constexpr absl::Duration kPeriod = absl::Seconds(20);
constexpr absl::Duration kQuarantine = absl::Seconds(40);

}  // namespace

void PodGcController::OnEvent(const WatchEvent& event) {
  if (event.new_object != nullptr || loop_.Now() < start_) return;
  const absl::Duration since_look = (loop_.Now() - start_) % kPeriod;
  const absl::Time found = loop_.Now() - since_look + kPeriod;
  loop_.At(found + kQuarantine, EventLoop::Phase::kWork,
           [this, node_name = event.old_object->metadata.name] { Collect(node_name); });
}

void PodGcController::Collect(const std::string& node_name) {
  if (server_.Find(api::Kind::kNode, "Node", "", node_name) != nullptr) return;
  std::vector<api::PodPtr> pods;
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    auto pod = std::static_pointer_cast<const api::Pod>(object);
    if (pod->node_name == node_name) pods.push_back(std::move(pod));
  }
  for (const api::PodPtr& pod : pods) {
    SetDisruptionTarget(*pod, "DeletionByPodGC", "PodGC: node no longer exists", server_, trace_);
    // Nobody is there to end them; upstream says that they failed before it deletes them.
    server_.Delete(api::Kind::kPod, "Pod", pod->metadata.namespace_, pod->metadata.name).IgnoreError();
    trace_.Gone(*pod);
  }
}

}  // namespace schedsim::sim
