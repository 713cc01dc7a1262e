// kubectl drain.
#ifndef SCHEDSIM_SIM_CONTROLLERS_DRAIN_H_
#define SCHEDSIM_SIM_CONTROLLERS_DRAIN_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/pod.h"
#include "core/api/workloads.h"
#include "core/base/symbol.h"
#include "core/framework/selector.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"

namespace schedsim::sim {

// Evicts the pods of nodes as `kubectl drain --ignore-daemonsets --delete-emptydir-data --force` does: all
// but those of DaemonSets and mirror pods. An eviction that a disruption budget does not allow is tried again
// every five seconds. Source: kubectl v0.37, pkg/drain/drain.go.
class Drainer {
 public:
  // What is borrowed must outlive the drainer.
  Drainer(EventLoop& loop, ApiServer& server) : loop_(loop), server_(server) {}
  Drainer(const Drainer&) = delete;
  Drainer& operator=(const Drainer&) = delete;

  // Starts to evict the pods that are on the node now; it is cordoned already. Gives up after `timeout`.
  void Drain(absl::string_view node_name, absl::Duration timeout);

  // Whether all pods that were to be evicted from the node are gone. True for a node that is not drained.
  bool IsDrained(const std::string& node_name) const;

  // Pods that were to be evicted and are still there, "namespace/name", by name; for messages.
  std::vector<std::string> Left(const std::string& node_name) const;

 private:
  void Try(const std::string& node_name, absl::Time deadline);
  // Whether all budgets of the pod allow its eviction now.
  bool Allowed(const api::Pod& pod);
  // How many more of the budget's pods may go now, as its controller computes it, over pods that are not
  // being deleted: bound ones are healthy, and as many are expected as there were at most since the first
  // look. A budget without minAvailable and maxUnavailable says so in its status.
  int64_t DisruptionsAllowed(const api::PodDisruptionBudget& budget, const framework::LabelMatcher& selector);
  bool Covers(const api::PodDisruptionBudget& budget, const framework::LabelMatcher& selector,
              const api::Pod& pod);
  bool IsThere(const api::Pod& pod) const;

  EventLoop& loop_;
  ApiServer& server_;
  // Shape: by node; pods that are to be evicted, or are being so, in the order of their names.
  std::map<std::string, std::vector<api::PodPtr>> pods_;
  std::map<std::string, int64_t> expected_;  // By the budget's key.
  SymbolTable symbols_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_DRAIN_H_
