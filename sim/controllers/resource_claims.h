// Claims of devices: made from templates, reserved, and given back.
#ifndef SCHEDSIM_SIM_CONTROLLERS_RESOURCE_CLAIMS_H_
#define SCHEDSIM_SIM_CONTROLLERS_RESOURCE_CLAIMS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/api/devices.h"
#include "core/api/pod.h"
#include "sim/controllers/controller.h"

namespace schedsim::sim {

// The resource claim controller, with what the garbage collector does to claims, and a stand-in for drivers
// whose devices have binding conditions:
// - a pod's template references get a claim, and the pod's status its name;
// - allocated claims of a bound pod are reserved for it;
// - pods that are gone leave status.reservedFor; with the last one allocation, devices and finalizer go;
// - a claim whose owner is gone is deleted.
// Where it watches, a pod that is not in the input counts as one that is there, unless another one of its
// name is: the input may be a part of a cluster. The real controller releases such a claim. It looks at what
// changed, pods in the order of their uids, then claims by name; as the stand-in of conformance cases at all
// of them. Source: kubernetes v1.37, pkg/controller/resourceclaim/controller.go.
class ResourceClaimController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) { return options.resource_claims.has_value(); }
  explicit ResourceClaimController(const ControllerContext& context)
      : options_(*context.options.resource_claims),
        loop_(context.loop),
        server_(context.server),
        trace_(context.trace),
        warnings_(context.warnings) {}
  ResourceClaimController(const ResourceClaimController&) = delete;
  ResourceClaimController& operator=(const ResourceClaimController&) = delete;

  std::vector<api::Kind> Watches() const override {
    return {api::Kind::kPod, api::Kind::kResourceClaim, api::Kind::kResourceClaimTemplate};
  }
  void OnEvent(const WatchEvent& event) override;
  void Start() override;
  // The stand-in looks after the delay, unless it is about to.
  void ReconcileLater();
  // The scheduler wrote this claim; nullptr: it is gone.
  void OnSchedulerWrite(const api::ObjectPtr& claim);

 private:
  using ClaimPtr = std::shared_ptr<const api::ResourceClaim>;

  // What is known of objects, and what is to be looked at. Pods without claims leave no mark.
  void NotePod(const api::Pod* old_pod, const api::Pod* new_pod);
  void NoteClaim(const api::ResourceClaim* old_claim, const api::ResourceClaim* new_claim);
  void AddPod(const api::Pod& pod) { pods_.emplace(pod.metadata.uid, pod.Key()); }
  void AddAll();

  // Looks at what is to be looked at. Returns whether something changed.
  bool Reconcile();
  bool ReconcilePod(const api::PodPtr& pod);
  // The claim for a reference to a template; nullptr: there is no such template.
  ClaimPtr ClaimFor(const api::Pod& pod, const api::PodResourceClaim& reference, bool& changed);
  bool ReserveClaims(const api::Pod& pod, const std::map<std::string, std::string>& names);
  bool ReconcileClaim(const ClaimPtr& claim);
  // Remembers the pods of claims that are not in the input.
  void NoteUnknownPods();
  // A pod of this key proves that others of its name are gone.
  void ForgetUnknownPods(const std::string& key);
  // Whether no such pod is there, or it is over.
  bool IsGone(absl::string_view name_space, absl::string_view name, absl::string_view uid) const;
  ClaimPtr FindClaim(absl::string_view name_space, absl::string_view name) const;
  ClaimPtr FindClaim(absl::string_view key) const;
  void SetDeviceConditions(const ClaimPtr& allocated);
  // The stand-in goes on when everybody has heard of what it wrote.
  void Settle() {
    if (!options_.watches) loop_.Settle();
  }

  const ResourceClaimOptions options_;
  EventLoop& loop_;
  ApiServer& server_;
  Trace& trace_;
  std::vector<std::string>& warnings_;
  bool started_ = false;
  bool is_due_ = false;
  bool is_working_ = false;
  // To be looked at: uids and keys of pods, keys of claims.
  std::set<std::pair<std::string, std::string>> pods_;
  std::set<std::string> claims_;
  // Uids of pods that claims had at the start, and that are not in the input, by "namespace/name".
  std::map<std::string, std::set<std::string>> unknown_pods_;
  // By uid of a pod: the keys of the claims that it owns or that are reserved for it.
  std::map<std::string, std::set<std::string>> claims_of_pods_;
  // By key of a claim, and of a template: the pods that refer to it, as in `pods_`.
  std::map<std::string, std::set<std::pair<std::string, std::string>>> pods_of_claims_;
  std::map<std::string, std::set<std::pair<std::string, std::string>>> pods_of_templates_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_RESOURCE_CLAIMS_H_
