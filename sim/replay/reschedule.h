// The workload of a recording, with a simulated scheduler in the place of the recorded one.
#ifndef SCHEDSIM_SIM_REPLAY_RESCHEDULE_H_
#define SCHEDSIM_SIM_REPLAY_RESCHEDULE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/base/lookup_map.h"
#include "sim/cluster/api_server.h"
#include "sim/formats/recording.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

// How a run compares with the recording whose workload it had. Only pods count that waited for a node of one
// of the profiles at some time of the recording.
struct RecordingComparison {
  int64_t pod_count = 0;
  // Bound in both, on one node and on two; in one of them; in neither.
  int64_t same_node_count = 0;
  int64_t other_node_count = 0;
  int64_t recorded_only_count = 0;
  int64_t here_only_count = 0;
  int64_t neither_count = 0;
  // Pods that the scheduler deleted to make room for others.
  int64_t recorded_victim_count = 0;
  // From the creation to the binding, over the pods that were bound in both. Zeros where there are none.
  struct Latencies {
    absl::Duration p50, p90, p99, max;
  };
  Latencies recorded;
  Latencies here;
  // Changes of the recording that took effect; what was the scheduler's, the kubelets' or volume binding's to
  // say; what could not be done, such as changes of pods that are gone here.
  int64_t applied_count = 0;
  int64_t left_out_count = 0;
  int64_t failed_count = 0;
  std::string first_failed;  // "line 12: why"; "": none.
  // The pods that are not on the same node, by namespace and name.
  struct Pod {
    std::string pod;
    std::string recorded_node;  // "": not bound.
    std::string node;           // The same.
  };
  std::vector<Pod> others;
};

// Writes the workload to the API server of a simulation: objects as they come, change and go, pods without
// the nodes and statuses that they were given. A pod that finished does so when it has run as long here as
// there; a pod that made room for another is left to the scheduler. Claims and volumes are bound anew.
class RescheduleScript : public Script {
 public:
  // Both must outlive it. To be made before objects are created.
  RescheduleScript(const Recording& recording, Simulation& simulation);

  // What there is when the run begins, in the order of its creation.
  static std::vector<api::ObjectPtr> FirstObjects(const Recording& recording);

  void Start() override { Schedule(); }
  // What comes behind the recording need not be waited for once nothing moves.
  void OnSettled() override;
  bool Done() const override { return next_ == recording_.changes.size(); }
  bool Waits() const override { return false; }

  // After the run.
  RecordingComparison Compare() const;

 private:
  // What became of a pod in the recording, and here.
  struct Life {
    std::string key;
    absl::Time created;
    bool waited = false;  // For a node, and for a scheduler that is simulated.
    std::optional<absl::Time> bound;
    std::string node;
    std::optional<absl::Time> finished;
    api::PodPtr last;  // As it finished.
    bool is_victim = false;
    std::optional<absl::Time> bound_here;
    std::string node_here;
  };

  void ReadLives();
  void ReadLife(const api::ObjectPtr& before, const api::ObjectPtr& after, absl::Time at);
  void OnWatch(const WatchEvent& event);
  void Schedule();
  void Apply(const RecordedChange& change);
  absl::Status ApplyPod(const RecordedChange& change);
  absl::Status CreatePod(const api::Pod& pod);
  absl::Status UpdatePod(const api::Pod& before, const api::Pod& after, absl::Time at);
  absl::Status EndPod(const api::Pod& stored, const api::Pod& after, absl::Time at);
  absl::Status ApplyVolume(const RecordedChange& change);
  absl::Status ApplyOther(const RecordedChange& change);
  void FinishLater(Life& life);
  void Finish(const std::string& uid);

  const Recording& recording_;
  Simulation& simulation_;
  size_t next_ = 0;
  // Of the change that is being applied.
  bool is_left_out_ = false;
  std::map<std::string, Life> lives_;  // By uid.
  RecordingComparison result_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPLAY_RESCHEDULE_H_
