// JSON in the order of gojq.
#ifndef SCHEDSIM_SIM_JQ_SORTED_JSON_H_
#define SCHEDSIM_SIM_JQ_SORTED_JSON_H_

#include <string>

#include "core/codec/text/value.h"

namespace schedsim::sim {

// Compact JSON with maps in the order of their keys, and `shift` added to each number.
std::string SortedJson(const codec::Value& value, double shift = 0);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_JQ_SORTED_JSON_H_
