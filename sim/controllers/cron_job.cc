#include "sim/controllers/cron_job.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/base/and_more.h"
#include "core/base/json_member.h"
#include "core/base/status_macros.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "sim/controllers/pod_template.h"

namespace schedsim::sim {
namespace {

constexpr char kKind[] = "CronJob";
constexpr char kApiVersion[] = "batch/v1";
constexpr int64_t kSecondsPerMinute = 60;

bool IsOfBatch(const api::Object& object, absl::string_view kind_name) {
  return object.kind == api::Kind::kOther && object.kind_name == kind_name &&
         object.api_version == kApiVersion;
}

// Whether the input has the time of its creation.
bool SaysWhenItWasMade(const api::Object& object) {
  const std::string text = object.json->ToString();
  return absl::StrContains(FindJsonMember(text, "metadata"), "\"creationTimestamp\":\"");
}

}  // namespace

absl::Status ReadCronJob(const api::Object& object, CronJobSpec& spec) {
  return ReadFields(object, [&spec](const codec::Value& root) -> absl::Status {
    absl::Status error;
    const FieldReader fields(root, {"spec"}, error);
    const std::string zone_name = fields.Text("timeZone", "UTC");
    const absl::StatusOr<absl::TimeZone> zone = FindTimeZone(zone_name);
    if (!zone.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "spec.timeZone: Invalid value: ", api::GoQuote(zone_name), ": ", zone.status().message()));
    }
    absl::StatusOr<CronSchedule> schedule = CronSchedule::Parse(fields.Text("schedule", ""), *zone);
    if (!schedule.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("spec.schedule: ", schedule.status().message()));
    }
    spec.schedule = *std::move(schedule);
    spec.is_suspended = fields.Bool("suspend", false);
    spec.concurrency_policy = fields.Text("concurrencyPolicy", spec.concurrency_policy);
    spec.starting_deadline_seconds = fields.OptionalLongCount("startingDeadlineSeconds");
    spec.successful_jobs_history_limit =
        fields.Count("successfulJobsHistoryLimit", spec.successful_jobs_history_limit);
    spec.failed_jobs_history_limit = fields.Count("failedJobsHistoryLimit", spec.failed_jobs_history_limit);
    const FieldReader job_spec(root, {"spec", "jobTemplate", "spec"}, error);
    if (error.ok() && !job_spec.is_present()) {
      error =
          absl::InvalidArgumentError("spec.jobTemplate: expected a template of a job with a spec, got none");
    }
    const FieldReader status(root, {"status"}, error);
    spec.status.last_schedule_time = status.Time("lastScheduleTime");
    spec.status.last_successful_time = status.Time("lastSuccessfulTime");
    if (const codec::Value* active = status.Find("active")) {
      for (const codec::Value& item : active->items) {
        const codec::Value* name = item.Find("name");
        if (name != nullptr && name->is_string()) spec.status.active.emplace_back(name->text);
      }
    }
    std::sort(spec.status.active.begin(), spec.status.active.end());
    return error;
  });
}

absl::Status CronJobController::ReadOwnJob(const api::Object& object, OwnJob& job) {
  return ReadFields(object, [&job](const codec::Value& root) {
    absl::Status error;
    const WorkloadConditions conditions = WorkloadConditions::Read(root, "");
    job.is_complete = conditions.IsTrue("Complete");
    job.is_failed = conditions.IsTrue("Failed");
    job.completion_time = FieldReader(root, {"status"}, error).Time("completionTime");
    return error;
  });
}

CronJobController::CronJobController(const ControllerContext& context)
    : loop_(context.loop),
      server_(context.server),
      warnings_(context.warnings),
      queue_(context, [this](const std::string& key) { return Sync(key); }) {}

void CronJobController::OnEvent(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (IsOfBatch(object, kKind)) {
    if (event.new_object == nullptr) specs_.Erase(object.metadata.uid);
    if (started_ && !specs_.is_writing()) queue_.Add(object.Key());
    return;
  }
  if (!IsOfBatch(object, "Job")) return;
  const OwnerChange change = OwnerChangeOf(event, kKind);
  if (change.before != change.now && !change.before.empty()) {
    names_[change.before].erase(object.metadata.name);
    jobs_.Erase(object.metadata.uid);
  }
  if (!change.now.empty()) names_[change.now].insert(object.metadata.name);
  const api::OwnerReference* owner = ControllerOf(object);
  if (!started_ || owner == nullptr || owner->kind != kKind) return;
  queue_.Add(absl::StrCat(object.metadata.namespace_, "/", owner->name));
}

