// What became of a drain, for reports.
#ifndef SCHEDSIM_SIM_RECORD_DRAIN_RECORD_H_
#define SCHEDSIM_SIM_RECORD_DRAIN_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace schedsim::sim {

// A pod that a drain was to evict.
struct DrainedPod {
  std::string pod;    // "namespace/name".
  std::string owner;  // What controls it, "ReplicaSet/web-5d4"; "": nothing does.
  // Absent: no eviction was allowed; the pod is still there.
  std::optional<absl::Time> evicted;
  std::optional<absl::Time> gone;
  // Whether the pod was over or being deleted when it was evicted: its successor comes for that.
  bool was_over = false;
  // How often an eviction was refused, the budget that refused the last one, and why.
  int64_t refusal_count = 0;
  std::string budget;
  std::string cause;
  // Why there was no further try; "": there was no error.
  std::string error;
  // The pod that its controller made in its place, and that one's node; "" for none.
  std::string successor;
  std::string successor_node;
  bool successor_is_gone = false;  // It was deleted in turn.
};

// A node that a drain named.
struct DrainedNode {
  enum class State : uint8_t {
    kWaiting,   // The nodes before it were not yet done with when the run ended.
    kDraining,  // Pods were still there when the run ended.
    kDrained,
    kFailed,  // `message` says why. Pods that were there may be gone.
  };
  std::string node;
  State state = State::kWaiting;
  std::string message;
  std::optional<absl::Time> begun;
  std::optional<absl::Time> ended;
  // In the order of their names.
  std::vector<DrainedPod> pods;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RECORD_DRAIN_RECORD_H_
