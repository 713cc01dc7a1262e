#include "sim/explain/filter_explainer.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/explain/spread_explainer.h"

namespace schedsim::sim {
namespace {

struct Row {
  const char* plugin;
  Refusal (*explain)(const RefusedPod& refused);
};

// PodTopologySpread keeps counts from one question to the next, and is not here.
constexpr Row kRows[] = {
    {"InterPodAffinity", ExplainInterPodAffinity},
    {"NodeAffinity", ExplainNodeAffinity},
    {"NodeDeclaredFeatures", ExplainNodeDeclaredFeatures},
    {"NodeName", ExplainNodeName},
    {"NodePorts", ExplainNodePorts},
    {"NodeResourcesFit", ExplainNodeResourcesFit},
    {"NodeUnschedulable", ExplainNodeUnschedulable},
    {"NodeVolumeLimits", ExplainNodeVolumeLimits},
    {"TaintToleration", ExplainTaintToleration},
    {"VolumeBinding", ExplainVolumeBinding},
    {"VolumeRestrictions", ExplainVolumeRestrictions},
    {"VolumeZone", ExplainVolumeZone},
};

// PreFilter leaves nodes out where the pod names others.
Refusal ExplainNarrowing(const RefusedPod& refused) {
  if (!refused.pod.pod->node_name.empty()) return ExplainNodeName(refused);
  return ExplainNodeAffinity(refused);
}

}  // namespace

FilterExplainer::FilterExplainer(TrialCluster& trial, const api::EffectiveProfile& profile)
    : trial_(trial), profile_(profile) {}
FilterExplainer::~FilterExplainer() = default;

Refusal FilterExplainer::Explain(const api::PodPtr& pod, const std::string& node,
                                 const framework::Status& status) {
  const framework::PodInfoPtr info = trial_.InfoOf(pod);
  const framework::NodeInfo node_info = trial_.NodeFor(*info, node);
  const RefusedPod refused = {.handle = trial_.HandleFor(*pod),
                              .pod = *info,
                              .node = node_info,
                              .status = status,
                              .profile = profile_};
  if (status.plugin() == "PodTopologySpread") {
    if (spread_ == nullptr) spread_ = std::make_unique<SpreadExplainer>(profile_, refused.handle);
    return spread_->Explain(refused);
  }
  for (const Row& row : kRows) {
    if (row.plugin == status.plugin()) return row.explain(refused);
  }
  if (status.plugin().empty()) return ExplainNarrowing(refused);
  return {.facts = {},
          .remedies = {},
          .no_remedy = absl::StrCat("what ", status.plugin(), " would need is not known")};
}

}  // namespace schedsim::sim
