// Small changes of a pod, or of a node and what is on it.
#ifndef SCHEDSIM_SIM_EXPLAIN_CHANGE_H_
#define SCHEDSIM_SIM_EXPLAIN_CHANGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/api/pod.h"
#include "core/api/quantity.h"
#include "core/api/taints.h"
#include "sim/explain/trial_cluster.h"

namespace schedsim::sim {

struct Change {
  enum class Type : uint8_t {
    kAskLess,    // The pod asks for `amount` less of the resource `name`.
    kTolerate,   // The pod tolerates `taint`.
    kMaxSkew,    // The pod's spreading constraint over the key `name` has the maxSkew `value`.
    kLeaveOut,   // The pod is without `value` of its field `name`: see PodWith.
    kLabel,      // The node has the label `name` with `value`; absent: it has none.
    kUncordon,   // The node is schedulable.
    kAllow,      // The node has `amount` more of `name`: a resource of status.allocatable.
    kAllowMore,  // The node can attach `amount` more volumes of the driver `name`.
    kFeature,    // The node declares the feature `name`.
    kDriver,     // The node has the CSI driver `name`.
    kPodAway,    // The pod `name`, "namespace/name", is gone.
  };

  Type type = Type::kAskLess;
  std::string name;
  std::optional<std::string> value = std::nullopt;
  api::Quantity amount = {};
  api::Taint taint = {};
  // How large the change is beside others: 1000 and up to 1000 more for what it takes away.
  int64_t size = 1000;

  bool IsOfPod() const {
    return type == Type::kAskLess || type == Type::kTolerate || type == Type::kMaxSkew ||
           type == Type::kLeaveOut;
  }
};

// Smaller ones are nearer.
int64_t SizeOf(const std::vector<Change>& changes);

// "tolerate" and so on, for JSON.
std::string ChangeName(const Change& change);
// What is to be done, such as "tolerate dedicated=db:NoSchedule".
std::string ChangeText(const Change& change);

// The fields of kLeaveOut.
inline constexpr char kHostPort[] = "hostPort";                // "80/TCP" or "10.0.0.1:80/TCP".
inline constexpr char kNodeSelector[] = "nodeSelector";        // The key.
inline constexpr char kNodeAffinity[] = "nodeAffinity";        // "": all that is required.
inline constexpr char kPodAffinity[] = "podAffinity";          // A required term, as AffinityTermText has it.
inline constexpr char kPodAntiAffinity[] = "podAntiAffinity";  // The same.

// The pod after those of the changes that are of pods.
api::PodPtr PodWith(const api::PodPtr& pod, const std::vector<Change>& changes);
// Makes the other changes in the cluster.
void ApplyTo(TrialCluster& trial, const std::string& node, const std::vector<Change>& changes);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_CHANGE_H_
