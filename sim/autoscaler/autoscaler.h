// A node autoscaler, as Cluster Autoscaler is one.
#ifndef SCHEDSIM_SIM_AUTOSCALER_AUTOSCALER_H_
#define SCHEDSIM_SIM_AUTOSCALER_AUTOSCALER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/rng.h"
#include "sim/autoscaler/autoscaler_options.h"
#include "sim/autoscaler/cluster_snapshot.h"
#include "sim/autoscaler/daemon_pods.h"
#include "sim/autoscaler/node_deletion.h"
#include "sim/autoscaler/scale_down.h"
#include "sim/autoscaler/scale_up.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"
#include "sim/record/autoscaler_record.h"

namespace schedsim::sim {

// Adds nodes to pools for pods that are unschedulable, and takes nodes away that are not needed. It looks at
// the cluster at multiples of the scan interval, unless nothing has changed and nothing is due since: then a
// look would find what the last one found. Source: cluster-autoscaler v1.33, core/static_autoscaler.go.
class Autoscaler {
 public:
  // What the autoscaler borrows, and asks for; all of it must outlive the autoscaler.
  struct Environment {
    EventLoop& loop;
    ApiServer& server;
    absl::Time zero;  // Virtual zero.
    // The generator of the run; streams of it are forked.
    Rng rng;
    // A node that starts up is nobody else's (true) until it is ready (false).
    std::function<void(const std::string& node_name, bool is_held)> hold_node;
    // Whether more comes from outside, or the run has an end of its own. The autoscaler's work is a reason
    // for a run to go on until kWorkTimeMax after that.
    std::function<bool()> more_to_come;
  };
  static constexpr absl::Duration kWorkTimeMax = absl::Hours(24);

  // InvalidArgument where a plugin refuses its arguments. Templates of pools are set.
  static absl::StatusOr<std::unique_ptr<Autoscaler>> Make(
      const AutoscalerOptions& options, const scheduler::Options& scheduler,
      const std::vector<framework::RegisteredPlugin>& registry, Environment environment);
  Autoscaler(const Autoscaler&) = delete;
  Autoscaler& operator=(const Autoscaler&) = delete;

  // From now on it acts. Pools that have too few nodes get the rest at once, ready.
  void Start();

  // What it did so far.
  AutoscalerRecord Record() const;
  // What the user should know.
  std::vector<std::string> Warnings() const;

 private:
  Autoscaler(const AutoscalerOptions& options, Environment environment);

  void OnEvent(const WatchEvent& event);
  // These return whether a scan may now come to something else, soon.
  bool OnPod(const WatchEvent& event);
  bool OnNode(const WatchEvent& event);
  // Makes the node one of the pool whose selector it matches first.
  void Adopt(const api::Node& node);

  // Asks for a scan at the first multiple of the interval from `time` on, and after now.
  void ScanAt(absl::Time time, bool in_background);
  void Scan();
  void PutWhatIsComing();
  // Pods that are unschedulable, and fit on no node that there is or that is coming.
  std::vector<api::PodPtr> PodsToHelp();
  bool AreAllNew(const std::vector<api::PodPtr>& pods) const;
  void Note(const ScaleUpPlan& plan, const std::vector<api::PodPtr>& pods);
  void ScaleUp(const ScaleUpPlan& plan);
  void ScaleDown();
  void SetSoftTaints();
  // Asks for the scan at which the next node may go.
  void AwaitUnneeded();
  absl::Time CooldownEnd() const;
  void EndStartup(const std::string& node_name);
  void EndDeletion(const std::string& node_name, const std::string& failure);
  std::string NextName(size_t pool);
  // Adds a node to its pool, one that is ready unless it starts up, and returns its name; absent: the API
  // server refuses it, which is a warning.
  std::optional<std::string> CreateNode(const PoolNode& node);
  std::vector<int64_t> Sizes() const;

  const AutoscalerOptions options_;
  const Environment environment_;
  Rng startup_rng_;
  std::unique_ptr<ClusterSnapshot> snapshot_;
  DaemonPods daemon_pods_;
  std::unique_ptr<ScaleUpPlanner> scale_up_;
  std::unique_ptr<ScaleDownPlanner> scale_down_;
  std::unique_ptr<NodeDeletions> deletions_;
  bool started_ = false;

  // Nodes of the pools, by name.
  PoolNodes nodes_;
  std::vector<int64_t> next_numbers_;  // Of the names of new nodes, by pool.
  // Unschedulable pods, by name; and since when pods have been that were not bound since, by uid.
  std::map<std::string, api::PodPtr> waiting_;
  std::map<std::string, absl::Time> unschedulable_since_;
  std::map<std::string, std::string> helpless_;  // See AutoscalerRecord::helpless_pods.
  // The next scans, with what Cancel takes: in the foreground, in the background.
  std::optional<std::pair<absl::Time, uint64_t>> scans_[2];
  absl::Time last_outside_;  // When a timeline had more to come.
  bool ended_early_ = false;
  absl::Time last_scale_up_ = absl::InfinitePast();
  absl::Time last_failure_ = absl::InfinitePast();
  AutoscalerRecord record_;
  std::map<std::string, size_t> open_records_;  // By node: index into record_.scale_downs.
  std::vector<std::string> warnings_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_AUTOSCALER_AUTOSCALER_H_
