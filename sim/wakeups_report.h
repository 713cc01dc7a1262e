// Missed wake-ups, for people and for programs.
#ifndef SCHEDSIM_SIM_WAKEUPS_REPORT_H_
#define SCHEDSIM_SIM_WAKEUPS_REPORT_H_

#include <string>
#include <vector>

#include "sim/json_writer.h"
#include "sim/wakeups.h"

namespace schedsim::sim {

// Lines of the text report, also where there are no findings.
std::string MissedWakeupsText(const std::vector<MissedWakeup>& findings);
// A list, as docs/wakeups.md describes it.
void WriteMissedWakeups(const std::vector<MissedWakeup>& findings, JsonWriter& json);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_WAKEUPS_REPORT_H_
