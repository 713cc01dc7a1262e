// A stand-in for the persistent volume controller and all provisioners.
#ifndef SCHEDSIM_SIM_CONTROLLERS_PERSISTENT_VOLUME_H_
#define SCHEDSIM_SIM_CONTROLLERS_PERSISTENT_VOLUME_H_

#include <memory>
#include <string>
#include <vector>

#include "core/api/storage.h"
#include "core/plugins/volume/volume_claims.h"
#include "sim/controllers/controller.h"

namespace schedsim::sim {

// What stands in for the volume controller and all provisioners where the scheduler alone is looked at: in
// conformance cases, as their recorder did it, and in benchmarks. It binds each volume that names a claim to
// it, and makes a volume for each claim that has a selected node and a class with a provisioner: in the
// node's zone, or on that node where it has no zone. VolumeBindingController does what a cluster's does.
class PersistentVolumeController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) {
    return options.persistent_volumes.has_value() && !options.persistent_volumes->watches;
  }
  explicit PersistentVolumeController(const ControllerContext& context);
  PersistentVolumeController(const PersistentVolumeController&) = delete;
  PersistentVolumeController& operator=(const PersistentVolumeController&) = delete;

  std::vector<api::Kind> Watches() const override { return {}; }
  void OnEvent(const WatchEvent&) override {}
  // Looks at all volumes, then at all claims, now.
  void Start() override;
  // Looks again after the delay. Before Start, does nothing.
  void ReconcileLater();

 private:
  using ClaimPtr = plugins::ClaimPtr;
  using VolumePtr = plugins::VolumePtr;

  void Reconcile();
  void BindVolumes();
  void ProvisionVolumes();
  // A volume for the claim, or nullptr where none can be made, or not yet.
  std::shared_ptr<api::PersistentVolume> MakeVolume(const api::PersistentVolumeClaim& claim) const;
  void Bind(const api::PersistentVolumeClaim& claim, const api::PersistentVolume& volume);

  const PersistentVolumeOptions options_;
  EventLoop& loop_;
  ApiServer& server_;
  Trace& trace_;
  bool started_ = false;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_PERSISTENT_VOLUME_H_
