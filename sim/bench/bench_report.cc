#include "sim/bench/bench_report.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/api/go_text.h"
#include "core/base/check.h"
#include "core/base/printable.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "sim/templates/go_value.h"

namespace schedsim::sim {
namespace {

using codec::JsonWriter;

constexpr size_t kNameWidthMin = 30;
constexpr size_t kNameWidthMax = 90;
constexpr size_t kTextBytesMax = 2000;

std::string NumberText(double number) { return absl::StrFormat(number < 100 ? "%.1f" : "%.0f", number); }

std::string MeasuredName(const BenchResult& result, const Measurement& measurement) {
  return absl::StrCat(result.name, measurement.name.empty() ? "" : "/", measurement.name);
}

void AppendRow(size_t width, const BenchResult& result, const Measurement& measurement, std::string& text) {
  const std::string name = result.measurements.size() > 1 ? MeasuredName(result, measurement) : result.name;
  const std::optional<double> value = result.ThresholdValue(measurement);
  std::string threshold = "-";
  std::string ratio = "-";
  if (result.threshold > 0) threshold = NumberText(result.threshold);
  if (value.has_value()) ratio = NumberText(*value / result.threshold);
  absl::StrAppendFormat(&text, "%-*s %8d %10s %10s %8s %9d  %s\n", static_cast<int>(width),
                        Printable(name, kNameWidthMax), measurement.pod_count,
                        NumberText(measurement.Average()), threshold, ratio, measurement.attempt_count,
                        result.placement_digest);
}

std::string MissText(const BenchResult& result, const Measurement& measurement) {
  if (result.MeetsThreshold(measurement)) return "";
  const double value = *result.ThresholdValue(measurement);
  const ThresholdMetricSelector& metric = result.threshold_metric;
  return absl::StrFormat("%s: expected %s %s to be %s: got %f, want %f", MeasuredName(result, measurement),
                         api::GoQuote(metric.name), api::GoQuote(metric.data_bucket),
                         metric.expect_lower ? "lower" : "higher", value, result.threshold);
}

// One line each, with `what` in front.
void AppendProblems(const BenchResult& result, std::string& text) {
  const auto append = [&text](absl::string_view what, absl::string_view message) {
    absl::StrAppendFormat(&text, "%-15s %s\n", what, Printable(message, kTextBytesMax));
  };
  if (!result.refusal.empty()) append("not simulated", absl::StrCat(result.name, ": ", result.refusal));
  if (!result.failure.empty()) append("FAILED", absl::StrCat(result.name, ": ", result.failure));
  for (const Measurement& measurement : result.measurements) {
    const std::string miss = MissText(result, measurement);
    if (!miss.empty()) append("BELOW", miss);
  }
}

JsonWriter& NumberField(JsonWriter& json, absl::string_view key, double number) {
  return json.Key(key).Raw(GoValue(number).Json());
}

void WriteLabels(JsonWriter& json, absl::string_view metric, const std::string& name) {
  json.Key("labels").BeginObject().Field("Metric", metric).Field("Name", name).EndObject();
}

// An item for each metric, members in the order in which Go writes them: maps by key.
void WriteItems(JsonWriter& json, const BenchResult& result, const Measurement& measurement) {
  const std::string name = MeasuredName(result, measurement);
  if (measurement.pod_count > 0) {
    json.BeginObject().Key("data").BeginObject();
    NumberField(json, "Average", measurement.Average());
    const ThresholdMetricSelector& metric = result.threshold_metric;
    const bool has_threshold = result.ThresholdValue(measurement).has_value();
    if (has_threshold && metric.data_bucket == "Average")
      NumberField(json, "AverageThreshold", result.threshold);
    for (const int percent : {50, 90, 95, 99}) {
      const std::string bucket = absl::StrCat("Perc", percent);
      NumberField(json, bucket, measurement.Percentile(percent));
      if (has_threshold && metric.data_bucket == bucket) {
        NumberField(json, absl::StrCat(bucket, "Threshold"), result.threshold);
      }
    }
    json.EndObject().Field("unit", "pods/s");
    WriteLabels(json, "SchedulingThroughput", name);
    json.EndObject();
  }
  json.BeginObject().Key("data").BeginObject();
  NumberField(json, "Duration", absl::ToDoubleSeconds(measurement.elapsed.wall));
  NumberField(json, "ProcessorTime", absl::ToDoubleSeconds(measurement.elapsed.processor));
  json.EndObject().Field("unit", "s");
  WriteLabels(json, "SchedulingDuration", name);
  json.EndObject();
}

void WriteWorkload(JsonWriter& json, const BenchResult& result) {
  const bool ran = result.refusal.empty();
  json.BeginObject().Field("name", result.name).Key("labels").BeginArray();
  for (const std::string& label : result.labels) json.String(label);
  json.EndArray().Field("status", !ran ? "NotSimulated" : (result.failure.empty() ? "Done" : "Failed"));
  if (!ran || !result.failure.empty()) json.Field("message", ran ? result.failure : result.refusal);
  if (ran) {
    json.Field("nodes", result.node_count).Field("bound", result.bound_count);
    json.Field("attempts", result.attempt_count);
    json.Field("virtualTime", api::FormatGoDuration(result.virtual_time));
    json.Field("placementDigest", result.placement_digest).Key("measured").BeginArray();
    for (const Measurement& measurement : result.measurements) {
      json.BeginObject().Field("name", measurement.name).Field("pods", measurement.pod_count);
      json.Field("attempts", measurement.attempt_count).EndObject();
    }
    json.EndArray();
  }
  json.EndObject();
}

}  // namespace

std::string BenchText(const std::vector<BenchResult>& results) {
  size_t width = kNameWidthMin;
  for (const BenchResult& result : results) {
    for (const Measurement& measurement : result.measurements) {
      const bool is_one = result.measurements.size() == 1;
      width = std::max(width, is_one ? result.name.size() : MeasuredName(result, measurement).size());
    }
  }
  width = std::min(width, kNameWidthMax);
  std::string text = absl::StrFormat("%-*s %8s %10s %10s %8s %9s  %s\n", static_cast<int>(width), "WORKLOAD",
                                     "PODS", "PODS/S", "THRESHOLD", "RATIO", "ATTEMPTS", "PLACEMENTS");
  for (const BenchResult& result : results) {
    for (const Measurement& measurement : result.measurements) AppendRow(width, result, measurement, text);
  }
  for (const BenchResult& result : results) AppendProblems(result, text);
  return text;
}

std::string BenchJson(const std::vector<BenchResult>& results) {
  JsonWriter json;
  json.BeginObject().Field("version", "v1").Key("dataItems").BeginArray();
  for (const BenchResult& result : results) {
    for (const Measurement& measurement : result.measurements) WriteItems(json, result, measurement);
  }
  json.EndArray().Key("workloads").BeginArray();
  for (const BenchResult& result : results) WriteWorkload(json, result);
  json.EndArray().EndObject();
  std::string indented;
  const absl::Status status =
      codec::ReadText(json.text(), "bench.json", {}, [&](const codec::Document& document) {
        indented = codec::ToIndentedJson(document.root);
        return absl::OkStatus();
      });
  CHECK(status.ok());
  return absl::StrCat(indented, indented.empty() || indented.back() != '\n' ? "\n" : "");
}

std::string BenchList(const std::vector<BenchWorkload>& workloads) {
  std::string text;
  for (const BenchWorkload& workload : workloads) {
    absl::StrAppend(&text, Printable(workload.name, kTextBytesMax), "  [",
                    Printable(absl::StrJoin(workload.labels, ", "), kTextBytesMax), "]");
    if (workload.threshold > 0) absl::StrAppend(&text, "  threshold ", NumberText(workload.threshold));
    if (!workload.failure.empty()) {
      absl::StrAppend(&text, "  fails: ", Printable(workload.failure, kTextBytesMax));
    }
    if (!workload.refusal.empty()) {
      absl::StrAppend(&text, "  not simulated: ", Printable(workload.refusal, kTextBytesMax));
    }
    text += "\n";
  }
  return text;
}

}  // namespace schedsim::sim
