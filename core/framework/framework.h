// One profile's plugins, run extension point by extension point.
#ifndef SCHEDSIM_CORE_FRAMEWORK_FRAMEWORK_H_
#define SCHEDSIM_CORE_FRAMEWORK_FRAMEWORK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/api/effective_profile.h"
#include "core/framework/answer_columns.h"
#include "core/framework/batch.h"
#include "core/framework/handle.h"
#include "core/framework/node_scores.h"
#include "core/framework/plugin.h"
#include "core/framework/plugin_set.h"
#include "core/framework/signers.h"
#include "core/framework/work_counters.h"

namespace schedsim::framework {

// Makes a plugin from its arguments. InvalidArgument where the arguments are refused.
using PluginFactory =
    std::function<absl::StatusOr<std::unique_ptr<Plugin>>(const api::PluginArgs& args, Handle& handle)>;

// A plugin that can be named in a configuration.
struct RegisteredPlugin {
  std::string name;
  PluginFactory factory;
};

// Source: kubernetes v1.37, scheduler/framework/runtime/framework.go.
class Framework {
 public:
  // Instantiates the profile's plugins. InvalidArgument where a plugin refuses its arguments or does
  // not implement an extension point. `handle` must outlive the framework.
  static absl::StatusOr<std::unique_ptr<Framework>> Make(const api::EffectiveProfile& profile,
                                                         const std::vector<RegisteredPlugin>& registry,
                                                         Handle& handle);

  const std::string& profile_name() const { return profile_name_; }
  std::optional<int32_t> percentage_of_nodes_to_score() const { return percentage_of_nodes_to_score_; }

  // The order of the active queue.
  const QueueSortPlugin& queue_sort() const { return *queue_sort_[0].plugin; }

  // The first plugin that does not let the pod into the active queue; absent: all do. The plugin that
  // gated the pod before, if any, is asked first.
  std::optional<PluginId> RunPreEnqueuePlugins(const PodInfo& pod, std::optional<PluginId> gated_by);

  struct PreFilterOutcome {
    Status status;
    std::optional<std::vector<Symbol>> node_names;  // Absent: all nodes.
    PluginSet narrowing_plugins;                    // Those that gave node names.
  };
  PreFilterOutcome RunPreFilterPlugins(CycleState& state, const PodInfo& pod, NodeInfos nodes);

  // The first failure on this node, or Success.
  Status RunFilterPlugins(CycleState& state, const PodInfo& pod, const NodeInfo& node);
  // The same for the nodes at `first` and behind it in the snapshot, one for each of `groups`: the group of
  // the node's failure in `statuses`, or NodeToStatus::kNoGroup. The groups get no nodes by this. Filters are
  // asked for many nodes at once and answers are remembered, so the order in which plugins are called is not
  // that of the nodes. Returns whether all nodes passed.
  bool RunFilterPluginsOnRange(CycleState& state, const PodInfo& pod, int32_t first, NodeToStatus& statuses,
                               absl::Span<int32_t> groups);
  bool HasFilterPlugins() const { return !filter_.empty(); }
  // Whether, in this cycle, the filters' answer for a node follows from that node and its pods, also when
  // pods are added to it or taken from it.
  bool FiltersByNodeOnly(const CycleState& state) const;

  Status RunPreFilterExtensionAddPod(CycleState& state, const PodInfo& pod, const PodInfo& other,
                                     const NodeInfo& node);
  Status RunPreFilterExtensionRemovePod(CycleState& state, const PodInfo& pod, const PodInfo& other,
                                        const NodeInfo& node);

  bool HasPostFilterPlugins() const { return !post_filter_.empty(); }
  PostFilterResult RunPostFilterPlugins(CycleState& state, const PodInfo& pod, const NodeToStatus& statuses);

  bool HasScorePlugins() const { return !score_.empty(); }
  Status RunPreScorePlugins(CycleState& state, const PodInfo& pod, NodeInfos nodes);
  // Fills `scores`, whose memory is used again. `positions`: of the nodes in the snapshot; empty: each plugin
  // is asked for each node. `totals_only`: `plugins` of the scores need not be filled.
  Status RunScorePlugins(CycleState& state, const PodInfo& pod, NodeInfos nodes,
                         absl::Span<const int32_t> positions, bool totals_only, NodeScores& scores);
  // The same, where Score runs for the last of `nodes` only. `known` has the raw scores of the others;
  // they are 0 for plugins that it lacks. Shape: `known[p].raw[i]` belongs to `nodes[i]`.
  Status RescoreLastNode(CycleState& state, const PodInfo& pod, NodeInfos nodes,
                         const std::vector<PluginScores>& known, NodeScores& scores);

