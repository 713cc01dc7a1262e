// A scheduler that only looks: it hears of a cluster as its informers would, and is asked what it would do.
#ifndef SCHEDSIM_SIM_REPLAY_SCHEDULER_VIEW_H_
#define SCHEDSIM_SIM_REPLAY_SCHEDULER_VIEW_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/scheduler/scheduler.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

// What a cycle would choose from.
struct BestNodes {
  // Those that share the highest total, by name.
  std::vector<std::string> names;
  int64_t best_total = 0;
  // How many nodes are feasible, of those that were looked at.
  int64_t feasible_count = 0;
  int32_t evaluated_count = 0;
  // Whether more nodes would fit that were not looked at.
  bool is_sampled = false;
  // Of the node that was asked for: whether it is among the best, and its total; absent: it is not among the
  // feasible ones.
  bool has_node = false;
  std::optional<int64_t> node_total;
};

class SchedulerView {
 public:
  // With the release and configuration of `options`. InvalidArgument where a plugin refuses its arguments.
  static absl::StatusOr<std::unique_ptr<SchedulerView>> Make(const SimulationOptions& options);
  ~SchedulerView();
  SchedulerView(const SchedulerView&) = delete;
  SchedulerView& operator=(const SchedulerView&) = delete;

  // An object comes (`before` is nullptr), changes, or goes (`after` is nullptr). The way back is the same
  // call with the two exchanged.
  void Change(const api::ObjectPtr& before, const api::ObjectPtr& after);
  bool ResponsibleFor(const api::Pod& pod) const;
  int32_t node_count() const { return node_count_; }
  scheduler::Scheduler& scheduler() { return *scheduler_; }

  // The best nodes for a pod of one of the profiles, whose search begins with the node at `start`, and how
  // `node` stands among them.
  BestNodes FindBest(const api::PodPtr& pod, int32_t start, absl::string_view node);
  // See Scheduler::FindFit: Success where the pod fits on the node, or the node is not known; and otherwise
  // why it does not, with the plugin that says so.
  framework::Status FitOn(const api::PodPtr& pod, const std::string& node);
  // Why the pod does not fit on the node; "": it does, or the node is not known.
  std::string WhyNot(const api::PodPtr& pod, const std::string& node);

 private:
  class Surroundings;
  SchedulerView();

  std::unique_ptr<Surroundings> surroundings_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  int32_t node_count_ = 0;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPLAY_SCHEDULER_VIEW_H_
