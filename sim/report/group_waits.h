// Why the pods of a group are not tried yet.
#ifndef SCHEDSIM_SIM_REPORT_GROUP_WAITS_H_
#define SCHEDSIM_SIM_REPORT_GROUP_WAITS_H_

#include <cstdint>
#include <map>
#include <string>

#include "core/api/pod.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

// The groups of a cluster as it is now; it must stay so.
class GroupWaits {
 public:
  // The simulation must outlive it.
  explicit GroupWaits(const Simulation& simulation);

  // In the scheduler's words, with the counts: the group's object is missing, or the gang has fewer pods than
  // it needs. "": none of that, or the pod is in no group.
  std::string WhyHeld(const api::Pod& pod) const;

 private:
  // "": there is such an object. Otherwise `min_count` is left as it is; of a group that is no gang it is 0.
  std::string WhatIsMissing(const api::Pod& pod, int32_t& min_count) const;

  const Simulation& simulation_;
  std::map<std::string, int32_t> pod_counts_;  // By framework::PodGroupKeyOf.
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_GROUP_WAITS_H_
