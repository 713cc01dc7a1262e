#include "sim/report/work_report.h"

#include <array>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/api/object_text.h"
#include "core/cache/snapshot.h"
#include "core/framework/framework.h"
#include "core/framework/work_counters.h"

namespace schedsim::sim {
namespace {

// Shape: by CountedPoint.
constexpr std::array<absl::string_view, framework::kCountedPoints> kPointNames = {
    "PreEnqueue", "PreFilter", "PreFilterExtensions", "Filter",  "PostFilter",
    "PreScore",   "Score",     "NormalizeScore",      "Reserve", "Permit",
    "PreBind",    "Bind"};

// The texts of stored objects, by kind. One that others are based on counts once, where it comes first.
std::map<std::string, int64_t> TextBytes(const ApiServer& server) {
  std::map<std::string, int64_t> bytes;
  absl::flat_hash_set<const api::ObjectText*> seen;
  for (int kind = 0; kind < api::kKindCount; ++kind) {
    for (const auto& [key, object] : server.List(static_cast<api::Kind>(kind))) {
      for (const api::ObjectText* text = object->json.get(); text != nullptr; text = text->base()) {
        if (!seen.insert(text).second) break;
        bytes[object->kind_name] += static_cast<int64_t>(text->own_bytes());
      }
    }
  }
  return bytes;
}

}  // namespace

WorkReport MakeWorkReport(Simulation& simulation) {
  scheduler::Scheduler& scheduler = simulation.scheduler();
  framework::WorkCounters sum;
  WorkReport report;
  report.bytes = TextBytes(simulation.server());
  report.bytes["nodeColumns"] = static_cast<int64_t>(scheduler.UpdateSnapshot().Columns().size_bytes());
  for (const auto& profile : scheduler.frameworks()) {
    const framework::WorkCounters& counters = profile->counters();
    sum.filtered_nodes += counters.filtered_nodes;
    sum.scored_nodes += counters.scored_nodes;
    sum.known_passes += counters.known_passes;
    sum.known_answers += counters.known_answers;
    sum.known_sums += counters.known_sums;
    report.bytes["answers"] += static_cast<int64_t>(profile->AnswerBytes());
    for (size_t point = 0; point < framework::kCountedPoints; ++point) {
      for (framework::PluginId plugin = 0; plugin < framework::kMaxPlugins; ++plugin) {
        const int64_t count = counters.calls[point][static_cast<size_t>(plugin)];
        if (count == 0) continue;
        report.calls[scheduler.plugin_names().NameOf(plugin)][std::string(kPointNames[point])] += count;
      }
    }
  }
  int64_t calls = 0;
  for (const auto& [plugin, points] : report.calls) {
    for (const auto& [point, count] : points) calls += count;
  }
  report.totals = {{"attempts", simulation.trace().attempt_count()},
                   {"filteredNodes", sum.filtered_nodes},
                   {"scoredNodes", sum.scored_nodes},
                   {"pluginCalls", calls},
                   {"knownPasses", sum.known_passes},
                   {"knownAnswers", sum.known_answers},
                   {"knownSums", sum.known_sums},
                   {"queueChanges", static_cast<int64_t>(scheduler.queue().change_count())},
                   {"clusterChanges", static_cast<int64_t>(scheduler.change_count())}};
  return report;
}

std::string WorkReportText(const WorkReport& report) {
  std::string text = "Counters\n";
  for (const auto& [name, count] : report.totals) absl::StrAppendFormat(&text, "  %-44s %14d\n", name, count);
  for (const auto& [plugin, points] : report.calls) {
    for (const auto& [point, count] : points) {
      absl::StrAppendFormat(&text, "  %-44s %14d\n", plugin + " " + point, count);
    }
  }
  for (const auto& [kind, count] : report.bytes) {
    absl::StrAppendFormat(&text, "  %-44s %14d\n", "bytes of " + kind, count);
  }
  return text;
}

void WriteWorkReport(const WorkReport& report, codec::JsonWriter& json) {
  json.BeginObject();
  for (const auto& [name, count] : report.totals) json.Field(name, count);
  json.Key("calls").BeginObject();
  for (const auto& [plugin, points] : report.calls) {
    json.Key(plugin).BeginObject();
    for (const auto& [point, count] : points) json.Field(point, count);
    json.EndObject();
  }
  json.EndObject();
  json.Key("bytes").BeginObject();
  for (const auto& [kind, count] : report.bytes) json.Field(kind, count);
  json.EndObject().EndObject();
}

}  // namespace schedsim::sim
