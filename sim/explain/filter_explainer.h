// Why a filter refused a node: the numbers and names behind its reason, and what would help.
#ifndef SCHEDSIM_SIM_EXPLAIN_FILTER_EXPLAINER_H_
#define SCHEDSIM_SIM_EXPLAIN_FILTER_EXPLAINER_H_

#include <memory>
#include <string>
#include <vector>

#include "core/api/effective_profile.h"
#include "core/api/pod.h"
#include "core/framework/handle.h"
#include "core/framework/node_info.h"
#include "core/framework/pod_info.h"
#include "core/framework/status.h"
#include "sim/explain/change.h"
#include "sim/explain/fact.h"
#include "sim/explain/trial_cluster.h"

namespace schedsim::sim {

// What one plugin has to say of one refusal.
struct Refusal {
  std::vector<Fact> facts;
  // Each, by itself, may be enough for this plugin; the best one first.
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

  const api::PodSpec& spec() const { return *pod.pod->spec; }
  absl::string_view Text(Symbol symbol) const { return handle.symbols().Text(symbol); }
};

// One function a plugin, or for several that ask for the same.
Refusal ExplainNodeName(const RefusedPod& refused);
Refusal ExplainNodeUnschedulable(const RefusedPod& refused);
Refusal ExplainTaintToleration(const RefusedPod& refused);
Refusal ExplainNodeAffinity(const RefusedPod& refused);
Refusal ExplainNodeDeclaredFeatures(const RefusedPod& refused);
Refusal ExplainNodePorts(const RefusedPod& refused);
Refusal ExplainNodeResourcesFit(const RefusedPod& refused);
Refusal ExplainInterPodAffinity(const RefusedPod& refused);
Refusal ExplainVolumeRestrictions(const RefusedPod& refused);
Refusal ExplainNodeVolumeLimits(const RefusedPod& refused);
Refusal ExplainVolumeZone(const RefusedPod& refused);
Refusal ExplainVolumeBinding(const RefusedPod& refused);

// What a node's labels lack of one requirement, as changes that would meet it; empty: no label can.
std::vector<Change> LabelsFor(const api::NodeSelectorRequirement& requirement);
// Whether the node meets it.
bool MeetsRequirement(const api::NodeSelectorRequirement& requirement, const api::Node& node);
// What each term of the selector asks of the node that it has not: facts of this kind, and remedies by
// labels.
void ExplainSelector(const api::NodeSelector& selector, const api::Node& node, const std::string& kind,
                     const std::string& owner, Refusal& refusal);

class SpreadExplainer;

// For one profile of one cluster.
class FilterExplainer {
 public:
  // All must outlive the explainer.
  FilterExplainer(TrialCluster& trial, const api::EffectiveProfile& profile);
  ~FilterExplainer();

  // Why `status`, the answer of FitOn for this pod and node as things are now, is what it is.
  Refusal Explain(const api::PodPtr& pod, const std::string& node, const framework::Status& status);

 private:
  TrialCluster& trial_;
  const api::EffectiveProfile& profile_;
  std::unique_ptr<SpreadExplainer> spread_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_FILTER_EXPLAINER_H_
