// kubectl drain.
#ifndef SCHEDSIM_SIM_SCENARIO_DRAIN_H_
#define SCHEDSIM_SIM_SCENARIO_DRAIN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/pod.h"
#include "sim/cluster/api_server.h"
#include "sim/controllers/disruption.h"
#include "sim/kernel/event_loop.h"

namespace schedsim::sim {

// Evicts the pods of nodes as `kubectl drain --ignore-daemonsets --delete-emptydir-data --force` does: all
// but those of DaemonSets and mirror pods. An eviction that a disruption budget does not allow is tried again
// every five seconds. Source: kubectl v0.37, pkg/drain/drain.go. After many tries in vain, those are left out
// before which no pod and no budget has changed.
class Drainer {
 public:
  // What is borrowed must outlive the drainer.
  Drainer(EventLoop& loop, ApiServer& server, DisruptionController& disruptions);
  Drainer(const Drainer&) = delete;
  Drainer& operator=(const Drainer&) = delete;

  // Starts to evict the pods that are on the node now; it is cordoned already. Gives up after `timeout`.
  void Drain(absl::string_view node_name, absl::Duration timeout);

  // Whether all pods that were to be evicted from the node are gone. True for a node that is not drained.
  bool IsDrained(const std::string& node_name) const;

  // Whether a drain of the node was begun.
  bool IsBegun(const std::string& node_name) const { return pods_.count(node_name) > 0; }
  // How many pods were evicted so far that a controller such as a ReplicaSet made.
  int64_t evicted_of_workloads() const { return evicted_of_workloads_; }

  // Pods that were to be evicted and are still there, "namespace/name", by name; for messages.
  std::vector<std::string> Left(const std::string& node_name) const;

 private:
  // A drain under way.
  struct Run {
    std::string node_name;
    absl::Time deadline;
    int64_t try_count = 0;
  };
  // One whose next try waits for a change.
  struct Sleeping {
    Run run;
    absl::Time since;      // The try after which it fell asleep.
    absl::Time last;       // The last one before the deadline, which comes anyway.
    uint64_t last_id = 0;  // What Cancel takes.
  };

  void Try(Run run);
  void Sleep(const Run& run);
  void OnEvent(const WatchEvent& event);
  bool IsThere(const api::Pod& pod) const;

  EventLoop& loop_;
  ApiServer& server_;
  DisruptionController& disruptions_;
  // Shape: by node; pods that are to be evicted, or are being so, in the order of their names.
  std::map<std::string, std::vector<api::PodPtr>> pods_;
  // In the order in which they fell asleep.
  std::vector<Sleeping> sleeping_;
  int64_t evicted_of_workloads_ = 0;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCENARIO_DRAIN_H_
