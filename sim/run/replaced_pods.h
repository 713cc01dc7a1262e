// Whether a run goes round in circles because pods are evicted, or end, and are made anew, again and again.
#ifndef SCHEDSIM_SIM_RUN_REPLACED_PODS_H_
#define SCHEDSIM_SIM_RUN_REPLACED_PODS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/pod.h"
#include "core/base/lookup_map.h"
#include "sim/cluster/api_server.h"

namespace schedsim::sim {

// Counts, by the controller that owns them, the pods that left and that nobody outside deleted. A workload
// goes round when so many of its pods left since the last progress as no finite work needs: kRoundsMax times
// as many as it ever had at one time, or its Job has completions, and kReplacedMin at least.
//
// Progress is a new maximum of pods of one workload and revision that are on nodes, those of Jobs that
// succeeded among them; a pod without a controller that is bound; and what the caller says, above all each
// change from outside. Between two changes from outside each workload has an end of such maxima, so a run
// either makes progress finitely often or goes round. A rollout, a Job whose pods preempt the same pod one
// after the other, and pods that arrive make progress with each pod.
class ReplacedPods {
 public:
  static constexpr int64_t kReplacedMin = 200;
  static constexpr int64_t kRoundsMax = 10;

  struct Circle {
    std::string workload;  // "ReplicaSet default/web".
    int64_t replaced_count = 0;
    int64_t victim_count = 0;  // Those of them that a scheduler evicted.
    absl::Time since;          // The last progress.
    absl::Time seen;           // When it was found.
  };

  // `server` must outlive this.
  explicit ReplacedPods(const ApiServer& server) : server_(server) {}

  // Something came from outside.
  void OnChangeFromOutside(absl::Time now);
  // Progress of another kind. All counts of pods that left begin anew.
  void OnProgress(absl::Time now);

  // What the API server says of a pod. `counts`: whether the pod counts if it left. `is_victim`: a scheduler
  // deleted it. True: it is progress, which the caller then hands to OnProgress, if it is one for the run.
  bool OnPod(const WatchEvent& event, bool counts, bool is_victim, absl::Time now);

  // Whether a workload goes round, and no progress was made since.
  bool GoesRound() const { return circle_.has_value() && circle_epoch_ == epoch_; }
  // How many pods of that workload left since it was found. GoesRound must hold.
  int64_t ReplacedSinceSeen() const;
  // The workload that goes round, with its counts up to now; absent: none does.
  std::optional<Circle> circle() const { return circle_; }

 private:
  struct Workload {
    uint64_t epoch = 0;  // Of the counts of pods that left.
    int64_t replaced = 0;
    int64_t victims = 0;
    int64_t active = 0;
    int64_t active_max = 0;
  };
  struct Revision {
    uint64_t outside_epoch = 0;  // Of the maximum.
    int64_t placed = 0;
    int64_t placed_max = 0;
  };

  bool NotePlaced(const api::Pod& pod, const api::OwnerReference& owner, int64_t by);
  void NoteReplaced(const api::Pod& pod, const api::OwnerReference& owner, bool is_victim, absl::Time now);
  // Of the Job that owns the pod; 0: it is none, or does not say.
  int64_t CompletionsOf(const api::Pod& pod, const api::OwnerReference& owner) const;

  const ApiServer& server_;
  uint64_t epoch_ = 1;          // Counts progress.
  uint64_t outside_epoch_ = 1;  // Counts changes from outside.
  absl::Time since_ = absl::InfinitePast();
  LookupMap<std::string, Workload> workloads_;  // By uid.
  LookupMap<std::string, Revision> revisions_;  // By uid and revision.
  std::optional<Circle> circle_;
  std::string circle_uid_;
  uint64_t circle_epoch_ = 0;
  int64_t replaced_when_seen_ = 0;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RUN_REPLACED_PODS_H_
