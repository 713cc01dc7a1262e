// What must hold of every run, whatever fails in it.
#ifndef SCHEDSIM_SIM_SEEDS_INVARIANTS_H_
#define SCHEDSIM_SIM_SEEDS_INVARIANTS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/pod.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

// Looks on at a run:
//   no pod is bound twice, or leaves its node for another;
//   no pod is lost: each that was created is there in the end, or was deleted;
//   each pod that waits for a scheduler is in exactly one of its queues, and no other pod is in any;
//   the cache of each scheduler has the pods that are on nodes, each on its node, and no others.
// It changes nothing.
class Invariants {
 public:
  // To be made before objects are created; `simulation` must outlive it, but for its own end.
  explicit Invariants(Simulation& simulation);
  Invariants(const Invariants&) = delete;
  Invariants& operator=(const Invariants&) = delete;

  // To be called once, when the run is over. A sentence for each thing that does not hold, the first few.
  std::vector<std::string> Check();
  // After Check: whether all had arrived in the end. Otherwise queue and cache were not looked at, since the
  // scheduler could not know yet what they lack.
  bool had_settled() const { return had_settled_; }

 private:
  void OnPod(const WatchEvent& event);
  void CheckScheduler(scheduler::Scheduler& scheduler);
  void CheckPod(const api::Pod& pod, scheduler::Scheduler& scheduler);
  void CheckCache(const scheduler::Scheduler& scheduler);
  void Note(absl::string_view what, const api::Pod& pod);

  Simulation& simulation_;
  std::map<std::string, api::PodPtr> alive_;  // By uid, as they were last.
  std::set<std::string> bound_;               // Uids of pods that were bound in the run.
  // Of the scheduler that is checked, by "namespace/name": in how many places of its queue.
  std::map<std::string, int64_t> queued_;
  std::vector<std::string> problems_;
  int64_t problem_count_ = 0;
  bool had_settled_ = true;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SEEDS_INVARIANTS_H_
