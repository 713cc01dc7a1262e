// Missed wake-ups, for people and for programs.
#ifndef SCHEDSIM_SIM_REPORT_WAKEUPS_REPORT_H_
#define SCHEDSIM_SIM_REPORT_WAKEUPS_REPORT_H_

#include <string>
#include <vector>

#include "core/codec/text/json_writer.h"
#include "sim/analysis/wakeups.h"

namespace schedsim::sim {

// Lines of the text report, also where there are no findings.
std::string MissedWakeupsText(const std::vector<MissedWakeup>& findings);
// A list, as docs/wakeups.md describes it.
void WriteMissedWakeups(const std::vector<MissedWakeup>& findings, codec::JsonWriter& json);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_WAKEUPS_REPORT_H_
