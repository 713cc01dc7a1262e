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
#include "core/framework/answer_cache.h"
#include "core/framework/batch.h"
#include "core/framework/handle.h"
#include "core/framework/node_scores.h"
#include "core/framework/plugin.h"
#include "core/framework/plugin_set.h"
#include "core/framework/signers.h"

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
  bool HasFilterPlugins() const { return !filter_.empty(); }
  // Whether, in this cycle, the answer for a node follows from what Dependency::kNode names.
  bool FiltersByNodeOnly(const CycleState& state) const;

  Status RunPreFilterExtensionAddPod(CycleState& state, const PodInfo& pod, const PodInfo& other,
                                     const NodeInfo& node);
  Status RunPreFilterExtensionRemovePod(CycleState& state, const PodInfo& pod, const PodInfo& other,
                                        const NodeInfo& node);

  bool HasPostFilterPlugins() const { return !post_filter_.empty(); }
  PostFilterResult RunPostFilterPlugins(CycleState& state, const PodInfo& pod, const NodeToStatus& statuses);

  bool HasScorePlugins() const { return !score_.empty(); }
  Status RunPreScorePlugins(CycleState& state, const PodInfo& pod, NodeInfos nodes);
  // Fills `scores`, whose memory is used again.
  Status RunScorePlugins(CycleState& state, const PodInfo& pod, NodeInfos nodes, NodeScores& scores);
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

  // What each plugin waits for, by plugin.
  struct Registration {
    PluginId plugin = 0;
    std::vector<ClusterEventWithHint> events;
  };
  const std::vector<Registration>& registrations() const { return registrations_; }

  // Turns off remembered answers: every plugin is asked every time.
  void set_reference(bool reference) { reference_ = reference; }
  // The set of nodes, what their images are, or a DeviceClass changed for all.
  void ForgetAnswers() { answers_.Clear(); }

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
    int32_t column = -1;  // In NodeAnswer::scores; -1: not remembered.
    bool only_with_filter = false;
  };

  Framework(const api::EffectiveProfile& profile, Handle& handle);
  absl::Status Instantiate(const api::EffectiveProfile& profile,
                           const std::vector<RegisteredPlugin>& registry);
  template <typename T>
  absl::Status Fill(const api::EffectiveProfile& profile, api::ExtensionPoint point,
                    std::vector<Entry<T>>& entries);
  absl::Status FillScore(const api::EffectiveProfile& profile);
  void FillSign(const api::EffectiveProfile& profile);
  void Register(const api::EffectiveProfile& profile);
  Plugin* FindInstance(absl::string_view name) const;
  Status RunFilter(const Entry<FilterPlugin>& entry, const CycleState& state, const PodInfo& pod,
                   const NodeInfo& node);
  SpecAnswers& AnswersFor(const PodInfo& pod) {
    return answers_.Of(pod.spec_info->id, static_cast<int32_t>(handle_.snapshot().List().size()));
  }
  Status FilterRemembered(CycleState& state, const PodInfo& pod, const NodeInfo& node);
  // Makes `node_answers_` the answers for `nodes`, as far as they are still right.
  void CollectAnswers(const PodInfo& pod, NodeInfos nodes);
  // `node_answers_` must be those for `nodes`.
  Status ScoreColumn(const ScoreEntry& entry, CycleState& state, const PodInfo& pod, NodeInfos nodes,
                     std::vector<int64_t>& raw);
  // From raw scores to weighted ones, which it adds to `totals`.
  Status WeighColumn(const ScoreEntry& entry, CycleState& state, const PodInfo& pod, NodeInfos nodes,
                     PluginScores& column, std::vector<int64_t>& totals);

  Handle& handle_;
  std::string profile_name_;
  std::optional<int32_t> percentage_of_nodes_to_score_;
  bool reference_ = false;
  std::vector<std::unique_ptr<Plugin>> instances_;
  std::vector<Entry<QueueSortPlugin>> queue_sort_;  // Exactly one.
  std::vector<Entry<PreEnqueuePlugin>> pre_enqueue_;
  std::vector<Entry<PreFilterPlugin>> pre_filter_;
  std::vector<Entry<FilterPlugin>> filter_;
  // Places in filter_ of those whose answers are remembered, and of the others.
  std::vector<int32_t> node_filters_;
  std::vector<int32_t> cluster_filters_;
  std::vector<Entry<PostFilterPlugin>> post_filter_;
  std::vector<Entry<PreScorePlugin>> pre_score_;
  std::vector<ScoreEntry> score_;
  std::vector<Entry<ReservePlugin>> reserve_;
  std::vector<Entry<PermitPlugin>> permit_;
  std::vector<Entry<PreBindPlugin>> pre_bind_;
  std::vector<Entry<BindPlugin>> bind_;
  std::vector<Entry<PostBindPlugin>> post_bind_;
  std::vector<Registration> registrations_;
  std::vector<const SignPlugin*> sign_;
  std::unique_ptr<OpportunisticBatch> batch_;
  AnswerCache answers_;
  std::vector<NodeAnswer*> node_answers_;  // Of the running cycle; empty with `reference_`.
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_FRAMEWORK_H_
