// What the measured window of a run came to, for people and for programs.
#ifndef SCHEDSIM_SIM_REPORT_WINDOW_REPORT_H_
#define SCHEDSIM_SIM_REPORT_WINDOW_REPORT_H_

#include <string>

#include "core/codec/text/json_writer.h"
#include "sim/measure/run_history.h"

namespace schedsim::sim {

// Lines of the text report.
std::string WindowText(const WindowSummary& window);
// A map, as docs/report.md describes it.
void WriteWindow(const WindowSummary& window, codec::JsonWriter& json);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_WINDOW_REPORT_H_
