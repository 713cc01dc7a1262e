#include "core/api/kubernetes_version.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace schedsim::api {
namespace {

constexpr int32_t kMinorOldest = 34;
constexpr int32_t kMinorNewest = kMinorOldest + kKubernetesLineCount - 1;

absl::Status VersionError(absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("unknown Kubernetes version \"", text,
                   "\": expected 1.34, 1.35, 1.36 or 1.37, with or without a patch such as 1.37.2"));
}

// The number that `text` spells with decimal digits only.
std::optional<int32_t> ParseNumber(absl::string_view text) {
  if (text.empty() || text.size() > 4) return std::nullopt;
  for (char c : text) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return std::nullopt;
  }
  int32_t number = 0;
  if (!absl::SimpleAtoi(text, &number)) return std::nullopt;
  return number;
}

bool From(const FeatureGates& gates, KubernetesLine first) { return gates.line() >= first; }

void SetCycle(const FeatureGates& gates, LineBehavior& behavior) {
  const bool from_35 = From(gates, KubernetesLine::k1_35);
  const bool from_36 = From(gates, KubernetesLine::k1_36);
  const bool from_37 = From(gates, KubernetesLine::k1_37);
  behavior.host_tie_rule = from_35 ? HostTieRule::kHeap : HostTieRule::kRandom;
  behavior.opportunistic_batching = gates.Enabled(Feature::kOpportunisticBatching);
  behavior.batching_rescores = from_37;
  behavior.batching_skips_nominated = from_37;
  behavior.batching_signs_in_queue = from_36;
  behavior.batching_signs_beside_dra = from_36;
  behavior.keeps_nomination_without_post_filter = !from_35;
  behavior.nominates_before_binding = gates.Enabled(Feature::kNominatedNodeNameForExpectation);
  behavior.clears_nomination_when_bound = gates.Enabled(Feature::kClearingNominatedNodeNameAfterBinding);
  behavior.failure_checks_uid = from_36;
  behavior.permit_wait_names_pod = !from_36;
  behavior.score_weight_errors_have_prefix = from_36;
}

void SetQueue(const FeatureGates& gates, LineBehavior& behavior) {
  const bool from_35 = From(gates, KubernetesLine::k1_35);
  const bool from_36 = From(gates, KubernetesLine::k1_36);
  const bool from_37 = From(gates, KubernetesLine::k1_37);
  behavior.pops_from_backoff = gates.Enabled(Feature::kSchedulerPopFromBackoffQ);
  behavior.flush_reaches_gated_pods = from_37;
  behavior.activate_runs_pre_enqueue = !from_35;
  behavior.nominates_gated_pods = from_37;
  behavior.taint_change_wakes_node_add = !from_37;
  behavior.event_labels_name_target_pod = from_37;
  behavior.deletion_forgets_assumed_pod = from_35;
  behavior.one_pod_handler = from_35;
  behavior.inter_pod_affinity_hints = from_37   ? InterPodAffinityHints::k1_37
                                      : from_36 ? InterPodAffinityHints::k1_36
                                                : InterPodAffinityHints::k1_35;
  behavior.pod_topology_spread_hints = from_37   ? PodTopologySpreadHints::k1_37
                                       : from_36 ? PodTopologySpreadHints::k1_36
                                                 : PodTopologySpreadHints::k1_35;
  behavior.fit_waits_for_device_class = gates.Enabled(Feature::kDRAExtendedResource);
}

void SetPreemption(const FeatureGates& gates, LineBehavior& behavior) {
  const bool from_35 = From(gates, KubernetesLine::k1_35);
  const bool from_36 = From(gates, KubernetesLine::k1_36);
  const bool from_37 = From(gates, KubernetesLine::k1_37);
  behavior.pdb_walk_stops_at_first_violation = from_37;
  behavior.victim_start_time_fixed = from_37;
  behavior.preemptor_waits_for_last_victim = from_35;
  behavior.eviction_error_spares_last_victim = from_36;
  behavior.memory_preemption_activates_preemptor = from_37;
  behavior.preempted_waiting_pod_is_error = from_36;
  behavior.preemption_success_has_message = from_37;
}

