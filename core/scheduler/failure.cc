// What becomes of a pod whose attempt failed.
// Source: kubernetes v1.37, scheduler/schedule_one.go, handleSchedulingFailure.

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/scheduler/cycle.h"
#include "core/scheduler/scheduler.h"

namespace schedsim::scheduler {

using framework::Status;

namespace {

// Events cannot hold more.
constexpr size_t kNoteLengthLimit = 1024;

std::string TruncatedNote(const std::string& message) {
  if (message.size() <= kNoteLengthLimit) return message;
  return absl::StrCat(message.substr(0, kNoteLengthLimit - 4), " ...");
}

// Upstream hands the message to the recorder as a format without values, as Go's fmt prints it.
std::string AsFormat(const std::string& message) {
  std::string text;
  for (size_t i = 0; i < message.size(); ++i) {
    if (message[i] != '%') {
      text.push_back(message[i]);
      continue;
    }
    const size_t verb = message.find_first_not_of("+-# 0123456789.", i + 1);
    if (verb == std::string::npos) return text + "%!(NOVERB)";
    if (message[verb] == '%') {
      text.push_back('%');
    } else {
      absl::StrAppend(&text, "%!", message.substr(verb, 1), "(MISSING)");
    }
    i = verb;
  }
  return text;
}

}  // namespace

Attempt::Failure Scheduler::FailureOf(const CycleResult& result) {
  std::vector<std::string> reasons = result.reasons;
  if (reasons.empty()) reasons.push_back(result.message);
  const std::string& error = result.error.empty() ? result.message : result.error;
  Attempt::Failure failure = {.status = Status(result.status.code(), std::move(reasons)),
                              .error = result.status.IsSkip() ? "" : error,
                              .nominated_node_name = result.nominated_node_name};
  if (!result.reasons.empty() && !failure.status.IsSuccess() && !result.status.plugin().empty()) {
    failure.status.SetPluginIfUnset(result.status.plugin());
  }
  if (!result.fit_error) return failure;
  failure.unschedulable_plugins = result.unschedulable_plugins;
  failure.pending_plugins = result.pending_plugins;
  return failure;
}

Attempt::Failure Scheduler::HandleSchedulingFailure(queue::QueuedPodInfoPtr pod, CycleResult result) {
  const bool rejected = result.status.IsRejected();
  const std::string reason = rejected ? "Unschedulable" : "SchedulerError";
  Attempt::Failure failure = FailureOf(result);
  pod->unschedulable_plugins = failure.unschedulable_plugins;
  pod->pending_plugins = failure.pending_plugins;

  const api::PodPtr popped = pod->pod_info->pod;
  framework::PodInfoPtr latest = pod->pod_info;
  const api::PodPtr known = informers_.FindPod(*popped);
  if (known != nullptr && known->node_name.empty()) {
    if (options_.line.failure_checks_uid && known->metadata.uid != popped->metadata.uid) {
      queue_->Done(*popped);
      return failure;
    }
    if (known != latest->pod) latest = pod_infos_.Make(known);
    pod->pod_info = latest;
    queue_->AddUnschedulableIfNotPresent(std::move(pod));
  }
  // For pods that are gone or bound by now.
  queue_->Done(*popped);
  nominator_.AddNominatedPod(latest, result.nominated_node_name);
  // Where all Bind plugins skip the pod, no one is told: upstream takes their status for one of its tests.
  if (result.status.IsSkip()) return failure;
  // The line that checks the uid is the first to compare with the status as it is now: before, a node
  // that was nominated during the binding stays.
  const api::PodPtr& subject = options_.line.failure_checks_uid ? latest->pod : popped;
  if (environment_.client.WantsEvents()) {
    environment_.client.RecordEvent(*subject, {.type = "Warning",
                                               .reason = "FailedScheduling",
                                               .action = "Scheduling",
                                               .note = AsFormat(TruncatedNote(result.message))});
  }
  PatchFailure(subject, reason, result);
  return failure;
}

// Writes the condition and the nomination, as far as they are not there already.
void Scheduler::PatchFailure(const api::PodPtr& pod, const std::string& reason, const CycleResult& result) {
  framework::PodStatusPatch patch;
  constexpr char kType[] = "PodScheduled";
  constexpr char kStatus[] = "False";
  const api::PodCondition* known = pod->FindCondition(kType);
  // In a full cluster most attempts end as the one before.
  const bool is_known = known != nullptr && known->status == kStatus && known->reason == reason &&
                        known->message == result.message;
  if (!is_known) {
    patch.condition =
        api::PodCondition{.type = kType, .status = kStatus, .reason = reason, .message = result.message};
  }
  if (result.nominated_node_name.has_value() &&
      *result.nominated_node_name != pod->status.nominated_node_name) {
    patch.nominated_node_name = result.nominated_node_name;
  }
  if (!patch.condition.has_value() && !patch.nominated_node_name.has_value()) return;
  // Upstream patches both where one of them changes; the other stays as it is.
  environment_.client.PatchPodStatus(pod, std::move(patch), [](const absl::Status&) {});
}

}  // namespace schedsim::scheduler
