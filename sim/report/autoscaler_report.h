// What a report says of the autoscaler.
#ifndef SCHEDSIM_SIM_REPORT_AUTOSCALER_REPORT_H_
#define SCHEDSIM_SIM_REPORT_AUTOSCALER_REPORT_H_

#include <string>

#include "absl/time/time.h"
#include "core/codec/text/json_writer.h"
#include "sim/record/autoscaler_record.h"

namespace schedsim::sim {

// For people: pools, time to capacity, pods that no pool helps, nodes that stay. `zero`: virtual zero.
std::string AutoscalerText(const AutoscalerRecord& record, absl::Time zero);
// The same and more as a map, described in docs/report.md.
void WriteAutoscaler(const AutoscalerRecord& record, absl::Time zero, codec::JsonWriter& json);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_AUTOSCALER_REPORT_H_
