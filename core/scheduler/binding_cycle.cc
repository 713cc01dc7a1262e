// From the choice of a node to the pod bound there.
// Source: kubernetes v1.37, scheduler/schedule_one.go, bindingCycle.

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/scheduler/cycle.h"
#include "core/scheduler/scheduler.h"

namespace schedsim::scheduler {

using framework::Status;

void Scheduler::StartBindingCycle(std::shared_ptr<BindingCycle> cycle) {
  const api::Pod& pod = *cycle->assumed->pod;
  const Status pre_flight =
      cycle->framework.RunPreBindPreFlights(*cycle->state, *cycle->assumed, cycle->node_name);
  if (!pre_flight.IsSuccess() && !pre_flight.IsSkip()) {
    HandleBindingCycleError(std::move(cycle), pre_flight);
    return;
  }
  const bool nominates = options_.line.nominates_before_binding && pre_flight.IsSuccess() &&
                         pod.status.nominated_node_name != cycle->node_name;
  if (!nominates) {
    RunPreBind(std::move(cycle));
    return;
  }
  // Others learn early where the pod goes. A failure of this write is not fatal.
  framework::PodStatusPatch patch;
  patch.nominated_node_name = cycle->node_name;
  environment_.client.PatchPodStatus(pod, std::move(patch), [this, cycle](const absl::Status&) { RunPreBind(cycle); });
}

void Scheduler::RunPreBind(std::shared_ptr<BindingCycle> cycle) {
  // Whatever fails from here on is retried after a backoff, so events no longer matter for this pod.
  queue_->Done(cycle->assumed->pod->metadata.uid);
  BindingCycle& borrowed = *cycle;
  borrowed.framework.RunPreBindPlugins(*borrowed.state, *borrowed.assumed, borrowed.node_name,
                                       [this, cycle](Status status) {
                                         if (status.IsSuccess()) {
                                           RunBind(cycle);
                                         } else {
                                           HandleBindingCycleError(cycle, std::move(status));
                                         }
                                       });
}

void Scheduler::RunBind(std::shared_ptr<BindingCycle> cycle) {
  BindingCycle& borrowed = *cycle;
  borrowed.framework.RunBindPlugins(
      *borrowed.state, *borrowed.assumed, borrowed.node_name, [this, cycle](Status status) {
        if (!status.IsSuccess()) {
          HandleBindingCycleError(cycle, std::move(status));
          return;
        }
        const api::Pod& pod = *cycle->assumed->pod;
        environment_.client.RecordEvent(
            pod, {.type = "Normal",
                  .reason = "Scheduled",
                  .action = "Binding",
                  .note = absl::StrCat("Successfully assigned ", pod.Key(), " to ", cycle->node_name)});
        cycle->framework.RunPostBindPlugins(*cycle->state, *cycle->assumed, cycle->node_name);
      });
}

void Scheduler::UnreserveAndForget(BindingCycle& cycle) {
  ++change_count_;
  cycle.framework.RunUnreservePlugins(*cycle.state, *cycle.assumed, cycle.node_name);
  // The pod may be gone, or confirmed, by now; then there is nothing to forget.
  cache_.ForgetPod(*cycle.assumed).IgnoreError();
}

void Scheduler::HandleBindingCycleError(std::shared_ptr<BindingCycle> cycle, Status status) {
  UnreserveAndForget(*cycle);
  // To the others it is as if the pod had been deleted from its node. A rejected pod itself must not
  // be woken by its own leaving, so for it the event comes after its return to the queue.
  const api::PodPtr pod = cycle->assumed->pod;
  const bool rejected = status.IsRejected();
  if (!rejected) Move(framework::kEventAssignedPodDelete, pod, nullptr);
  CycleResult result = {.status = status, .message = status.Message()};
  const Attempt::Failure failure = HandleSchedulingFailure(std::move(cycle->queued), std::move(result));
  environment_.observer.OnBindFailure(*cycle->assumed, failure);
  if (!rejected) return;
  queue_->MoveAllToActiveOrBackoffQueue(
      framework::kEventAssignedPodDelete, pod, nullptr,
      [&pod](const api::Pod& other) { return other.metadata.uid != pod->metadata.uid; });
}

}  // namespace schedsim::scheduler
