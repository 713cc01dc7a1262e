// One run of a cluster, with what tells its pods apart from those of another run of it. Names that are drawn
// differ from run to run, so pods are compared by what controls them.
#ifndef SCHEDSIM_SIM_WHATIF_TRIAL_H_
#define SCHEDSIM_SIM_WHATIF_TRIAL_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "sim/plan/plan.h"
#include "sim/report/report.h"

namespace schedsim::sim {

// A pod that was there at any time of the run.
struct TrialPod {
  std::string key;  // "namespace/name".
  // What controls it, "ReplicaSet shop/web-5d4"; itself, "Pod shop/web-0", where nothing does.
  std::string group;
  // What controls that in turn: "Deployment shop/web".
  std::string root;
  std::string node;   // "": none.
  std::string phase;  // "Succeeded", "Failed", or something else.
  // Whether the scheduler put it there in this run.
  bool is_placed = false;
  bool is_ending = false;   // It has a deletionTimestamp.
  bool is_deleted = false;  // It is gone.
  bool is_evicted = false;  // By preemption, and gone.
  // Whether it has no node and the scheduler is to find one.
  bool is_pending = false;
  // Whether it has no node and is for another scheduler.
  bool is_ignored = false;
  // Why it has no node; "": there was no attempt, or nothing to say.
  std::string message;

  bool IsOver() const { return phase == "Succeeded" || phase == "Failed"; }
  // Whether it is there, not over, and stays.
  bool IsActive() const { return !is_deleted && !is_ending && !IsOver(); }
  // Whether it has what it needs: a node, or it came to a good end on one.
  bool Holds() const { return !node.empty() && (IsActive() || phase == "Succeeded"); }
};

struct Trial {
  Report report;
  // Where pods are made anew in circles, what is so in the end is no answer.
  bool IsInCircles() const { return report.has_replaced_in_circles; }
  std::vector<TrialPod> pods;  // By key; of one name, in the order of their creation.
  // See LateNotices.
  std::vector<std::string> notices;
  // Objects of the input that the API server refused: place in the input, and its answer.
  struct Refused {
    size_t index = 0;
    std::string message;
  };
  std::vector<Refused> refused;
  // With KeptObjects::kAll, the cluster in the end: the objects of the input that are still there, in their
  // order, then what came to be, pods last.
  std::vector<api::ObjectPtr> objects;
};

enum class KeptObjects : uint8_t { kNone, kAll };

// What is said of both: the notices of `after`, and of `before` where that alone goes round in circles.
const std::vector<std::string>& NoticesOf(const Trial& before, const Trial& after);

// Runs the plan to its end. Errors: those of RunPlan.
absl::StatusOr<Trial> RunTrial(Plan plan, KeptObjects kept = KeptObjects::kNone);

// Pods of `before` that lose their node in `after`: victims of preemption, and those of which their
// controller has fewer on nodes. `explained`: by group, how many are missing for a reason that is told
// elsewhere. By name.
std::vector<std::string> Displaced(const Trial& before, const Trial& after,
                                   const std::map<std::string, int64_t>& explained);

// Pods of `after` that are as `is` says, as far as their group has more of these than in `before`: those
// first that are not so in `before` under the same name, and of these those on `first_nodes`. By key.
using PodTest = bool (*)(const TrialPod& pod);
std::vector<const TrialPod*> Gained(const Trial& before, const Trial& after, PodTest is,
                                    const std::set<std::string>& first_nodes);

// The message of a pod that waits, but was not tried yet.
inline constexpr absl::string_view kNoAttempt = "(no attempt yet)";

// How many pods have one message.
struct MessageSum {
  std::string message;
  int64_t count = 0;
};

class Messages {
 public:
  // "" counts as kNoAttempt.
  void Add(const std::string& message, int64_t count = 1);
  // The most frequent first.
  std::vector<MessageSum> Sums() const;

 private:
  std::map<std::string, int64_t> counts_;
};

// A pod, "namespace/name", and its node.
struct PlacedPod {
  std::string pod;
  std::string node;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_WHATIF_TRIAL_H_