  // "" where some plugin cannot sign the pod, or the profile has no batch.
  PodSignature SignPod(const PodInfo& pod) const;
  // nullptr where the profile never signs a pod, so that there is nothing to batch.
  OpportunisticBatch* batch() const { return batch_.get(); }

  Status RunReservePlugins(CycleState& state, const PodInfo& pod, const NodeInfo& node);
  void RunUnreservePlugins(CycleState& state, const PodInfo& pod, absl::string_view node_name);

  struct PermitOutcome {
    Status status;  // Wait: see `waits`.
    std::vector<PermitWait> waits;
  };
  PermitOutcome RunPermitPlugins(CycleState& state, const PodInfo& pod, absl::string_view node_name);

  // Success: some PreBind plugin has work to do; Skip: none has. Others are failures.
  Status RunPreBindPreFlights(CycleState& state, const PodInfo& pod, absl::string_view node_name);
  // `done` is called once, at once or later; `state` and `pod` must live until then. Success, a
  // rejection, or an error. `first`: the index of the plugin to begin with; a plugin may answer later, and
  // the next one runs then.
  void RunPreBindPlugins(CycleState& state, const PodInfo& pod, absl::string_view node_name,
                         StatusCallback done, size_t first = 0);
  // As above; Skip: no plugin bound the pod.
  void RunBindPlugins(CycleState& state, const PodInfo& pod, absl::string_view node_name, StatusCallback done,
                      size_t first = 0);
  void RunPostBindPlugins(CycleState& state, const PodInfo& pod, absl::string_view node_name);

  // Of groups.
  Status RunPlacementFeasiblePlugins(const PodGroupInfo& group, PlacementProgress progress);
  // One placement with all nodes where no plugin makes any.
  GeneratePlacementsResult RunPlacementGeneratePlugins(const PodGroupInfo& group, NodeInfos nodes);
  // Shape: `totals[i]` belongs to `assignments[i]`.
  Status RunPlacementScorePlugins(const PodGroupInfo& group,
                                  absl::Span<const PodGroupAssignments> assignments,
                                  std::vector<int64_t>& totals);
  bool HasPodGroupPostFilterPlugins() const { return !pod_group_post_filter_.empty(); }
  PodGroupPostFilterResult RunPodGroupPostFilterPlugins(CycleState& state, const PodGroupInfo& group,
                                                        PodGroupSchedulingFunc schedule);

  // What each plugin waits for, by plugin.
  struct Registration {
    PluginId plugin = 0;
    std::vector<ClusterEventWithHint> events;
  };
  const std::vector<Registration>& registrations() const { return registrations_; }

  // The list of nodes, or a DeviceClass, changed.
  void ForgetAnswers();

  // What was done since the framework was made.
  const WorkCounters& counters() const { return counters_; }
  // What the remembered answers take.
  size_t AnswerBytes() const;

 private:
  template <typename T>
  struct Entry {
    T* plugin = nullptr;
    PluginId id = 0;
    std::string name;
  };
  struct ScoreEntry {
    ScorePlugin* plugin = nullptr;
    PluginId id = 0;
    std::string name;
    int64_t weight = 1;
    Dependency dependency;
    bool only_with_filter = false;
    bool has_normalize = false;
    bool normalizes_by_scores_only = false;
  };

