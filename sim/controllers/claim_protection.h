// The PVC protection controller: claims that pods use.
#ifndef SCHEDSIM_SIM_CONTROLLERS_CLAIM_PROTECTION_H_
#define SCHEDSIM_SIM_CONTROLLERS_CLAIM_PROTECTION_H_

#include <set>
#include <string>
#include <vector>

#include "core/api/storage.h"
#include "sim/controllers/controller.h"

namespace schedsim::sim {

// A claim that is deleted while a pod on a node uses it stays, with a deletionTimestamp, until the last such
// pod is over. Source: kubernetes v1.37, pkg/controller/volume/pvcprotection.
class ClaimProtectionController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) {
    return options.persistent_volumes.has_value() && options.persistent_volumes->watches;
  }
  // Protects claims from now on.
  explicit ClaimProtectionController(const ControllerContext& context);
  ClaimProtectionController(const ClaimProtectionController&) = delete;
  ClaimProtectionController& operator=(const ClaimProtectionController&) = delete;

  // Pods, and claims.
  std::vector<api::Kind> Watches() const override {
    return {api::Kind::kPod, api::Kind::kPersistentVolumeClaim};
  }
  void OnEvent(const WatchEvent& event) override;
  void Start() override {}

 private:
  bool IsUsed(const api::Object& claim) const;
  void Look();

  EventLoop& loop_;
  ApiServer& server_;
  bool is_due_ = false;
  // Keys of claims that wait for their pods.
  std::set<std::string> deleted_claims_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_CLAIM_PROTECTION_H_
