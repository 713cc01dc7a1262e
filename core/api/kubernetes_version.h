// The Kubernetes release lines that can be simulated, and what differs between them.
#ifndef SCHEDSIM_CORE_API_KUBERNETES_VERSION_H_
#define SCHEDSIM_CORE_API_KUBERNETES_VERSION_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/feature_gates.h"
#include "core/api/kubernetes_line.h"

namespace schedsim::api {

struct KubernetesVersion {
  KubernetesLine line = kDefaultKubernetesLine;
  // A sentence for the user where another release stands in for the one asked for: the line's pinned
  // release for other patches (`1.36.1`), the oldest line for older ones. Otherwise "".
  std::string note;
  // Whether the note is a warning: results may differ from the version that was asked for.
  bool is_warning = false;
};

// Parses `1.37`, `v1.37` or `1.37.2`. Lines older than 1.34 give 1.34 with a warning.
// InvalidArgument, naming what is expected, for newer lines and for anything else.
absl::StatusOr<KubernetesVersion> ParseKubernetesVersion(absl::string_view text);

// How the host is chosen among nodes of the highest total score.
enum class HostTieRule : uint8_t {
  kRandom,  // Uniformly at random.
  kHeap,    // The one that Go's container/heap puts on top of the feasible list.
};

// What ImageLocality does with the images of image volumes.
enum class ImageVolumeScoring : uint8_t { kIgnored, kSummed, kSummedAndCounted };

// The rules for events, named after the first line that has them; k1_35 also stands for 1.34.
// NOLINTNEXTLINE(readability-identifier-naming): the underscore is the version's dot.
enum class InterPodAffinityHints : uint8_t { k1_35, k1_36, k1_37 };
// NOLINTNEXTLINE(readability-identifier-naming): the underscore is the version's dot.
enum class PodTopologySpreadHints : uint8_t { k1_35, k1_36, k1_37 };

// What DynamicResources and its allocator know: gates of their names.
struct DynamicResourcesFeatures {
  bool admin_access = true;
  bool prioritized_list = true;
  bool partitionable_devices = true;
  bool device_taints = true;
  bool consumable_capacity = true;
  bool fractional_capacity_range = true;
  // Binding conditions of devices: the gates DRADeviceBindingConditions and DRAResourceClaimDeviceStatus.
  bool binding_conditions = true;
};

// Where the pods of a group are brought together.
enum class PodGroupCycle : uint8_t {
  kNone,      // The scheduler knows no groups.
  kAtPermit,  // Each pod has a cycle of its own, and the pods of a gang wait for each other on Permit (1.35).
  kOnPop,     // A pod that is popped takes the others of its group with it (1.36).
  kAsEntity,  // The group itself stands in the queue (from 1.37 on).
};

// What the gates for pod groups turn on: all of it is off by default.
struct PodGroupFeatures {
  // Gate GenericWorkload.
  PodGroupCycle cycle = PodGroupCycle::kNone;
  // GangScheduling is in the default profile: the gate of that name, from 1.37 on GenericWorkload.
  bool gang_scheduling = false;
  // A group preempts as a whole: gate WorkloadAwarePreemption, from 1.37 on GenericWorkload.
  bool workload_aware_preemption = false;
  // Gates TopologyAwareWorkloadScheduling and PodGroupPreemptionPolicy.
  bool topology_aware = false;
  bool preemption_policy = false;

  bool enabled() const { return cycle != PodGroupCycle::kNone; }
  // Whether a cycle is for a group.
  bool has_group_cycle() const { return cycle == PodGroupCycle::kOnPop || cycle == PodGroupCycle::kAsEntity; }
};

// How the lines decide differently: a field for each difference, filled in by LineBehaviorOf. Where a feature
// gate decides, the field follows the gate. Which plugins and gates a line has stands in tables of their own
// (default_profile.cc, feature_gate_table.cc).
struct LineBehavior {
  KubernetesLine line = kDefaultKubernetesLine;

  // Scheduling cycle.
  HostTieRule host_tie_rule = HostTieRule::kHeap;
  // Hints from one cycle to the next (gate OpportunisticBatching).
  bool opportunistic_batching = true;
  // A node that still has room is scored anew rather than ending the batch.
  bool batching_rescores = true;
  // A pod with a nominated node gets no hint.
  bool batching_skips_nominated = true;
  // Signatures are made when a pod enters the queue rather than in its cycle.
  bool batching_signs_in_queue = true;
  // Pods are signed although extended resources may come from a DeviceClass, unless they ask for one that
  // does.
  bool batching_signs_beside_dra = true;
  // A failed pod's nomination stays where the profile has no PostFilter plugin.
  bool keeps_nomination_without_post_filter = false;
  // The chosen node is written to status.nominatedNodeName before Permit waits and PreBind work
  // (gate NominatedNodeNameForExpectation).
  bool nominates_before_binding = true;
  // The API server clears status.nominatedNodeName when it binds (gate
  // ClearingNominatedNodeNameAfterBinding).
  bool clears_nomination_when_bound = true;
  // A failed pod that was created again under its name meanwhile is dropped without event or
  // status.
  bool failure_checks_uid = true;
  // The message of a pod that waits on Permit ends with the quoted pod name.
  bool permit_wait_names_pod = false;
  // Errors of score weights start with `score plugins: `.
  bool score_weight_errors_have_prefix = true;

