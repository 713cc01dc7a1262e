// A pod in, or on its way through, the scheduling queue.
#ifndef SCHEDSIM_CORE_FRAMEWORK_QUEUED_POD_INFO_H_
#define SCHEDSIM_CORE_FRAMEWORK_QUEUED_POD_INFO_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/api/pod_group.h"
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
  // Of the pods of groups alone.
  kIncomplete,  // The group's object was not seen yet.
  kPending,     // The group's cycle is under way without this pod, or with its attempt over.
};

// Source: kubernetes v1.37, scheduler/framework/types.go, QueuedPodInfo.
struct QueuedPodInfo {
  QueuedPodInfo() = default;
  QueuedPodInfo(const QueuedPodInfo&) = default;
  QueuedPodInfo& operator=(const QueuedPodInfo&) = default;
  virtual ~QueuedPodInfo() = default;

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

  // Whether this is a QueuedPodGroupInfo.
  bool is_group = false;

  // Kept by the queue: never kInFlight, since a pod in flight is in none of the queue's parts.
  SubQueue sub_queue = SubQueue::kNone;
  size_t heap_index = 0;
  uint64_t pool_sequence = 0;

  bool Gated() const { return gating_plugin.has_value(); }
  PluginSet RejectorPlugins() const { return unschedulable_plugins | pending_plugins; }
};

// A group in the queue. It stands there as one pod would: `pod_info` is a pod with the group's name, priority
// and scheduler that no one schedules, so that whatever orders pods orders groups among them. Of the plugins
// that reject and gate, each of its pods has its own; the group has the gating plugin of one of them.
// Source: as above, QueuedPodGroupInfo.
struct QueuedPodGroupInfo : QueuedPodInfo {
  QueuedPodGroupInfo() { is_group = true; }

  api::PodGroupPtr pod_group;
  // In the order in which they are tried: by priority, attempts, time in the queue and name.
  std::vector<std::unique_ptr<QueuedPodInfo>> members;

  void AddPod(std::unique_ptr<QueuedPodInfo> pod);
  // nullptr: there is no such pod, by name.
  QueuedPodInfo* Find(const api::Pod& pod) const;
  std::unique_ptr<QueuedPodInfo> RemovePod(const api::Pod& pod);
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_QUEUED_POD_INFO_H_
