// What the scheduler and its extenders write to each other.
// Source: kube-scheduler v0.37, extender/v1/types.go.
#ifndef SCHEDSIM_SIM_EXTENDERS_EXTENDER_MESSAGES_H_
#define SCHEDSIM_SIM_EXTENDERS_EXTENDER_MESSAGES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/node.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "sim/extenders/condition_times.h"

namespace schedsim::sim {

// An object as it stands in a request.
struct WrittenObject {
  std::string json;
  std::string digest;  // See ObjectDigest.
};

// Writes objects. Those of nodes are kept, since they come again and again.
class ObjectScribe {
 public:
  // `sends_types`: see ExtenderOptions. `times` must outlive it.
  ObjectScribe(bool sends_types, const ConditionTimes& times) : sends_types_(sends_types), times_(times) {}

  // Valid until the next call. `is_foreign`: an extender gave the node back, with a type or without.
  const WrittenObject& Node(const api::NodePtr& node, bool is_foreign);
  WrittenObject Pod(const api::Pod& pod) const;

 private:
  struct KnownNode {
    api::NodePtr node;  // Keeps the key from being used again.
    WrittenObject written;
  };

  WrittenObject Write(const api::Object& object, bool keeps_type) const;

  const bool sends_types_;
  const ConditionTimes& times_;
  std::map<const api::Node*, KnownNode> nodes_;
};

// Answers. Each Parse returns what the scheduler says of one that it cannot take; "": nothing is wrong.

struct FilterAnswer {
  std::optional<std::vector<api::NodePtr>> nodes;
  std::optional<std::vector<std::string>> node_names;
  std::map<std::string, std::string> failed_nodes;
  std::map<std::string, std::string> failed_and_unresolvable_nodes;
  std::string error;
};
std::string ParseFilterAnswer(absl::string_view body, FilterAnswer& answer);

using PriorityList = std::vector<std::pair<std::string, int64_t>>;
std::string ParsePriorities(absl::string_view body, PriorityList& answer);

struct MetaVictims {
  std::vector<std::string> uids;
  int64_t violations = 0;
};
std::string ParsePreemptionAnswer(absl::string_view body, std::map<std::string, MetaVictims>& answer);

// `error`: what the answer says.
std::string ParseBindingAnswer(absl::string_view body, std::string& error);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXTENDERS_EXTENDER_MESSAGES_H_
