// Small random clusters and what happens to them, for tests of what must always hold.
#ifndef SCHEDSIM_TESTS_SIM_RUN_RANDOM_TIMELINE_H_
#define SCHEDSIM_TESTS_SIM_RUN_RANDOM_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "core/api/object.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

// Only the scheduler may put too much on a node here: pods that start on one fit there, host ports included,
// and nodes never get smaller, nor come back smaller.
struct RandomTimeline {
  std::vector<api::ObjectPtr> objects;
  // In order of time.
  std::vector<Step> steps;
  absl::Duration end;
  absl::Duration pod_termination;
};

// At first up to 8 nodes and 50 pods with resources, priorities, affinity, spread constraints, tolerations,
// host ports and gates; disruption budgets; then up to 100 steps that create, change, finish and delete pods
// and nodes. The same seed gives the same timeline.
RandomTimeline MakeRandomTimeline(uint64_t seed);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_TESTS_SIM_RUN_RANDOM_TIMELINE_H_
