#include "sim/explain/filter_explainer.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "sim/explain/affinity_explainer.h"
#include "sim/explain/device_explainer.h"
#include "sim/explain/spread_explainer.h"

namespace schedsim::sim {
namespace {

struct Row {
  const char* plugin;
  Refusal (*explain)(const RefusedPod& refused);
};

constexpr Row kRows[] = {
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

// Remedies without a change do nothing.
void LeaveOutLarge(Refusal& refusal) {
  const auto is_large = [](const std::vector<Change>& remedy) {
    const auto pods_away = std::count_if(remedy.begin(), remedy.end(), [](const Change& change) {
      return change.type == Change::Type::kPodAway;
    });
    return pods_away > static_cast<std::ptrdiff_t>(kPodsAwayMax);
  };
  std::erase_if(refusal.remedies, [](const std::vector<Change>& remedy) { return remedy.empty(); });
  if (std::erase_if(refusal.remedies, is_large) > 0 && refusal.remedies.empty())
    refusal.no_remedy = absl::StrCat("more than ", kPodsAwayMax, " pods would have to go");
}

}  // namespace

FilterExplainer::FilterExplainer(TrialCluster& trial, const api::EffectiveProfile& profile)
    : trial_(trial), profile_(profile) {}
FilterExplainer::~FilterExplainer() = default;

Refusal FilterExplainer::Explain(const api::PodPtr& pod, const std::string& node,
                                 const framework::Status& status) {
  const framework::PodInfoPtr info = trial_.InfoOf(pod);
  const framework::NodeInfo node_info = trial_.NodeFor(*info, node);
  framework::Handle& handle = trial_.HandleFor(*pod);
  if (volumes_ == nullptr) volumes_ = std::make_unique<VolumeMemory>(handle);
  const RefusedPod refused = {.handle = handle,
                              .pod = *info,
                              .node = node_info,
                              .status = status,
                              .profile = profile_,
                              .volumes = *volumes_};
  Refusal refusal = Ask(refused);
  LeaveOutLarge(refusal);
  std::stable_sort(refusal.remedies.begin(), refusal.remedies.end(),
                   [](const auto& a, const auto& b) { return SizeOf(a) < SizeOf(b); });
  return refusal;
}

std::vector<Fact> FilterExplainer::ExplainPod(const api::Pod& pod, absl::string_view plugin) {
  if (plugin != "DynamicResources") return {};
  if (devices_ == nullptr) devices_ = std::make_unique<DeviceExplainer>(trial_.HandleFor(pod));
  return devices_->ExplainPod(pod);
}

Refusal FilterExplainer::Ask(const RefusedPod& refused) {
  const absl::string_view plugin = refused.status.plugin();
  if (plugin == "InterPodAffinity") {
    if (affinity_ == nullptr) affinity_ = std::make_unique<AffinityExplainer>(refused.handle);
    return affinity_->Explain(refused);
  }
  if (plugin == "DynamicResources") {
    if (devices_ == nullptr) devices_ = std::make_unique<DeviceExplainer>(refused.handle);
    return devices_->Explain(refused);
  }
  if (plugin == "PodTopologySpread") {
    if (spread_ == nullptr) spread_ = std::make_unique<SpreadExplainer>(profile_, refused.handle);
    return spread_->Explain(refused);
  }
  for (const Row& row : kRows) {
    if (row.plugin == plugin) return row.explain(refused);
  }
  if (plugin.empty()) return ExplainNarrowing(refused);
  return {
      .facts = {}, .remedies = {}, .no_remedy = absl::StrCat("what ", plugin, " would need is not known")};
}

}  // namespace schedsim::sim
