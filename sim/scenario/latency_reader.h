// The latency model of a scenario.
#ifndef SCHEDSIM_SIM_SCENARIO_LATENCY_READER_H_
#define SCHEDSIM_SIM_SCENARIO_LATENCY_READER_H_

#include <string>

#include "core/codec/config/strict_reader.h"
#include "core/codec/text/value.h"
#include "sim/kernel/latency.h"

namespace schedsim::sim {

// Reads the map `value` over `model`; what it does not name stays. docs/scenario.md has the fields.
// What is wrong goes to `errors`.
void ReadLatencyModel(const codec::Value& value, const std::string& path, codec::ErrorList& errors,
                      LatencyModel& model);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCENARIO_LATENCY_READER_H_
