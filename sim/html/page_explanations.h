// Explains, for the page about a run, what became of some of its attempts.
#ifndef SCHEDSIM_SIM_HTML_PAGE_EXPLANATIONS_H_
#define SCHEDSIM_SIM_HTML_PAGE_EXPLANATIONS_H_

#include <cstddef>

#include "absl/status/status.h"
#include "sim/html/page.h"
#include "sim/plan/plan.h"

namespace schedsim::sim {

// Runs the plan of `page.run` again, where there is something to explain, and fills in what it finds: the
// explanations of the first pod that was tried of each message, the `explanations_max` most frequent ones;
// and the victims of the first preemptions. InvalidArgument as RunPlan.
absl::Status AddExplanations(Plan plan, size_t explanations_max, Page& page);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_HTML_PAGE_EXPLANATIONS_H_
