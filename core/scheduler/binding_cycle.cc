// From the choice of a node to the pod bound there.
// Source: kubernetes v1.37, scheduler/schedule_one.go, bindingCycle.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/scheduler/cycle.h"
#include "core/scheduler/scheduler.h"

namespace schedsim::scheduler {

using framework::Status;

void Scheduler::StartBindingCycle(std::shared_ptr<BindingCycle> cycle) {
  // Where the line does not ask beforehand, each PreBind plugin may have something to do.
  if (!options_.line.nominates_before_binding) {
    WaitOnPermit(std::move(cycle));
    return;
  }
  const api::Pod& pod = *cycle->assumed->pod;
  const Status pre_flight =
      cycle->framework.RunPreBindPreFlights(*cycle->state, *cycle->assumed, cycle->node_name);
  if (!pre_flight.IsSuccess() && !pre_flight.IsSkip()) {
    HandleBindingCycleError(std::move(cycle), pre_flight);
    return;
  }
  // Skip of all plugins says that the binding takes no time. The early nomination is then not worth a write.
  cycle->pre_bind_works = pre_flight.IsSuccess();
  const bool takes_time = cycle->pre_bind_works || waiting_pods_.Find(pod.metadata.uid) != nullptr;
  if (!takes_time || pod.status.nominated_node_name == cycle->node_name) {
    WaitOnPermit(std::move(cycle));
    return;
  }
  // Others learn early where the pod goes. A failure of this write is not fatal.
  framework::PodStatusPatch patch;
  patch.nominated_node_name = cycle->node_name;
  environment_.client.PatchPodStatus(cycle->assumed->pod, std::move(patch),
                                     [this, cycle](const absl::Status&) { WaitOnPermit(cycle); });
}

void Scheduler::WaitOnPermit(std::shared_ptr<BindingCycle> cycle) {
  const std::string& uid = cycle->assumed->pod->metadata.uid;
  if (waiting_pods_.Find(uid) == nullptr) {
    RunPreBind(std::move(cycle));
    return;
  }
  waiting_pods_.Wait(uid, [this, cycle](const Status& status) {
    if (status.IsSuccess()) {
      RunPreBind(cycle);
    } else if (status.IsRejected()) {
      // Upstream makes a fit error of it: the rejecting plugin's events wake the pod, as after a Filter.
      HandleBindingCycleError(cycle, status, /*on_permit=*/true);
    } else {
      Status error = Status::Error(absl::StrCat("waiting on permit for pod: ", status.Message()));
      error.SetPluginIfUnset(status.plugin());
      HandleBindingCycleError(cycle, std::move(error));
    }
  });
}

void Scheduler::RunPreBind(std::shared_ptr<BindingCycle> cycle) {
  // Whatever fails from here on is retried after a backoff, so events no longer matter for this pod.
  queue_->Done(*cycle->assumed->pod);
  ++pre_bind_count_;
  // The callback keeps the cycle alive.
  BindingCycle& borrowed = *cycle;
  borrowed.is_in_pre_bind = true;
  if (options_.line.preempted_waiting_pod_is_error && borrowed.pre_bind_works) {
    auto in_pre_bind = std::make_unique<framework::PodInPreBind>(environment_.executor);
    borrowed.state->in_pre_bind = in_pre_bind.get();
    pods_in_pre_bind_[borrowed.assumed->pod->metadata.uid] = std::move(in_pre_bind);
  }
  borrowed.framework.RunPreBindPlugins(
      *borrowed.state, *borrowed.assumed, borrowed.node_name, [this, cycle](Status status) {
        --pre_bind_count_;
        cycle->is_in_pre_bind = false;
        if (!pre_binding_.empty()) pre_binding_.Erase(cycle->assumed->pod->metadata.uid);
        framework::PodInPreBind* in_pre_bind = std::exchange(cycle->state->in_pre_bind, nullptr);
        if (in_pre_bind != nullptr) {
          // The plugins may not have noticed.
          if (status.IsSuccess() && !in_pre_bind->MarkPrebound())
            status = Status::Error(in_pre_bind->message());
          pods_in_pre_bind_.Erase(cycle->assumed->pod->metadata.uid);
        }
        if (status.IsSuccess()) {
          RunBind(cycle);
        } else {
          HandleBindingCycleError(cycle, std::move(status));
        }
      });
  if (borrowed.is_in_pre_bind) pre_binding_[borrowed.assumed->pod->metadata.uid] = cycle;
}

std::optional<Scheduler::BindingHold> Scheduler::FindBindingHold(const api::Pod& pod) const {
  using api::ExtensionPoint;
  const framework::Framework* const framework = FrameworkFor(pod);
  if (framework == nullptr || !cache_.IsAssumedPod(pod)) return std::nullopt;
  if (const framework::WaitingPod* const waiting = waiting_pods_.Find(pod.metadata.uid))
    return BindingHold{.point = ExtensionPoint::kPermit, .plugins = waiting->GetPendingPlugins()};
  const auto is_its = [framework](const api::EffectiveProfile& profile) {
    return profile.scheduler_name == framework->profile_name();
  };
  const api::EffectiveProfile& profile =
      *std::find_if(options_.profiles.begin(), options_.profiles.end(), is_its);
  const std::weak_ptr<BindingCycle>* const found = pre_binding_.Find(pod.metadata.uid);
  if (found == nullptr) {
    BindingHold hold = {.point = ExtensionPoint::kBind};
    if (environment_.extenders == nullptr) hold.plugins = profile.At(ExtensionPoint::kBind);
    return hold;
  }
  BindingHold hold = {.point = ExtensionPoint::kPreBind};
  const std::shared_ptr<const BindingCycle> cycle = found->lock();
  // Nobody can end it any more.
  if (cycle == nullptr) return hold;
  const std::vector<std::string> done = plugin_names_.Sorted(cycle->state->skip_pre_bind);
  for (const std::string& name : profile.At(ExtensionPoint::kPreBind)) {
    if (std::binary_search(done.begin(), done.end(), name)) continue;
    hold.plugins = {name};
    break;
  }
  return hold;
}

// Extenders go before plugins.
void Scheduler::RunBind(std::shared_ptr<BindingCycle> cycle) {
  if (environment_.extenders != nullptr) {
    RunExtenderBind(std::move(cycle), 0);
  } else {
    RunBindPlugins(std::move(cycle));
  }
}

void Scheduler::RunBindPlugins(std::shared_ptr<BindingCycle> cycle) {
  BindingCycle& borrowed = *cycle;
  borrowed.framework.RunBindPlugins(*borrowed.state, *borrowed.assumed, borrowed.node_name,
                                    [this, cycle](Status status) { FinishBind(cycle, std::move(status)); });
}

void Scheduler::FinishBind(std::shared_ptr<BindingCycle> cycle, Status status) {
  if (!status.IsSuccess()) {
    HandleBindingCycleError(std::move(cycle), std::move(status));
    return;
  }
  // The pod stays assumed until the informer shows it bound: Cache::AddPod confirms it.
  if (environment_.client.WantsEvents()) {
    const api::Pod& pod = *cycle->assumed->pod;
    environment_.client.RecordEvent(
        pod, {.type = "Normal",
              .reason = "Scheduled",
              .action = "Binding",
              .note = absl::StrCat("Successfully assigned ", pod.Key(), " to ", cycle->node_name)});
  }
  cycle->framework.RunPostBindPlugins(*cycle->state, *cycle->assumed, cycle->node_name);
}

bool Scheduler::UnreserveAndForget(BindingCycle& cycle) {
  ++change_count_;
  cycle.framework.RunUnreservePlugins(*cycle.state, *cycle.assumed, cycle.node_name);
  const api::Pod& pod = *cycle.assumed->pod;
  if (cycle.state->pod_group_cycle != nullptr) {
    pod_groups_.ForgetPod(pod);
    cache_.RemoveFromSnapshot(snapshot_, pod, cycle.host->index);
    // Assuming the pod ended its nomination.
    const std::string& nominated = pod.status.nominated_node_name;
    if (!nominated.empty()) {
      nominator_.AddNominatedPod(cycle.assumed, nominated);
      nominator_.ReduceToName(pod);
    }
    return true;
  }
  // In 1.34 a pod that was bound and deleted since is none that could be forgotten.
  const bool is_known = cache_.FindPod(pod) != nullptr;
  if (!is_known && !options_.line.deletion_forgets_assumed_pod) return false;
  return cache_.ForgetPod(*cycle.assumed).ok();
}

void Scheduler::HandleBindingCycleError(std::shared_ptr<BindingCycle> cycle, Status status, bool on_permit) {
  // A scheduler that waits for pods goes on when this thread has done its last write, and the informers have
  // heard of it.
  holds_poppable_ = true;
  // A pod that is confirmed by now stays where it is.
  const bool forgotten = UnreserveAndForget(*cycle);
  // To the others it is as if the pod had been deleted from its node. A rejected pod itself must not
  // be woken by its own leaving, so for it the event comes after its return to the queue.
  const api::PodPtr pod = cycle->assumed->pod;
  const bool rejected = status.IsRejected();
  if (forgotten && !rejected) Move(framework::kEventAssignedPodDelete, pod, nullptr);
  CycleResult result = {.status = status, .message = status.Message()};
  if (on_permit) SetFitErrorOfHost(status, result);
  const Attempt::Failure failure = HandleSchedulingFailure(std::move(cycle->queued), std::move(result));
  environment_.observer.OnBindFailure(*cycle->assumed, failure);
  // Woken by what follows, the scheduler is the last to be, and the first to go on.
  holds_poppable_ = held_poppable_;
  if (forgotten && rejected) {
    queue_->MoveAllToActiveOrBackoffQueue(
        framework::kEventAssignedPodDelete, pod, nullptr,
        [&pod](const api::Pod& other) { return other.metadata.uid != pod->metadata.uid; });
  }
  holds_poppable_ = false;
  if (std::exchange(held_poppable_, false)) environment_.executor.Spawn(environment_.on_poppable);
}

// The message counts one node of one, as upstream makes its diagnosis of the host alone.
void Scheduler::SetFitErrorOfHost(const Status& status, CycleResult& result) {
  framework::Diagnosis diagnosis;
  diagnosis.Reset(1);
  diagnosis.node_to_status.Set(0, status);
  result.message = FitErrorMessage(diagnosis, 1);
  result.fit_error = true;
  // A pod that waits for its plugin's events counts as rejected by it, too. The plugin has no name where the
  // pod's deletion ended its waiting.
  const size_t plugin = static_cast<size_t>(plugin_names_.IdOf(status.plugin()));
  result.unschedulable_plugins.set(plugin);
  if (status.code() == framework::Code::kPending) result.pending_plugins.set(plugin);
}

}  // namespace schedsim::scheduler
