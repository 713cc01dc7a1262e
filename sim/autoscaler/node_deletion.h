// Nodes that go: tainted, drained and deleted.
#ifndef SCHEDSIM_SIM_AUTOSCALER_NODE_DELETION_H_
#define SCHEDSIM_SIM_AUTOSCALER_NODE_DELETION_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/pod.h"
#include "sim/autoscaler/cluster_snapshot.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"

namespace schedsim::sim {

// Gives the node the taint, in place of one of its key, or takes it away. Nothing where the node is gone.
void SetNodeTaint(ApiServer& server, const std::string& node_name, absl::string_view key,
                  absl::string_view value, absl::string_view effect);
void ClearNodeTaint(ApiServer& server, const std::string& node_name, absl::string_view key);

// A node gets the taint ToBeDeletedByClusterAutoscaler. Five seconds later its pods are evicted; an eviction
// that is refused is tried again every 10 s for 2 min. When all are gone, which may take 10.5 min, it is
// deleted. What comes in the way ends it, and takes the taint away.
// Source: cluster-autoscaler v1.33, core/scaledown/actuation.
class NodeDeletions {
 public:
  // Hears of the end: `failure` says why the node stays, "": it is gone.
  using Ended = std::function<void(const std::string& node_name, const std::string& failure)>;

  // What is borrowed must outlive it.
  NodeDeletions(EventLoop& loop, ApiServer& server, const ClusterSnapshot& snapshot, Ended ended)
      : loop_(loop), server_(server), snapshot_(snapshot), ended_(std::move(ended)) {}
  NodeDeletions(const NodeDeletions&) = delete;
  NodeDeletions& operator=(const NodeDeletions&) = delete;

  // The node has no pods that have to move, or these (`drains`).
  void Begin(const std::string& node_name, bool drains);
  // Someone else deleted the node.
  void Forget(const std::string& node_name) { deletions_.erase(node_name); }

  // How many are under way; how many of them drain.
  size_t count() const { return deletions_.size(); }
  size_t drain_count() const;

 private:
  struct Deletion {
    absl::Time begun;  // Two deletions of one name differ by it.
    bool drains = false;
    absl::Time deadline;            // Of the evictions, then of the pods' end.
    std::vector<api::PodPtr> pods;  // Still to be evicted.
    std::vector<api::PodPtr> evicted;
  };
  using Step = void (NodeDeletions::*)(const std::string& node_name, Deletion& deletion);

  // Takes the step later, if this deletion is still under way.
  void After(absl::Duration delay, const std::string& node_name, Step step);
  void Proceed(const std::string& node_name, Deletion& deletion);
  void Evict(const std::string& node_name, Deletion& deletion);
  void AwaitEnd(const std::string& node_name, Deletion& deletion);
  void Delete(const std::string& node_name);
  void Fail(const std::string& node_name, std::string failure);
  // Whether the pod of this uid is still there.
  bool IsThere(const api::Pod& pod) const;

  EventLoop& loop_;
  ApiServer& server_;
  const ClusterSnapshot& snapshot_;
  const Ended ended_;
  std::map<std::string, Deletion> deletions_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_AUTOSCALER_NODE_DELETION_H_
