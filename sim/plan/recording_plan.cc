#include "sim/plan/recording_plan.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/api/pod.h"
#include "core/base/status_macros.h"
#include "sim/formats/cluster_input.h"
#include "sim/formats/recording.h"
#include "sim/plan/plan_parts.h"
#include "sim/replay/audit_recording.h"
#include "sim/replay/reschedule.h"

namespace schedsim::sim {
namespace {

// How long the run goes on behind the recording at most: claims that nobody binds would be waited for again
// and again.
constexpr absl::Duration kTimeAfter = absl::Minutes(10);

absl::Status Invalid(absl::string_view what) { return absl::InvalidArgumentError(what); }

// Refuses what has no meaning for a recording.
absl::Status CheckRequest(const RunRequest& request, bool is_audit, absl::string_view file) {
  const bool follows = request.recorded == RecordedRun::kFollow;
  const std::pair<bool, absl::string_view> refused[] = {
      {request.case_name.has_value(), "--case"},
      {request.bound.has_value(), "--bound"},
      {!request.stages.empty(), "--stage"},
      {!request.autoscaler.empty(), "--autoscaler"},
      {!request.controllers, "--controllers"},
      {request.allow_empty, "--allow-empty"},
      {!is_audit && !request.files.empty(), "--filename (-f)"},
      {is_audit && request.start.has_value(), "--start"},
      {follows && request.until.has_value(), "--until"},
      {follows && request.check_wakeups, "--check-wakeups"},
      {follows && request.counters, "--counters"},
      {follows && request.seed.has_value(), "--seed"},
      {follows && request.variation.has_value(), "--vary"},
      {follows && request.faults.has_value(), "--faults"},
  };
  for (const auto& [is_given, option] : refused) {
    if (!is_given) continue;
    return Invalid(absl::StrCat(option, ": ", file, " is ", is_audit ? "an audit log" : "a recording",
                                follows ? " that is followed" : "", ", expected no ", option, " for it"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Recording> ReadAudit(const RunRequest& request, std::string text, absl::string_view file,
                                    Plan& plan) {
  ClusterInput input;
  if (!request.files.empty()) {
    ClusterInputOptions options;
    for (const std::string& path : request.files) options.paths.push_back({.path = path});
    ASSIGN_OR_RETURN(input, ReadClusterInput(options));
    AddInputNotices(input, plan);
  }
  return RecordAuditLog(std::move(text), file, input);
}

void SetInput(const Recording& recording, Plan& plan) {
  plan.input.objects = RescheduleScript::FirstObjects(recording);
  for (const api::ObjectPtr& object : plan.input.objects) {
    if (object->kind == api::Kind::kNode) ++plan.input.node_count;
    if (object->kind != api::Kind::kPod) continue;
    const auto& pod = static_cast<const api::Pod&>(*object);
    ++(pod.IsTerminal()        ? plan.input.finished_pod_count
       : pod.node_name.empty() ? plan.input.pending_pod_count
                               : plan.input.bound_pod_count);
  }
}

}  // namespace

bool IsRecordedRun(std::string& text, absl::string_view file) {
  return IsAuditLog(text) || IsRecording(text, file);
}

absl::StatusOr<Plan> MakeRecordingPlan(const RunRequest& request, std::string text, absl::string_view file) {
  const bool is_audit = IsAuditLog(text);
  RETURN_IF_ERROR(CheckRequest(request, is_audit, file));
  Plan plan;
  RETURN_IF_ERROR(SetScheduler(request.scheduler, plan));
  plan.read_paths = request.files;
  if (request.scheduler.config.has_value()) plan.read_paths.push_back(*request.scheduler.config);
  plan.read_paths.push_back(request.scenario);
  Recording recording;
  if (is_audit) {
    ASSIGN_OR_RETURN(recording, ReadAudit(request, std::move(text), file, plan));
  } else {
    ASSIGN_OR_RETURN(recording,
                     ParseRecording(std::move(text), file, request.start.value_or(DefaultRecordingZero())));
  }
  for (const std::string& warning : recording.warnings)
    plan.notices.push_back(absl::StrCat("warning: ", warning));
  if (recording.repaired_count > 0) {
    plan.notices.push_back(absl::StrCat("note: ", file, ": ", recording.repaired_count,
                                        " patches are differences between objects of two kinds, and were "
                                        "applied to the other kind's object of "
                                        "that name, as the recorder of kwokctl up to 0.7.0 made them"));
  }
  SetInput(recording, plan);
  // What other controllers make of the cluster is in the recording.
  plan.simulation.controllers.persistent_volumes = PersistentVolumeOptions();
  plan.simulation.creation_interval = absl::Microseconds(1);
  plan.simulation.until = recording.end() - recording.zero + kTimeAfter;
  plan.follows = request.recorded == RecordedRun::kFollow;
  plan.recording = std::make_shared<const Recording>(std::move(recording));
  return plan;
}

}  // namespace schedsim::sim