PodGroupFeatures PodGroupFeaturesOf(const FeatureGates& gates) {
  PodGroupFeatures features;
  if (!gates.Enabled(Feature::kGenericWorkload)) return features;
  const bool from_37 = From(gates, KubernetesLine::k1_37);
  features.cycle = from_37                              ? PodGroupCycle::kAsEntity
                   : From(gates, KubernetesLine::k1_36) ? PodGroupCycle::kOnPop
                                                        : PodGroupCycle::kAtPermit;
  // The gates that 1.37 took into GenericWorkload count as on there.
  features.gang_scheduling = gates.Enabled(Feature::kGangScheduling);
  features.workload_aware_preemption = from_37 || gates.Enabled(Feature::kWorkloadAwarePreemption);
  features.topology_aware = gates.Enabled(Feature::kTopologyAwareWorkloadScheduling);
  features.preemption_policy = gates.Enabled(Feature::kPodGroupPreemptionPolicy);
  return features;
}

void SetPlugins(const FeatureGates& gates, LineBehavior& behavior) {
  const bool from_35 = From(gates, KubernetesLine::k1_35);
  const bool from_36 = From(gates, KubernetesLine::k1_36);
  const bool from_37 = From(gates, KubernetesLine::k1_37);
  behavior.balanced_allocation_scores_improvement = from_36;
  behavior.image_volume_scoring = from_37   ? ImageVolumeScoring::kSummedAndCounted
                                  : from_36 ? ImageVolumeScoring::kSummed
                                            : ImageVolumeScoring::kIgnored;
  behavior.storage_capacity_scoring = gates.Enabled(Feature::kStorageCapacityScoring);
  behavior.volume_limit_scaling = gates.Enabled(Feature::kVolumeLimitScaling);
  behavior.passive_assume_cache = from_35;
  behavior.portworx_migration_needs_annotation = !from_36;
  behavior.namespace_selector_kept_after_expansion = !from_37;
  behavior.pod_requests_aggregate_first = from_37;
  behavior.pod_level_requests_read_status = gates.Enabled(Feature::kInPlacePodLevelResourcesVerticalScaling);
  behavior.node_declared_features = gates.Enabled(Feature::kNodeDeclaredFeatures);
  behavior.infers_bind_mount_options = from_37;
  behavior.dynamic_resources_scores = from_35;
  behavior.dynamic_resources_post_filter_has_reason = !from_37;
  behavior.dynamic_resources_timeout_is_error = from_36;
  behavior.dra_extended_resource = gates.Enabled(Feature::kDRAExtendedResource);
  behavior.dra = {.admin_access = gates.Enabled(Feature::kDRAAdminAccess),
                  .prioritized_list = gates.Enabled(Feature::kDRAPrioritizedList),
                  .partitionable_devices = gates.Enabled(Feature::kDRAPartitionableDevices),
                  .device_taints = gates.Enabled(Feature::kDRADeviceTaints),
                  .consumable_capacity = gates.Enabled(Feature::kDRAConsumableCapacity),
                  .fractional_capacity_range = gates.Enabled(Feature::kDRAFractionalCapacityRange),
                  .binding_conditions = gates.Enabled(Feature::kDRADeviceBindingConditions) &&
                                        gates.Enabled(Feature::kDRAResourceClaimDeviceStatus)};
}

}  // namespace

absl::StatusOr<KubernetesVersion> ParseKubernetesVersion(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(absl::StripPrefix(text, "v"), '.');
  if (parts.size() < 2 || parts.size() > 3) return VersionError(text);
  const std::optional<int32_t> major = ParseNumber(parts[0]);
  const std::optional<int32_t> minor = ParseNumber(parts[1]);
  const bool has_patch = parts.size() == 3;
  if (!major || !minor || (has_patch && !ParseNumber(parts[2]))) return VersionError(text);
  if (*major != 1 || *minor > kMinorNewest) return VersionError(text);

  KubernetesVersion version;
  if (*minor < kMinorOldest) {
    version.line = KubernetesLine::k1_34;
    version.is_warning = true;
    version.note = absl::StrCat("Kubernetes ", text,
                                " is older than the oldest simulated line: ", PinnedRelease(version.line),
                                " stands in for it.");
    return version;
  }
  version.line = static_cast<KubernetesLine>(*minor - kMinorOldest);
  if (has_patch && absl::StripPrefix(text, "v") != PinnedRelease(version.line)) {
    version.note = absl::StrCat("Kubernetes ", text, " is simulated as ", PinnedRelease(version.line),
                                ", the pinned release of its line.");
  }
  return version;
}

LineBehavior LineBehaviorOf(const FeatureGates& gates) {
  LineBehavior behavior;
  behavior.line = gates.line();
  SetCycle(gates, behavior);
  SetQueue(gates, behavior);
  SetPreemption(gates, behavior);
  SetPlugins(gates, behavior);
  behavior.pod_groups = PodGroupFeaturesOf(gates);
  return behavior;
}

}  // namespace schedsim::api
