#include "sim/report/schedulers_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/printable.h"

namespace schedsim::sim {
namespace {

constexpr size_t kTextBytesMax = 1000;
// How many refused pods the text names.
constexpr size_t kConflictsShown = 10;

}  // namespace

std::optional<SchedulersReport> MakeSchedulersReport(const Simulation& simulation) {
  const SchedulerConflicts* const conflicts = simulation.conflicts();
  if (conflicts == nullptr) return std::nullopt;
  const SimulationOptions& options = simulation.options();
  SchedulersReport report;
  for (const SchedulerConflicts::Counts& counts : conflicts->counts()) {
    const size_t index = report.schedulers.size();
    report.schedulers.push_back(
        {.file = index == 0 ? options.config_file : options.other_schedulers[index - 1].file,
         .counts = counts});
  }
  report.conflicts = conflicts->rejections();
  return report;
}

std::string SchedulersText(const SchedulersReport& report, absl::Time zero) {
  std::string text;
  for (const SchedulersReport::Scheduler& scheduler : report.schedulers) {
    const SchedulerConflicts::Counts& counts = scheduler.counts;
    std::string line =
        absl::StrCat(absl::StrJoin(counts.profiles, ", "), ": ", counts.attempts,
                     counts.attempts == 1 ? " attempt, " : " attempts, ", counts.bound, " bound");
    if (counts.rejected > 0) absl::StrAppend(&line, ", ", counts.rejected, " of them refused by kubelets");
    absl::StrAppend(&text, "Scheduler       ", Printable(line, kTextBytesMax), "\n");
  }
  absl::StrAppend(&text, "Conflicts       ", report.conflicts.size(), "\n");
  const size_t shown = std::min(report.conflicts.size(), kConflictsShown);
  for (size_t i = 0; i < shown; ++i) {
    const SchedulerConflicts::Rejection& conflict = report.conflicts[i];
    std::string line = absl::StrCat(absl::FormatDuration(conflict.at - zero), " ", conflict.pod);
    if (!conflict.scheduler.empty()) absl::StrAppend(&line, " of ", conflict.scheduler);
    absl::StrAppend(&line, " on ", conflict.node, ": ", conflict.reason, ": ", conflict.message);
    if (!conflict.unheard.empty())
      absl::StrAppend(&line, "; not heard yet of pods of ", absl::StrJoin(conflict.unheard, ", "));
    absl::StrAppend(&text, "  ", Printable(line, kTextBytesMax), "\n");
  }
  if (shown < report.conflicts.size())
    absl::StrAppend(&text, "  and ", report.conflicts.size() - shown, " more\n");
  return text;
}

void WriteSchedulers(const SchedulersReport& report, absl::Time zero, codec::JsonWriter& json) {
  json.Key("schedulers").BeginArray();
  for (const SchedulersReport::Scheduler& scheduler : report.schedulers) {
    json.BeginObject().Field("config", scheduler.file).Key("profiles").BeginArray();
    for (const std::string& profile : scheduler.counts.profiles) json.String(profile);
    json.EndArray().Field("attempts", scheduler.counts.attempts).Field("bound", scheduler.counts.bound);
    json.Field("refused", scheduler.counts.rejected).EndObject();
  }
  json.EndArray().Key("conflicts").BeginArray();
  for (const SchedulerConflicts::Rejection& conflict : report.conflicts) {
    json.BeginObject().Field("atMicroseconds", absl::ToInt64Microseconds(conflict.at - zero));
    json.Field("pod", conflict.pod).Field("node", conflict.node).Field("schedulerName", conflict.scheduler);
    json.Field("reason", conflict.reason).Field("message", conflict.message).Key("notHeardOf").BeginArray();
    for (const std::string& name : conflict.unheard) json.String(name);
    json.EndArray().EndObject();
  }
  json.EndArray();
}

}  // namespace schedsim::sim