void CronJobController::Start() {
  started_ = true;
  start_ = loop_.Now();
  for (const auto& [key, object] : server_.List(api::Kind::kOther)) {
    if (!IsOfBatch(*object, kKind)) continue;
    if (object->json != nullptr && !SaysWhenItWasMade(*object)) new_at_start_.insert(object->metadata.uid);
    WarnOfLostJobs(object);
    queue_.AddAt(object->Key(), loop_.Now(), /*in_background=*/false);
  }
}

void CronJobController::WarnOfLostJobs(const api::ObjectPtr& object) {
  std::string error;
  const CronJobSpec* const spec = specs_.Of(object, error);
  if (!error.empty()) Warn(error, warnings_);
  if (spec == nullptr || spec->concurrency_policy == "Allow" || spec->is_suspended) return;
  std::vector<std::string> lost;
  for (const std::string& name : spec->status.active)
    if (FindJob(*object, name) == nullptr) lost.push_back(name);
  if (lost.empty()) return;
  Warn(absl::StrCat("CronJob ", object->Key(), ": its Job ", lost[0],
                    ", which status.active names, is not in the input; it counts as ended, though "
                    "concurrencyPolicy is ",
                    spec->concurrency_policy, AndMore(lost.size())),
       warnings_);
}

absl::Time CronJobController::CreatedAt(const api::Object& object) const {
  if (new_at_start_.contains(object.metadata.uid)) return start_;
  return object.metadata.creation_timestamp.value_or(loop_.Now());
}

api::ObjectPtr CronJobController::FindJob(const api::Object& object, absl::string_view name) const {
  return server_.FindOther(kApiVersion, "Job", absl::StrCat(object.metadata.namespace_, "/", name));
}

std::vector<CronJobController::OwnJob> CronJobController::JobsOf(const api::Object& object) {
  std::vector<OwnJob> jobs;
  for (const std::string& name : names_[object.metadata.uid]) {
    const api::ObjectPtr job = FindJob(object, name);
    std::string error;
    OwnJob* read = job == nullptr ? nullptr : jobs_.Of(job, error);
    if (read == nullptr) continue;
    read->object = job;
    jobs.push_back(*read);
  }
  const auto age = [](const OwnJob& job) {
    const api::ObjectMeta& meta = job.object->metadata;
    return std::make_tuple(meta.creation_timestamp.value_or(absl::InfinitePast()), meta.name);
  };
  std::sort(jobs.begin(), jobs.end(), [&age](const OwnJob& a, const OwnJob& b) { return age(a) < age(b); });
  return jobs;
}

absl::Status CronJobController::Sync(const std::string& key) {
  const api::ObjectPtr object = server_.FindOther(kApiVersion, kKind, key);
  if (object == nullptr || !IsOfBatch(*object, kKind)) {
    queue_.Forget(key);
    return absl::OkStatus();
  }
  std::string error;
  CronJobSpec* spec = specs_.Of(object, error);
  if (!error.empty()) Warn(error, warnings_);
  if (spec == nullptr) return absl::OkStatus();
  std::vector<OwnJob> jobs = JobsOf(*object);
  CleanUp(*spec, jobs);
  CronJobSpec::Status status = spec->status;
  for (const OwnJob& job : jobs) {
    if (job.is_complete && job.completion_time.has_value() &&
        (!status.last_successful_time.has_value() || *status.last_successful_time < *job.completion_time)) {
      status.last_successful_time = job.completion_time;
    }
  }
  const bool may_run = !spec->is_suspended && !object->metadata.deletion_timestamp.has_value();
  absl::Status made;
  if (may_run) {
    absl::Time earliest = status.last_schedule_time.value_or(CreatedAt(*object));
    if (spec->starting_deadline_seconds.has_value()) {
      earliest = std::max(earliest, loop_.Now() - absl::Seconds(*spec->starting_deadline_seconds));
    }
    made = MakeDue(*object, *spec, earliest, jobs, status);
    const absl::Time next = spec->schedule.Next(loop_.Now());
    if (next != absl::InfiniteFuture()) queue_.AddAt(key, next, /*in_background=*/true);
  }
  status.active.clear();
  for (const OwnJob& job : JobsOf(*object)) {
    if (!job.is_complete && !job.is_failed) status.active.push_back(job.object->metadata.name);
  }
  std::sort(status.active.begin(), status.active.end());
  WriteStatus(object, *spec, std::move(status));
  if (absl::IsInvalidArgument(made)) {
    Warn(std::string(made.message()), warnings_);
    made = absl::OkStatus();
  }
  if (made.ok()) queue_.Forget(key);
  return made;
}

