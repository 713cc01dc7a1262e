#include "sim/run/scheduler_conflicts.h"

#include <memory>
#include <utility>

namespace schedsim::sim {

SchedulerConflicts::SchedulerConflicts(std::vector<scheduler::Scheduler*> schedulers, const Clock& clock,
                                       ApiServer& server, KubeletAdmission& admission)
    : schedulers_(std::move(schedulers)), clock_(clock), admission_(admission) {
  for (const scheduler::Scheduler* scheduler : schedulers_) {
    Counts& counts = counts_.emplace_back();
    for (const auto& framework : scheduler->frameworks())
      counts.profiles.emplace_back(framework->profile_name());
  }
  server.Watch([this](const WatchEvent& event) { OnChange(event); });
  admission_.set_on_decision(
      [this](const api::Pod& pod, const KubeletRefusal* refusal) { OnDecision(pod, refusal); });
}

int SchedulerConflicts::IndexOf(const api::Pod& pod) const {
  for (size_t i = 0; i < schedulers_.size(); ++i)
    if (schedulers_[i]->ResponsibleFor(pod)) return static_cast<int>(i);
  return -1;
}

void SchedulerConflicts::OnAttempt(const scheduler::Attempt& attempt) {
  const api::Pod& pod = *attempt.pod->pod;
  const int index = IndexOf(pod);
  if (index < 0) return;
  ++counts_[static_cast<size_t>(index)].attempts;
  if (attempt.host == nullptr) return;
  const scheduler::Scheduler& scheduler = *schedulers_[static_cast<size_t>(index)];
  Choice choice = {.admitted_count = admission_.admitted_count(), .unheard = {}};
  for (const auto& on_node : admission_.PodsOn(attempt.host->node->metadata.name)) {
    const int other = IndexOf(*on_node.pod);
    if (other >= 0 && other != index && scheduler.cache().FindPod(*on_node.pod) == nullptr)
      choice.unheard.insert(on_node.pod->spec->scheduler_name);
  }
  choices_[pod.metadata.uid] = std::move(choice);
}

void SchedulerConflicts::OnChange(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind != api::Kind::kPod) return;
  const auto& pod = static_cast<const api::Pod&>(object);
  if (event.new_object == nullptr) choices_.erase(pod.metadata.uid);
  if (event.new_object == nullptr || event.old_object == nullptr || pod.node_name.empty()) return;
  if (!static_cast<const api::Pod&>(*event.old_object).node_name.empty()) return;
  const int index = IndexOf(pod);
  if (index >= 0) ++counts_[static_cast<size_t>(index)].bound;
}

void SchedulerConflicts::OnDecision(const api::Pod& pod, const KubeletRefusal* refusal) {
  const auto found = choices_.find(pod.metadata.uid);
  const bool was_chosen = found != choices_.end();
  Choice choice;
  if (was_chosen) {
    choice = std::move(found->second);
    choices_.erase(found);
  }
  if (refusal == nullptr) return;
  const int index = was_chosen ? IndexOf(pod) : -1;
  if (index >= 0) ++counts_[static_cast<size_t>(index)].rejected;
  for (const auto& on_node : admission_.PodsOn(pod.node_name)) {
    const int other = IndexOf(*on_node.pod);
    if (index >= 0 && on_node.number > choice.admitted_count && other >= 0 && other != index)
      choice.unheard.insert(on_node.pod->spec->scheduler_name);
  }
  rejections_.push_back({.at = clock_.Now(),
                         .pod = pod.Key(),
                         .node = pod.node_name,
                         .scheduler = was_chosen ? pod.spec->scheduler_name : "",
                         .reason = refusal->reason,
                         .message = refusal->message,
                         .unheard = {choice.unheard.begin(), choice.unheard.end()}});
}

}  // namespace schedsim::sim
