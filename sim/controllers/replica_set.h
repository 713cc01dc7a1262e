// ReplicaSets and ReplicationControllers.
#ifndef SCHEDSIM_SIM_CONTROLLERS_REPLICA_SET_H_
#define SCHEDSIM_SIM_CONTROLLERS_REPLICA_SET_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/base/rng.h"
#include "core/codec/objects/objects.h"
#include "sim/controllers/controller.h"
#include "sim/controllers/controller_refs.h"
#include "sim/controllers/owned_pods.h"
#include "sim/controllers/slow_start.h"
#include "sim/controllers/work_queue.h"
#include "sim/controllers/workload_fields.h"

namespace schedsim::sim {

// What is read of a ReplicaSet or ReplicationController.
struct ReplicaSetSpec {
  int64_t replicas = 1;
  int64_t min_ready_seconds = 0;
  std::optional<int64_t> generation;

  struct Status {
    std::optional<int64_t> observed_generation;
    int64_t replicas = 0;
    int64_t fully_labeled_replicas = 0;
    int64_t ready_replicas = 0;
    int64_t available_replicas = 0;
    std::optional<int64_t> terminating_replicas;
    WorkloadConditions conditions;

    friend bool operator==(const Status&, const Status&) = default;
  };
  Status status;
  // A pod as the template makes it, without a name. nullptr: not made yet.
  std::shared_ptr<const api::Pod> prototype;
};

// InvalidArgument for what is malformed.
absl::Status ReadReplicaSet(const api::Object& object, ReplicaSetSpec& spec);

// Keeps as many pods as spec.replicas says. New ones come in batches; those that are too many go at once, in
// upstream's order. Source: kubernetes v1.37, pkg/controller/replicaset/replica_set.go.
class ReplicaSetController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) { return options.workloads; }
  // Names are drawn from a stream of the context's.
  explicit ReplicaSetController(const ControllerContext& context);
  ReplicaSetController(const ReplicaSetController&) = delete;
  ReplicaSetController& operator=(const ReplicaSetController&) = delete;

  std::vector<api::Kind> Watches() const override {
    return {api::Kind::kReplicaSet, api::Kind::kReplicationController};
  }
  void OnEvent(const WatchEvent& event) override;
  void Start() override;

 private:
  // Pods of one set that are still to be made.
  struct Creation {
    int64_t left = 0;
    bool is_running = false;
    SlowStart batches;
    // Why the last one could not be made; "": it could.
    std::string error;
  };

  // `key`: "ReplicaSet/namespace/name".
  api::ObjectPtr Find(const std::string& key) const;
  absl::Status Sync(const std::string& key);
  void Manage(const std::string& key, const api::ObjectPtr& object, const ReplicaSetSpec& spec);
  void CreateNext(const std::string& key);
  // Pods of the set could not be made.
  void Fail(const std::string& key, const api::ObjectPtr& object, ReplicaSetSpec& spec,
            const absl::Status& error);
  absl::Status CreatePod(const api::ObjectPtr& object, ReplicaSetSpec& spec);
  void DeleteSurplus(const api::Object& object, int64_t surplus);
  // How many active pods of all sets with the same owner are on each node.
  std::map<std::string, int64_t> CountOnNodes(const api::Object& object) const;
  void WriteStatus(const std::string& key, const api::ObjectPtr& object, ReplicaSetSpec& spec,
                   const OwnedPods::Counts& counts);

  Rng rng_;
  Rng call_rng_;
  const Latency api_call_;
  EventLoop& loop_;
  ApiServer& server_;
  OwnedPods& owned_pods_;
  ControllerRefs& refs_;
  std::vector<std::string>& warnings_;
  codec::ObjectReader reader_;
  WorkQueue queue_;
  SpecCache<ReplicaSetSpec> specs_{ReadReplicaSet};
  std::map<std::string, Creation> creations_;
  bool started_ = false;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_REPLICA_SET_H_
