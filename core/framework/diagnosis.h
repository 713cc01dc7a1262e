// Why a pod fits nowhere.
#ifndef SCHEDSIM_CORE_FRAMEWORK_DIAGNOSIS_H_
#define SCHEDSIM_CORE_FRAMEWORK_DIAGNOSIS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "core/base/lookup_map.h"
#include "core/framework/plugin_set.h"
#include "core/framework/status.h"

namespace schedsim::framework {

// The status of each node that was looked at and failed, by position in the snapshot, and one for
// all nodes that were not looked at. Thousands of nodes share few statuses, so these are numbered and
// counted. Copies share the nodes' numbers until one of them is changed.
// Source: kubernetes v1.37, scheduler/framework/types.go, NodeToStatus.
class NodeToStatus {
 public:
  // A status and how many nodes have it.
  struct Group {
    Status status;
    int32_t count = 0;
  };
  static constexpr int32_t kNoGroup = -1;

  // Forgets everything; absent nodes are UnschedulableAndUnresolvable without a reason.
  void Reset(int32_t node_count);

  // The group of an equal status, made where there is none; it may have no nodes. Valid until Reset.
  int32_t GroupOf(const Status& status);
  // Puts the node into the group. Returns whether it is the group's only one now.
  bool SetGroup(int32_t position, int32_t group);
  // Puts the nodes at `first` and behind it into these groups; kNoGroup leaves a node as it is. Calls `visit`
  // with the status of each group that has its first node by this.
  void SetGroups(int32_t first, absl::Span<const int32_t> groups,
                 absl::FunctionRef<void(const Status&)> visit);
  void Set(int32_t position, const Status& status) { SetGroup(position, GroupOf(status)); }
  // The node has no status of its own any more.
  void Clear(int32_t position);
  // The node's own status, or that of absent nodes.
  const Status& Get(int32_t position) const;
  // Makes a mark 1 where Get has this code, and 0 elsewhere. Shape: by position, one for each node.
  void MarkNodesWith(Code code, absl::Span<uint8_t> marks) const;

  // How many nodes have a status of their own.
  int32_t size() const { return size_; }
  // In the order of first sight; some may have no nodes.
  const std::vector<Group>& groups() const { return groups_; }

  const Status& absent_nodes_status() const { return absent_; }
  void SetAbsentNodesStatus(Status status) {
    absent_ = std::move(status);
    content_id_ = 0;
  }

  // Equal ids mean equal statuses; 0: nothing is known. For whoever works on the same statuses again and
  // again. A change sets it to 0.
  int64_t content_id() const { return content_id_; }
  void set_content_id(int64_t id) { content_id_ = id; }

 private:
  // Shape: by position; index into groups_, or kNoGroup.
  using GroupOfNode = std::vector<int32_t>;
  // To be written in this range of positions: shared with no copy.
  GroupOfNode& OwnGroupOfNode(int32_t begin, int32_t end);

  int32_t node_count_ = 0;
  std::shared_ptr<GroupOfNode> group_of_node_;  // nullptr: all are kNoGroup.
  // Positions outside of this range are kNoGroup. A search looks at a part of a large cluster, and only that
  // part is cleared for the next one.
  int32_t written_begin_ = 0;
  int32_t written_end_ = 0;
  std::vector<Group> groups_;
  // By code, plugin and reasons: index into groups_. Asked where no group shares its part with a status.
  LookupMap<std::string, int32_t> groups_by_text_;
  int32_t size_ = 0;
  Status absent_;
  int64_t content_id_ = 0;
};

// Source: kubernetes v1.37, scheduler/framework/types.go, Diagnosis.
struct Diagnosis {
  NodeToStatus node_to_status;
  PluginSet unschedulable_plugins;
  PluginSet pending_plugins;
  std::string pre_filter_message;
  std::string post_filter_message;
  // What FitErrorMessage says of `node_to_status`, where that is known already; "": it is not.
  std::string reason_counts;

  void Reset(int32_t node_count);
  // Takes note of the plugin that gave `status`.
  void AddPluginStatus(const Status& status, PluginNames& names);
};

// Each reason with the number of its nodes: "2 Insufficient cpu, 3 node(s) had untolerated taint(s)".
std::string ReasonCountsText(const NodeToStatus& statuses, int32_t all_node_count);

// The message of a pod that fits none of `all_node_count` nodes:
// `0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated taint(s). preemption: ...`.
// Source: kubernetes v1.37, scheduler/framework/types.go, FitError.Error.
std::string FitErrorMessage(const Diagnosis& diagnosis, int32_t all_node_count);

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_DIAGNOSIS_H_
