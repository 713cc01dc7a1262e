// The persistent volume controller of a cluster, with the provisioners of its storage classes.
#ifndef SCHEDSIM_SIM_CONTROLLERS_VOLUME_BINDING_H_
#define SCHEDSIM_SIM_CONTROLLERS_VOLUME_BINDING_H_

#include <map>
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

// Binds claims and volumes to each other, releases the volumes of deleted claims, and stands in for the
// provisioners: it makes a volume for a claim whose class has one, in the zone of the selected node, or on
// that node where it has no zone, and deletes it with its claim. It looks at claims and volumes that changed;
// claims that wait for a volume or a class that is not there are looked at again every 15 s, if one has come
// since. Source: kubernetes v1.37, pkg/controller/volume/persistentvolume/pv_controller.go. Of an input that
// is part of a cluster, claims without their volume and volumes without their claim stay as they are: only
// what was there and is deleted in the run is missing.
class VolumeBindingController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) {
    return options.persistent_volumes.has_value() && options.persistent_volumes->watches;
  }
  explicit VolumeBindingController(const ControllerContext& context);
  VolumeBindingController(const VolumeBindingController&) = delete;
  VolumeBindingController& operator=(const VolumeBindingController&) = delete;

  // Claims, volumes and classes.
  std::vector<api::Kind> Watches() const override;
  void OnEvent(const WatchEvent& event) override;
  // Looks at all volumes and claims until nothing changes any more, now; later at what changes.
  void Start() override;

 private:
  using ClaimPtr = plugins::ClaimPtr;
  using VolumePtr = plugins::VolumePtr;
  using ClassPtr = std::shared_ptr<const api::StorageClass>;

  void Index(const api::PersistentVolume& volume, bool is_there);
  void RunLater();
  void Run();
  void SyncVolume(const std::string& name);
  void Release(const VolumePtr& volume);
  void Unbind(const api::PersistentVolume& volume);
  void SyncClaim(const std::string& key);
  void SyncUnboundClaim(const ClaimPtr& claim);
  void SyncNamedVolume(const ClaimPtr& claim);
  // Gives a claim without a class the default one, if there is one.
  bool AssignDefaultClass(const api::PersistentVolumeClaim& claim);
  // The claim is looked at again when something has come that it may wait for.
  void Wait(const ClaimPtr& claim);
  void ResyncLater();
  void Provision(const api::PersistentVolumeClaim& claim, const api::StorageClass& storage_class);
  // Counts a volume against what the driver says that is left there, and warns where it is more.
  void CountCapacity(const api::PersistentVolumeClaim& claim, const std::string& driver,
                     const api::Node& node);
  VolumePtr FindVolume(const api::PersistentVolumeClaim& claim, bool only_reserved);
  void SetPhase(const api::PersistentVolume& volume, const char* phase);
  void SetPhase(const api::PersistentVolumeClaim& claim, const char* phase);
  void Bind(const api::PersistentVolumeClaim& claim, const api::PersistentVolume& volume);
  ClassPtr ClassOf(const api::PersistentVolumeClaim& claim) const;
  VolumePtr StoredVolume(const std::string& name) const;
  ClaimPtr StoredClaim(const std::string& key) const;

  const PersistentVolumeOptions options_;
  EventLoop& loop_;
  ApiServer& server_;
  Trace& trace_;
  std::vector<std::string>& warnings_;
  int64_t& busy_count_;
  // Classes of which it was said that nobody runs their provisioner.
  std::set<std::string> warned_classes_;
  // Classes of which it was said what their volumes are taken for.
  std::set<std::string> assumed_classes_;
  // By CSIStorageCapacity: what the volumes made in the run took of it. Unit: bytes.
  std::map<std::string, int64_t> taken_bytes_;
  SymbolTable symbols_;
  plugins::VolumeCompiler compiler_{symbols_};
  bool started_ = false;
  bool is_due_ = false;         // A look at what changed is in the loop.
  bool is_resync_due_ = false;  // The same for a look at what waits.
  absl::Time start_;
  // By key: what changed and was not looked at yet.
  std::set<std::string> changed_volumes_;
  std::set<std::string> changed_claims_;
  // Keys of claims that were not looked at since they were created.
  std::set<std::string> new_claims_;
  // Keys of claims that wait for something that is not there.
  std::set<std::string> waiting_claims_;
  // Names of volumes: those that a claim could still take, by class; and those that name a claim, by its key.
  std::map<std::string, std::set<std::string>> volumes_of_class_;
  std::map<std::string, std::set<std::string>> volumes_of_claim_;
  // What was deleted in the run: keys of claims, names of volumes.
  std::set<std::string> deleted_claims_;
  std::set<std::string> deleted_volumes_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_VOLUME_BINDING_H_
