#include "sim/report/group_waits.h"

#include "absl/strings/str_cat.h"
#include "core/api/pod_group.h"
#include "core/framework/pod_group.h"

namespace schedsim::sim {
namespace {

int32_t MinCountOf(const api::PodGroupSchedulingPolicy& policy) {
  return policy.gang.has_value() ? policy.gang->min_count : 0;
}

std::string ToAppear(absl::string_view what, absl::string_view name) {
  return absl::StrCat("waiting for pods's ", what, " \"", name, "\" to appear in scheduling queue");
}

}  // namespace

GroupWaits::GroupWaits(const Simulation& simulation) : simulation_(simulation) {
  const api::PodGroupCycle cycle = simulation.options().line.pod_groups.cycle;
  if (cycle == api::PodGroupCycle::kNone) return;
  simulation.server().ForEachPod([&](const api::Pod& pod) {
    const std::string key = framework::PodGroupKeyOf(pod, cycle);
    if (!key.empty() && !pod.IsTerminal()) ++pod_counts_[key];
  });
}

std::string GroupWaits::WhyHeld(const api::Pod& pod) const {
  const std::string key = framework::PodGroupKeyOf(pod, simulation_.options().line.pod_groups.cycle);
  const auto count = pod_counts_.find(key);
  if (count == pod_counts_.end()) return "";
  int32_t min_count = 0;
  std::string missing = WhatIsMissing(pod, min_count);
  if (!missing.empty() || count->second >= min_count) return missing;
  return absl::StrCat("waiting for minCount pods from a gang to appear in scheduling queue: ", count->second,
                      " of ", min_count, " are there");
}

std::string GroupWaits::WhatIsMissing(const api::Pod& pod, int32_t& min_count) const {
  const ApiServer& server = simulation_.server();
  const std::string& name_space = pod.metadata.namespace_;
  if (simulation_.options().line.pod_groups.cycle != api::PodGroupCycle::kAtPermit) {
    const std::string& name = pod.spec->pod_group_name;
    const api::ObjectPtr group = server.Find(api::Kind::kPodGroup, "PodGroup", name_space, name);
    if (group == nullptr) return ToAppear("pod group", name);
    min_count = MinCountOf(static_cast<const api::PodGroup&>(*group).spec.scheduling_policy);
    return "";
  }
  const api::WorkloadReference& reference = *pod.spec->workload_ref;
  const api::ObjectPtr workload = server.Find(api::Kind::kWorkload, "Workload", name_space, reference.name);
  if (workload == nullptr) return ToAppear("workload", reference.name);
  const auto* group = static_cast<const api::Workload&>(*workload).FindPodGroup(reference.pod_group);
  if (group == nullptr) {
    return absl::StrCat("pod group \"", reference.pod_group, "\" doesn't exist for a workload \"",
                        reference.name, "\"");
  }
  min_count = MinCountOf(group->policy);
  return "";
}

}  // namespace schedsim::sim
