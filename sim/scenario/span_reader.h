// Durations in a scenario.
#ifndef SCHEDSIM_SIM_SCENARIO_SPAN_READER_H_
#define SCHEDSIM_SIM_SCENARIO_SPAN_READER_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/codec/config/strict_reader.h"

namespace schedsim::sim {

// Reads the field `name`, from 0s to kSpanMax; where it is absent, `target` stays. What is wrong goes to
// `errors`.
void ReadSpan(codec::StrictReader& reader, absl::string_view name, codec::ErrorList& errors,
              absl::Duration& target);
void ReadSpan(codec::StrictReader& reader, absl::string_view name, codec::ErrorList& errors,
              std::optional<absl::Duration>& target);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCENARIO_SPAN_READER_H_
