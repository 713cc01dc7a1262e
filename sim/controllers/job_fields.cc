#include "sim/controllers/job_fields.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/codec/text/json_writer.h"

namespace schedsim::sim {
namespace {

bool IsTrue(const WorkloadConditions& conditions, absl::string_view type) {
  const WorkloadCondition* condition = conditions.Find(type);
  return condition != nullptr && condition->status == "True";
}

}  // namespace

std::string IndexesText(const Indexes& indexes) {
  std::string text;
  for (auto first = indexes.begin(); first != indexes.end();) {
    auto end = std::next(first);
    int64_t last = *first;
    while (end != indexes.end() && *end == last + 1) last = *end++;
    absl::StrAppend(&text, text.empty() ? "" : ",", *first);
    if (last > *first) absl::StrAppend(&text, last == *first + 1 ? "," : "-", last);
    first = end;
  }
  return text;
}

Indexes ParseIndexes(absl::string_view text) {
  Indexes indexes;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::vector<absl::string_view> limits = absl::StrSplit(part, '-');
    int64_t first = 0;
    if (!absl::SimpleAtoi(limits[0], &first)) continue;
    int64_t last = first;
    if (limits.size() > 1 && !absl::SimpleAtoi(limits[1], &last)) continue;
    if (last - first > kPodsMax) continue;
    for (int64_t index = first; index <= last; ++index) indexes.insert(index);
  }
  return indexes;
}

bool JobSpec::IsFinished() const {
  return IsTrue(status.conditions, "Complete") || IsTrue(status.conditions, "Failed");
}

absl::Status ReadJob(const api::Object& object, JobSpec& spec) {
  return ReadFields(object, [&spec](const codec::Value& root) {
    absl::Status error;
    const FieldReader fields(root, {"spec"}, error);
    spec.completions = fields.OptionalInt("completions");
    const bool has_parallelism = fields.Find("parallelism") != nullptr;
    spec.parallelism = fields.Int("parallelism", 1);
    // Source: kubernetes v1.37, pkg/apis/batch/v1/defaults.go.
    if (!spec.completions.has_value() && !has_parallelism) spec.completions = 1;
    spec.backoff_limit_per_index = fields.OptionalInt("backoffLimitPerIndex");
    spec.backoff_limit = fields.Int("backoffLimit", spec.backoff_limit_per_index.has_value() ? INT32_MAX : 6);
    spec.max_failed_indexes = fields.OptionalInt("maxFailedIndexes");
    spec.active_deadline_seconds = fields.OptionalInt("activeDeadlineSeconds");
    spec.ttl_seconds_after_finished = fields.OptionalInt("ttlSecondsAfterFinished");
    spec.is_indexed = fields.Text("completionMode", "NonIndexed") == "Indexed";
    spec.is_suspended = fields.Bool("suspend", false);
    const bool has_failure_policy = fields.Find("podFailurePolicy") != nullptr;
    spec.replaces_failed_only =
        fields.Text("podReplacementPolicy", has_failure_policy ? "Failed" : "") == "Failed";
    const std::string manager = fields.Text("managedBy", "kubernetes.io/job-controller");
    spec.is_managed_elsewhere = manager != "kubernetes.io/job-controller";
    for (const char* field : {"podFailurePolicy", "successPolicy"}) {
      if (fields.Find(field) != nullptr) spec.ignored_fields.emplace_back(field);
    }
    const FieldReader status(root, {"status"}, error);
    spec.status = {.active = status.Int("active", 0),
                   .ready = status.Int("ready", 0),
                   .succeeded = status.Int("succeeded", 0),
                   .failed = status.Int("failed", 0),
                   .terminating = status.Int("terminating", 0),
                   .start_time = status.Time("startTime"),
                   .completion_time = status.Time("completionTime"),
                   .completed_indexes = ParseIndexes(status.Text("completedIndexes", "")),
                   .failed_indexes = ParseIndexes(status.Text("failedIndexes", "")),
                   .conditions = WorkloadConditions::Read(root, "lastProbeTime")};
    error.Update(CheckPodCount("spec.parallelism", spec.parallelism));
    error.Update(CheckPodCount("spec.completions", spec.completions.value_or(0)));
    if (error.ok() && spec.is_indexed && !spec.completions.has_value()) {
      error = absl::InvalidArgumentError("spec.completions: expected a number, since the job is Indexed");
    }
    error.Update(CheckTemplate(root));
    return error;
  });
}

std::string JobStatusJson(const JobSpec& spec, const JobSpec::Status& status) {
  codec::JsonWriter json;
  json.BeginObject();
  status.conditions.Write("lastProbeTime", json);
  if (status.start_time.has_value()) json.Field("startTime", TimestampText(*status.start_time));
  if (status.completion_time.has_value()) {
    json.Field("completionTime", TimestampText(*status.completion_time));
  }
  const auto write = [&json](absl::string_view name, int64_t count) {
    if (count != 0) json.Field(name, count);
  };
  write("active", status.active);
  write("succeeded", status.succeeded);
  write("failed", status.failed);
  json.Field("terminating", status.terminating).Field("ready", status.ready);
  if (!status.completed_indexes.empty()) {
    json.Field("completedIndexes", IndexesText(status.completed_indexes));
  }
  if (spec.backoff_limit_per_index.has_value()) {
    json.Field("failedIndexes", IndexesText(status.failed_indexes));
  }
  json.Key("uncountedTerminatedPods").BeginObject().EndObject().EndObject();
  return json.text();
}

}  // namespace schedsim::sim
