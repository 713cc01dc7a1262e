// The eviction subresource of pods.
#ifndef SCHEDSIM_SIM_CLUSTER_EVICTION_H_
#define SCHEDSIM_SIM_CLUSTER_EVICTION_H_

#include <string>

#include "absl/time/time.h"
#include "core/api/pod.h"
#include "sim/cluster/api_server.h"

namespace schedsim::sim {

// What became of an eviction.
struct Eviction {
  enum class Outcome {
    kEvicted,
    kTooManyRequests,  // A budget does not allow it now: 429.
    kFailed,           // Another error: 404, 500.
  };
  Outcome outcome = Outcome::kEvicted;
  // As the API server says it; "" where the pod was evicted.
  std::string message;
  // The budget that does not allow it, by its name, and why.
  std::string budget;
  std::string cause;
};

// Evicts the pod of this namespace, name and uid: it gets the condition DisruptionTarget, its budget allows
// one disruption less and has it among the disrupted pods, and it is deleted. Pods that are not Running go
// without asking a budget. What a budget allows is what its status says. Source: kubernetes v1.37,
// pkg/registry/core/pod/storage/eviction.go.
Eviction EvictPod(const api::Pod& pod, absl::Time now, ApiServer& server);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_EVICTION_H_
