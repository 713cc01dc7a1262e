// Whether more objects fit into a cluster, and how many of one pod do.
#ifndef SCHEDSIM_SIM_WHATIF_FIT_H_
#define SCHEDSIM_SIM_WHATIF_FIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/plan/plan.h"
#include "sim/whatif/trial.h"

namespace schedsim::sim {

// Whether more objects fit.
struct FitAnswer {
  // Pods of the objects that the scheduler put on a node. By name.
  std::vector<PlacedPod> bound;
  // How many of their pods had a node in the cluster before.
  int64_t running_count = 0;
  // Pods that they ask for and that are on no node: they wait, were refused or evicted, are of another
  // scheduler, or were not made; and why, the most frequent first.
  int64_t pending_count = 0;
  std::vector<MessageSum> pending;
  // Objects of which this run can't say whether they fit, with why.
  std::vector<std::string> unanswered;
  // Those that ask for no pod.
  std::vector<std::string> asking_for_none;
  // Pods of the cluster as it is that are evicted, or no longer bound, for their sake.
  std::vector<std::string> displaced;
  // Whether the run ended, by its `until`, before each pod was tried.
  bool is_cut_off = false;
  // Whether the cluster, with the objects or without them, goes round in circles: then nothing else is known.
  bool is_in_circles = false;
  // See LateNotices.
  std::vector<std::string> notices;

  bool Fits() const {
    return pending_count == 0 && unanswered.empty() && (!bound.empty() || running_count > 0) &&
           !is_in_circles;
  }
};

// `with` is the plan `base` with the objects. Errors: those of RunPlan, and InvalidArgument for an object
// that the API server refuses, other than a pod that is forbidden, as by a quota.
absl::StatusOr<FitAnswer> WouldFit(const Plan& base, const Plan& with);

// How many pods like one fit beside what is there.
struct CountAnswer {
  int64_t count = 0;
  // Why there are not more; "": as many as were tried do.
  std::string message;
  std::vector<PlacedPod> bound;
  std::vector<std::string> displaced;
  // As in FitAnswer: then more may fit.
  bool is_cut_off = false;
  bool is_in_circles = false;  // As in FitAnswer.
  std::vector<std::string> notices;
};

// `with` has one pod that `base` has not, without a node: InvalidArgument otherwise. More and more of it are
// tried, until one does not fit, or as many do as all nodes together have room for pods, at most 100,000.
absl::StatusOr<CountAnswer> HowManyFit(const Plan& base, const Plan& with);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_WHATIF_FIT_H_
