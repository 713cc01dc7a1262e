// One attempt of a pod, with the cluster as its cycle found it.
#ifndef SCHEDSIM_SIM_EXPLAIN_CAPTURED_ATTEMPT_H_
#define SCHEDSIM_SIM_EXPLAIN_CAPTURED_ATTEMPT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/framework/status.h"

namespace schedsim::sim {

// What is needed to ask the same plugins about the same nodes again.
struct CapturedCluster {
  // All that plugins look up, but for pods; nodes among it.
  std::vector<api::ObjectPtr> objects;
  // Pods on nodes, also those that are still being bound.
  std::vector<api::PodPtr> pods;
  // Pods without a node that are nominated to one: status.nominatedNodeName says to which.
  std::vector<api::PodPtr> nominated;
  // Names, in the scheduler's order.
  std::vector<std::string> nodes;
};

struct CapturedAttempt {
  // The filters' last word on a node.
  struct Answer {
    std::string node;
    framework::Status status;
  };
  // Shape: one entry a node, in the order of `scored_nodes`. Raw: as the plugin gave them; weighted:
  // normalised and times `weight`.
  struct Scores {
    std::string plugin;
    int64_t weight = 1;
    std::vector<int64_t> raw;
    std::vector<int64_t> weighted;
  };
  // What preemption came to on a node. Pods are "namespace/name", the most important first.
  struct DryRun {
    std::string node;
    framework::Status status;
    std::vector<std::string> victims;
    int64_t violations = 0;
  };
  struct Wait {
    std::string plugin;
    absl::Duration timeout;
  };

  api::PodPtr pod;
  int32_t number = 0;
  absl::Duration time;  // Since virtual zero.
  absl::Time now;
  std::string profile;
  CapturedCluster cluster;

  framework::Status pre_filter;
  // The nodes that PreFilter plugins left, and which plugins these were; absent: all.
  std::optional<std::vector<std::string>> pre_filter_nodes;
  std::vector<std::string> pre_filter_plugins;
  // In the order in which the nodes were looked at, each once.
  std::vector<Answer> answers;

  // Where the search began, and after how many feasible nodes it ends.
  int32_t start_index = 0;
  int32_t wanted_count = 0;
  int32_t evaluated_count = 0;
  int32_t feasible_count = 0;
  // The node that a cycle before named as the best one, which is tried first; "": none.
  std::string hint;
  std::vector<std::string> scored_nodes;
  std::vector<int64_t> totals;
  std::vector<Scores> scores;
  std::string host;  // "": none was found.
  std::vector<Wait> waits;
  // Why the pod could not be bound to the host after the cycle; "": it could, or the run ended before.
  std::string bind_failure;
  // Of a pod that was tried in its group's cycle, after the pods before it found their nodes: the group
  // ("namespace/name"), and why the pod stays behind at the end of it; "": it does not.
  std::string group;
  std::string group_failure;

  // The scheduler's message; "": a node was found and kept.
  std::string message;
  // Whether the message is that of a pod that fits nowhere, rather than an error.
  bool is_fit_error = false;
  bool ran_post_filter = false;
  std::vector<std::string> post_filter_reasons;
  // The node that preemption makes room on; "": none.
  std::string preemption_node;
  std::vector<DryRun> dry_runs;

  // Whether the node that the pod was nominated to, or else the hint, was tried before all others and taken:
  // there was no search then.
  bool FitsWhereTriedFirst() const {
    const std::string& nominated = pod->status.nominated_node_name;
    return !host.empty() && host == (nominated.empty() ? hint : nominated);
  }
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_CAPTURED_ATTEMPT_H_
