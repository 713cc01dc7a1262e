// When the conditions of pods changed: the scheduler's objects have no such times, but requests to extenders
// do.
#ifndef SCHEDSIM_SIM_EXTENDERS_CONDITION_TIMES_H_
#define SCHEDSIM_SIM_EXTENDERS_CONDITION_TIMES_H_

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/pod.h"

namespace schedsim::sim {

class ConditionTimes {
 public:
  // A pod is stored as `now`; `before` nullptr: it is new.
  void OnPod(const api::Pod* before, const api::Pod& now, absl::Time time);
  // When the pod's condition of this type got its status. Absent: it came with that.
  std::optional<absl::Time> Find(const api::Pod& pod, absl::string_view type, absl::string_view status) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // Uid, type, status.
  std::map<Key, absl::Time> times_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXTENDERS_CONDITION_TIMES_H_
