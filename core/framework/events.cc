#include "core/framework/events.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "core/api/kinds.h"
#include "core/base/check.h"
#include "core/framework/custom_resources.h"
#include "core/framework/resource.h"

namespace schedsim::framework {
namespace {

// The resources that are kinds of the API.
struct ResourceKind {
  EventResource resource = EventResource::kWildcard;
  api::Kind kind = api::Kind::kOther;
};
constexpr ResourceKind kResourceKinds[] = {
    {EventResource::kPod, api::Kind::kPod},
    {EventResource::kNode, api::Kind::kNode},
    {EventResource::kPersistentVolume, api::Kind::kPersistentVolume},
    {EventResource::kPersistentVolumeClaim, api::Kind::kPersistentVolumeClaim},
    {EventResource::kStorageClass, api::Kind::kStorageClass},
    {EventResource::kCSINode, api::Kind::kCSINode},
    {EventResource::kCSIDriver, api::Kind::kCSIDriver},
    {EventResource::kCSIStorageCapacity, api::Kind::kCSIStorageCapacity},
    {EventResource::kVolumeAttachment, api::Kind::kVolumeAttachment},
    {EventResource::kResourceClaim, api::Kind::kResourceClaim},
    {EventResource::kResourceSlice, api::Kind::kResourceSlice},
    {EventResource::kDeviceClass, api::Kind::kDeviceClass},
    {EventResource::kWorkload, api::Kind::kWorkload},
    {EventResource::kPodGroup, api::Kind::kPodGroup},
};

// "Node", "storage.k8s.io/StorageClass", "podgroups.v1alpha1.scheduling.x-k8s.io".
std::string ResourceName(EventResource resource) {
  if (resource == EventResource::kWildcard) return "*";
  if (resource == EventResource::kAssignedPod) return "AssignedPod";
  if (resource == EventResource::kUnscheduledPod) return "UnscheduledPod";
  if (resource == EventResource::kTargetPod) return "TargetPod";
  for (const ResourceKind& entry : kResourceKinds) {
    if (entry.resource != resource) continue;
    const api::KindInfo& info = api::KindInfoOf(entry.kind);
    return absl::StrCat(info.group, info.group.empty() ? "" : "/", info.name);
  }
  const int custom = static_cast<int>(resource) - static_cast<int>(EventResource::kPodGroup);
  CHECK(custom > 0);
  const api::CustomKindInfo& info = api::CustomKindInfoOf(static_cast<api::CustomKind>(custom));
  return absl::StrCat(info.plural, ".", info.version, ".", info.group);
}

absl::string_view ActionName(ActionType action) {
  switch (action) {
    case kAdd:
      return "Add";
    case kDelete:
      return "Delete";
    case kUpdateNodeAllocatable:
      return "UpdateNodeAllocatable";
    case kUpdateNodeLabel:
      return "UpdateNodeLabel";
    case kUpdateNodeTaint:
      return "UpdateNodeTaint";
    case kUpdateNodeCondition:
      return "UpdateNodeCondition";
    case kUpdateNodeAnnotation:
      return "UpdateNodeAnnotation";
    case kUpdateNodeDeclaredFeature:
      return "UpdateNodeDeclaredFeature";
    case kUpdatePodLabel:
      return "UpdatePodLabel";
    case kUpdatePodScaleDown:
      return "UpdatePodScaleDown";
    case kUpdatePodScaleUp:
      return "UpdatePodScaleUp";
    case kUpdatePodToleration:
      return "UpdatePodToleration";
    case kUpdatePodSchedulingGatesEliminated:
      return "UpdatePodSchedulingGatesEliminated";
    case kUpdatePodGeneratedResourceClaim:
      return "UpdatePodGeneratedResourceClaim";
    case kUpdate:
      return "Update";
    case kAllActions:
      return "All";
    default:
      return "";
  }
}

// Who registered for pods waits for all three kinds of pod events.
bool ResourceMatches(EventResource registered, EventResource incoming) {
  if (registered == EventResource::kWildcard || registered == incoming) return true;
  return registered == EventResource::kPod &&
         (incoming == EventResource::kAssignedPod || incoming == EventResource::kUnscheduledPod ||
          incoming == EventResource::kTargetPod);
}

std::map<std::string, std::string> ConditionStatuses(const api::Node& node) {
  std::map<std::string, std::string> statuses;
  for (const api::NodeCondition& condition : node.status.conditions) {
    statuses[condition.type] = condition.status;
  }
  return statuses;
}

// Whether some request of `a` is missing from `b` or smaller there. Upstream compares thousandths of all
// resources, so that requests from 2^63 / 1000 on wrap around here.
bool SomeRequestShrinks(const api::ResourceList& a, const api::ResourceList& b) {
  return std::any_of(a.begin(), a.end(), [&b](const auto& entry) {
    const api::Quantity* other = b.Find(entry.first);
    return other == nullptr || entry.second.MilliValue() > other->MilliValue();
  });
}

// What happened to the requests of a pod.
struct RequestChange {
  bool some_shrink = false;
  bool some_grow = false;
};

RequestChange CompareRequests(const api::Pod& new_pod, const api::Pod& old_pod,
                              const api::LineBehavior& line) {
  // Most updates change conditions or the nomination only.
  const bool by_spec_alone = !HasStatusResources(new_pod.status) && !HasStatusResources(old_pod.status);
  if (new_pod.spec == old_pod.spec && by_spec_alone) return {};
  const PodRequestsOptions options = OptionsWithStatus(line);
  const api::ResourceList new_requests = PodRequests(*new_pod.spec, &new_pod.status, options);
  const api::ResourceList old_requests = PodRequests(*old_pod.spec, &old_pod.status, options);
  return {.some_shrink = SomeRequestShrinks(old_requests, new_requests),
          .some_grow = SomeRequestShrinks(new_requests, old_requests)};
}

bool SameResourceClaimStatuses(const api::Pod& a, const api::Pod& b) {
  const auto& left = a.status.resource_claim_statuses;
  const auto& right = b.status.resource_claim_statuses;
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const auto& x, const auto& y) {
    return x.name == y.name && x.resource_claim_name == y.resource_claim_name;
  });
}

}  // namespace

