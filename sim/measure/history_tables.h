// The history of a run, and its series, as tables for programs; docs/report.md describes the columns.
#ifndef SCHEDSIM_SIM_MEASURE_HISTORY_TABLES_H_
#define SCHEDSIM_SIM_MEASURE_HISTORY_TABLES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "core/codec/text/table.h"
#include "sim/measure/run_history.h"
#include "sim/series/time_series.h"

namespace schedsim::sim {

// A resource with the unit of its amounts: "cpu_milli", "memory_bytes", "nvidia.com/gpu".
std::string AmountName(absl::string_view resource);

// A row for each pod that there was, in the order of their creation.
codec::Table PodTable(const RunHistory& history);
// A row for each node that there was, by name.
codec::Table NodeTable(const RunHistory& history);
// A row for each point.
codec::Table SeriesTable(const TimeSeries& series);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_MEASURE_HISTORY_TABLES_H_