  Framework(const api::EffectiveProfile& profile, Handle& handle);
  absl::Status Instantiate(const api::EffectiveProfile& profile,
                           const std::vector<RegisteredPlugin>& registry);
  template <typename T>
  absl::Status Fill(const api::EffectiveProfile& profile, api::ExtensionPoint point,
                    std::vector<Entry<T>>& entries);
  absl::Status FillScore(const api::EffectiveProfile& profile);
  absl::Status FillPodGroup(const api::EffectiveProfile& profile);
  void FillSign(const api::EffectiveProfile& profile);
  absl::Status Register(const api::EffectiveProfile& profile);
  Plugin* FindInstance(absl::string_view name) const;
  Status RunFilter(const Entry<FilterPlugin>& entry, const CycleState& state, const PodInfo& pod,
                   const NodeInfo& node);
  // The number of the pods for which such an answer holds.
  static int32_t ClassOf(const PodInfo& pod, const Dependency& dependency);
  // The nodes for which such answers, given before `position`, no longer hold.
  NodeChanges ChangesFor(const Dependency& dependency, int64_t position) const;
  // So many nodes are asked about one by one.
  static constexpr size_t kFewNodes = 2;
  static constexpr size_t kNoFilter = SIZE_MAX;
  // The last one of `active_filters_` that looks at nothing but the node and its pods; kNoFilter: none does.
  size_t LastFilterByNode() const;
  // Sets the verdicts of nodes without a group to kPassed.
  static void MarkPassed(absl::Span<const int32_t> groups, uint8_t* verdicts);
  // Sets the verdicts that are kUnknown of nodes with a group, which this filter gave them.
  void MarkFailed(size_t filter, absl::Span<const int32_t> groups, const NodeToStatus& statuses,
                  uint8_t* verdicts);
  // Gives groups to nodes next to each other, all of whose verdicts are known. Returns whether all passed.
  bool TakeKnown(const uint8_t* verdicts, NodeToStatus& statuses, absl::Span<int32_t> groups);
  void ForgetFailures();
  // FilterRange by single calls.
  bool FilterEach(const Entry<FilterPlugin>& entry, CycleState& state, const PodInfo& pod, int32_t first,
                  NodeToStatus& statuses, absl::Span<int32_t> groups);
  // What RunFilterPluginsOnRange does for one filter: gives a group to those of its failures that have none.
  // Returns whether there were any.
  bool FilterRange(size_t filter, CycleState& state, const PodInfo& pod, int32_t first,
                   NodeToStatus& statuses, absl::Span<int32_t> groups);
  // The same where answers are remembered: fills `verdicts_` where a node has no group, and returns what they
  // stand for.
  const std::vector<Status>& FilterRemembered(size_t filter, CycleState& state, const PodInfo& pod,
                                              int32_t first, absl::Span<const int32_t> groups);
  // `positions`: see RunScorePlugins.
  Status ScoreColumn(ScoreEntry& entry, CycleState& state, const PodInfo& pod, NodeInfos nodes,
                     absl::Span<const int32_t> positions, std::vector<int64_t>& raw);
  // Sets `totals` to the sums of the weighted scores that follow from nodes and their pods alone. False where
  // one of these is not remembered, or has to be normalised over all nodes.
  bool SumNodeScores(CycleState& state, const PodInfo& pod, NodeInfos nodes,
                     absl::Span<const int32_t> positions, std::vector<int64_t>& totals);
  // The same for some nodes, without what is remembered.
  bool ComputeNodeScores(CycleState& state, const PodInfo& pod, NodeInfos nodes,
                         absl::Span<const int32_t> positions, std::vector<int64_t>& totals);
  // The same for one node, which it adds to `total`.
  bool ComputeNodeScore(CycleState& state, const PodInfo& pod, const NodeInfo& node, int64_t& total);
  // The same from what is remembered, node by node.
  Status ScoreRemembered(ScoreEntry& entry, CycleState& state, const PodInfo& pod, NodeInfos nodes,
                         absl::Span<const int32_t> positions, std::vector<int64_t>& raw);
  // The failure that the real scheduler meets first, which asks node by node: first all plugins for their
  // scores, then those that normalise, and then looks whether all scores are valid. Success: there is none.
  Status FirstScoreFailure(CycleState& state, const PodInfo& pod, NodeInfos nodes);
  // Success where the plugin does not normalise.
  Status Normalize(const ScoreEntry& entry, CycleState& state, const PodInfo& pod, NodeInfos nodes,
                   absl::Span<int64_t> scores);
  // From raw scores to weighted ones, which it adds to `totals`. Without `keeps_raw` the scores of the column
  // mean nothing afterwards.
  Status WeighColumn(const ScoreEntry& entry, CycleState& state, const PodInfo& pod, NodeInfos nodes,
                     PluginScores& column, std::vector<int64_t>& totals, bool keeps_raw);

