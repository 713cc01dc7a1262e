// What the scheduler does when informers tell of a change.
// Source: kubernetes v1.37, scheduler/eventhandlers.go.

#include <utility>

#include "core/framework/custom_resources.h"
#include "core/scheduler/cycle.h"
#include "core/scheduler/scheduler.h"

namespace schedsim::scheduler {

using framework::ActionType;
using framework::ClusterEvent;
using framework::EventResource;

namespace {

template <typename T>
std::shared_ptr<const T> As(const api::ObjectPtr& object) {
  return std::static_pointer_cast<const T>(object);
}

// A nomination was in the way only of pods that are not more important: the others had not counted it.
queue::SchedulingQueue::PreCheck AtMostPriority(int32_t priority) {
  return [priority](const api::Pod& pod) { return pod.Priority() <= priority; };
}

}  // namespace

// The classes change before anybody is woken.
void Scheduler::TellOfClass(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  framework::ExtendedResources& resources = claims_.extended_resources();
  if (new_object == nullptr) {
    resources.Remove(*As<api::DeviceClass>(old_object));
  } else if (old_object == nullptr) {
    resources.Add(As<api::DeviceClass>(new_object));
  } else {
    resources.Update(*As<api::DeviceClass>(old_object), As<api::DeviceClass>(new_object));
  }
}

void Scheduler::Move(const ClusterEvent& event, api::ObjectPtr old_object, api::ObjectPtr new_object) {
  // Answers remembered for a node hold as long as the DeviceClasses do: see Dependency.
  if (event.resource == EventResource::kDeviceClass) {
    ForgetAnswers();
    TellOfClass(old_object, new_object);
  }
  queue_->MoveAllToActiveOrBackoffQueue(event, std::move(old_object), std::move(new_object));
}

// In each handler the informers' cache and the scheduler's cache change before the event moves pods. Hints,
// and the attempts that follow, see the cluster as it is after the change.
void Scheduler::OnAdd(const api::ObjectPtr& object) {
  ++change_count_;
  informers_.Set(object);
  informers_.Tell(nullptr, object.get());
  if (object->kind == api::Kind::kPod) {
    AddPod(As<api::Pod>(object));
  } else if (object->kind == api::Kind::kNode) {
    cache_.AddNode(As<api::Node>(object));
    Move({.resource = EventResource::kNode, .action = framework::kAdd}, nullptr, object);
  } else if (object->kind == api::Kind::kResourceClaim) {
    claims_.Set(As<api::ResourceClaim>(object));
  } else if (const EventResource resource = framework::EventResourceOf(*object);
             resource != EventResource::kWildcard) {
    if (object->kind == api::Kind::kPodGroup) OnPodGroup(nullptr, object);
    Move({.resource = resource, .action = framework::kAdd}, nullptr, object);
  }
}

void Scheduler::OnUpdate(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  ++change_count_;
  informers_.Set(new_object);
  informers_.Tell(old_object.get(), new_object.get());
  if (new_object->kind == api::Kind::kPod) {
    UpdatePod(As<api::Pod>(old_object), As<api::Pod>(new_object));
  } else if (new_object->kind == api::Kind::kNode) {
    const api::NodePtr old_node = As<api::Node>(old_object);
    const api::NodePtr new_node = As<api::Node>(new_object);
    cache_.UpdateNode(old_node, new_node);
    for (const ClusterEvent& event :
         framework::NodeSchedulingPropertiesChange(*new_node, *old_node, options_.line)) {
      Move(event, old_object, new_object);
    }
  } else if (new_object->kind == api::Kind::kResourceClaim) {
    claims_.Set(As<api::ResourceClaim>(new_object));
  } else if (const EventResource resource = framework::EventResourceOf(*new_object);
             resource != EventResource::kWildcard) {
    if (new_object->kind == api::Kind::kPodGroup) OnPodGroup(old_object, new_object);
    Move({.resource = resource, .action = framework::kUpdate}, old_object, new_object);
  }
}

void Scheduler::OnDelete(const api::ObjectPtr& object) {
  ++change_count_;
  informers_.Erase(*object);
  informers_.Tell(object.get(), nullptr);
  if (object->kind == api::Kind::kPod) {
    DeletePod(As<api::Pod>(object));
  } else if (object->kind == api::Kind::kNode) {
    // The one exception: upstream tells the queue before the node leaves the cache.
    Move({.resource = EventResource::kNode, .action = framework::kDelete}, object, nullptr);
    cache_.RemoveNode(*As<api::Node>(object));
  } else if (object->kind == api::Kind::kResourceClaim) {
    claims_.Erase(*As<api::ResourceClaim>(object));
  } else if (const EventResource resource = framework::EventResourceOf(*object);
             resource != EventResource::kWildcard) {
    if (object->kind == api::Kind::kPodGroup) OnPodGroup(object, nullptr);
    Move({.resource = resource, .action = framework::kDelete}, object, nullptr);
  }
}

void Scheduler::OnPodGroup(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  if (options_.line.pod_groups.cycle != api::PodGroupCycle::kAsEntity) return;
  if (new_object == nullptr) {
    queue_->DeletePodGroup(*As<api::PodGroup>(old_object));
  } else if (old_object == nullptr) {
    queue_->AddPodGroup(As<api::PodGroup>(new_object));
  } else {
    queue_->UpdatePodGroup(As<api::PodGroup>(new_object));
  }
}

void Scheduler::OnClaimChange(const framework::ClaimPtr& old_claim, const framework::ClaimPtr& new_claim) {
  const framework::ActionType action = old_claim == nullptr   ? framework::kAdd
                                       : new_claim == nullptr ? framework::kDelete
                                                              : framework::kUpdate;
  Move({.resource = EventResource::kResourceClaim, .action = action}, old_claim, new_claim);
}

// Where the pod was when it went is not known, so it is taken out of wherever it may be.
void Scheduler::OnMissedDelete(const api::ObjectPtr& last_known) {
  if (last_known->kind != api::Kind::kPod) {
    OnDelete(last_known);
    return;
  }
  ++change_count_;
  informers_.Erase(*last_known);
  informers_.Tell(last_known.get(), nullptr);
  const auto pod = As<api::Pod>(last_known);
  DeleteAssignedPod(pod);
  if (ResponsibleFor(*pod)) DeletePodFromQueue(pod, /*in_binding=*/false);
}

void Scheduler::AddPod(const api::PodPtr& pod) {
  const api::PodGroupFeatures& groups = options_.line.pod_groups;
  if (groups.cycle == api::PodGroupCycle::kAtPermit) pod_groups_.AddPod(pod);
  if (!pod->node_name.empty()) {
    AddAssignedPod(pod);
  } else if (ResponsibleFor(*pod)) {
    if (groups.has_group_cycle()) pod_groups_.AddPod(pod);
    queue_->Add(pod_infos_.Make(pod));
    // It may be the pod that its gang waits for.
    if (groups.gang_scheduling) Move(framework::kEventUnscheduledPodAdd, nullptr, pod);
  }
}

void Scheduler::UpdatePod(const api::PodPtr& old_pod, const api::PodPtr& new_pod) {
  if (options_.line.pod_groups.cycle == api::PodGroupCycle::kAtPermit) {
    pod_groups_.UpdatePod(*old_pod, new_pod);
  }
  if (!old_pod->node_name.empty()) {
    UpdateAssignedPod(old_pod, new_pod);
  } else if (!new_pod->node_name.empty()) {
    // The pod was bound, by this scheduler or another one: the assumed pod is confirmed, or a new one comes.
    AddAssignedPod(new_pod);
    if (ResponsibleFor(*old_pod)) DeletePodFromQueue(old_pod, /*in_binding=*/true);
  } else if (ResponsibleFor(*old_pod)) {
    UpdatePodInQueue(old_pod, new_pod);
  }
}

void Scheduler::DeletePod(const api::PodPtr& pod) {
  if (options_.line.pod_groups.cycle == api::PodGroupCycle::kAtPermit) pod_groups_.RemovePod(*pod);
  if (!pod->node_name.empty()) {
    DeleteAssignedPod(pod);
  } else if (ResponsibleFor(*pod)) {
    DeletePodFromQueue(pod, /*in_binding=*/false);
  }
}

void Scheduler::UpdatePodInQueue(const api::PodPtr& old_pod, const api::PodPtr& new_pod) {
  if (old_pod->metadata.resource_version == new_pod->metadata.resource_version) return;
  if (options_.line.pod_groups.has_group_cycle()) pod_groups_.UpdatePod(*old_pod, new_pod);
  if (cache_.IsAssumedPod(*new_pod)) {
    // A pod that is being bound is in no queue, and its own updates must not put it there.
    const bool deletion_started =
        new_pod->metadata.deletion_timestamp.has_value() && !old_pod->metadata.deletion_timestamp.has_value();
    if (deletion_started && options_.line.deletion_forgets_assumed_pod) HandleAssumedPodDeletion(*new_pod);
    return;
  }
  queue_->Update(old_pod, pod_infos_.Make(new_pod));
  const std::string& nominated = old_pod->status.nominated_node_name;
  if (nominated.empty() || nominated == new_pod->status.nominated_node_name) return;
  // Pods that had to respect the nomination see the pod leave its nominated node.
  queue_->MoveAllToActiveOrBackoffQueue(framework::kEventAssignedPodDelete, old_pod, nullptr,
                                        AtMostPriority(old_pod->Priority()));
}

void Scheduler::DeletePodFromQueue(const api::PodPtr& pod, bool in_binding) {
  queue_->Delete(*pod);
  // In 1.34 a pod that was nominated counts as deleted when it is bound, too.
  if (in_binding && options_.line.one_pod_handler) return;
  const api::PodGroupCycle cycle = options_.line.pod_groups.cycle;
  if (cycle == api::PodGroupCycle::kOnPop && !in_binding) pod_groups_.RemovePod(*pod);
  if (options_.line.deletion_forgets_assumed_pod) {
    if (cache_.IsAssumedPod(*pod)) {
      HandleAssumedPodDeletion(*pod);
      return;
    }
  } else if (RejectWaitingPod(pod->metadata.uid)) {
    Move(framework::kEventAssignedPodDelete, pod, nullptr);
    return;
  }
  // An assumed pod counts in its group until it is forgotten.
  if (cycle == api::PodGroupCycle::kAsEntity && !in_binding) pod_groups_.RemovePod(*pod);
  if (pod->status.nominated_node_name.empty()) return;
  queue_->MoveAllToActiveOrBackoffQueue(framework::kEventAssignedPodDelete, pod, nullptr,
                                        AtMostPriority(pod->Priority()));
}

// A pod that waits on Permit is rejected, and forgotten when its binding cycle ends so. Other bindings go on
// and will fail; the node is free from now on.
void Scheduler::HandleAssumedPodDeletion(const api::Pod& pod) {
  const api::PodPtr assumed = cache_.FindPod(pod)->pod;
  if (!RejectWaitingPod(pod.metadata.uid)) cache_.RemovePod(pod);
  Move(framework::kEventAssignedPodDelete, assumed, nullptr);
}

// Whether such a pod waited; from 1.36 on, whether it did not go on already.
bool Scheduler::RejectWaitingPod(absl::string_view uid) {
  framework::WaitingPod* pod = waiting_pods_.Find(uid);
  if (pod == nullptr) return false;
  const bool first = pod->Reject("", "removed");
  return first || !options_.line.preempted_waiting_pod_is_error;
}

void Scheduler::AddAssignedPod(const api::PodPtr& pod) {
  cache_.AddPod(pod_infos_.MakeAfter(cache_.FindPod(*pod), pod));
  Move(framework::kEventAssignedPodAdd, nullptr, pod);
}

void Scheduler::UpdateAssignedPod(const api::PodPtr& old_pod, const api::PodPtr& new_pod) {
  cache_.UpdatePod(pod_infos_.MakeAfter(cache_.FindPod(*new_pod), new_pod));
  for (const ClusterEvent& event : framework::PodSchedulingPropertiesChange(
           *new_pod, *old_pod, EventResource::kAssignedPod, options_.line)) {
    Move(event, old_pod, new_pod);
  }
}

void Scheduler::DeleteAssignedPod(const api::PodPtr& pod) {
  cache_.RemovePod(*pod);
  Move(framework::kEventAssignedPodDelete, pod, nullptr);
}

}  // namespace schedsim::scheduler
