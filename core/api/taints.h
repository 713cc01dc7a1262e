// Taints of nodes and tolerations of pods.
#ifndef SCHEDSIM_CORE_API_TAINTS_H_
#define SCHEDSIM_CORE_API_TAINTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace schedsim::api {

// Keys of taints that the node lifecycle controller sets.
inline constexpr absl::string_view kTaintNodeNotReady = "node.kubernetes.io/not-ready";
inline constexpr absl::string_view kTaintNodeUnreachable = "node.kubernetes.io/unreachable";
inline constexpr absl::string_view kTaintNodeUnschedulable = "node.kubernetes.io/unschedulable";

struct Taint {
  std::string key;
  std::string value;
  std::string effect;  // NoSchedule, PreferNoSchedule or NoExecute.

  friend bool operator==(const Taint&, const Taint&) = default;
};

struct Toleration {
  std::string key;
  std::string operator_;  // Equal, Exists or "" (Equal); Lt and Gt never tolerate.
  std::string value;
  std::string effect;                              // "": every effect.
  std::optional<int64_t> toleration_seconds = {};  // How long NoExecute is borne; absent: for good.
};

// Whether `toleration` tolerates `taint`.
// Source: api v0.37, core/v1/toleration.go, with TaintTolerationComparisonOperators off.
bool Tolerates(const Toleration& toleration, const Taint& taint);

// The first of `tolerations` that tolerates `taint`: its seconds count. nullptr: none does.
const Toleration* FindToleration(const std::vector<Toleration>& tolerations, const Taint& taint);

// Whether one of `tolerations` tolerates `taint`.
bool TolerationsTolerateTaint(const std::vector<Toleration>& tolerations, const Taint& taint);

// Whether one of `taints` keeps away, by NoSchedule or NoExecute, a pod with these tolerations.
// Source: component-helpers v0.37, scheduling/corev1/helpers.go, FindMatchingUntoleratedTaint.
bool HasUntoleratedTaint(const std::vector<Taint>& taints, const std::vector<Toleration>& tolerations);

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_TAINTS_H_
