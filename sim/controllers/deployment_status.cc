// The status of Deployments: counts, availability, progress.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/controllers/deployment.h"

namespace schedsim::sim {
namespace {

// More new pods, fewer old ones, or more of either that are ready.
bool HasProgressed(const DeploymentSpec::Status& before, const DeploymentSpec::Status& now) {
  return now.updated_replicas > before.updated_replicas ||
         now.replicas - now.updated_replicas < before.replicas - before.updated_replicas ||
         now.ready_replicas > before.ready_replicas || now.available_replicas > before.available_replicas;
}

}  // namespace

WorkloadCondition DeploymentController::Condition(absl::string_view type, absl::string_view status,
                                                  absl::string_view reason, std::string message) const {
  return ConditionSince(loop_.Now(), type, status, reason, std::move(message));
}

// Nobody is to hold it against a rollout that it made no progress while it was paused.
void DeploymentController::SetPausedCondition(Rollout& rollout) {
  const DeploymentSpec& spec = *rollout.spec;
  if (!spec.progress_deadline.has_value()) return;
  const WorkloadCondition* known = spec.status.conditions.Find("Progressing");
  if (known != nullptr && known->reason == "ProgressDeadlineExceeded") return;
  const bool is_said = known != nullptr && known->reason == "DeploymentPaused";
  if (spec.is_paused == is_said) return;
  DeploymentSpec::Status status = spec.status;
  status.conditions.Set(
      spec.is_paused ? Condition("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused")
                     : Condition("Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed"));
  WriteStatus(rollout, std::move(status));
}

DeploymentSpec::Status DeploymentController::StatusOf(const Rollout& rollout) const {
  const DeploymentSpec& spec = *rollout.spec;
  DeploymentSpec::Status status = {.observed_generation = spec.generation,
                                   .collision_count = spec.status.collision_count,
                                   .conditions = spec.status.conditions};
  int64_t terminating = 0;
  bool is_known = spec.status.terminating_replicas.has_value();
  for (const RolloutSet& set : rollout.sets) {
    status.replicas += set.status.replicas;
    status.ready_replicas += set.status.ready_replicas;
    status.available_replicas += set.status.available_replicas;
    terminating += set.status.terminating_replicas.value_or(0);
    is_known |= set.status.terminating_replicas.has_value();
  }
  if (is_known) status.terminating_replicas = terminating;
  if (rollout.new_set != nullptr) status.updated_replicas = rollout.new_set->status.replicas;
  status.unavailable_replicas = std::max<int64_t>(SumOfReplicas(rollout.sets) - status.available_replicas, 0);
  if (status.available_replicas >= spec.replicas - spec.MaxUnavailable()) {
    status.conditions.Set(
        Condition("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability."));
  } else {
    status.conditions.Set(Condition("Available", "False", "MinimumReplicasUnavailable",
                                    "Deployment does not have minimum availability."));
  }
  return status;
}

void DeploymentController::EstimateProgress(const Rollout& rollout, DeploymentSpec::Status& status) const {
  const DeploymentSpec& spec = *rollout.spec;
  const WorkloadCondition* known = status.conditions.Find("Progressing");
  const bool was_complete = status.replicas == status.updated_replicas && known != nullptr &&
                            known->reason == "NewReplicaSetAvailable";
  if (was_complete) return;
  const std::string who = rollout.new_set == nullptr
                              ? absl::StrCat("Deployment \"", rollout.object->metadata.name, "\"")
                              : absl::StrCat("ReplicaSet \"", rollout.new_set->object->metadata.name, "\"");
  if (spec.IsComplete(status)) {
    status.conditions.Set(Condition("Progressing", "True", "NewReplicaSetAvailable",
                                    absl::StrCat(who, " has successfully progressed.")));
  } else if (HasProgressed(spec.status, status)) {
    // Also where it says the same: the time of the last progress counts.
    status.conditions.Replace(
        Condition("Progressing", "True", "ReplicaSetUpdated", absl::StrCat(who, " is progressing.")));
  } else if (known != nullptr && known->reason != "NewReplicaSetAvailable" &&
             known->reason != "ProgressDeadlineExceeded" &&
             known->last_update.value_or(absl::InfiniteFuture()) + *spec.progress_deadline < loop_.Now()) {
    status.conditions.Set(Condition("Progressing", "False", "ProgressDeadlineExceeded",
                                    absl::StrCat(who, " has timed out progressing.")));
  }
}

void DeploymentController::SyncStatus(Rollout& rollout, bool estimates_progress) {
  DeploymentSpec::Status status = StatusOf(rollout);
  if (estimates_progress) {
    if (!rollout.spec->progress_deadline.has_value()) {
      status.conditions.Erase("Progressing");
    } else {
      EstimateProgress(rollout, status);
    }
    const WorkloadCondition* failure = nullptr;
    for (const RolloutSet& set : rollout.sets) {
      const bool goes_first = failure == nullptr || &set == rollout.new_set;
      if (goes_first && set.status.replica_failure.has_value()) failure = &*set.status.replica_failure;
    }
    if (failure != nullptr) {
      WorkloadCondition condition = *failure;
      condition.last_update = condition.last_transition;
      status.conditions.Set(std::move(condition));
    } else {
      status.conditions.Erase("ReplicaFailure");
    }
  }
  WriteStatus(rollout, std::move(status));
  if (estimates_progress) LookWhenDeadlineIsOver(rollout);
}

void DeploymentController::LookWhenDeadlineIsOver(const Rollout& rollout) {
  const DeploymentSpec& spec = *rollout.spec;
  const WorkloadCondition* known = spec.status.conditions.Find("Progressing");
  if (!spec.progress_deadline.has_value() || known == nullptr || !known->last_update.has_value()) return;
  // A rollout that was complete before does not time out.
  const bool may_time_out =
      known->reason != "ProgressDeadlineExceeded" && known->reason != "NewReplicaSetAvailable";
  const absl::Time end = *known->last_update + *spec.progress_deadline + absl::Seconds(1);
  if (spec.IsComplete(spec.status) || !may_time_out || end <= loop_.Now()) return;
  queue_.AddAt(rollout.object->Key(), end, /*in_background=*/true);
}

void DeploymentController::WriteStatus(Rollout& rollout, DeploymentSpec::Status status) {
  if (status == rollout.spec->status) return;
  const std::shared_ptr<api::Object> copy =
      WithField(*rollout.object, {"status"}, DeploymentStatusJson(status));
  if (!server_.Update(copy).ok()) return;
  rollout.object = server_.Find(*copy);
  rollout.spec->status = std::move(status);
  specs_.Keep(rollout.object);
}

}  // namespace schedsim::sim
