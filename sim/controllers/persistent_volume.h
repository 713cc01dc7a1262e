// The persistent volume controller, which stands in for all provisioners as well.
#ifndef SCHEDSIM_SIM_CONTROLLERS_PERSISTENT_VOLUME_H_
#define SCHEDSIM_SIM_CONTROLLERS_PERSISTENT_VOLUME_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/api/storage.h"
#include "core/base/symbol.h"
#include "core/plugins/volume/volume_claims.h"
#include "core/plugins/volume/volume_matching.h"
#include "sim/controllers/controller.h"

namespace schedsim::sim {

// Binds each volume that names a claim to it, and makes a volume for each claim that has a selected node
// and a class with a provisioner: in the node's zone, or on that node where it has no zone. With
// `watches`, it also makes new volumes available, binds claims that wait for no consumer to the smallest
// volume that suits them, and makes volumes for them, with which every node can work.
class PersistentVolumeController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) { return options.persistent_volumes.has_value(); }
  explicit PersistentVolumeController(const ControllerContext& context);
  PersistentVolumeController(const PersistentVolumeController&) = delete;
  PersistentVolumeController& operator=(const PersistentVolumeController&) = delete;

  // Claims, volumes and classes, if it is to watch at all.
  std::vector<api::Kind> Watches() const override;
  void OnEvent(const WatchEvent& event) override;
  // Looks at all volumes, then at all claims, now; and again after each change from now on.
  void Start() override;
  // Looks again after the delay. Before Start, does nothing.
  void ReconcileLater();

 private:
  using ClaimPtr = plugins::ClaimPtr;
  using VolumePtr = plugins::VolumePtr;

  void Reconcile();
  template <typename T>
  std::vector<std::shared_ptr<const T>> ToLookAt(const std::set<std::string>& changed) const;
  void MakeAvailable();
  void BindVolumes();
  void BindImmediateClaims();
  void ProvisionVolumes();
  // The claims to look at, by name.
  std::vector<ClaimPtr> ClaimsToLookAt() const;
  std::shared_ptr<const api::StorageClass> ClassOf(const api::PersistentVolumeClaim& claim) const;
  // Whether the claim has no volume and need not wait for a consumer.
  bool IsImmediate(const api::PersistentVolumeClaim& claim) const;
  // The smallest volume that is free for the claim, wherever it is, or nullptr.
  VolumePtr FindVolume(const api::PersistentVolumeClaim& claim);
  // A volume for the claim, or nullptr where none can be made, or not yet.
  std::shared_ptr<api::PersistentVolume> MakeVolume(const api::PersistentVolumeClaim& claim) const;
  void Bind(const api::PersistentVolumeClaim& claim, const api::PersistentVolume& volume);

  const PersistentVolumeOptions options_;
  EventLoop& loop_;
  ApiServer& server_;
  Trace& trace_;
  SymbolTable symbols_;
  plugins::VolumeCompiler compiler_{symbols_};
  bool started_ = false;
  // With `watches`: a look is due already, at everything or at what changed, by key.
  bool due_ = false;
  bool look_at_all_ = true;
  std::set<std::string> changed_volumes_;
  std::set<std::string> changed_claims_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_PERSISTENT_VOLUME_H_
