#include "sim/report/calibration_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/check.h"
#include "core/base/printable.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"

namespace schedsim::sim {
namespace {

// Microseconds are all that a log has.
std::string Milliseconds(absl::Duration duration) {
  const int64_t microseconds = absl::ToInt64Microseconds(duration);
  return absl::StrFormat("%d.%03dms", microseconds / 1000, microseconds % 1000);
}

void AppendRow(absl::string_view name, absl::Duration predicted, absl::Duration real, std::string& text) {
  absl::StrAppendFormat(&text, "  %s  %14s  %14s\n", name, Milliseconds(predicted), Milliseconds(real));
}

// The part's value, as YAML is written everywhere.
std::string YamlOf(const FittedPart& part) {
  std::string yaml;
  const absl::Status status = codec::ReadText(absl::StrCat(part.name, ": ", part.value), "latency.yaml", {},
                                              [&](const codec::Document& document) {
                                                yaml = ToFlowYaml(*document.root.Find(part.name));
                                                return absl::OkStatus();
                                              });
  CHECK(status.ok());
  return yaml;
}

void AppendPrediction(const Prediction& prediction, std::string& text) {
  if (prediction.predicted.has_value()) {
    absl::StrAppend(&text, "From creation to binding, ", prediction.pod_count,
                    " pods that were bound in the log and in the prediction\n");
    absl::StrAppendFormat(&text, "       %14s  %14s\n", "predicted", "real");
    AppendRow("p50", prediction.predicted->p50, prediction.real->p50, text);
    AppendRow("p90", prediction.predicted->p90, prediction.real->p90, text);
    AppendRow("p99", prediction.predicted->p99, prediction.real->p99, text);
  } else {
    absl::StrAppend(&text,
                    "Too few pods that were bound in the log and in the prediction: ", prediction.pod_count,
                    ", expected at least ", kPodsMin, "\n");
  }
  absl::StrAppend(&text, "  predicted: virtual time; model: ", prediction.model.ToString(), "\n");
  if (prediction.is_replay) {
    absl::StrAppend(
        &text, "  from a replay of ", prediction.applied, " writes of all but the scheduler; ",
        prediction.ignored, " ignored",
        prediction.ignored > 0 ? absl::StrCat(", the first: ", Printable(prediction.first_ignored)) : "",
        "\n");
  } else {
    absl::StrAppend(&text, "  from the creations alone, as plain pods on one node where all fit: ",
                    prediction.no_replay, "\n");
  }
  absl::StrAppend(&text, "  left out: ", LeftOutText(prediction), "\n");
  if (prediction.late_count > 0) {
    absl::StrAppend(&text, "  ", prediction.late_count, " came while the scheduler was silent for ",
                    absl::FormatDuration(kSilence), " or more, and count from its next call\n");
  }
  if (prediction.paired_by_order > 0) {
    absl::StrAppend(&text, "  ", prediction.paired_by_order,
                    " have no name in the log: creation and binding were paired by generateName and order\n");
  }
}

void WritePercentiles(absl::string_view key, const std::optional<Percentiles>& of, codec::JsonWriter& json) {
  json.Key(key);
  if (!of.has_value()) {
    json.Null();
    return;
  }
  json.BeginObject().Field("p50", absl::ToInt64Microseconds(of->p50));
  json.Field("p90", absl::ToInt64Microseconds(of->p90));
  json.Field("p99", absl::ToInt64Microseconds(of->p99)).EndObject();
}

void WritePrediction(const Prediction& prediction, codec::JsonWriter& json) {
  json.Field("events", prediction.event_count).Field("schedulerCalls", prediction.call_count);
  json.Key("creationToBindingMicroseconds").BeginObject().Field("pods", prediction.pod_count);
  WritePercentiles("predicted", prediction.predicted, json);
  WritePercentiles("real", prediction.real, json);
  json.Field("model", prediction.model.ToString());
  json.Field("way", prediction.is_replay ? "replay" : "plainPods");
  if (prediction.is_replay) {
    json.Field("applied", prediction.applied).Field("ignored", prediction.ignored);
    if (prediction.ignored > 0) json.Field("firstIgnored", prediction.first_ignored);
  } else {
    json.Field("noReplay", prediction.no_replay);
  }
  json.EndObject();
  json.Field("boundInLogOnly", prediction.only_in_log)
      .Field("boundInPredictionOnly", prediction.only_predicted);
  json.Field("boundInNeither", prediction.in_neither).Field("failedFirst", prediction.failed_first);
  json.Field("gated", prediction.gated).Field("notScheduledHere", prediction.not_scheduled_here);
  json.Field("withoutCreation", prediction.without_creation).Field("afterSilence", prediction.late_count);
  json.Field("pairedByOrder", prediction.paired_by_order);
}

}  // namespace

std::string LeftOutText(const Prediction& prediction) {
  return absl::StrCat(
      prediction.only_in_log, " bound in the log only, ", prediction.only_predicted,
      " in the prediction only, ", prediction.in_neither, " in neither, ",
      prediction.is_replay ? "" : absl::StrCat(prediction.failed_first, " that failed first, "),
      prediction.gated, " gated, ", prediction.not_scheduled_here, " of other schedulers or none, ",
      prediction.without_creation, " without a creation");
}

std::string CalibrationText(const Calibration& calibration) {
  // YAML, to be pasted into a scenario as it is: all but the model is comments.
  std::string text = absl::StrCat("# ", calibration.own.event_count, " events, ", calibration.own.call_count,
                                  " calls of the scheduler\nlatency:\n");
  for (const FittedPart& part : calibration.fit.parts) {
    absl::StrAppend(&text, "  # ", part.reason, "\n  ", part.name, ": ", YamlOf(part), "\n");
  }
  std::string comments;
  AppendPrediction(calibration.own, comments);
  for (const Calibration::Check& check : calibration.checks) {
    absl::StrAppend(&comments, "\nCheck of ", Printable(check.path),
                    ", which the model was not fitted to: ", check.prediction.event_count, " events, ",
                    check.prediction.call_count, " calls of the scheduler\n");
    AppendPrediction(check.prediction, comments);
  }
  absl::StrAppend(&text, "#\n");
  for (const absl::string_view line : absl::StrSplit(absl::StripSuffix(comments, "\n"), '\n'))
    absl::StrAppend(&text, "#", line.empty() ? "" : " ", line, "\n");
  return text;
}

std::string CalibrationJson(const Calibration& calibration) {
  codec::JsonWriter json;
  json.BeginObject().Key("latency").BeginArray();
  for (const FittedPart& part : calibration.fit.parts) {
    json.BeginObject().Field("name", part.name).Field("value", part.value).Key("fitted").Bool(part.fitted);
    json.Field("samples", part.sample_count).Field("reason", part.reason).EndObject();
  }
  json.EndArray();
  WritePrediction(calibration.own, json);
  json.Key("checks").BeginArray();
  for (const Calibration::Check& check : calibration.checks) {
    json.BeginObject().Field("log", check.path);
    WritePrediction(check.prediction, json);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return absl::StrCat(json.text(), "\n");
}

}  // namespace schedsim::sim
