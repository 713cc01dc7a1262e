#include "sim/seeds/distribution.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/printable.h"
#include "core/codec/text/json_writer.h"

namespace schedsim::sim {
namespace {

constexpr size_t kNamedPodsMax = 20;
constexpr size_t kNamedProblemsMax = 10;
constexpr size_t kNameBytesMax = 120;

// Of one figure over all runs that came to an end.
struct Spread {
  int64_t min = 0;
  int64_t p10 = 0;
  int64_t p50 = 0;
  int64_t p90 = 0;
  int64_t max = 0;
};

// The smallest value that so many percent of the sorted values do not exceed.
int64_t Percentile(const std::vector<int64_t>& sorted, size_t percent) {
  const size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<size_t>(rank, 1) - 1];
}

using Figure = std::function<std::optional<int64_t>(const SeedRun&)>;

// A row of the report: a figure and how it is written.
struct Row {
  std::string name;      // For people.
  std::string json_key;  // For programs.
  bool is_percent = false;
  Figure figure;
  bool has_reference = true;
};

std::optional<Spread> SpreadOf(const SeedReport& report, const Figure& figure) {
  std::vector<int64_t> values;
  for (const SeedRun& run : report.runs) {
    const std::optional<int64_t> value = run.error.empty() ? figure(run) : std::nullopt;
    if (value.has_value()) values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return Spread{.min = values.front(),
                .p10 = Percentile(values, 10),
                .p50 = Percentile(values, 50),
                .p90 = Percentile(values, 90),
                .max = values.back()};
}

Figure UtilizationOf(const std::string& resource) {
  return [resource](const SeedRun& run) -> std::optional<int64_t> {
    for (const auto& [name, value] : run.utilization)
      if (name == resource) return value;
    return std::nullopt;
  };
}

std::vector<Row> RowsOf(const SeedReport& report) {
  std::vector<Row> rows = {
      {.name = "Bound", .json_key = "bound", .figure = [](const SeedRun& run) { return run.bound; }},
      {.name = "Pending", .json_key = "pending", .figure = [](const SeedRun& run) { return run.pending; }},
      {.name = "Evicted", .json_key = "evicted", .figure = [](const SeedRun& run) { return run.evicted; }},
      {.name = "Attempts", .json_key = "attempts", .figure = [](const SeedRun& run) { return run.attempts; }},
      {.name = "Virtual time, ms", .json_key = "virtualTimeMilliseconds", .figure = [](const SeedRun& run) {
         return run.virtual_time_ms;
       }}};
  for (const auto& [resource, value] : report.reference.utilization) {
    rows.push_back({.name = absl::StrCat("Requested, % of ", Printable(resource, kNameBytesMax)),
                    .json_key = absl::StrCat("percent ", resource),
                    .is_percent = true,
                    .figure = UtilizationOf(resource)});
  }
  for (const auto& [name, key, nearness] :
       {std::tuple("reference", "Reference", &SeedRun::to_reference),
        std::tuple("the run before", "RunBefore", &SeedRun::to_run_before)}) {
    for (const auto& [what, of, member] :
         {std::tuple("Pending", "samePending", &SeedRun::Nearness::same_pending),
          std::tuple("On its node", "sameNode", &SeedRun::Nearness::same_node)}) {
      rows.push_back(
          {.name = absl::StrCat(what, " as in ", name),
           .json_key = absl::StrCat(of, "As", key),
           .figure = [nearness = nearness, member = member](const SeedRun& run) -> std::optional<int64_t> {
             if (!(run.*nearness).has_value()) return std::nullopt;
             return *(run.*nearness).*member;
           },
           .has_reference = false});
    }
  }
  return rows;
}

std::string ValueText(const Row& row, int64_t value) {
  return row.is_percent ? absl::StrFormat("%d.%02d", value / 100, value % 100) : absl::StrCat(value);
}

std::string RowText(const SeedReport& report, const Row& row) {
  const std::optional<Spread> spread = SpreadOf(report, row.figure);
  if (!spread.has_value()) return "";
  std::string text = absl::StrFormat("%-32s", row.name);
  for (const int64_t value : {spread->min, spread->p10, spread->p50, spread->p90, spread->max})
    absl::StrAppendFormat(&text, " %8s", ValueText(row, value));
  const std::optional<int64_t> reference = row.figure(report.reference);
  if (row.has_reference && reference.has_value())
    absl::StrAppendFormat(&text, " %10s", ValueText(row, *reference));
  return text + "\n";
}

struct PendingPod {
  std::string name;
  int64_t run_count = 0;
  int64_t pod_count = 0;  // Over all runs.
};

// The most frequent first.
std::vector<PendingPod> PendingPodsOf(const SeedReport& report) {
  std::map<std::string, PendingPod> by_name;
  for (const SeedRun& run : report.runs) {
    for (const auto& [name, count] : run.pending_pods) {
      PendingPod& pod = by_name[name];
      ++pod.run_count;
      pod.pod_count += count;
    }
  }
  std::vector<PendingPod> pods;
  for (auto& [name, pod] : by_name) {
    pod.name = name;
    pods.push_back(pod);
  }
  std::stable_sort(pods.begin(), pods.end(),
                   [](const PendingPod& a, const PendingPod& b) { return a.run_count > b.run_count; });
  return pods;
}

std::string PendingText(const SeedReport& report) {
  const std::vector<PendingPod> pods = PendingPodsOf(report);
  std::string text = absl::StrCat("Pods that are pending in some run: ", pods.size(), "\n");
  for (size_t i = 0; i < std::min(pods.size(), kNamedPodsMax); ++i) {
    const PendingPod& pod = pods[i];
    absl::StrAppendFormat(&text, "  %6d of %d runs  %s", pod.run_count, report.runs.size(),
                          Printable(pod.name, kNameBytesMax));
    if (pod.pod_count > pod.run_count) absl::StrAppend(&text, ", ", pod.pod_count, " in all");
    text += "\n";
  }
  if (pods.size() > kNamedPodsMax) absl::StrAppend(&text, "  and ", pods.size() - kNamedPodsMax, " more\n");
  return text;
}

std::array<int64_t, kFaultCount> FaultTotals(const SeedReport& report) {
  std::array<int64_t, kFaultCount> totals = {};
  for (const SeedRun& run : report.runs)
    for (size_t i = 0; i < kFaultCount; ++i) totals[i] += run.faults[i];
  return totals;
}

std::string FaultsStruckText(const SeedReport& report) {
  if (!report.faults.any()) return "";
  std::string text = absl::StrFormat("%-16s", "Faults struck");
  const std::array<int64_t, kFaultCount> totals = FaultTotals(report);
  const char* separator = "";
  for (size_t i = 0; i < kFaultCount; ++i) {
    if (report.faults.millionths[i] == 0) continue;
    absl::StrAppend(&text, separator, FaultName(static_cast<Fault>(i)), " ", totals[i]);
    separator = ", ";
  }
  return text + "\n";
}

std::string FailuresText(const SeedReport& report, const std::string& command) {
  const auto failed =
      std::count_if(report.runs.begin(), report.runs.end(), [](const SeedRun& run) { return !run.Passed(); });
  const auto unsettled = std::count_if(report.runs.begin(), report.runs.end(), [](const SeedRun& run) {
    return run.error.empty() && !run.had_settled;
  });
  std::string text = absl::StrFormat("%-16s%d of %d\n", "Failed runs", failed, report.runs.size());
  if (unsettled > 0) {
    absl::StrAppend(&text, "                ", unsettled,
                    " ended while something was on its way: their queue and cache were not looked at\n");
  }
  const SeedRun* const first = FirstFailed(report);
  if (first == nullptr) return text;
  absl::StrAppend(&text, "  the first is that of seed ", first->seed, "\n");
  if (!first->error.empty()) absl::StrAppend(&text, "    ", Printable(first->error), "\n");
  for (size_t i = 0; i < std::min(first->problems.size(), kNamedProblemsMax); ++i)
    absl::StrAppend(&text, "    ", Printable(first->problems[i]), "\n");
  absl::StrAppend(&text, "  again with: ", Printable(command), first->seed, "\n");
  return text;
}

void WriteSpread(const Row& row, const Spread& spread, codec::JsonWriter& json) {
  json.Key(row.json_key).BeginObject();
  const auto write = [&](absl::string_view key, int64_t value) {
    if (row.is_percent) {
      json.Field(key, ValueText(row, value));
    } else {
      json.Field(key, value);
    }
  };
  write("min", spread.min);
  write("p10", spread.p10);
  write("p50", spread.p50);
  write("p90", spread.p90);
  write("max", spread.max);
  json.EndObject();
}

}  // namespace

const SeedRun* FirstFailed(const SeedReport& report) {
  for (const SeedRun& run : report.runs)
    if (!run.Passed()) return &run;
  return nullptr;
}

std::string SeedReportText(const SeedReport& report, const std::string& command) {
  std::string text = HeaderText(report.header);
  absl::StrAppendFormat(&text, "%-16s%s\n", "Kubernetes", report.kubernetes_version);
  absl::StrAppendFormat(&text, "%-16s%d\n", "Nodes", report.reference.nodes);
  absl::StrAppendFormat(&text, "%-16s%d..%d\n", "Seeds", report.runs.front().seed, report.runs.back().seed);
  absl::StrAppendFormat(&text, "%-16s%s\n", "Varied", VariationText(report.variation));
  absl::StrAppendFormat(&text, "%-16s%s\n", "Faults", FaultsText(report.faults));
  absl::StrAppend(&text, FaultsStruckText(report));
  absl::StrAppendFormat(&text, "%-32s %8s %8s %8s %8s %8s %10s\n", "", "min", "p10", "p50", "p90", "max",
                        "reference");
  for (const Row& row : RowsOf(report)) absl::StrAppend(&text, RowText(report, row));
  absl::StrAppend(&text, PendingText(report), FailuresText(report, command));
  return text;
}

std::string SeedReportJson(const SeedReport& report) {
  codec::JsonWriter json;
  json.BeginObject().Field("apiVersion", "schedsim/v1").Field("kind", "SeedReport").Key("run");
  WriteHeader(report.header, json);
  json.Field("kubernetesVersion", report.kubernetes_version).Field("nodes", report.reference.nodes);
  json.Field("vary", VariationText(report.variation)).Field("faults", FaultsText(report.faults));
  json.Key("faultsStruck").BeginObject();
  const std::array<int64_t, kFaultCount> totals = FaultTotals(report);
  for (size_t i = 0; i < kFaultCount; ++i)
    if (report.faults.millionths[i] > 0) json.Field(FaultName(static_cast<Fault>(i)), totals[i]);
  json.EndObject().Key("distribution").BeginObject();
  for (const Row& row : RowsOf(report)) {
    const std::optional<Spread> spread = SpreadOf(report, row.figure);
    if (spread.has_value()) WriteSpread(row, *spread, json);
  }
  json.EndObject().Key("pendingPods").BeginArray();
  for (const PendingPod& pod : PendingPodsOf(report)) {
    json.BeginObject().Field("name", pod.name).Field("runs", pod.run_count).Field("pods", pod.pod_count);
    json.EndObject();
  }
  json.EndArray().Key("notices").BeginArray();
  for (const std::string& notice : report.notices) json.String(notice);
  json.EndArray().Key("reference");
  WriteSeedRun(report.reference, json);
  json.Key("runs").BeginArray();
  for (const SeedRun& run : report.runs) WriteSeedRun(run, json);
  json.EndArray().EndObject();
  return json.text() + "\n";
}

std::string SeedReportCsv(const SeedReport& report) {
  const std::vector<Row> rows = RowsOf(report);
  std::string text = "seed,passed,digest";
  for (const Row& row : rows) absl::StrAppend(&text, ",", row.json_key);
  for (size_t i = 0; i < kFaultCount; ++i)
    absl::StrAppend(&text, ",faults ", FaultName(static_cast<Fault>(i)));
  text += "\n";
  for (const SeedRun& run : report.runs) {
    absl::StrAppend(&text, run.seed, ",", run.Passed() ? "true" : "false", ",", run.digest);
    for (const Row& row : rows) {
      const std::optional<int64_t> value = run.error.empty() ? row.figure(run) : std::nullopt;
      absl::StrAppend(&text, ",", value.has_value() ? ValueText(row, *value) : "");
    }
    for (const int64_t count : run.faults) absl::StrAppend(&text, ",", count);
    text += "\n";
  }
  return text;
}

}  // namespace schedsim::sim
