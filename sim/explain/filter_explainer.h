// Why a filter refused a node: the numbers and names behind its reason, and what would help.
#ifndef SCHEDSIM_SIM_EXPLAIN_FILTER_EXPLAINER_H_
#define SCHEDSIM_SIM_EXPLAIN_FILTER_EXPLAINER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/api/effective_profile.h"
#include "core/api/pod.h"
#include "core/framework/handle.h"
#include "core/framework/node_info.h"
#include "core/framework/pod_info.h"
#include "core/framework/status.h"
#include "sim/explain/change.h"
#include "sim/explain/fact.h"
#include "sim/explain/trial_cluster.h"
#include "sim/explain/volume_memory.h"

namespace schedsim::sim {

// More pods than this are not proposed to go.
inline constexpr size_t kPodsAwayMax = 8;

// What one plugin has to say of one refusal.
struct Refusal {
  std::vector<Fact> facts;
  // Each, by itself, may be enough for this plugin. FilterExplainer has the smallest first, and leaves out
  // those in which too many pods would go.
  std::vector<std::vector<Change>> remedies;
  // Why there is none, or none but these.
  std::string no_remedy;
};

// A pod that was refused on a node. With the pods nominated to the node, as far as they count.
struct RefusedPod {
  framework::Handle& handle;
  const framework::PodInfo& pod;
  const framework::NodeInfo& node;
  const framework::Status& status;
  const api::EffectiveProfile& profile;
  VolumeMemory& volumes;

  const api::PodSpec& spec() const { return *pod.pod->spec; }
  absl::string_view Text(Symbol symbol) const { return handle.symbols().Text(symbol); }
  // The last ones of the node's pods.
  absl::Span<const framework::PodInfoPtr> Nominated() const {
    return absl::MakeConstSpan(node.pods).subspan(handle.snapshot().Get(node.name)->pods.size());
  }
};

// One function a plugin. Those that remember something from node to node, DynamicResources, InterPodAffinity
// and PodTopologySpread, have a class each.
Refusal ExplainNodeName(const RefusedPod& refused);
Refusal ExplainNodeUnschedulable(const RefusedPod& refused);
Refusal ExplainTaintToleration(const RefusedPod& refused);
Refusal ExplainNodeAffinity(const RefusedPod& refused);
Refusal ExplainNodeDeclaredFeatures(const RefusedPod& refused);
Refusal ExplainNodePorts(const RefusedPod& refused);
Refusal ExplainNodeResourcesFit(const RefusedPod& refused);
Refusal ExplainVolumeRestrictions(const RefusedPod& refused);
Refusal ExplainNodeVolumeLimits(const RefusedPod& refused);
Refusal ExplainVolumeZone(const RefusedPod& refused);
Refusal ExplainVolumeBinding(const RefusedPod& refused);

// The value of a label where any would do.
inline constexpr char kSomeValue[] = "a";
// The node with this label. kubernetes.io/hostname can only be the node's name, whatever `value` says;
// absent: it is so already.
std::optional<Change> LabelOf(const RefusedPod& refused, const std::string& key, const std::string& value);
// What each term of the selector asks of the node that it has not: facts of this kind, and remedies by
// labels.
void ExplainSelector(const api::NodeSelector& selector, const RefusedPod& refused, const std::string& kind,
                     const std::string& owner, Refusal& refusal);

class AffinityExplainer;
class DeviceExplainer;
class SpreadExplainer;

// For one profile of one cluster, and one pod with what changes make of it.
class FilterExplainer {
 public:
  // All must outlive the explainer.
  FilterExplainer(TrialCluster& trial, const api::EffectiveProfile& profile);
  ~FilterExplainer();

  // Why `status`, the answer of FitOn for this pod and node as things are now, is what it is.
  Refusal Explain(const api::PodPtr& pod, const std::string& node, const framework::Status& status);
  // What is behind the answer of a PreFilter plugin that refused the pod before any node was looked at.
  std::vector<Fact> ExplainPod(const api::Pod& pod, absl::string_view plugin);

 private:
  Refusal Ask(const RefusedPod& refused);

  TrialCluster& trial_;
  const api::EffectiveProfile& profile_;
  std::unique_ptr<VolumeMemory> volumes_;
  std::unique_ptr<AffinityExplainer> affinity_;
  std::unique_ptr<DeviceExplainer> devices_;
  std::unique_ptr<SpreadExplainer> spread_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_FILTER_EXPLAINER_H_
