#include "tests/core/queue/queue_world.h"

#include <tuple>
#include <utility>

#include "core/api/effective_profile.h"
#include "core/api/feature_gates.h"

namespace schedsim::queue {
namespace {

using framework::ClusterEvent;
using framework::ClusterEventWithHint;
using framework::EventResource;
using framework::PodInfo;
using framework::QueueingHint;
using framework::Status;

// Each instance plays the plugin that it is named after.
class QueuePlugin final : public framework::Plugin,
                          public framework::QueueSortPlugin,
                          public framework::PreEnqueuePlugin,
                          public framework::EnqueueExtensions {
 public:
  QueuePlugin(std::string name, const QueueWorld& world) : name_(std::move(name)), world_(world) {}

  absl::string_view Name() const override { return name_; }
  bool Less(const framework::QueuedPodInfo& a, const framework::QueuedPodInfo& b) const override {
    return SortsBefore(a, b);
  }
  Status PreEnqueue(const PodInfo& pod) override {
    const bool out = name_ == "Gate" ? !pod.pod->spec->scheduling_gates.empty()
                                     : world_.shut.count(pod.pod->metadata.uid) > 0;
    return out ? Status(framework::Code::kUnschedulableAndUnresolvable, "kept out") : Status();
  }
  std::vector<ClusterEventWithHint> EventsToRegister() override { return EventsOf(name_); }

 private:
  const std::string name_;
  const QueueWorld& world_;
};

const api::Object& Subject(const api::Object* old_object, const api::Object* new_object) {
  return new_object != nullptr ? *new_object : *old_object;
}

std::string LabelX(const api::Object& object) {
  const std::string* value = object.metadata.labels.Find("x");
  return value == nullptr ? "" : *value;
}

QueueingHint QueueIf(bool condition) { return condition ? QueueingHint::kQueue : QueueingHint::kSkip; }

}  // namespace

bool SortsBefore(const framework::QueuedPodInfo& a, const framework::QueuedPodInfo& b) {
  return std::make_tuple(-a.pod_info->Priority(), a.timestamp, a.key) <
         std::make_tuple(-b.pod_info->Priority(), b.timestamp, b.key);
}

QueueingHint LabelHint(const PodInfo& pod, const api::Object* old_object, const api::Object* new_object) {
  const api::Object& subject = Subject(old_object, new_object);
  return QueueIf(subject.metadata.uid == pod.Uid() || LabelX(subject) == LabelX(*pod.pod));
}

QueueingHint EachHint(const PodInfo& pod, const api::Object* old_object, const api::Object* new_object) {
  return QueueIf(Subject(old_object, new_object).metadata.uid.back() % 4 == pod.Uid().back() % 4);
}

std::vector<ClusterEventWithHint> EventsOf(absl::string_view plugin) {
  const auto event = [](EventResource resource, framework::ActionType action) {
    return ClusterEvent{.resource = resource, .action = action};
  };
  if (plugin == "Gate") {
    return {{.event = event(EventResource::kTargetPod, framework::kUpdatePodSchedulingGatesEliminated),
             .hint = nullptr}};
  }
  if (plugin == "Label") {
    return {{.event = event(EventResource::kNode, framework::kAdd | framework::kUpdateNodeLabel),
             .hint = LabelHint,
             .scope = framework::HintScope::kSpecAndLabels},
            {.event = event(EventResource::kPod, framework::kUpdatePodLabel | framework::kDelete),
             .hint = LabelHint,
             .scope = framework::HintScope::kSpecAndLabels}};
  }
  if (plugin == "Each") {
    return {{.event = event(EventResource::kAssignedPod, framework::kAdd | framework::kDelete),
             .hint = EachHint}};
  }
  if (plugin == "Any") {
    return {{.event = event(EventResource::kNode, framework::kAdd), .hint = nullptr},
            {.event = event(EventResource::kAssignedPod, framework::kDelete), .hint = nullptr},
            {.event = event(EventResource::kTargetPod, framework::kUpdate), .hint = nullptr}};
  }
  return {};
}

QueueWorld::QueueWorld(api::KubernetesLine line)
    : line_(api::LineBehaviorOf(api::FeatureGates(line))), pod_infos_(line_, symbols_) {
  std::vector<framework::RegisteredPlugin> registry;
  for (const char* name : kPluginNames) {
    registry.push_back({.name = name,
                        .factory = [this, name](const api::PluginArgs&, framework::Handle&)
                            -> absl::StatusOr<std::unique_ptr<framework::Plugin>> {
                          return std::make_unique<QueuePlugin>(name, *this);
                        }});
  }
  for (const char* scheduler_name : kSchedulerNames) {
    api::EffectiveProfile profile;
    profile.scheduler_name = scheduler_name;
    profile.instances = {std::begin(kPluginNames), std::end(kPluginNames)};
    profile.plugins[static_cast<size_t>(api::ExtensionPoint::kQueueSort)] = {"Sort"};
    profile.plugins[static_cast<size_t>(api::ExtensionPoint::kPreEnqueue)] = {"Gate", "Shut"};
    auto made = framework::Framework::Make(profile, registry, *this);
    CHECK(made.ok());
    frameworks_.push_back(*std::move(made));
  }
}

std::vector<framework::Framework*> QueueWorld::frameworks() const {
  std::vector<framework::Framework*> frameworks;
  for (const auto& framework : frameworks_) frameworks.push_back(framework.get());
  return frameworks;
}

}  // namespace schedsim::queue
