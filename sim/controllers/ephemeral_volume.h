// The ephemeral volume controller: claims of generic ephemeral volumes.
#ifndef SCHEDSIM_SIM_CONTROLLERS_EPHEMERAL_VOLUME_H_
#define SCHEDSIM_SIM_CONTROLLERS_EPHEMERAL_VOLUME_H_

#include <set>
#include <string>
#include <vector>

#include "core/api/pod.h"
#include "sim/controllers/controller.h"

namespace schedsim::sim {

// Makes the claim `<pod>-<volume>` of each generic ephemeral volume of a pod, owned by the pod. Where a claim
// of that name is there already and not the pod's, the pod cannot start; it is looked at again when that
// claim is gone. Source: kubernetes v1.37, pkg/controller/volume/ephemeral/controller.go.
class EphemeralVolumeController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) {
    return options.persistent_volumes.has_value() && options.persistent_volumes->watches;
  }
  explicit EphemeralVolumeController(const ControllerContext& context)
      : delay_(context.options.persistent_volumes->delay),
        loop_(context.loop),
        server_(context.server),
        trace_(context.trace),
        warnings_(context.warnings),
        busy_count_(context.busy_count) {}
  EphemeralVolumeController(const EphemeralVolumeController&) = delete;
  EphemeralVolumeController& operator=(const EphemeralVolumeController&) = delete;

  // Pods, and claims, which may stand in their way.
  std::vector<api::Kind> Watches() const override {
    return {api::Kind::kPod, api::Kind::kPersistentVolumeClaim};
  }
  void OnEvent(const WatchEvent& event) override;
  // Makes the claims of all pods that lack them, now; later those of pods that come.
  void Start() override;

 private:
  void Add(const std::string& pod_key);
  void Run();
  void Sync(const std::string& pod_key);
  // NotFound, or a message that says whose the claim is.
  absl::Status MakeClaim(const api::Pod& pod, const api::Volume& volume);

  const absl::Duration delay_;
  EventLoop& loop_;
  ApiServer& server_;
  Trace& trace_;
  std::vector<std::string>& warnings_;
  int64_t& busy_count_;
  bool started_ = false;
  bool is_due_ = false;
  // Keys of pods: to be looked at; and those that wait for a claim to go.
  std::set<std::string> pods_;
  std::set<std::string> blocked_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_EPHEMERAL_VOLUME_H_
