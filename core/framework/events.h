// Cluster events, and what plugins say of them.
#ifndef SCHEDSIM_CORE_FRAMEWORK_EVENTS_H_
#define SCHEDSIM_CORE_FRAMEWORK_EVENTS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/kubernetes_version.h"
#include "core/api/node.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/framework/pod_info.h"

namespace schedsim::framework {

// What kind of thing changed.
enum class EventResource : uint8_t {
  kWildcard,        // "*"
  kPod,             // Only in registrations: any of the next three.
  kAssignedPod,     // A pod on a node.
  kUnscheduledPod,  // Another pod without a node.
  kTargetPod,       // The very pod that waits.
  kNode,
  kPersistentVolume,
  kPersistentVolumeClaim,
  kStorageClass,
  kCSINode,
  kCSIDriver,
  kCSIStorageCapacity,
  kVolumeAttachment,
  kResourceClaim,
  kResourceSlice,
  kDeviceClass,
  kWorkload,
  kPodGroup,
};

// The resource of events about objects of a kind; kWildcard: there are no such events.
EventResource EventResourceOf(api::Kind kind);

// What happened to it: bits, in upstream's numeric order.
// Source: kube-scheduler v0.37, framework/types.go, ActionType.
using ActionType = uint32_t;
inline constexpr ActionType kAdd = 1u << 0;
inline constexpr ActionType kDelete = 1u << 1;
inline constexpr ActionType kUpdateNodeAllocatable = 1u << 2;
inline constexpr ActionType kUpdateNodeLabel = 1u << 3;
inline constexpr ActionType kUpdateNodeTaint = 1u << 4;
inline constexpr ActionType kUpdateNodeCondition = 1u << 5;
inline constexpr ActionType kUpdateNodeAnnotation = 1u << 6;
inline constexpr ActionType kUpdateNodeDeclaredFeature = 1u << 7;
inline constexpr ActionType kUpdatePodLabel = 1u << 9;
inline constexpr ActionType kUpdatePodScaleDown = 1u << 10;
inline constexpr ActionType kUpdatePodScaleUp = 1u << 11;
inline constexpr ActionType kUpdatePodToleration = 1u << 12;
inline constexpr ActionType kUpdatePodSchedulingGatesEliminated = 1u << 13;
inline constexpr ActionType kUpdatePodGeneratedResourceClaim = 1u << 14;
inline constexpr ActionType kAllActions = (1u << 15) - 1;
inline constexpr ActionType kUpdate = kAllActions & ~(kAdd | kDelete);

struct ClusterEvent {
  EventResource resource = EventResource::kWildcard;
  ActionType action = kAllActions;
  // For wildcard events: "UnschedulableTimeout", "ForceActivate".
  absl::string_view label = "";

  bool IsWildcard() const { return resource == EventResource::kWildcard && action == kAllActions; }
};

// "NodeAdd", "AssignedPodDelete", "TargetPodUpdate" and so on, as upstream's metrics of the line say it.
std::string EventLabel(const ClusterEvent& event, const api::LineBehavior& line);

// The same for a registration, which may be for several actions: a label for each, all updates being one.
std::vector<std::string> RegistrationLabels(const ClusterEvent& registered, const api::LineBehavior& line);

// Whether something registered for `registered` hears of `incoming`.
// Source: kubernetes v1.37, scheduler/framework/types.go, MatchClusterEvents.
bool MatchClusterEvents(const ClusterEvent& registered, const ClusterEvent& incoming);

inline constexpr ClusterEvent kEventUnschedulableTimeout = {.label = "UnschedulableTimeout"};
inline constexpr ClusterEvent kEventForceActivate = {.label = "ForceActivate"};
inline constexpr ClusterEvent kEventUnscheduledPodAdd = {.resource = EventResource::kUnscheduledPod,
                                                         .action = kAdd};
inline constexpr ClusterEvent kEventUnscheduledPodDelete = {.resource = EventResource::kUnscheduledPod,
                                                            .action = kDelete};
inline constexpr ClusterEvent kEventAssignedPodAdd = {.resource = EventResource::kAssignedPod,
                                                      .action = kAdd};
inline constexpr ClusterEvent kEventAssignedPodDelete = {.resource = EventResource::kAssignedPod,
                                                         .action = kDelete};

enum class QueueingHint : uint8_t { kSkip, kQueue };
constexpr QueueingHint QueueIf(bool worth) { return worth ? QueueingHint::kQueue : QueueingHint::kSkip; }

// Whether `pod`, rejected by this plugin before, may fit after a change. `old_object` is nullptr for
// additions, `new_object` for deletions; both have the kind that the registered event names.
using QueueingHintFn = std::function<QueueingHint(const PodInfo& pod, const api::Object* old_object,
                                                  const api::Object* new_object)>;

// What the answer of a hint depends on, beside the event and the cluster.
enum class HintScope : uint8_t {
  // Anything of the pod: each pod is asked for.
  kPod,
  // Its spec, namespace and labels, what it requests, and whether the event is about the pod itself: one
  // answer stands for all pods that are equal in these.
  kSpecAndLabels,
};

// An event that a plugin waits for. Without a hint every such event counts.
struct ClusterEventWithHint {
  ClusterEvent event;
  QueueingHintFn hint;
  HintScope scope = HintScope::kPod;
};

// What changed between two versions of a node; empty: nothing that counts.
// Source: kubernetes v1.37, scheduler/framework/events.go, NodeSchedulingPropertiesChange.
std::vector<ClusterEvent> NodeSchedulingPropertiesChange(const api::Node& new_node, const api::Node& old_node,
                                                         const api::LineBehavior& line);

// What changed between two versions of a pod; a generic update where nothing special did. `resource`
// is kAssignedPod or kTargetPod.
// Source: as above, PodSchedulingPropertiesChange.
std::vector<ClusterEvent> PodSchedulingPropertiesChange(const api::Pod& new_pod, const api::Pod& old_pod,
                                                        EventResource resource,
                                                        const api::LineBehavior& line);

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_EVENTS_H_
