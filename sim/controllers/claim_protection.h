// The PVC protection and the PV protection controller: claims and volumes in use.
#ifndef SCHEDSIM_SIM_CONTROLLERS_CLAIM_PROTECTION_H_
#define SCHEDSIM_SIM_CONTROLLERS_CLAIM_PROTECTION_H_

#include <set>
#include <string>
#include <vector>

#include "core/api/storage.h"
#include "sim/controllers/controller.h"

namespace schedsim::sim {

// A claim that is deleted while a pod on a node uses it stays, with a deletionTimestamp, until the last such
// pod is gone; also a pod that is over uses it. A volume stays while it is bound. Those of the input that are
// being deleted, and that nothing uses, go at the start, unless they have finalizers of others. Source:
// kubernetes v1.37, pkg/controller/volume/pvcprotection and pvprotection.
class ClaimProtectionController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) {
    return options.persistent_volumes.has_value() && options.persistent_volumes->watches;
  }
  // Protects claims and volumes from now on.
  explicit ClaimProtectionController(const ControllerContext& context);
  ClaimProtectionController(const ClaimProtectionController&) = delete;
  ClaimProtectionController& operator=(const ClaimProtectionController&) = delete;

  // Pods, claims and volumes.
  std::vector<api::Kind> Watches() const override {
    return {api::Kind::kPod, api::Kind::kPersistentVolumeClaim, api::Kind::kPersistentVolume};
  }
  void OnEvent(const WatchEvent& event) override;
  void Start() override;

 private:
  bool IsUsed(const api::Object& claim) const;
  void LookLater();
  void Look();

  EventLoop& loop_;
  ApiServer& server_;
  bool started_ = false;
  bool is_due_ = false;
  // Keys of those that are being deleted.
  std::set<std::string> deleted_claims_;
  std::set<std::string> deleted_volumes_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_CLAIM_PROTECTION_H_
