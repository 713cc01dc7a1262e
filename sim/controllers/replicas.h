// The pods of workloads: scaling, and making anew what was deleted. A part of the ReplicaSet and StatefulSet
// controllers.
#ifndef SCHEDSIM_SIM_CONTROLLERS_REPLICAS_H_
#define SCHEDSIM_SIM_CONTROLLERS_REPLICAS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/base/rng.h"
#include "core/codec/objects/objects.h"
#include "sim/controllers/controller.h"

namespace schedsim::sim {

// A workload by name.
struct Workload {
  std::string kind;  // Deployment, ReplicaSet, ReplicationController or StatefulSet.
  std::string name_space;
  std::string name;

  friend auto operator<=>(const Workload&, const Workload&) = default;
};

// Makes and deletes the pods of workloads. Pods that are made are 1 ms apart.
class ReplicaController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions&) { return true; }
  // Names are drawn from a stream of the context's.
  explicit ReplicaController(const ControllerContext& context);
  ReplicaController(const ReplicaController&) = delete;
  ReplicaController& operator=(const ReplicaController&) = delete;

  // Pods, and workloads; Deployments are among the other kinds.
  std::vector<api::Kind> Watches() const override {
    return {api::Kind::kPod, api::Kind::kReplicaSet, api::Kind::kReplicationController,
            api::Kind::kStatefulSet, api::Kind::kOther};
  }
  void OnEvent(const WatchEvent& event) override;
  // From now on pods follow changes of spec.replicas, and pods of ReplicaSets, ReplicationControllers and
  // StatefulSets that are deleted are made anew, until there are as many as now, or as was asked for last.
  // Each only if the options say so.
  void Start() override;

  // Makes or deletes pods until the workload has `replicas`. New ones are made from the template of the
  // workload, with claims from a StatefulSet's templates, or as copies of a pod that it has. A Deployment's
  // pods belong to its newest ReplicaSet, which is made if there is none. busy_until says when the last one
  // is there. NotFound where there is neither workload nor pod; FailedPrecondition where there is no
  // template; PermissionDenied where admission refuses its pods.
  absl::Status Scale(const Workload& workload, int64_t replicas);
  absl::Time busy_until() const { return busy_until_; }
  // The object of the workload; nullptr: there is none.
  api::ObjectPtr Find(const Workload& workload) const;
  // Whether pods that are deleted are made anew.
  bool replaces() const { return replaces_; }
  // Changes of spec.replicas that pods could not follow, each with the workload, and why.
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  using Pods = std::vector<api::PodPtr>;

  void OnWorkload(const WatchEvent& event);
  void OnPod(const WatchEvent& event);
  void Refill(const Workload& workload);
  // How many pods there are too few, without those that are about to be created.
  int64_t Missing(const Workload& workload, const Pods& pods);
  // Pods of the workload that are neither over nor being deleted, by name.
  Pods PodsOf(const Workload& workload) const;
  void DeleteSurplus(const Workload& workload, Pods pods, int64_t surplus);
  absl::Status MakePods(const Workload& workload, const Pods& pods, int64_t count);
  // The claims of a StatefulSet's templates for a pod of this name.
  absl::StatusOr<std::vector<api::ObjectPtr>> MakeClaims(const Workload& workload,
                                                         const std::string& pod_name);
  absl::StatusOr<api::ObjectPtr> MakeClaim(const codec::Value& claim_template, const std::string& name_space,
                                           const std::string& pod_name, const std::string& file);
  absl::StatusOr<Workload> ReplicaSetOf(const Workload& deployment);
  absl::StatusOr<api::ObjectPtr> MakePod(const Workload& workload, const api::PodPtr& model,
                                         const std::string& name);
  absl::StatusOr<api::ObjectPtr> FromTemplate(const api::Object& owner, const std::string& name);
  // A name that is not among `taken`. Ordinals below `ordinal` are known to be taken; it is moved on. May
  // draw.
  std::string NewName(const Workload& workload, const std::set<std::string>& taken, int64_t& ordinal);

  Rng rng_;
  EventLoop& loop_;
  ApiServer& server_;
  Trace& trace_;
  codec::ObjectReader reader_;
  const bool may_follow_;
  const bool may_replace_;
  bool follows_ = false;
  bool replaces_ = false;
  absl::Time busy_until_ = absl::InfinitePast();
  std::map<Workload, int64_t> wanted_;
  // What Scale was asked for last, also for Deployments.
  std::map<Workload, int64_t> asked_;
  std::vector<std::string> failures_;
  // Names of pods that are about to be created.
  std::map<Workload, std::set<std::string>> coming_;
  // A copy of a pod of each workload, for those whose pods are all gone.
  std::map<Workload, api::PodPtr> models_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_REPLICAS_H_
