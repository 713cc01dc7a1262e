// What a run had to do, for reports: see core/framework/work_counters.h.
#ifndef SCHEDSIM_SIM_REPORT_WORK_REPORT_H_
#define SCHEDSIM_SIM_REPORT_WORK_REPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/codec/text/json_writer.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

struct WorkReport {
  // Names as in docs/report.md, in its order.
  std::vector<std::pair<std::string, int64_t>> totals;
  // Calls by plugin and extension point, those that are not 0.
  std::map<std::string, std::map<std::string, int64_t>> calls;
  // Of what is kept when the run is over: by kind the texts of stored objects; and two of the scheduler.
  std::map<std::string, int64_t> bytes;
};

// Of all profiles of the run, up to now.
WorkReport MakeWorkReport(Simulation& simulation);

// A table, of which each line ends with a line feed.
std::string WorkReportText(const WorkReport& report);
// An object.
void WriteWorkReport(const WorkReport& report, codec::JsonWriter& json);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_WORK_REPORT_H_
