// What a report says of drains.
#ifndef SCHEDSIM_SIM_REPORT_DRAIN_REPORT_H_
#define SCHEDSIM_SIM_REPORT_DRAIN_REPORT_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/codec/text/json_writer.h"
#include "sim/record/drain_record.h"

namespace schedsim::sim {

// For people: a line for each node, and one for each of its pods: where it went, and which budget held it.
// `zero`: virtual zero.
std::string DrainsText(const std::vector<DrainedNode>& drains, absl::Time zero);
// The same as a list, described in docs/report.md.
void WriteDrains(const std::vector<DrainedNode>& drains, absl::Time zero, codec::JsonWriter& json);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_DRAIN_REPORT_H_
