// Deployments.
#ifndef SCHEDSIM_SIM_CONTROLLERS_DEPLOYMENT_H_
#define SCHEDSIM_SIM_CONTROLLERS_DEPLOYMENT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/base/symbol.h"
#include "core/codec/objects/objects.h"
#include "core/framework/selector.h"
#include "sim/controllers/controller.h"
#include "sim/controllers/deployment_fields.h"
#include "sim/controllers/owned_pods.h"
#include "sim/controllers/work_queue.h"
#include "sim/controllers/workload_fields.h"

namespace schedsim::sim {

// Rolls out new templates through ReplicaSets, one for each revision, and scales them.
// Source: kubernetes v1.37, pkg/controller/deployment. Not here: a ReplicaSet whose labels change stays with
// its Deployment.
class DeploymentController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) { return options.workloads; }
  explicit DeploymentController(const ControllerContext& context);
  DeploymentController(const DeploymentController&) = delete;
  DeploymentController& operator=(const DeploymentController&) = delete;

  // Deployments, which are among the other kinds, and ReplicaSets.
  std::vector<api::Kind> Watches() const override { return {api::Kind::kOther, api::Kind::kReplicaSet}; }
  void OnEvent(const WatchEvent& event) override;
  void Start() override;

 private:
  // A Deployment with its sets, while it is looked at. Changes of the sets are put into it as they are made.
  struct Rollout {
    api::ObjectPtr object;
    DeploymentSpec* spec = nullptr;
    // By time of creation, then name; with the new one.
    std::vector<RolloutSet> sets;
    // The one that has the Deployment's template; nullptr: there is none.
    RolloutSet* new_set = nullptr;

    bool IsOld(const RolloutSet& set) const { return &set != new_set; }
  };

  absl::Status Sync(const std::string& key);
  void OnReplicaSet(const WatchEvent& event);
  // Tells the Deployments that would take the set, which nobody controls.
  void TellTakers(const api::Object& set, const framework::LabelSet& labels);
  // Takes the sets that its selector selects and that nobody controls.
  void AdoptSets(const Rollout& rollout);
  // The sets of the Deployment, and which of them is the new one.
  void FindSets(Rollout& rollout);
  absl::Status Roll(Rollout& rollout);
  absl::Status SyncNewSet(Rollout& rollout, bool may_create);
  absl::Status CreateNewSet(Rollout& rollout, int64_t revision);
  struct SetIdentity {
    std::string name;
    std::string uid;  // "": any.
    std::string hash;
  };
  // A ReplicaSet that the input has pods of, but not itself.
  struct LostSet {
    SetIdentity identity;
    absl::Time youngest;  // When the youngest of the pods was created.
  };
  void NoteLostSets();
  // The one of the Deployment: that has the name of the set which the Deployment would make; or, where the
  // Deployment comes from a cluster, the youngest pod. Warns of what it finds.
  std::optional<SetIdentity> FindLostSet(const Rollout& rollout, const std::string& fresh_name) const;
  // The names of a set that is to be made, as the real ones. Collisions are counted in `status`.
  SetIdentity FreshSet(const Rollout& rollout, DeploymentSpec::Status& status) const;
  absl::StatusOr<api::ObjectPtr> MakeNewSet(const Rollout& rollout, const std::string& name,
                                            const std::string& hash);
  // Whether annotations of the existing new set had to be written: then all goes on with the next look.
  bool SyncAnnotations(Rollout& rollout, int64_t revision);
  void SetRevision(Rollout& rollout, const std::string& revision);
  bool IsScalingEvent(const Rollout& rollout) const;

  absl::Status RollingUpdate(Rollout& rollout);
  absl::Status Recreate(Rollout& rollout);
  // Whether a set was made larger or smaller.
  bool ScaleNewSet(Rollout& rollout);
  bool ScaleOldSets(Rollout& rollout);
  bool HasOldPods(const Rollout& rollout) const;
  void ScaleProportionally(Rollout& rollout);
  // Writes the size, and the annotations that say of which Deployment it is a part; whether the size changed.
  // `force`: the annotations also where the size is right.
  bool Scale(const Rollout& rollout, RolloutSet& set, int64_t replicas, bool force);
  void CleanUp(const Rollout& rollout);

  DeploymentSpec::Status StatusOf(const Rollout& rollout) const;
  void SyncStatus(Rollout& rollout, bool estimates_progress);
  void EstimateProgress(const Rollout& rollout, DeploymentSpec::Status& status) const;
  void SetPausedCondition(Rollout& rollout);
  void WriteStatus(Rollout& rollout, DeploymentSpec::Status status);
  void LookWhenDeadlineIsOver(const Rollout& rollout);
  WorkloadCondition Condition(absl::string_view type, absl::string_view status, absl::string_view reason,
                              std::string message) const;

  const api::KubernetesLine line_;
  EventLoop& loop_;
  ApiServer& server_;
  OwnedPods& owned_pods_;
  std::vector<std::string>& warnings_;
  codec::ObjectReader reader_;
  WorkQueue queue_;
  SpecCache<DeploymentSpec> specs_{ReadDeployment};
  SpecCache<RolloutSet> sets_{ReadRolloutSet};
  // Names of ReplicaSets by the uid of their Deployment.
  std::map<std::string, std::set<std::string>> names_;
  // By "namespace/name" of the Deployments that their names tell of. Those of the start.
  std::map<std::string, std::vector<LostSet>> lost_sets_;
  // ReplicaSets that nobody controls, by namespace and name.
  std::map<std::string, std::map<std::string, framework::LabelSet>> orphans_;
  // A Deployment that has been looked at.
  struct Taker {
    std::string key;
    std::optional<api::LabelSelector> selector;
    std::optional<framework::LabelMatcher> matcher;  // Absent: the selector is not valid.
    std::set<std::string> found;                     // Names of sets that it may take.
  };
  // By namespace and uid.
  std::map<std::string, std::map<std::string, Taker>> takers_;
  SymbolTable symbols_;
  bool started_ = false;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_DEPLOYMENT_H_
