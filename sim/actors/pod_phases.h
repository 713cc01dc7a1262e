// What becomes of a pod on its node.
#ifndef SCHEDSIM_SIM_ACTORS_POD_PHASES_H_
#define SCHEDSIM_SIM_ACTORS_POD_PHASES_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "core/api/pod.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"

namespace schedsim::sim {

// Lets pods that are bound in the run become Running and Ready at once, and those of Jobs Succeeded at once:
// what kwok's fast stages do. Pods that the input has on a node stay as they are.
// Source: kwok v0.8.0, kustomize/stage/pod/fast. A pod that is over keeps its condition Ready, as there.
class PodPhases {
 public:
  // Whether anyone reads the pod's phase: pods of which nobody does stay Pending, which costs nothing.
  using Reads = std::function<bool(const api::Pod& pod)>;
  // The phase after this one of a pod on a node; "": it stays.
  using NextPhase = std::function<absl::string_view(const api::Pod& pod)>;

  // As kwok's fast stages have it.
  static absl::string_view FastStages(const api::Pod& pod);

  // Whether the node's kubelet is silent: nothing becomes of its pods until Resume is called.
  using IsSilent = std::function<bool(absl::string_view node_name)>;
  // To be given before anything happens; without it no kubelet is.
  void set_is_silent(IsSilent is_silent) { is_silent_ = std::move(is_silent); }
  // The node is heard again.
  void Resume(absl::string_view node_name);

  // Acts on what happens from now on. What is borrowed must outlive it.
  PodPhases(Reads reads, NextPhase next_phase, EventLoop& loop, ApiServer& server);
  PodPhases(const PodPhases&) = delete;
  PodPhases& operator=(const PodPhases&) = delete;

 private:
  void OnEvent(const WatchEvent& event);
  // The pod's next phase comes now, if it has one.
  void AdvanceLater(const api::Pod& pod);
  void Advance(const std::string& name_space, const std::string& name, const std::string& uid);

  const Reads reads_;
  const NextPhase next_phase_;
  IsSilent is_silent_;
  EventLoop& loop_;
  ApiServer& server_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_ACTORS_POD_PHASES_H_
