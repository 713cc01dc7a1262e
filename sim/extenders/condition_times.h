// When the conditions of pods changed, and how long deleted pods were given: the scheduler's objects do not
// say that, but requests to extenders do.
#ifndef SCHEDSIM_SIM_EXTENDERS_CONDITION_TIMES_H_
#define SCHEDSIM_SIM_EXTENDERS_CONDITION_TIMES_H_

#include <cstdint>
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
  // The whole seconds of the pod's grace period. Absent: it is not being deleted, or came so.
  std::optional<int64_t> GraceSeconds(const api::Pod& pod) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // Uid, type, status.
  std::map<Key, absl::Time> times_;
  std::map<std::string, int64_t> grace_seconds_;  // By uid.
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXTENDERS_CONDITION_TIMES_H_