absl::Status CronJobController::MakeDue(const api::Object& object, const CronJobSpec& spec,
                                        absl::Time earliest, const std::vector<OwnJob>& jobs,
                                        CronJobSpec::Status& status) {
  const std::optional<absl::Time> due = spec.schedule.LastUntil(earliest, loop_.Now());
  if (!due.has_value()) return absl::OkStatus();
  const bool is_too_late = spec.starting_deadline_seconds.has_value() &&
                           *due + absl::Seconds(*spec.starting_deadline_seconds) < loop_.Now();
  if (is_too_late) return absl::OkStatus();
  for (const OwnJob& job : jobs) {
    if (job.is_complete || job.is_failed || spec.concurrency_policy == "Allow") continue;
    if (spec.concurrency_policy == "Forbid") return absl::OkStatus();
    Delete(*job.object);
  }
  const std::string name =
      absl::StrCat(object.metadata.name, "-", absl::ToUnixSeconds(*due) / kSecondsPerMinute);
  // One that is there was made for this time before.
  if (FindJob(object, name) == nullptr) RETURN_IF_ERROR(CreateJob(object, *due, name));
  status.last_schedule_time = *due;
  return absl::OkStatus();
}

absl::Status CronJobController::CreateJob(const api::Object& object, absl::Time time,
                                          const std::string& name) {
  return ReadFields(object, [&](const codec::Value& root) -> absl::Status {
    const codec::Value* of_spec = root.Find("spec");
    const codec::Value* job_template = of_spec == nullptr ? nullptr : of_spec->Find("jobTemplate");
    const codec::Value* job_spec = job_template == nullptr ? nullptr : job_template->Find("spec");
    if (job_spec == nullptr) return absl::FailedPreconditionError("has no template of a job");
    const codec::Value* metadata = job_template->Find("metadata");
    const auto part = [metadata](absl::string_view key) -> std::string {
      const codec::Value* found = metadata == nullptr ? nullptr : metadata->Find(key);
      return found == nullptr || !found->is_object() ? "{}" : codec::ToJson(*found);
    };
    codec::JsonWriter job;
    job.BeginObject().Field("apiVersion", kApiVersion).Field("kind", "Job").Key("metadata").BeginObject();
    job.Field("name", name).Field("namespace", object.metadata.namespace_);
    job.Key("labels").Raw(part("labels")).Key("annotations").Raw(part("annotations"));
    WriteControllerRef(object, job);
    job.EndObject().Key("spec").Raw(codec::ToJson(*job_spec)).EndObject();
    return codec::ReadText(job.text(), "job.json", {}, [&](const codec::Document& document) -> absl::Status {
      api::ObjectPtr read;
      ASSIGN_OR_RETURN(read, reader_.Decode(document.root, name));
      std::shared_ptr<api::Object> copy = read->Clone();
      copy->metadata.annotations.Set("batch.kubernetes.io/cronjob-scheduled-timestamp",
                                     api::FormatRfc3339Seconds(time));
      return server_.Create(copy);
    });
  });
}

// The oldest ones of those that are over.
void CronJobController::CleanUp(const CronJobSpec& spec, const std::vector<OwnJob>& jobs) {
  for (const bool failed : {false, true}) {
    std::vector<const OwnJob*> over;
    for (const OwnJob& job : jobs) {
      if (failed ? job.is_failed : job.is_complete) over.push_back(&job);
    }
    const int64_t limit = failed ? spec.failed_jobs_history_limit : spec.successful_jobs_history_limit;
    const int64_t surplus = static_cast<int64_t>(over.size()) - limit;
    for (int64_t i = 0; i < surplus; ++i) Delete(*over[static_cast<size_t>(i)]->object);
  }
}

void CronJobController::Delete(const api::Object& job) { server_.Delete(job).IgnoreError(); }

void CronJobController::WriteStatus(const api::ObjectPtr& object, CronJobSpec& spec,
                                    CronJobSpec::Status status) {
  if (status == spec.status) return;
  codec::JsonWriter json;
  json.BeginObject();
  if (!status.active.empty()) {
    json.Key("active").BeginArray();
    for (const std::string& name : status.active) {
      const api::ObjectPtr job = FindJob(*object, name);
      json.BeginObject().Field("apiVersion", kApiVersion).Field("kind", "Job").Field("name", name);
      json.Field("namespace", object->metadata.namespace_);
      if (job != nullptr) json.Field("uid", job->metadata.uid);
      json.EndObject();
    }
    json.EndArray();
  }
  if (status.last_schedule_time.has_value()) {
    json.Field("lastScheduleTime", api::FormatRfc3339Seconds(*status.last_schedule_time));
  }
  if (status.last_successful_time.has_value()) {
    json.Field("lastSuccessfulTime", api::FormatRfc3339Seconds(*status.last_successful_time));
  }
  json.EndObject();
  if (specs_.WriteStatus(server_, *object, json.text()) == nullptr) return;
  spec.status = std::move(status);
}

}  // namespace schedsim::sim
