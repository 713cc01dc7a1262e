#include "sim/explain/trial_cluster.h"

#include "core/base/check.h"
#include "core/base/status_macros.h"

namespace schedsim::sim {

absl::StatusOr<std::unique_ptr<TrialCluster>> TrialCluster::Make(const SimulationOptions& options,
                                                                 const CapturedCluster& cluster) {
  std::unique_ptr<SchedulerView> view;
  ASSIGN_OR_RETURN(view, SchedulerView::Make(options));
  std::unique_ptr<TrialCluster> trial(new TrialCluster(std::move(view)));
  for (const api::ObjectPtr& object : cluster.objects) trial->Apply(nullptr, object);
  for (const api::PodPtr& pod : cluster.pods) trial->Apply(nullptr, pod);
  for (const api::PodPtr& pod : cluster.nominated) trial->Apply(nullptr, pod);
  return trial;
}

void TrialCluster::Apply(const api::ObjectPtr& before, const api::ObjectPtr& after) {
  const api::Object& object = after != nullptr ? *after : *before;
  if (object.kind == api::Kind::kNode) {
    nodes_[object.metadata.name] = std::static_pointer_cast<const api::Node>(after);
  } else if (object.kind == api::Kind::kPod) {
    pods_[object.Key()] = std::static_pointer_cast<const api::Pod>(after);
  }
  view_->Change(before, after);
}

void TrialCluster::Change(const api::ObjectPtr& before, const api::ObjectPtr& after) {
  Apply(before, after);
  changes_.emplace_back(before, after);
}

void TrialCluster::Revert() {
  while (!changes_.empty()) {
    const auto [before, after] = std::move(changes_.back());
    changes_.pop_back();
    Apply(after, before);
  }
}

framework::Status TrialCluster::FitOn(const api::PodPtr& pod, const std::string& node) {
  return view_->FitOn(pod, node);
}

framework::PodInfoPtr TrialCluster::InfoOf(const api::PodPtr& pod) {
  return HandleFor(*pod).pod_infos().Make(pod);
}

framework::NodeInfo TrialCluster::NodeFor(const framework::PodInfo& pod, const std::string& node) {
  view_->scheduler().UpdateSnapshot();
  framework::Handle& handle = HandleFor(*pod.pod);
  const Symbol name = handle.symbols().Find(node);
  const framework::NodeInfo* const found = handle.snapshot().Get(name);
  CHECK(found != nullptr);
  framework::NodeInfo info = *found;
  for (const framework::PodInfoPtr& nominated : handle.NominatedPodsForNode(name)) {
    if (nominated->Priority() >= pod.Priority() && nominated->Uid() != pod.Uid()) info.AddPod(nominated);
  }
  return info;
}

api::NodePtr TrialCluster::FindNode(const std::string& name) const {
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? nullptr : found->second;
}

api::PodPtr TrialCluster::FindPod(const std::string& key) const {
  const auto found = pods_.find(key);
  return found == pods_.end() ? nullptr : found->second;
}

api::ObjectPtr TrialCluster::Find(api::Kind kind, absl::string_view name) {
  return view_->scheduler().informers().Find(kind, "", name);
}

}  // namespace schedsim::sim
