// Looking at each binding of a recording: would this scheduler have taken that node?
#ifndef SCHEDSIM_SIM_REPLAY_FOLLOW_H_
#define SCHEDSIM_SIM_REPLAY_FOLLOW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "sim/formats/recording.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

// A binding of the recording whose node is none of the best ones as the recording had the cluster at that
// time.
struct OddBinding {
  enum class Cause : uint8_t {
    // It is one of the best of those that another stretch of the nodes has: the scheduler looks at a part of
    // a large cluster, and its threads decide which.
    kWindow,
    // It is one of the best where some changes of the moments before had not been heard of, or where pods
    // that were bound just behind had their nodes already.
    kOrder,
    // It is one of the best where a few bindings around it, some of them further away, are put before or
    // behind it: in a burst, a binding may reach the API server long after others that were decided on later.
    kBurst,
    kUnknown
  };
  std::string pod;   // "namespace/name".
  std::string node;  // That of the recording.
  absl::Time at;
  int32_t line = 0;
  Cause cause = Cause::kUnknown;
  // Our choice: the best nodes by name, ten of them at most, how many there are, and their score.
  std::vector<std::string> best;
  int64_t best_count = 0;
  int64_t best_score = 0;
  int64_t feasible_count = 0;
  // Of the recorded node; absent: it is not feasible, for this reason.
  std::optional<int64_t> score;
  std::string why_not;
};

struct FollowResult {
  absl::Time zero;
  absl::Duration length;
  int64_t object_count = 0;  // At the start.
  int64_t change_count = 0;
  int64_t binding_count = 0;  // Of pods that the scheduler is responsible for.
  int64_t other_binding_count = 0;
  // Of the bindings: the node was the only one feasible; one of the best of several.
  int64_t only_count = 0;
  int64_t best_count = 0;
  int64_t window_count = 0;
  int64_t order_count = 0;
  int64_t burst_count = 0;
  int64_t unknown_count = 0;
  // Of the unknown ones: behind the first 1,000 odd bindings, no explanation is looked for.
  int64_t unsearched_count = 0;
  // All that are not in the best set, in the order of the recording.
  std::vector<OddBinding> odd;
  // How long ago a change was at most that a scheduler may not have heard of.
  absl::Duration order_window;
  // The same for bindings of a burst.
  absl::Duration burst_window;
  // What there is in the end.
  int64_t node_count = 0;
  int64_t pod_count = 0;
  int64_t bound_count = 0;    // Of the pods that are not finished.
  int64_t pending_count = 0;  // The same.
  int64_t finished_count = 0;
  // Where statuses and pods of the end contradict each other, `ReplicaSet default/web: ...`.
  std::vector<std::string> contradictions;
  // By kind, group and name.
  std::vector<api::ObjectPtr> objects;
};

// Follows a recording to its end. Errors: those of SchedulerView::Make.
absl::StatusOr<FollowResult> FollowRecording(const Recording& recording, const SimulationOptions& options);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPLAY_FOLLOW_H_
