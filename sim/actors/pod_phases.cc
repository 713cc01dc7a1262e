#include "sim/actors/pod_phases.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace schedsim::sim {

absl::string_view PodPhases::FastStages(const api::Pod& pod) {
  if (pod.status.phase == "Pending") return "Running";
  const auto& owners = pod.metadata.owner_references;
  const bool is_of_job = std::any_of(owners.begin(), owners.end(),
                                     [](const api::OwnerReference& owner) { return owner.kind == "Job"; });
  return pod.status.phase == "Running" && is_of_job ? "Succeeded" : "";
}

PodPhases::PodPhases(Reads reads, NextPhase next_phase, EventLoop& loop, ApiServer& server)
    : reads_(std::move(reads)), next_phase_(std::move(next_phase)), loop_(loop), server_(server) {
  server_.Watch([this](const WatchEvent& event) { OnEvent(event); });
}

// A pod comes onto a node by a binding, or with its creation. Later phases follow from what was written here.
void PodPhases::OnEvent(const WatchEvent& event) {
  if (event.new_object == nullptr || event.new_object->kind != api::Kind::kPod) return;
  const auto& pod = static_cast<const api::Pod&>(*event.new_object);
  if (pod.node_name.empty() || pod.metadata.deletion_timestamp.has_value()) return;
  if (event.old_object != nullptr) {
    const auto& before = static_cast<const api::Pod&>(*event.old_object);
    if (!before.node_name.empty() && before.status.phase == pod.status.phase) return;
  }
  AdvanceLater(pod);
}

void PodPhases::AdvanceLater(const api::Pod& pod) {
  if (!reads_(pod) || next_phase_(pod).empty()) return;
  if (is_silent_ != nullptr && is_silent_(pod.node_name)) return;
  const api::ObjectMeta& meta = pod.metadata;
  loop_.At(loop_.Now(), EventLoop::Phase::kWork,
           [this, name_space = meta.namespace_, name = meta.name, uid = meta.uid] {
             Advance(name_space, name, uid);
           });
}

void PodPhases::Resume(absl::string_view node_name) {
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    const auto& pod = static_cast<const api::Pod&>(*object);
    const bool waits = pod.node_name == node_name && pod.status.phase == "Pending";
    if (waits && !pod.metadata.deletion_timestamp.has_value()) AdvanceLater(pod);
  }
}

void PodPhases::Advance(const std::string& name_space, const std::string& name, const std::string& uid) {
  const api::PodPtr pod = server_.FindPod(name_space, name);
  if (pod == nullptr || pod->metadata.uid != uid || pod->metadata.deletion_timestamp.has_value()) return;
  const absl::string_view phase = next_phase_(*pod);
  if (phase.empty() || (is_silent_ != nullptr && is_silent_(pod->node_name))) return;
  auto next = std::static_pointer_cast<api::Pod>(pod->Clone());
  next->status.phase = std::string(phase);
  if (phase == "Running") {
    if (!next->status.start_time.has_value()) next->status.start_time = loop_.Now();
    for (const char* type : {"Initialized", "Ready", "ContainersReady"}) {
      next->SetCondition({.type = type, .status = "True", .reason = "", .message = ""});
    }
  }
  server_.Update(next).IgnoreError();
}

}  // namespace schedsim::sim