  // Queue and events.
  // The backoff queue gives pods before their backoff is over where the active queue is empty, and PreEnqueue
  // runs when a pod enters it (gate SchedulerPopFromBackoffQ).
  bool pops_from_backoff = true;
  // The five-minute flush runs PreEnqueue again for gated pods.
  bool flush_reaches_gated_pods = true;
  // ForceActivate out of the backoff queue runs PreEnqueue again.
  bool activate_runs_pre_enqueue = false;
  // A nomination counts from the pod's arrival, also while PreEnqueue gates it.
  bool nominates_gated_pods = true;
  // Plugins that wait for Node/Add are woken by every taint change of every node, too.
  bool taint_change_wakes_node_add = false;
  // Labels of pod events: AssignedPod, UnscheduledPod, TargetPod rather than AssignedPod,
  // UnschedulablePod.
  bool event_labels_name_target_pod = true;
  // Deleting an assumed pod frees its node at once rather than when its binding ends.
  bool deletion_forgets_assumed_pod = true;
  // A bound pod is added to the cache, with its event, before it leaves the queue.
  bool one_pod_handler = true;
  InterPodAffinityHints inter_pod_affinity_hints = InterPodAffinityHints::k1_37;
  PodTopologySpreadHints pod_topology_spread_hints = PodTopologySpreadHints::k1_37;
  // NodeResourcesFit waits for DeviceClass events.
  bool fit_waits_for_device_class = true;

  // Preemption.
  // A victim's budgets: the walk stops at the first one that it exceeds.
  bool pdb_walk_stops_at_first_violation = true;
  // The start time of victims without one is taken once per victim rather than at each comparison.
  bool victim_start_time_fixed = true;
  // Victims that are terminating already are left out, and the preemptor stays gated until the last
  // victim is terminating or gone.
  bool preemptor_waits_for_last_victim = true;
  // After a failed eviction the last victim is not evicted.
  bool eviction_error_spares_last_victim = true;
  // The preemptor is activated when its last victim was preempted in memory: no event will wake it.
  bool memory_preemption_activates_preemptor = true;
  // A victim that waits on Permit ends with an error rather than as unschedulable, and one in
  // PreBind is cancelled.
  bool preempted_waiting_pod_is_error = true;
  // The message of a successful preemption: `preemption: found a potential placement …`.
  bool preemption_success_has_message = true;

  // Plugins.
  // NodeResourcesBalancedAllocation scores the improvement rather than the resulting balance.
  bool balanced_allocation_scores_improvement = true;
  ImageVolumeScoring image_volume_scoring = ImageVolumeScoring::kSummedAndCounted;
  // VolumeBinding scores by storage capacity (gate StorageCapacityScoring).
  bool storage_capacity_scoring = true;
  // NodeVolumeLimits rejects nodes without the volume's CSI driver (gate VolumeLimitScaling).
  bool volume_limit_scaling = true;
  // VolumeBinding's assumed objects lie beside what the informers saw rather than in a cache of both.
  bool passive_assume_cache = true;
  // NodeVolumeLimits counts Portworx volumes only where the CSINode's annotation says that they migrated.
  bool portworx_migration_needs_annotation = false;
  // A namespaceSelector of the incoming pod stays beside the namespaces that it selected.
  bool namespace_selector_kept_after_expansion = false;
  // Requests of pods on nodes: whole aggregations of spec, allocated and actuated are compared
  // rather than containers.
  bool pod_requests_aggregate_first = true;
  // Pod-level requests of pods on nodes read the pod's status, too (gate
  // InPlacePodLevelResourcesVerticalScaling).
  bool pod_level_requests_read_status = true;
  // NodeDeclaredFeatures is in the default profile (gate NodeDeclaredFeatures).
  bool node_declared_features = true;
  // NodeDeclaredFeatures knows bindMountOptions of volume mounts.
  bool infers_bind_mount_options = true;
  // DynamicResources scores.
  bool dynamic_resources_scores = true;
  // The PostFilter of DynamicResources gives a reason where it frees nothing.
  bool dynamic_resources_post_filter_has_reason = false;
  // A timeout of DynamicResources in Filter is an error rather than a rejection.
  bool dynamic_resources_timeout_is_error = true;
  // Extended resources may come from a DeviceClass (gate DRAExtendedResource).
  bool dra_extended_resource = true;
  DynamicResourcesFeatures dra;
  PodGroupFeatures pod_groups;
};

// The behavior of the gates' line, with the gates as they are set.
LineBehavior LineBehaviorOf(const FeatureGates& gates);

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_KUBERNETES_VERSION_H_
