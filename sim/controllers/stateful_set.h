// StatefulSets.
#ifndef SCHEDSIM_SIM_CONTROLLERS_STATEFUL_SET_H_
#define SCHEDSIM_SIM_CONTROLLERS_STATEFUL_SET_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/base/rng.h"
#include "core/codec/objects/objects.h"
#include "sim/controllers/controller.h"
#include "sim/controllers/controller_history.h"
#include "sim/controllers/controller_refs.h"
#include "sim/controllers/owned_pods.h"
#include "sim/controllers/slow_start.h"
#include "sim/controllers/work_queue.h"
#include "sim/controllers/workload_fields.h"

namespace schedsim::sim {

struct StatefulSetSpec {
  int64_t replicas = 1;
  int64_t start_ordinal = 0;
  int64_t min_ready_seconds = 0;
  int64_t revision_history_limit = 10;
  bool is_parallel = false;
  bool updates_on_delete = false;
  // Absent: the set has no rollingUpdate, which means another thing than a partition of 0.
  std::optional<int64_t> partition;
  IntOrPercent max_unavailable = {.value = 1};
  std::string service_name;
  // Names of the volumeClaimTemplates.
  std::vector<std::string> claims;
  std::optional<int64_t> generation;
  // Fields that are read but not heeded, for a warning.
  std::vector<std::string> ignored_fields;

  struct Status {
    std::optional<int64_t> observed_generation;
    int64_t replicas = 0;
    int64_t ready_replicas = 0;
    int64_t available_replicas = 0;
    int64_t current_replicas = 0;
    int64_t updated_replicas = 0;
    std::string current_revision;
    std::string update_revision;
    std::optional<int64_t> collision_count;
    WorkloadConditions conditions;

    friend bool operator==(const Status&, const Status&) = default;
  };
  Status status;
};

// InvalidArgument for what is malformed.
absl::Status ReadStatefulSet(const api::Object& object, StatefulSetSpec& spec);

// Keeps pods with ordinals and claims of their own: one after the other, or all at once (Parallel), and rolls
// out new templates from the highest ordinal down. Source: kubernetes v1.37, pkg/controller/statefulset. Not
// here: a persistentVolumeClaimRetentionPolicy that deletes claims.
class StatefulSetController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) { return options.workloads; }
  explicit StatefulSetController(const ControllerContext& context);
  StatefulSetController(const StatefulSetController&) = delete;
  StatefulSetController& operator=(const StatefulSetController&) = delete;

  // StatefulSets, and ControllerRevisions, which are among the other kinds.
  std::vector<api::Kind> Watches() const override { return {api::Kind::kStatefulSet, api::Kind::kOther}; }
  void OnEvent(const WatchEvent& event) override;
  void Start() override;

 private:
  // A place for a pod.
  struct Replica {
    int64_t ordinal = 0;
    api::PodPtr pod;  // nullptr: it is still to be made.
    absl::Time ready_since;
  };
  // A set while it is looked at.
  struct Look {
    api::ObjectPtr object;
    StatefulSetSpec* spec = nullptr;
    Revision current;
    Revision update;
    std::vector<Replica> replicas;   // By ordinal.
    std::vector<Replica> condemned;  // By ordinal, the highest first.
  };

  absl::Status Sync(const std::string& key);
  absl::Status FindRevisions(Look& look);
  void FindReplicas(Look& look) const;
  bool IsAvailable(const Replica& replica, const StatefulSetSpec& spec) const;
  bool IsUnavailable(const Replica& replica, const StatefulSetSpec& spec) const;

  // Pods of a set that are made in parallel.
  struct Creation {
    Revision current;
    Revision update;
    std::vector<int64_t> ordinals;  // Still to be made, the highest first.
    SlowStart batches;
  };

  // Each returns whether there is nothing more to do for now.
  absl::StatusOr<bool> MakeReplicas(const std::string& key, Look& look);
  void CreateInParallel(const std::string& key, const Look& look);
  void CreateNext(const std::string& key);
  // Whether the status is no error that is worth another try; a warning says what is malformed.
  bool IsDone(const api::Object& object, absl::Status& status);
  bool DeleteCondemned(Look& look);
  void RollOut(Look& look);

  absl::Status CreatePod(const Look& look, int64_t ordinal);
  // Whether a claim of the templates is not there, or is being deleted. Most often none is, and reading the
  // templates costs more than to look.
  bool LacksClaim(const api::Pod& pod, const StatefulSetSpec& spec) const;
  absl::Status CreateClaims(const Look& look, const std::string& pod_name);
  StatefulSetSpec::Status StatusOf(const Look& look) const;
  void WriteStatus(const Look& look, StatefulSetSpec::Status status);

  Rng call_rng_;
  const Latency api_call_;
  EventLoop& loop_;
  ApiServer& server_;
  OwnedPods& owned_pods_;
  ControllerRefs& refs_;
  std::vector<std::string>& warnings_;
  codec::ObjectReader reader_;
  WorkQueue queue_;
  ControllerHistory history_;
  SpecCache<StatefulSetSpec> specs_{ReadStatefulSet};
  // By key; those that are running.
  std::map<std::string, Creation> creations_;
  // Until when changes of pods of a large set are gathered, by key.
  std::map<std::string, absl::Time> gathers_until_;
  // Sets of which a warning says what is not heeded, by uid.
  std::set<std::string> warned_;
  bool started_ = false;
  bool is_updating_history_ = false;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_STATEFUL_SET_H_