EventResource EventResourceOf(api::Kind kind) {
  for (const ResourceKind& entry : kResourceKinds) {
    if (entry.kind == kind) return entry.resource;
  }
  return EventResource::kWildcard;
}

EventResource EventResourceOf(const api::Object& object) {
  const api::CustomKind custom = api::CustomKindOf(object);
  return custom == api::CustomKind::kNone ? EventResourceOf(object.kind) : EventResourceOf(custom);
}

std::string EventLabel(const ClusterEvent& event, const api::LineBehavior& line) {
  if (!event.label.empty()) return std::string(event.label);
  // Up to 1.36 the labels did not tell the pod that is waiting from other pods without a node.
  const bool without_node =
      event.resource == EventResource::kUnscheduledPod || event.resource == EventResource::kTargetPod;
  if (without_node && !line.event_labels_name_target_pod) {
    return absl::StrCat("UnschedulablePod", ActionName(event.action));
  }
  return absl::StrCat(ResourceName(event.resource), ActionName(event.action));
}

std::vector<std::string> RegistrationLabels(const ClusterEvent& registered, const api::LineBehavior& line) {
  if (registered.action == kAllActions) return {EventLabel(registered, line)};
  std::vector<std::string> labels;
  auto add = [&](ActionType action) {
    labels.push_back(EventLabel({.resource = registered.resource, .action = action}, line));
  };
  const bool all_updates = (registered.action & kUpdate) == kUpdate;
  for (ActionType bit = kAdd; bit <= kAllActions; bit <<= 1) {
    if ((registered.action & bit & ~(all_updates ? kUpdate : 0)) != 0) add(bit);
  }
  if (all_updates) add(kUpdate);
  return labels;
}

bool MatchClusterEvents(const ClusterEvent& registered, const ClusterEvent& incoming) {
  if (registered.IsWildcard()) return true;
  // An incoming event with more bits than were registered for does not match, although it includes them.
  return ResourceMatches(registered.resource, incoming.resource) &&
         (registered.action & incoming.action) != 0 && incoming.action <= registered.action;
}

std::vector<ClusterEvent> NodeSchedulingPropertiesChange(const api::Node& new_node, const api::Node& old_node,
                                                         const api::LineBehavior& line) {
  std::vector<ClusterEvent> events;
  auto add = [&events](bool changed, ActionType action) {
    if (changed) events.push_back({.resource = EventResource::kNode, .action = action});
  };
  // Upstream treats a node that becomes schedulable as one that loses a taint. A second event of the same
  // kind may follow below.
  add(old_node.spec.unschedulable && !new_node.spec.unschedulable, kUpdateNodeTaint);
  add(!(new_node.status.allocatable == old_node.status.allocatable), kUpdateNodeAllocatable);
  add(!(new_node.metadata.labels == old_node.metadata.labels), kUpdateNodeLabel);
  add(!(new_node.spec.taints == old_node.spec.taints), kUpdateNodeTaint);
  add(ConditionStatuses(new_node) != ConditionStatuses(old_node), kUpdateNodeCondition);
  add(!(new_node.metadata.annotations == old_node.metadata.annotations), kUpdateNodeAnnotation);
  add(line.node_declared_features && new_node.status.declared_features != old_node.status.declared_features,
      kUpdateNodeDeclaredFeature);
  return events;
}

std::vector<ClusterEvent> PodSchedulingPropertiesChange(const api::Pod& new_pod, const api::Pod& old_pod,
                                                        EventResource resource,
                                                        const api::LineBehavior& line) {
  std::vector<ClusterEvent> events;
  auto add = [&events, resource](bool changed, ActionType action) {
    if (changed) events.push_back({.resource = resource, .action = action});
  };
  add(!(new_pod.metadata.labels == old_pod.metadata.labels), kUpdatePodLabel);
  const RequestChange requests = CompareRequests(new_pod, old_pod, line);
  add(requests.some_shrink, kUpdatePodScaleDown);
  add(line.event_labels_name_target_pod && requests.some_grow, kUpdatePodScaleUp);
  add(new_pod.spec->scheduling_gates.empty() && !old_pod.spec->scheduling_gates.empty(),
      kUpdatePodSchedulingGatesEliminated);
  add(new_pod.spec->tolerations.size() != old_pod.spec->tolerations.size(), kUpdatePodToleration);
  add(!SameResourceClaimStatuses(new_pod, old_pod), kUpdatePodGeneratedResourceClaim);
  // A change that none of the above names may still matter to plugins that wait for any update.
  if (events.empty()) events.push_back({.resource = resource, .action = kUpdate});
  return events;
}

}  // namespace schedsim::framework
