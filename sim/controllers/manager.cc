#include "sim/controllers/manager.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>

#include "sim/cluster/admission/policy_json.h"
#include "sim/controllers/claim_protection.h"
#include "sim/controllers/controller_refs.h"
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
#include "sim/controllers/resource_claims.h"
#include "sim/controllers/stateful_set.h"
#include "sim/controllers/taint_eviction.h"
#include "sim/controllers/volume_binding.h"
#include "sim/controllers/work_queue.h"

namespace schedsim::sim {
namespace {

// nullptr where the options leave the controller out.
using Factory = std::unique_ptr<Controller> (*)(const ControllerContext& context);

template <typename T>
std::unique_ptr<Controller> Make(const ControllerContext& context) {
  return T::TakesPart(context.options) ? std::make_unique<T>(context) : nullptr;
}

const Factory kControllers[] = {
    Make<PersistentVolumeController>, Make<ResourceClaimController>,
    Make<EphemeralVolumeController>,  Make<VolumeBindingController>,
    Make<ClaimProtectionController>,  Make<DisruptionController>,
    Make<DeploymentController>,       Make<ReplicaSetController>,
    Make<StatefulSetController>,      Make<DaemonSetController>,
    Make<CronJobController>,          Make<JobController>,
    Make<GarbageCollector>,           Make<NodeLifecycleController>,
    Make<TaintEvictionController>,    Make<PodGcController>,
};

// Whether the scheduler finds what it made: claims, volumes, what budgets allow, and taints of nodes.
bool IsEarly(const Controller& controller) {
  return dynamic_cast<const NodeLifecycleController*>(&controller) != nullptr ||
         dynamic_cast<const PersistentVolumeController*>(&controller) != nullptr ||
         dynamic_cast<const EphemeralVolumeController*>(&controller) != nullptr ||
         dynamic_cast<const ResourceClaimController*>(&controller) != nullptr ||
         dynamic_cast<const VolumeBindingController*>(&controller) != nullptr ||
         dynamic_cast<const DisruptionController*>(&controller) != nullptr;
}

bool IsQuota(const api::Object& object) {
  return object.kind == api::Kind::kOther && object.kind_name == "ResourceQuota";
}

// The amounts of a quota below `names`.
api::ResourceList AmountsAt(const api::Object& quota, std::initializer_list<absl::string_view> names) {
  api::ResourceList amounts;
  ReadPolicy(quota, [&](const codec::Value& root) { amounts = AmountsOf(Below(&root, names)); });
  return amounts;
}

// Whether what admission reads to refuse an object, other than what is used, is another than before.
bool IsNewRule(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind == api::Kind::kPriorityClass || object.kind == api::Kind::kNamespace) return true;
  if (object.kind != api::Kind::kOther) return false;
  if (object.kind_name == "LimitRange" || object.kind_name == "RuntimeClass") return true;
  if (!IsQuota(object)) return false;
  if (event.old_object == nullptr || event.new_object == nullptr) return true;
  return AmountsAt(*event.old_object, {"spec", "hard"}) != AmountsAt(*event.new_object, {"spec", "hard"});
}

// Whether less of a quota is used than before.
bool GivesRoom(const WatchEvent& event) {
  if (event.old_object == nullptr || event.new_object == nullptr || !IsQuota(*event.new_object)) return false;
  const api::ResourceList now = AmountsAt(*event.new_object, {"status", "used"});
  const api::ResourceList before = AmountsAt(*event.old_object, {"status", "used"});
  return std::any_of(before.begin(), before.end(), [&now](const auto& entry) {
    const api::Quantity* amount = now.Find(entry.first);
    return amount != nullptr && *amount < entry.second;
  });
}

}  // namespace

ControllerManager::ControllerManager(const ControllerOptions& options, const Rng& rng, EventLoop& loop,
                                     ApiServer& server, Trace& trace, const Latency& api_call, Faults* faults)
    : owned_pods_(std::make_unique<OwnedPods>(server, loop)),
      refs_(std::make_unique<ControllerRefs>(server, *owned_pods_)) {
  const ControllerContext context = {.options = options,
                                     .api_call = api_call,
                                     .rng = rng,
                                     .loop = loop,
                                     .server = server,
                                     .trace = trace,
                                     .owned_pods = *owned_pods_,
                                     .refs = *refs_,
                                     .warnings = warnings_,
                                     .busy_count = busy_count_,
                                     .queues = queues_,
                                     .faults = faults};
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
    refs_->OnEvent(event);
    AwaitRetries(event);
    const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
    for (Controller* controller : watchers_[static_cast<size_t>(object.kind)]) controller->OnEvent(event);
  });
}

ControllerManager::~ControllerManager() = default;

void ControllerManager::AwaitRetries(const WatchEvent& event) {
  const bool any_waits = std::any_of(queues_.begin(), queues_.end(),
                                     [](const WorkQueue* queue) { return !queue->retries().empty(); });
  if (!any_waits) return;
  const bool is_new_rule = IsNewRule(event);
  if (!is_new_rule && !GivesRoom(event)) return;
  for (WorkQueue* queue : queues_) queue->AwaitRetries(is_new_rule);
}

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

std::vector<std::string> ControllerManager::Warnings() const {
  std::vector<std::string> warnings = warnings_;
  std::set<std::string> objects;
  for (const WorkQueue* queue : queues_) {
    for (const auto& [key, retry] : queue->retries()) {
      const bool is_first = objects.insert(retry.error.substr(0, retry.error.find(": "))).second;
      if (is_first) warnings.push_back(retry.error);
    }
  }
  return warnings;
}

bool ControllerManager::Owns(const api::Pod& pod) const { return owned_pods_->IsOwned(pod); }

bool ControllerManager::ReadsStatusOf(const api::Pod& pod) const {
  if (Owns(pod)) return true;
  return std::any_of(
      controllers_.begin(), controllers_.end(),
      [&pod](const std::unique_ptr<Controller>& controller) { return controller->ReadsStatusOf(pod); });
}

}  // namespace schedsim::sim
