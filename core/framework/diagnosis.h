// Why a pod fits nowhere.
#ifndef SCHEDSIM_CORE_FRAMEWORK_DIAGNOSIS_H_
#define SCHEDSIM_CORE_FRAMEWORK_DIAGNOSIS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/framework/plugin_set.h"
#include "core/framework/status.h"

namespace schedsim::framework {

// The status of each node that was looked at and failed, by position in the snapshot, and one for
// all nodes that were not looked at.
// Source: kubernetes v1.37, scheduler/framework/types.go, NodeToStatus.
class NodeToStatus {
 public:
  struct Entry {
    int32_t position = 0;
    Status status;
  };

  // Forgets everything; absent nodes are UnschedulableAndUnresolvable without a reason.
  void Reset(int32_t node_count);

  void Set(int32_t position, Status status);
  // The node's own status, or that of absent nodes.
  const Status& Get(int32_t position) const;

  // How many nodes have a status of their own.
  int32_t size() const { return static_cast<int32_t>(entries_.size()); }
  // In the order in which they were first set.
  const std::vector<Entry>& entries() const { return entries_; }

  const Status& absent_nodes_status() const { return absent_; }
  void SetAbsentNodesStatus(Status status) { absent_ = std::move(status); }

 private:
  std::vector<Entry> entries_;
  // By position: index into entries_, or -1.
  std::vector<int32_t> entry_index_;
  Status absent_;
};

// Source: kubernetes v1.37, scheduler/framework/types.go, Diagnosis.
struct Diagnosis {
  NodeToStatus node_to_status;
  PluginSet unschedulable_plugins;
  PluginSet pending_plugins;
  std::string pre_filter_message;
  std::string post_filter_message;
  // What AddPluginStatus took note of last: most nodes answer the same as the one before.
  Status last_added;

  void Reset(int32_t node_count);
  // Takes note of the plugin that gave `status`.
  void AddPluginStatus(const Status& status, PluginNames& names);
};

// The message of a pod that fits none of `all_node_count` nodes:
// `0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated taint(s). preemption: ...`.
// Source: kubernetes v1.37, scheduler/framework/types.go, FitError.Error.
std::string FitErrorMessage(const Diagnosis& diagnosis, int32_t all_node_count);

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_DIAGNOSIS_H_
