// The latency model of a scenario.
#ifndef SCHEDSIM_SIM_SCENARIO_LATENCY_READER_H_
#define SCHEDSIM_SIM_SCENARIO_LATENCY_READER_H_

#include <string>

#include "absl/strings/string_view.h"
#include "core/codec/config/strict_reader.h"
#include "core/codec/text/value.h"
#include "sim/kernel/latency.h"

namespace schedsim::sim {

// Reads the map `value` over `model`; what it does not name stays. docs/scenario.md has the fields.
// What is wrong goes to `errors`.
void ReadLatencyModel(const codec::Value& value, const std::string& path, codec::ErrorList& errors,
                      LatencyModel& model);

// Reads the field `name`, a duration or a map with a distribution; where it is absent, `latency` stays.
void ReadLatency(codec::StrictReader& reader, absl::string_view name, codec::ErrorList& errors,
                 Latency& latency);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCENARIO_LATENCY_READER_H_
