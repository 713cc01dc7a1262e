// Namespaces, services, workload owners, budgets and priority classes, as far as scheduling reads them.
#ifndef SCHEDSIM_CORE_API_WORKLOADS_H_
#define SCHEDSIM_CORE_API_WORKLOADS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/object.h"
#include "core/api/selectors.h"

namespace schedsim::api {

// Only its name and labels matter.
struct Namespace : TypedObject<Namespace, Kind::kNamespace> {};

struct Service : TypedObject<Service, Kind::kService> {
  // An absent selector selects nothing.
  std::optional<StringMap> selector;
};

struct ReplicationController : TypedObject<ReplicationController, Kind::kReplicationController> {
  StringMap selector;
};

struct ReplicaSet : TypedObject<ReplicaSet, Kind::kReplicaSet> {
  std::optional<LabelSelector> selector;
};

struct StatefulSet : TypedObject<StatefulSet, Kind::kStatefulSet> {
  std::optional<LabelSelector> selector;
};

struct PodDisruptionBudget : TypedObject<PodDisruptionBudget, Kind::kPodDisruptionBudget> {
  std::optional<LabelSelector> selector;
  int32_t disruptions_allowed = 0;          // status.disruptionsAllowed
  std::vector<std::string> disrupted_pods;  // Keys of status.disruptedPods, sorted.
};

struct PriorityClass : TypedObject<PriorityClass, Kind::kPriorityClass> {
  int32_t value = 0;
  bool global_default = false;
  std::string preemption_policy;
};

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_WORKLOADS_H_
