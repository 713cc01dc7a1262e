// What a PodDisruptionBudget asks for, and what its status says.
#ifndef SCHEDSIM_SIM_CLUSTER_DISRUPTION_BUDGET_H_
#define SCHEDSIM_SIM_CLUSTER_DISRUPTION_BUDGET_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "core/api/pod.h"
#include "core/api/workloads.h"
#include "sim/cluster/api_server.h"

namespace schedsim::sim {

// The status of a budget.
struct BudgetStatus {
  int64_t current_healthy = 0;
  int64_t desired_healthy = 0;
  int64_t expected_pods = 0;
  int64_t disruptions_allowed = 0;
  int64_t observed_generation = 0;
  // By the pod's name: evictions that the controller has not yet seen, with their times.
  std::map<std::string, absl::Time> disrupted_pods;
  // The condition DisruptionAllowed; `condition` is its status, "" where there is none.
  std::string condition;
  std::string reason;
  std::string message;

  friend bool operator==(const BudgetStatus&, const BudgetStatus&) = default;
};

// A number of pods, or a percentage of them.
struct PodAmount {
  int64_t number = 0;
  bool is_percentage = false;
};

// `total` pods or the percentage of it, rounded up.
// Source: apimachinery v0.37, pkg/util/intstr/intstr.go, GetScaledValueFromIntOrPercent.
int64_t Scaled(const PodAmount& amount, int64_t total);

struct DisruptionBudget {
  std::optional<PodAmount> min_available;
  std::optional<PodAmount> max_unavailable;
  // What is wrong with the two above; "": nothing.
  std::string error;
  // Whether pods that are not ready may always be evicted (unhealthyPodEvictionPolicy AlwaysAllow).
  bool evicts_unhealthy = false;
  int64_t generation = 0;
  // Whether somebody has written the status, rather than that the API server made it.
  bool has_status = false;
  BudgetStatus status;
};

DisruptionBudget ReadBudget(const api::PodDisruptionBudget& object);

// Makes the condition DisruptionAllowed say what `disruptions_allowed` does.
// Source: component-helpers v0.37, apps/poddisruptionbudget/helpers.go, UpdateDisruptionAllowedCondition.
void SetDisruptionAllowed(BudgetStatus& status);

// Writes the status. NotFound when there is no such budget.
absl::Status WriteBudgetStatus(const api::PodDisruptionBudget& object, const BudgetStatus& before,
                               const BudgetStatus& status, absl::Time now, ApiServer& server);

// Whether the pod is ready. Input may leave out the condition Ready: a pod on a node counts as ready then.
bool IsHealthy(const api::Pod& pod);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_DISRUPTION_BUDGET_H_
