// What is read of Deployments and their ReplicaSets, and the arithmetic of rollouts.
#ifndef SCHEDSIM_SIM_CONTROLLERS_DEPLOYMENT_FIELDS_H_
#define SCHEDSIM_SIM_CONTROLLERS_DEPLOYMENT_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/api/selectors.h"
#include "sim/controllers/workload_fields.h"

namespace schedsim::sim {

inline constexpr absl::string_view kRevisionAnnotation = "deployment.kubernetes.io/revision";
inline constexpr absl::string_view kRevisionHistoryAnnotation = "deployment.kubernetes.io/revision-history";
inline constexpr absl::string_view kDesiredReplicasAnnotation = "deployment.kubernetes.io/desired-replicas";
inline constexpr absl::string_view kMaxReplicasAnnotation = "deployment.kubernetes.io/max-replicas";
inline constexpr absl::string_view kPodTemplateHashLabel = "pod-template-hash";

struct DeploymentSpec {
  int64_t replicas = 1;
  int64_t min_ready_seconds = 0;
  bool is_paused = false;
  bool is_recreate = false;
  IntOrPercent max_surge = {.value = 25, .is_percent = true};
  IntOrPercent max_unavailable = {.value = 25, .is_percent = true};
  int64_t revision_history_limit = 10;
  // Absent: none.
  std::optional<absl::Duration> progress_deadline;
  // Canonical.
  std::string pod_template;
  std::optional<int64_t> generation;
  std::optional<api::LabelSelector> selector;

  struct Status {
    std::optional<int64_t> observed_generation;
    int64_t replicas = 0;
    int64_t updated_replicas = 0;
    int64_t ready_replicas = 0;
    int64_t available_replicas = 0;
    int64_t unavailable_replicas = 0;
    std::optional<int64_t> terminating_replicas;
    std::optional<int64_t> collision_count;
    WorkloadConditions conditions;

    friend bool operator==(const Status&, const Status&) = default;
  };
  Status status;

  // How many pods there may be above spec.replicas, and how many may be unavailable, in a rolling update;
  // zero for Recreate.
  int64_t MaxSurge() const;
  int64_t MaxUnavailable() const;
  // Whether a rollout with this status is over: all pods are new and available.
  bool IsComplete(const Status& of) const {
    return of.updated_replicas == replicas && of.replicas == replicas && of.available_replicas == replicas;
  }
};

// A ReplicaSet as its Deployment sees it.
struct RolloutSet {
  api::ObjectPtr object;
  int64_t replicas = 1;
  int64_t min_ready_seconds = 0;
  std::string pod_template;  // Canonical, without the hash label.
  struct Status {
    std::optional<int64_t> observed_generation;
    int64_t replicas = 0;
    int64_t ready_replicas = 0;
    int64_t available_replicas = 0;
    std::optional<int64_t> terminating_replicas;
    // Absent: there is none.
    std::optional<WorkloadCondition> replica_failure;
  };
  Status status;

  // The number in the annotation; 0 where there is none, or no number.
  int64_t Revision() const { return Annotation(kRevisionAnnotation).value_or(0); }
  std::optional<int64_t> Annotation(absl::string_view key) const;
};

// InvalidArgument for what is malformed.
absl::Status ReadDeployment(const api::Object& object, DeploymentSpec& spec);
absl::Status ReadRolloutSet(const api::Object& object, RolloutSet& set);

// Of all sets.
int64_t SumOfReplicas(const std::vector<RolloutSet>& sets);

// How large the new set, which has `replicas` now, may be.
// Source: kubernetes v1.37, pkg/controller/deployment/util, NewRSNewReplicas.
int64_t NewSetReplicas(const DeploymentSpec& spec, int64_t replicas_of_all, int64_t replicas);

// The part of `to_add` (negative: to take away), of which `added` are dealt out, that the set gets.
// Source: kubernetes v1.37, pkg/controller/deployment/util, GetReplicaSetProportion.
int64_t ProportionOf(const RolloutSet& set, const DeploymentSpec& spec, int64_t to_add, int64_t added);

// The status as the object's JSON.
std::string DeploymentStatusJson(const DeploymentSpec::Status& status);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_DEPLOYMENT_FIELDS_H_
