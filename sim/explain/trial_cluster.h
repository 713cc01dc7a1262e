// The cluster of an attempt, to ask the scheduler's plugins again, also after changes that are taken back.
#ifndef SCHEDSIM_SIM_EXPLAIN_TRIAL_CLUSTER_H_
#define SCHEDSIM_SIM_EXPLAIN_TRIAL_CLUSTER_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/node.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/framework/handle.h"
#include "core/framework/node_info.h"
#include "core/framework/pod_info.h"
#include "core/framework/status.h"
#include "sim/explain/captured_attempt.h"
#include "sim/replay/scheduler_view.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

// Runs PreFilter and Filter of the profiles of `options`, with the pods that are nominated to nodes.
class TrialCluster {
 public:
  // InvalidArgument where a plugin refuses its arguments.
  static absl::StatusOr<std::unique_ptr<TrialCluster>> Make(const SimulationOptions& options,
                                                            const CapturedCluster& cluster);
  TrialCluster(const TrialCluster&) = delete;
  TrialCluster& operator=(const TrialCluster&) = delete;

  // Success: the pod, which must be for one of the profiles, fits on the node, which must be known.
  framework::Status FitOn(const api::PodPtr& pod, const std::string& node);

  // What the plugins of the pod's profile work with, as things were when FitOn was called last.
  framework::Handle& HandleFor(const api::Pod& pod) { return view_->scheduler().HandleFor(pod); }
  framework::PodInfoPtr InfoOf(const api::PodPtr& pod);
  // The node with the pods that are nominated to it and count for `pod`, as it is looked at first. Where none
  // are, it is the node itself.
  framework::NodeInfo NodeFor(const framework::PodInfo& pod, const std::string& node);

  api::NodePtr FindNode(const std::string& name) const;
  // A pod on a node, or nominated to one; nullptr: there is none of this key.
  api::PodPtr FindPod(const std::string& key) const;
  api::ObjectPtr Find(api::Kind kind, absl::string_view name);

  // `after` takes the place of `before`; nullptr: comes anew, or goes.
  void Change(const api::ObjectPtr& before, const api::ObjectPtr& after);
  // Takes back all changes.
  void Revert();

 private:
  explicit TrialCluster(std::unique_ptr<SchedulerView> view) : view_(std::move(view)) {}
  void Apply(const api::ObjectPtr& before, const api::ObjectPtr& after);

  std::unique_ptr<SchedulerView> view_;
  std::map<std::string, api::NodePtr> nodes_;
  std::map<std::string, api::PodPtr> pods_;  // By "namespace/name".
  std::vector<std::pair<api::ObjectPtr, api::ObjectPtr>> changes_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_TRIAL_CLUSTER_H_
