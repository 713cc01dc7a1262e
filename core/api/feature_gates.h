// The feature gates that concern scheduling.
#ifndef SCHEDSIM_CORE_API_FEATURE_GATES_H_
#define SCHEDSIM_CORE_API_FEATURE_GATES_H_

#include <bitset>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/api/kubernetes_line.h"

namespace schedsim::api {

// Gates that change what is simulated. All other gates are only known by name.
enum class Feature : uint8_t {
  kClearingNominatedNodeNameAfterBinding,
  kDRAAdminAccess,
  kDRAConsumableCapacity,
  kDRADeviceBindingConditions,
  kDRADeviceTaints,
  kDRAExtendedResource,
  kDRAFractionalCapacityRange,
  kDRAPartitionableDevices,
  kDRAPrioritizedList,
  kDRAResourceClaimDeviceStatus,
  kDRASchedulerFilterTimeout,
  kGangScheduling,
  kGenericWorkload,
  kInPlacePodLevelResourcesVerticalScaling,
  kNodeDeclaredFeatures,
  kNominatedNodeNameForExpectation,
  kOpportunisticBatching,
  kPodGroupPreemptionPolicy,
  kSchedulerPopFromBackoffQ,
  kStorageCapacityScoring,
  kTopologyAwareWorkloadScheduling,
  kVolumeLimitScaling,
  kWorkloadAwarePreemption,
};
inline constexpr int kFeatureCount = static_cast<int>(Feature::kWorkloadAwarePreemption) + 1;

// The gates of one line, at their defaults until Set.
// Source: kubernetes, pkg/features/kube_features.go of each line's pinned release.
class FeatureGates {
 public:
  explicit FeatureGates(KubernetesLine line = kDefaultKubernetesLine);

  // Sets the gates of a list such as `A=true,B=false`; spaces around names and values are ignored
  // and a later setting of the same gate wins. InvalidArgument, with nothing set, for
  //  - text that is no such list and values that are no booleans;
  //  - gates that the line does not have;
  //  - locked gates set to the other value;
  //  - (Unimplemented) settings that are not simulated.
  // Gates that do not concern scheduling may have any value; `AllAlpha` and `AllBeta` stand for all gates
  // of that stage that are not locked or set by name. Dependencies between gates are not checked.
  absl::Status Set(absl::string_view list);

  // Absent in the line: false before the gate's introduction, true after its removal.
  bool Enabled(Feature feature) const { return enabled_[static_cast<size_t>(feature)]; }

  KubernetesLine line() const { return line_; }

 private:
  absl::Status SetOne(absl::string_view name, bool value);

  KubernetesLine line_;
  std::bitset<kFeatureCount> enabled_;
};

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_FEATURE_GATES_H_
