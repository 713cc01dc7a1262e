// Explanations as text and as JSON.
#ifndef SCHEDSIM_SIM_EXPLAIN_EXPLANATION_TEXT_H_
#define SCHEDSIM_SIM_EXPLAIN_EXPLANATION_TEXT_H_

#include <cstdint>
#include <string>

#include "sim/explain/explanation.h"

namespace schedsim::sim {

struct ExplanationView {
  // How many nodes, or misses, the text goes into, at most.
  int64_t top = 5;
};

// For people; docs/explain.md has examples. No line but the scheduler's message has more than 80 characters,
// unless a name is longer.
std::string ExplanationText(const Explanation& explanation, const ExplanationView& view);

// For programs; docs/explain.md describes it.
std::string ExplanationJson(const Explanation& explanation);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_EXPLANATION_TEXT_H_
