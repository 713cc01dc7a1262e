// Claims of devices: made from templates, reserved, and given back.
#ifndef SCHEDSIM_SIM_CONTROLLERS_RESOURCE_CLAIMS_H_
#define SCHEDSIM_SIM_CONTROLLERS_RESOURCE_CLAIMS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/api/devices.h"
#include "sim/controllers/controller.h"

namespace schedsim::sim {

// The resource claim controller, with what the garbage collector does to claims, and a stand-in for drivers
// whose devices have binding conditions. Each look goes over all pods and claims:
// - a pod's template references get a claim, and the pod's status its name;
// - allocated claims of a bound pod are reserved for it;
// - pods that are gone leave status.reservedFor; with the last one allocation, devices and finalizer go;
// - a claim whose owner is gone is deleted.
// Source: kubernetes v1.37, pkg/controller/resourceclaim/controller.go.
class ResourceClaimController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) { return options.resource_claims.has_value(); }
  explicit ResourceClaimController(const ControllerContext& context)
      : options_(*context.options.resource_claims), loop_(context.loop), server_(context.server) {}
  ResourceClaimController(const ResourceClaimController&) = delete;
  ResourceClaimController& operator=(const ResourceClaimController&) = delete;

  std::vector<api::Kind> Watches() const override {
    return {api::Kind::kPod, api::Kind::kResourceClaim, api::Kind::kResourceClaimTemplate};
  }
  void OnEvent(const WatchEvent& event) override;
  void Start() override;
  // Looks after the delay, unless it is about to.
  void ReconcileLater();
  // The scheduler wrote this claim, nullptr: it is gone.
  void OnSchedulerWrite(const api::ObjectPtr& claim);

 private:
  using ClaimPtr = std::shared_ptr<const api::ResourceClaim>;

  // One round; whether it changed something.
  bool Reconcile();
  bool ReconcilePod(const api::PodPtr& pod);
  // The claim for a reference to a template; nullptr: there is no such template.
  ClaimPtr ClaimFor(const api::Pod& pod, const api::PodResourceClaim& reference, bool& changed);
  bool ReserveClaims(const api::Pod& pod, const std::map<std::string, std::string>& names);
  bool ReconcileClaim(const ClaimPtr& claim);
  bool IsGone(absl::string_view uid) const;
  ClaimPtr FindClaim(absl::string_view name_space, absl::string_view name) const;
  // Whether the claim was stored.
  bool Put(std::shared_ptr<api::ResourceClaim> claim);
  void SetDeviceConditions(const ClaimPtr& allocated);

  const ResourceClaimOptions options_;
  EventLoop& loop_;
  ApiServer& server_;
  bool is_due_ = false;
  bool is_working_ = false;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_RESOURCE_CLAIMS_H_
