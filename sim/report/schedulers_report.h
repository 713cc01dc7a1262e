// What a report says of several schedulers in one cluster.
#ifndef SCHEDSIM_SIM_REPORT_SCHEDULERS_REPORT_H_
#define SCHEDSIM_SIM_REPORT_SCHEDULERS_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/codec/text/json_writer.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

struct SchedulersReport {
  struct Scheduler {
    std::string file;  // With its configuration; "": the default.
    SchedulerConflicts::Counts counts;
  };
  std::vector<Scheduler> schedulers;  // The first one in front, the others in the order of the request.
  std::vector<SchedulerConflicts::Rejection> conflicts;  // In the order in which they came about.
};

// Absent: there is one scheduler.
std::optional<SchedulersReport> MakeSchedulersReport(const Simulation& simulation);

// For people: a line a scheduler, and the pods that kubelets refused. `zero`: virtual zero.
std::string SchedulersText(const SchedulersReport& report, absl::Time zero);
// The same as the fields `schedulers` and `conflicts` of a map that is begun, described in docs/report.md.
void WriteSchedulers(const SchedulersReport& report, absl::Time zero, codec::JsonWriter& json);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_SCHEDULERS_REPORT_H_
