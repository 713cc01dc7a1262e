// Explanations as text and as JSON.
#ifndef SCHEDSIM_SIM_EXPLAIN_EXPLANATION_TEXT_H_
#define SCHEDSIM_SIM_EXPLAIN_EXPLANATION_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "sim/explain/explanation.h"

namespace schedsim::sim {

struct ExplanationView {
  // Only this node; "": a summary, and the first `top` nodes.
  std::string node;
  int64_t top = 5;
};

// For people; docs/explain.md has examples. No line but the scheduler's message has more than 80 characters,
// unless a name is longer. NotFound where there is no such node, with the nearest name.
absl::StatusOr<std::string> ExplanationText(const Explanation& explanation, const ExplanationView& view);

// For programs; docs/explain.md describes it. All nodes, or the one of `view`.
absl::StatusOr<std::string> ExplanationJson(const Explanation& explanation, const ExplanationView& view);

// NotFound where the view names a node that the attempt does not know.
absl::Status CheckNode(const Explanation& explanation, const ExplanationView& view);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_EXPLANATION_TEXT_H_
