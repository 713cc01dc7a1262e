// What happened in one scheduling cycle, for traces and reports.
#ifndef SCHEDSIM_CORE_SCHEDULER_ATTEMPT_H_
#define SCHEDSIM_CORE_SCHEDULER_ATTEMPT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/framework/framework.h"
#include "core/framework/handle.h"
#include "core/framework/node_info.h"
#include "core/framework/plugin_set.h"
#include "core/framework/pod_group.h"
#include "core/framework/status.h"
#include "core/framework/waiting_pods.h"

namespace schedsim::scheduler {

// The filters' answer for one node, in the order in which the nodes were looked at.
struct FilteredNode {
  const framework::NodeInfo* node = nullptr;
  framework::Status status;
};

// What extenders add to the scores of the feasible nodes.
struct ExtenderScores {
  struct Column {
    absl::string_view extender;  // Extender::RecordName.
    // Shape: as Attempt::scored_nodes. Absent: the extender's answer leaves the node out.
    std::vector<std::optional<int64_t>> added;
  };
  // In the order of the extenders; those that failed are left out.
  std::vector<Column> columns;
  // Shape: as Attempt::scored_nodes. Totals of plugins and extenders, and whether an extender listed the
  // node.
  std::vector<int64_t> totals;
  std::vector<bool> listed;
};

// Texts are borrowed, of the profile and the pod. The parts marked "detail" are only filled when the observer
// asks for them.
struct Attempt {
  framework::PodInfoPtr pod;
  int32_t attempts = 0;
  absl::string_view profile;
  // nextStartNodeIndex at the start of the cycle.
  int32_t start_index = 0;
  absl::string_view nominated_before;
  // Of a pod that is tried in its group's cycle: the group ("namespace/name").
  absl::string_view group;
  // The group's preemption tries the pod.
  bool in_group_preemption = false;

  framework::Status pre_filter_status;
  std::optional<std::vector<Symbol>> pre_filter_nodes;
  framework::PluginSet pre_filter_plugins;
  framework::PluginSet skip_filter;
  bool ran_pre_filter = false;
  // The node that an earlier cycle's results name as the best one; absent: none does.
  std::optional<Symbol> hint;

  std::vector<FilteredNode> filter;  // Detail.
  // Nodes that passed, and that extenders left out after that, with what these said.
  std::vector<FilteredNode> left_out_by_extenders;  // Detail.

  // The feasible nodes in the order in which they were found; empty where scoring did not run. The
  // scheduler's own, valid during the call only.
  framework::NodeInfos scored_nodes;
  // Shape: as NodeScores over `scored_nodes`. The scheduler's own, valid during the call only.
  const framework::NodeScores* scores = nullptr;
  // Whether Score plugins ran; false: every total is 1.
  bool ran_score = false;
  // nullptr: no extender was asked. Valid as `scores`; its totals count.
  const ExtenderScores* extender_scores = nullptr;
  int64_t best_score = 0;

  // Set where a node was found.
  const framework::NodeInfo* host = nullptr;
  int32_t evaluated_count = 0;
  int32_t feasible_count = 0;

  // The plugins that asked the pod to wait on Permit.
  std::vector<framework::PermitWait> waits;

  // What SchedulePod failed with; "" where it did not.
  std::string error;
  bool fit_error = false;
  framework::PluginSet unschedulable_plugins;
  framework::PluginSet pending_plugins;

  std::vector<framework::DryRun> dry_runs;  // Detail.
  bool ran_post_filter = false;
  framework::PostFilterResult post_filter;

  // Set where the cycle ended without a host to bind to.
  struct Failure {
    framework::Status status;
    std::string error;
    // Absent: the nomination stays as it is.
    std::optional<std::string> nominated_node_name;
    // Who rejected the pod.
    framework::PluginSet unschedulable_plugins = {};
    framework::PluginSet pending_plugins = {};
  };
  std::optional<Failure> failure;
};

// What happens in the cycle of a group, beside the attempts of its pods. All of it is borrowed.
struct GroupCycle {
  absl::string_view group;
  // Where the group itself stands in the queue.
  int32_t attempts = 0;
  std::optional<int32_t> priority;
  std::vector<absl::string_view> pods;  // In order.
  // How many pods of a gang must have a node, and how many have one already. Absent: it is no gang, or gone.
  std::optional<int32_t> min_count;
  int32_t scheduled_count = 0;
};

struct GroupPlacements {
  absl::string_view group;
  const framework::GeneratePlacementsResult& result;
};

struct GroupPlacementScores {
  absl::string_view group;
  std::vector<absl::string_view> names;
  const std::vector<int64_t>& totals;  // Of `names`.
  absl::string_view taken;
};

struct GroupPostFilter {
  absl::string_view group;
  const framework::PodGroupPostFilterResult& result;
};

// Hears of what the scheduler does. Nothing that an observer does may reach a decision.
class Observer {
 public:
  virtual ~Observer() = default;

  // Whether Attempt's details are wanted.
  virtual bool WantsDetails() const = 0;
  // Whether those of preemption are, at least.
  virtual bool WantsDryRuns() const { return WantsDetails(); }
  // A scheduling cycle of this pod begins: nodes are as it will find them, and nothing is decided yet.
  virtual void OnCycle(const framework::PodInfo& /*pod*/) {}
  // A scheduling cycle is over.
  virtual void OnAttempt(const Attempt& attempt) = 0;
  // A pod that had a host could not be bound.
  virtual void OnBindFailure(const framework::PodInfo& pod, const Attempt::Failure& failure) = 0;
  virtual void OnGroupCycle(const GroupCycle& /*cycle*/) {}
  virtual void OnGroupPlacements(const GroupPlacements& /*placements*/) {}
  virtual void OnGroupPlacementScores(const GroupPlacementScores& /*scores*/) {}
  virtual void OnGroupPostFilter(const GroupPostFilter& /*post_filter*/) {}
  // A pod of the group stays behind at the end of the group's cycle.
  virtual void OnGroupFailure(const framework::PodInfo& /*pod*/, absl::string_view /*group*/,
                              const Attempt::Failure& /*failure*/) {}
  // This pod's result is not what the real scheduler would decide.
  virtual void OnInexact(const framework::PodInfo& pod, absl::string_view reason) = 0;
  // A plugin tells of something that it did.
  virtual void OnPluginNote(const framework::PluginNote& /*note*/) {}
};

}  // namespace schedsim::scheduler

#endif  // SCHEDSIM_CORE_SCHEDULER_ATTEMPT_H_
