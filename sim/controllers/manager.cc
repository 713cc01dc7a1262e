#include "sim/controllers/manager.h"

#include <algorithm>
#include <utility>

#include "sim/controllers/claim_protection.h"
#include "sim/controllers/cron_job.h"
#include "sim/controllers/daemon_set.h"
#include "sim/controllers/deployment.h"
#include "sim/controllers/disruption.h"
#include "sim/controllers/ephemeral_volume.h"
#include "sim/controllers/garbage_collector.h"
#include "sim/controllers/job.h"
#include "sim/controllers/node_lifecycle.h"
#include "sim/controllers/owned_pods.h"
#include "sim/controllers/persistent_volume.h"
#include "sim/controllers/pod_gc.h"
#include "sim/controllers/replica_set.h"
#include "sim/controllers/stateful_set.h"
#include "sim/controllers/taint_eviction.h"
#include "sim/controllers/volume_binding.h"

namespace schedsim::sim {
namespace {

// nullptr where the options leave the controller out.
using Factory = std::unique_ptr<Controller> (*)(const ControllerContext& context);

template <typename T>
std::unique_ptr<Controller> Make(const ControllerContext& context) {
  return T::TakesPart(context.options) ? std::make_unique<T>(context) : nullptr;
}

const Factory kControllers[] = {
    Make<PersistentVolumeController>, Make<EphemeralVolumeController>, Make<VolumeBindingController>,
    Make<ClaimProtectionController>,  Make<DisruptionController>,      Make<DeploymentController>,
    Make<ReplicaSetController>,       Make<StatefulSetController>,     Make<DaemonSetController>,
    Make<CronJobController>,          Make<JobController>,             Make<GarbageCollector>,
    Make<NodeLifecycleController>,    Make<TaintEvictionController>,   Make<PodGcController>,
};

// Whether the scheduler finds what it made: claims, volumes, and what budgets allow.
bool IsEarly(const Controller& controller) {
  return dynamic_cast<const PersistentVolumeController*>(&controller) != nullptr ||
         dynamic_cast<const EphemeralVolumeController*>(&controller) != nullptr ||
         dynamic_cast<const VolumeBindingController*>(&controller) != nullptr ||
         dynamic_cast<const DisruptionController*>(&controller) != nullptr;
}

}  // namespace

ControllerManager::ControllerManager(const ControllerOptions& options, const Rng& rng, EventLoop& loop,
                                     ApiServer& server, Trace& trace)
    : owned_pods_(std::make_unique<OwnedPods>(server, loop)) {
  const ControllerContext context = {.options = options,
                                     .rng = rng,
                                     .loop = loop,
                                     .server = server,
                                     .trace = trace,
                                     .owned_pods = *owned_pods_,
                                     .warnings = warnings_,
                                     .busy_count = busy_count_};
  for (const Factory factory : kControllers) {
    std::unique_ptr<Controller> controller = factory(context);
    if (controller == nullptr) continue;
    for (const api::Kind kind : controller->Watches()) {
      watchers_[static_cast<size_t>(kind)].push_back(controller.get());
    }
    controllers_.push_back(std::move(controller));
  }
  server.Watch([this](const WatchEvent& event) {
    owned_pods_->OnEvent(event);
    const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
    for (Controller* controller : watchers_[static_cast<size_t>(object.kind)]) controller->OnEvent(event);
  });
}

ControllerManager::~ControllerManager() = default;

void ControllerManager::StartEarly() {
  for (const std::unique_ptr<Controller>& controller : controllers_) {
    if (IsEarly(*controller)) controller->Start();
  }
}

void ControllerManager::Start() {
  owned_pods_->Start();
  for (const std::unique_ptr<Controller>& controller : controllers_) {
    if (!IsEarly(*controller)) controller->Start();
  }
}

bool ControllerManager::Owns(const api::Pod& pod) const { return owned_pods_->IsOwned(pod); }

bool ControllerManager::ReadsStatusOf(const api::Pod& pod) const {
  if (Owns(pod)) return true;
  return std::any_of(
      controllers_.begin(), controllers_.end(),
      [&pod](const std::unique_ptr<Controller>& controller) { return controller->ReadsStatusOf(pod); });
}

}  // namespace schedsim::sim
