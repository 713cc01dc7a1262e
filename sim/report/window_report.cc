#include "sim/report/window_report.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/report/duration_text.h"

namespace schedsim::sim {
namespace {

// Percent with two digits; "-": nothing was allocatable.
std::string MeanShareText(const NodeRow::Use& use) {
  const std::optional<int64_t> share = use.MeanShare();
  return share.has_value() ? absl::StrFormat("%d.%02d", *share / 100, *share % 100) : "-";
}

std::vector<std::pair<const char*, absl::Duration>> Latencies(const WindowSummary& window) {
  return {{"p50", window.latency_p50},
          {"p90", window.latency_p90},
          {"p99", window.latency_p99},
          {"max", window.latency_max}};
}

}  // namespace

std::string WindowText(const WindowSummary& window) {
  std::string text = absl::StrCat(
      "Measured        from ", absl::FormatDuration(window.from), " to ", absl::FormatDuration(window.until),
      ": ", window.created, " pods created, ", window.bound, " of them bound, ", window.gone, " gone, ",
      window.waiting, " waiting; ", window.bindings, " bindings\n                from creation to binding");
  for (const auto& [name, latency] : Latencies(window))
    absl::StrAppend(&text, "  ", name, " ", window.bound == 0 ? "-" : DurationText(latency));
  absl::StrAppend(&text, "\n                mean requested");
  for (const auto& [name, use] : window.uses) {
    if (use.requested_time == 0 && use.allocatable_time == 0) continue;
    absl::StrAppend(&text, "  ", name, " ", MeanShareText(use), use.allocatable_time == 0 ? "" : "%");
  }
  return text + "\n";
}

void WriteWindow(const WindowSummary& window, codec::JsonWriter& json) {
  json.BeginObject();
  json.Field("fromMicroseconds", absl::ToInt64Microseconds(window.from));
  json.Field("untilMicroseconds", absl::ToInt64Microseconds(window.until));
  json.Field("created", window.created).Field("bound", window.bound).Field("gone", window.gone);
  json.Field("waiting", window.waiting).Field("bindings", window.bindings);
  json.Key("latencyMicroseconds").BeginObject();
  for (const auto& [name, latency] : Latencies(window)) json.Field(name, absl::ToInt64Microseconds(latency));
  json.EndObject().Key("resources").BeginArray();
  for (const auto& [name, use] : window.uses) {
    if (use.requested_time == 0 && use.allocatable_time == 0) continue;
    json.BeginObject().Field("name", name).Field("meanPercent", MeanShareText(use)).EndObject();
  }
  json.EndArray().EndObject();
}

}  // namespace schedsim::sim
