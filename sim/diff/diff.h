// How the decisions of two runs differ, where they differ first, and why.
#ifndef SCHEDSIM_SIM_DIFF_DIFF_H_
#define SCHEDSIM_SIM_DIFF_DIFF_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sim/diff/decision_source.h"
#include "sim/report/report.h"

namespace schedsim::sim {

// Why one side chose otherwise than the other.
struct DiffCause {
  enum class Kind : uint8_t {
    kUnknown,     // The traces do not say what was said of each node.
    kEquals,      // Both sides give both nodes the same total: the choice among equals fell otherwise.
    kScore,       // The plugin's scores differ.
    kFilter,      // The plugin refuses a node on one side only, by Filter or PreFilter.
    kNotSeen,     // One side did not look at the node: enough others fitted.
    kQueue,       // Another pod was tried.
    kPreemption,  // Neither side finds a node, and preemption takes another one.
    kGroup,       // The pod found a node, and stays behind with its group.
  };
  Kind kind = Kind::kUnknown;
  // "": no single one.
  std::string plugin;
  // A sentence for people, without a full stop.
  std::string text;
};

// One plugin's points for the two nodes on one side.
struct DiffScore {
  std::string plugin;
  // Weighted; by side, of A's node and of B's node.
  int64_t a_of_a = 0;
  int64_t a_of_b = 0;
  int64_t b_of_a = 0;
  int64_t b_of_b = 0;

  // How far the plugin moves B towards its own node, other than A.
  int64_t Pull() const { return (b_of_b - b_of_a) - (a_of_b - a_of_a); }
};

// What one side did at the first difference.
struct DiffDecision {
  // Its number among all attempts, from 1; 0: the side had made all its attempts.
  int64_t attempt = 0;
  absl::Duration time;
  std::string pod;
  std::string node;     // "": none.
  std::string message;  // Of a pod that got none.
  std::string nominated;
  // Of a pod that takes a node and stays behind all the same: the group that does not fit.
  std::string group;
};

struct FirstDifference {
  DiffDecision a;
  DiffDecision b;
  DiffCause cause;
  // Of two nodes that both sides scored, those plugins that differ between the sides first, the strongest
  // pull first.
  std::vector<DiffScore> scores;
};

// A pod that does not end alike.
struct PodDifference {
  enum class Kind : uint8_t { kMoved, kPending, kBound, kOnlyA, kOnlyB, kGone, kBack };
  std::string pod;
  Kind kind = Kind::kMoved;
  std::string a_node;
  std::string b_node;
  // Of the side on which it is pending.
  std::string message;
  DiffCause cause;
};

// A message that reads otherwise, of pods that are pending on both sides.
struct MessageDifference {
  std::string a;
  std::string b;
  int64_t count = 0;
  std::string first_pod;
};

struct DiffSide {
  std::string label;
  int64_t attempt_count = 0;
  int64_t bound_count = 0;    // At the end.
  int64_t pending_count = 0;  // The same.
  int64_t evicted_count = 0;  // Victims of preemption.
  // Nodes that have a pod at the end which the run bound.
  int64_t used_node_count = 0;
  // Absent: from a trace.
  std::optional<Report> report;
};

struct DiffResult {
  DiffSide a;
  DiffSide b;
  // Absent: both decide alike.
  std::optional<FirstDifference> first;
  int64_t same_count = 0;           // Pods that end alike.
  std::vector<PodDifference> pods;  // By name. Without those that are ignored.
  int64_t ignored_count = 0;
  std::vector<std::string> unused_rules;  // Of those to ignore: no pod that differs falls under them.
  // How many of the pods have each kind, and of the moved ones each cause.
  std::map<PodDifference::Kind, int64_t> kinds;
  int64_t equals_count = 0;
  int64_t unknown_count = 0;
  std::map<std::string, int64_t> plugins;   // The causes of all others, by plugin.
  std::vector<MessageDifference> messages;  // The most frequent first.
};

// What does not count.
struct DiffIgnore {
  bool equals = false;
  std::set<std::string> namespaces;
  std::set<std::string> pods;
  std::set<std::string> plugins;

  // As the user writes them.
  std::set<std::string> Rules() const;
};

// One rule, as a user writes it: `equals`, `namespace=NAME`, `pod=NAMESPACE/NAME` or `plugin=NAME`.
// InvalidArgument for anything else.
absl::Status AddIgnore(absl::string_view rule, DiffIgnore& ignore);

// Reads both sides, twice where they differ. Errors: those of the sources.
absl::StatusOr<DiffResult> Diff(DecisionSource& a, DecisionSource& b, const DiffIgnore& ignore);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_DIFF_DIFF_H_
