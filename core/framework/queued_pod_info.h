// A pod in, or on its way through, the scheduling queue.
#ifndef SCHEDSIM_CORE_FRAMEWORK_QUEUED_POD_INFO_H_
#define SCHEDSIM_CORE_FRAMEWORK_QUEUED_POD_INFO_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "core/framework/plugin_set.h"
#include "core/framework/pod_info.h"
#include "core/framework/signers.h"

namespace schedsim::framework {

// The parts of the scheduling queue: activeQ, backoffQ and unschedulablePods of the real one.
enum class SubQueue : uint8_t {
  kNone,  // Not known to the queue: not yet, or no longer.
  kInFlight,
  kActive,
  kBackoff,       // After a rejection.
  kErrorBackoff,  // After an error.
  kUnschedulable,
};

// Source: kubernetes v1.37, scheduler/framework/types.go, QueuedPodInfo.
struct QueuedPodInfo {
  PodInfoPtr pod_info;
  // "namespace/name".
  std::string key;
  // When the pod was last put into the queue, first or after an attempt.
  absl::Time timestamp;
  // When the pod first entered the active queue; absent: never yet.
  std::optional<absl::Time> initial_attempt_timestamp;
  // When the five-minute flush last took the pod; absent: not since the last attempt.
  std::optional<absl::Time> flush_timestamp;
  // Of the next attempt; computed once after each attempt.
  std::optional<absl::Time> backoff_expiration;
  int32_t attempts = 0;
  // Attempts that ended with a rejection, and errors in a row since then.
  int32_t unschedulable_count = 0;
  int32_t consecutive_errors_count = 0;
  // Who rejected the pod in its last attempt, or gates it.
  PluginSet unschedulable_plugins;
  PluginSet pending_plugins;
  // The last attempt found a node; a plugin after Filter rejected the pod.
  bool found_node = false;
  // The plugin whose PreEnqueue keeps the pod out of the active queue; absent: not gated.
  std::optional<PluginId> gating_plugin;

  // As made when the pod, or a change of it, came into the queue; "" where the line signs later.
  PodSignature signature;

  // Kept by the queue: never kInFlight, since a pod in flight is in none of the queue's parts.
  SubQueue sub_queue = SubQueue::kNone;
  size_t heap_index = 0;
  uint64_t pool_sequence = 0;

  bool Gated() const { return gating_plugin.has_value(); }
  PluginSet RejectorPlugins() const { return unschedulable_plugins | pending_plugins; }
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_QUEUED_POD_INFO_H_
