// All feature gates that a scheduler knows, line by line.
#ifndef SCHEDSIM_CORE_API_FEATURE_GATE_TABLE_H_
#define SCHEDSIM_CORE_API_FEATURE_GATE_TABLE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace schedsim::api {

// What a gate means to a simulation.
enum class GateEffect : uint8_t {
  kNone,         // No effect on scheduling: any value is accepted.
  kDefaultOnly,  // Only the default value is simulated.
  kMayBeOff,     // The default value and false are simulated.
  kMayChange,    // Both values are simulated.
};

struct GateRow {
  absl::string_view name;
  // Four cells, for 1.34 to 1.37, separated by spaces. `-`: the line does not have the gate.
  // Otherwise T or F, the default; then a, b, g or d, the stage (alpha, beta, general availability,
  // deprecated); then L when it is locked to the default.
  absl::string_view lines;
  GateEffect effect = GateEffect::kNone;
};

// Sorted by name. Lives as long as the program.
// Source: the gates that kube-scheduler of each line's pinned release registers.
absl::Span<const GateRow> FeatureGateTable();

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_FEATURE_GATE_TABLE_H_