  Handle& handle_;
  std::string profile_name_;
  std::optional<int32_t> percentage_of_nodes_to_score_;
  std::vector<std::unique_ptr<Plugin>> instances_;
  std::vector<Entry<QueueSortPlugin>> queue_sort_;  // Exactly one.
  std::vector<Entry<PreEnqueuePlugin>> pre_enqueue_;
  std::vector<Entry<PreFilterPlugin>> pre_filter_;
  std::vector<Entry<FilterPlugin>> filter_;
  std::vector<Dependency> filter_dependencies_;  // Of filter_.
  // Plugins at PreFilter, but for those at Filter that look at nothing but the node and its pods.
  PluginSet cluster_pre_filters_;
  std::vector<Entry<PostFilterPlugin>> post_filter_;
  std::vector<Entry<PreScorePlugin>> pre_score_;
  std::vector<ScoreEntry> score_;
  std::vector<Entry<ReservePlugin>> reserve_;
  std::vector<Entry<PermitPlugin>> permit_;
  std::vector<Entry<PreBindPlugin>> pre_bind_;
  std::vector<Entry<BindPlugin>> bind_;
  std::vector<Entry<PostBindPlugin>> post_bind_;
  std::vector<Entry<PlacementFeasiblePlugin>> placement_feasible_;
  std::vector<Entry<PlacementGeneratePlugin>> placement_generate_;  // One at most.
  std::vector<Entry<PlacementScorePlugin>> placement_score_;
  std::vector<int64_t> placement_score_weights_;  // Of placement_score_.
  std::vector<Entry<PodGroupPostFilterPlugin>> pod_group_post_filter_;
  std::vector<Registration> registrations_;
  std::vector<const SignPlugin*> sign_;
  std::unique_ptr<OpportunisticBatch> batch_;
  // By filter: FilterPlugin::FilterFailures.
  std::vector<std::vector<Status>> filter_failures_;
  AnswerColumns<uint8_t> filter_answers_;
  AnswerColumns<int64_t> score_answers_;
  std::vector<uint8_t> verdicts_;  // Working memory of FilterRange.

  // What is kept for the class of the pod that came last: replicas of a workload follow each other. It is
  // filled from the second pod of the class on, and what is said of a node is dropped when it changes.
  enum Verdict : uint8_t { kUnknown, kPassed, kFirstFailure };
  struct LastClass {
    int32_t id = -1;  // PodSpecInfo::id.
    bool came_again = false;
    // Up to where changes of nodes were followed: see SnapshotLister::ChangesSince.
    int64_t changes_position = -1;
    // Shape of these: by NodeInfo::position. What the filters that look at nothing but the node and its pods
    // said of the node as it is, whatever others said of it: a Verdict, or kFirstFailure and the place of the
    // first failure in `failures`.
    std::vector<uint8_t> verdicts = {};
    // 1: the sum of the node's weighted scores is in `totals`.
    std::vector<uint8_t> has_total = {};
    std::vector<int64_t> totals = {};
    std::vector<Status> failures = {};
    // The last of filter_ that gave one of `failures`. No filter that looks at more than the node came before
    // it, since that one's failure would be the node's.
    size_t last_failing_filter = 0;
    // Whether a plugin gave a score that has to be normalised over all nodes, so that sums are not kept.
    bool normalizes_over_nodes = false;
  };
  LastClass last_class_;
  bool KeepsAnswersFor(const PodInfo& pod) const {
    return last_class_.came_again && pod.spec_info->id == last_class_.id;
  }
  // Makes `last_class_` that of this pod, and drops what it has of nodes that changed.
  void FollowClass(const PodInfo& pod);
  // Nodes next to each other all of whose verdicts are known, or none of whose is.
  struct Stretch {
    size_t begin = 0;
    size_t end = 0;
    bool known = false;
  };
  std::vector<Stretch> stretches_;  // Of the range that is being filtered.
  // Fills `stretches_`. `verdicts` nullptr: nothing is known.
  void FindStretches(const uint8_t* verdicts, size_t count);
  WorkCounters counters_;
  // Working memory of SumNodeScores: nodes whose sum is not known.
  std::vector<const NodeInfo*> missing_;
  std::vector<int32_t> missing_positions_;
  std::vector<int64_t> missing_totals_;
  PluginScores scored_;  // Working memory of ComputeNodeScores.
  // The answers of PreFilter and PreScore that all pods of a class get alike: see
  // PreFilterPlugin::PreFilterFollowsFromClass.
  struct SettledAnswers {
    PluginSet pre_filter;   // Who said Success or Skip.
    PluginSet skip_filter;  // Those of them that said Skip.
    PluginSet pre_score;
    PluginSet skip_score;
  };
  // nullptr: whoever is to be asked about this pod is asked.
  SettledAnswers* SettledAnswersOf(const PodInfo& pod);
  std::vector<SettledAnswers> settled_answers_;  // By PodSpecInfo::id.
  PluginSet settles_pre_filter_;                 // Plugins whose answers may be settled.
  PluginSet settles_pre_score_;
  // Indices into filter_, of the range that is being filtered: those that are not skipped, and those of them
  // that look at more than the node and its pods.
  std::vector<size_t> active_filters_;
  std::vector<size_t> active_cluster_filters_;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_FRAMEWORK_H_
