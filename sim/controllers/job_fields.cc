#include "sim/controllers/job_fields.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/codec/text/json_writer.h"
#include "sim/controllers/job_validation.h"

namespace schedsim::sim {

bool JobSpec::IsFinished() const {
  return status.conditions.IsTrue("Complete") || status.conditions.IsTrue("Failed");
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
    spec.backoff_limit_per_index = fields.OptionalCount("backoffLimitPerIndex");
    spec.backoff_limit =
        fields.Count("backoffLimit", spec.backoff_limit_per_index.has_value() ? INT32_MAX : 6);
    spec.max_failed_indexes = fields.OptionalCount("maxFailedIndexes");
    spec.active_deadline_seconds = fields.OptionalLongCount("activeDeadlineSeconds");
    spec.ttl_seconds_after_finished = fields.OptionalCount("ttlSecondsAfterFinished");
    spec.is_indexed = fields.Text("completionMode", "NonIndexed") == "Indexed";
    spec.is_suspended = fields.Bool("suspend", false);
    const bool has_failure_policy = fields.Find("podFailurePolicy") != nullptr;
    spec.replaces_failed_only =
        fields.Text("podReplacementPolicy", has_failure_policy ? "Failed" : "") == "Failed";
    const std::string manager = fields.Text("managedBy", "kubernetes.io/job-controller");
    spec.is_managed_elsewhere = manager != "kubernetes.io/job-controller";
    spec.selector = ReadSelector(root);
    error.Update(PodFailurePolicy::Read(root, spec.pod_failure_policy));
    error.Update(SuccessPolicy::Read(root, spec.success_policy));
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
    error.Update(CheckTemplate(root));
    error.Update(CheckJob(root));
    return error;
  });
}

std::string JobStatusJson(const JobSpec& spec, const JobSpec::Status& status) {
  codec::JsonWriter json;
  json.BeginObject();
  status.conditions.Write("lastProbeTime", json);
  if (status.start_time.has_value()) json.Field("startTime", api::FormatRfc3339Seconds(*status.start_time));
  if (status.completion_time.has_value()) {
    json.Field("completionTime", api::FormatRfc3339Seconds(*status.completion_time));
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
