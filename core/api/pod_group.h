// Groups of pods that are scheduled together, as far as scheduling reads them.
// Source: k8s.io/api v0.37, scheduling/v1beta1; v0.36, v1alpha2; v0.35, v1alpha1.
#ifndef SCHEDSIM_CORE_API_POD_GROUP_H_
#define SCHEDSIM_CORE_API_POD_GROUP_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/object.h"
#include "core/api/pod.h"

namespace schedsim::api {

struct GangSchedulingPolicy {
  // So many pods are scheduled, or none.
  int32_t min_count = 0;
};

// A gang, or, without one, a basic group, whose pods need not come together.
struct PodGroupSchedulingPolicy {
  std::optional<GangSchedulingPolicy> gang;
};

struct TopologyConstraint {
  std::string key;  // Of a node label.
};

struct PodGroupSchedulingConstraints {
  std::vector<TopologyConstraint> topology;
};

// How preemption takes the group's pods: as one, or each for itself.
struct DisruptionMode {
  bool all = false;
};

struct PodGroupSpec {
  PodGroupSchedulingPolicy scheduling_policy;
  std::optional<PodGroupSchedulingConstraints> scheduling_constraints;
  std::optional<DisruptionMode> disruption_mode;
  std::optional<int32_t> priority;
  std::string preemption_policy;  // As of a pod.
};

struct PodGroup : TypedObject<PodGroup, Kind::kPodGroup> {
  PodGroupSpec spec;
  // Of the status.
  std::vector<PodCondition> conditions;

  int32_t Priority() const { return spec.priority.value_or(0); }
  // Of a basic group: 1.
  int32_t MinCount() const {
    return spec.scheduling_policy.gang.has_value() ? spec.scheduling_policy.gang->min_count : 1;
  }
  bool IsGang() const { return spec.scheduling_policy.gang.has_value(); }
  bool DisruptsAll() const { return spec.disruption_mode.has_value() && spec.disruption_mode->all; }
};

using PodGroupPtr = std::shared_ptr<const PodGroup>;

struct WorkloadPodGroup {
  std::string name;
  PodGroupSchedulingPolicy policy;
};

// Says in 1.35 what a PodGroup says later.
struct Workload : TypedObject<Workload, Kind::kWorkload> {
  std::vector<WorkloadPodGroup> pod_groups;

  // The group of this name, or nullptr.
  const WorkloadPodGroup* FindPodGroup(absl::string_view name) const {
    for (const WorkloadPodGroup& group : pod_groups) {
      if (group.name == name) return &group;
    }
    return nullptr;
  }
};

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_POD_GROUP_H_
