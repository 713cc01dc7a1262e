// kubectl drain.
#ifndef SCHEDSIM_SIM_SCENARIO_DRAIN_H_
#define SCHEDSIM_SIM_SCENARIO_DRAIN_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/pod.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"
#include "sim/record/drain_record.h"

namespace schedsim::sim {

// The options of kubectl drain, with the defaults that a scenario has.
struct DrainOptions {
  // For each node.
  absl::Duration timeout = absl::Minutes(10);
  // Whether pods without a controller are evicted, rather than that the node is not drained at all.
  bool force = true;
  // The same for pods with an emptyDir volume.
  bool delete_empty_dir_data = true;
  // Whether pods of DaemonSets are left alone, rather than that the node is not drained at all.
  bool ignore_daemon_sets = true;
};

// Evicts the pods of nodes as kubectl drain does: all but mirror pods and those of DaemonSets. The nodes of
// one command come one after the other. An eviction that a disruption budget does not allow is tried again
// every five seconds. Source: kubectl v0.37, pkg/drain/drain.go and filters.go, pkg/cmd/drain/drain.go. After
// many tries in vain, those are left out before which no pod and no budget has changed.
class Drainer {
 public:
  // Hears why a node could not be drained.
  using Failed = std::function<void(const std::string& message)>;

  // What is borrowed must outlive the drainer.
  Drainer(EventLoop& loop, ApiServer& server);
  Drainer(const Drainer&) = delete;
  Drainer& operator=(const Drainer&) = delete;

  // Starts to drain the nodes, which are cordoned already.
  void Drain(const std::vector<std::string>& nodes, const DrainOptions& options, Failed failed);

  // Whether all pods that were to be evicted from the node are gone. False for a node whose turn is yet to
  // come, true for one that was not named.
  bool IsDrained(const std::string& node_name) const;
  // Whether a drain names the node.
  bool IsBegun(const std::string& node_name) const { return records_of_.count(node_name) > 0; }
  // Says whether a pod of a workload is made anew when it goes; without it, none is.
  void set_is_made_anew(std::function<bool(const api::Pod&)> is_made_anew) {
    is_made_anew_ = std::move(is_made_anew);
  }
  // How many pods were evicted so far that a controller such as a ReplicaSet made, and nobody makes anew.
  int64_t evicted_of_workloads() const { return evicted_of_workloads_; }
  // Pods that were to be evicted and are still there, "namespace/name", by name; for messages.
  std::vector<std::string> Left(const std::string& node_name) const;

  // What became of all drains so far, in the order in which they were named.
  std::vector<DrainedNode> Records() const;

 private:
  // A node, with what it takes to drain it.
  struct Turn {
    DrainedNode record;
    // Shape: beside record.pods.
    std::vector<api::PodPtr> pods;
  };
  // One command, which drains its nodes in order.
  struct Command {
    DrainOptions options;
    Failed failed;
    std::vector<size_t> turns;  // Indexes into turns_.
    size_t index = 0;           // Of the node whose turn it is.
    absl::Time deadline;
    uint64_t deadline_id = 0;  // What Cancel takes.
    int64_t try_count = 0;
    // While its next try waits for a change: the try before. Otherwise, that is the next try's id.
    bool is_asleep = false;
    absl::Time last_try;
    uint64_t next_try_id = 0;
    bool finishes = false;  // All pods are gone, and kubectl is about to notice.
  };
  // A pod of a turn.
  struct PodOfTurn {
    size_t command = 0;
    size_t turn = 0;
    size_t pod = 0;
  };

  void BeginNode(size_t command_index);
  // Why the node is not drained at all; "": it is.
  static std::string Refusal(const std::vector<api::PodPtr>& pods, const DrainOptions& options);
  void Try(size_t command_index);
  // Returns whether a budget has refused the eviction.
  bool TryPod(const PodOfTurn& place);
  void FinishIfGone(size_t command_index);
  void EndNode(size_t command_index, std::string failure);
  void OnEvent(const WatchEvent& event);
  void OnPodGone(const api::Pod& pod);
  void OnPodCreated(const api::Pod& pod);
  void Wake();
  // The pod as the API server has it; nullptr: it is gone.
  api::PodPtr StoredPod(const api::Pod& pod) const;

  EventLoop& loop_;
  ApiServer& server_;
  std::deque<Turn> turns_;
  std::deque<Command> commands_;
  // Indexes into turns_, by node.
  std::map<std::string, std::vector<size_t>> records_of_;
  // Pods that are to go, by uid: one entry for each drain that waits for it.
  std::map<std::string, std::vector<PodOfTurn>> pods_;
  // By the uid of a controller: evicted pods of it that have no successor yet.
  std::map<std::string, std::deque<PodOfTurn>> without_successor_;
  std::function<bool(const api::Pod&)> is_made_anew_;
  int64_t asleep_count_ = 0;
  int64_t evicted_of_workloads_ = 0;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCENARIO_DRAIN_H_
