// From plans to the page about their runs.
#ifndef SCHEDSIM_SIM_HTML_MAKE_PAGE_H_
#define SCHEDSIM_SIM_HTML_MAKE_PAGE_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "sim/html/page.h"
#include "sim/plan/plan.h"

namespace schedsim::sim {

struct PageRequest {
  Plan plan;
  // A second run, B, which is compared with that of `plan`, A; and what tells the two apart, for people.
  std::optional<Plan> other;
  std::string label;
  std::string other_label;
  // How many reasons of pending pods are explained.
  size_t explanations_max = 20;
};

// Runs the plans: each once, and once more where something is to be explained or differs. Snapshots of a
// timeline are saved by nobody. InvalidArgument as RunPlan.
absl::StatusOr<Page> MakePage(const PageRequest& request);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_HTML_MAKE_PAGE_H_
