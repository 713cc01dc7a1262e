// What the controllers of nodes read and write of a node.
#ifndef SCHEDSIM_SIM_CONTROLLERS_NODE_FIELDS_H_
#define SCHEDSIM_SIM_CONTROLLERS_NODE_FIELDS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/node.h"
#include "core/api/taints.h"
#include "sim/cluster/api_server.h"
#include "sim/cluster/node_condition.h"

namespace schedsim::sim {

inline constexpr char kNoExecute[] = "NoExecute";
inline constexpr char kNoSchedule[] = "NoSchedule";

// Whether the node says that it is not ready. One that says nothing counts as ready: it comes from a file
// that nobody's kubelet has seen.
bool IsNotReady(const api::Node& node);

// Whether the node does not count where disruptions of its zone are judged.
// Source: kubernetes v1.37, pkg/controller/nodelifecycle, isNodeExcludedFromDisruptionChecks.
bool IsExcludedFromDisruption(const api::Node& node);

// `effect`: "" for any.
bool HasTaint(const api::Node& node, absl::string_view key, absl::string_view effect = "");
bool HasNoExecuteTaint(const api::Node& node);

// The zone of the node with its region; "": it has neither.
// Source: component-helpers v0.37, node/topology/helpers.go, GetZoneKey.
std::string ZoneOf(const api::Node& node);

// When each NoExecute taint of the node was added, by its key; without those that do not say it.
std::map<std::string, absl::Time> NoExecuteTimes(const api::Node& node);

// What a condition becomes.
struct NodeConditionChange {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
};

// Writes the conditions of the node, those that it does not have at the end. NotFound when there is none.
absl::Status SetConditions(const api::Node& node, const std::vector<NodeConditionChange>& changes,
                           absl::Time now, ApiServer& server);

// Takes taints off the node, by key and effect, and puts others at the end. Nothing is written where nothing
// changes. NotFound when there is none.
absl::Status SwapTaints(const std::string& node_name, const std::vector<api::Taint>& added,
                        const std::vector<api::Taint>& removed, absl::Time now, ApiServer& server);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_NODE_FIELDS_H_
