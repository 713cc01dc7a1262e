// Why preemption makes room on one node, and not on another.
#ifndef SCHEDSIM_SIM_EXPLAIN_PREEMPTION_CHOICE_H_
#define SCHEDSIM_SIM_EXPLAIN_PREEMPTION_CHOICE_H_

#include <optional>

#include "sim/explain/captured_attempt.h"
#include "sim/explain/explanation.h"
#include "sim/explain/trial_cluster.h"

namespace schedsim::sim {

// Absent where no node was taken.
std::optional<PreemptionChoice> ChoiceOf(const CapturedAttempt& attempt, TrialCluster& trial);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_PREEMPTION_CHOICE_H_
