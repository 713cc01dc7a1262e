// GangScheduling: the pods of a gang are scheduled when there are enough of them, and all together.
// Source: kubernetes v1.37, plugins/gangscheduling/gangscheduling.go; v1.35 the same.
// Extension points: PreEnqueue, Reserve (1.35), Permit, PlacementFeasible. Arguments: none.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/framework/plugin.h"
#include "core/framework/pod_group.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using api::PodGroupCycle;
using framework::Code;
using framework::EventResource;
using framework::PodGroupState;
using framework::PodInfo;
using framework::QueueIf;
using framework::Status;

constexpr absl::Duration kPermitTimeout = absl::Minutes(5);

class GangScheduling final : public framework::Plugin,
                             public framework::PreEnqueuePlugin,
                             public framework::ReservePlugin,
                             public framework::PermitPlugin,
                             public framework::PlacementFeasiblePlugin,
                             public framework::EnqueueExtensions {
 public:
  explicit GangScheduling(framework::Handle& handle)
      : handle_(handle), cycle_(handle.line().pod_groups.cycle) {}

  absl::string_view Name() const override { return "GangScheduling"; }

  Status PreEnqueue(const PodInfo& pod) override {
    const api::Pod& object = *pod.pod;
    if (!IsInGroup(object)) return Status();
    const Policy& policy = LastPolicyOf(object);
    if (policy.is_missing) return Status(Code::kUnschedulableAndUnresolvable, policy.waiting);
    if (policy.min_count == 0) return Status();
    const PodGroupState* state = handle_.pod_groups().Of(object);
    if (state != nullptr && state->AllPodsCount() >= policy.min_count) return Status();
    return waiting_for_pods_;
  }

  Status Reserve(framework::CycleState&, const PodInfo& pod, const framework::NodeInfo&) override {
    if (cycle_ == PodGroupCycle::kAtPermit) handle_.pod_groups().AssumePod(pod.pod);
    return Status();
  }
  void Unreserve(framework::CycleState&, const PodInfo& pod, absl::string_view) override {
    if (cycle_ == PodGroupCycle::kAtPermit) handle_.pod_groups().ForgetPod(*pod.pod);
  }

  framework::PermitResult Permit(framework::CycleState&, const PodInfo& pod, absl::string_view) override {
    const api::Pod& object = *pod.pod;
    if (!IsInGroup(object)) return {};
    const Policy policy = PolicyOf(object);
    if (policy.is_missing) return {.status = Status::Error(policy.error), .timeout = {}};
    if (policy.min_count == 0) return {};
    PodGroupState* state = handle_.pod_groups().Of(object);
    if (state == nullptr) return {.status = Status::Error("pod group state not found"), .timeout = {}};
    if (state->ScheduledPodsCount() < policy.min_count) return WaitForOthers(pod, *state);
    for (const std::string& uid : state->AssumedPods()) {
      if (framework::WaitingPod* waiting = handle_.GetWaitingPod(uid)) waiting->Allow(Name());
    }
    return {};
  }

  Status PlacementFeasible(const framework::PodGroupInfo& group,
                           framework::PlacementProgress progress) override {
    const int32_t min_count = group.pod_group == nullptr ? 1 : group.pod_group->MinCount();
    const std::string counts =
        absl::StrCat(": ", progress.scheduled, " scheduled, ", progress.remaining, " remaining");
    if (progress.remaining + progress.scheduled < min_count) {
      return Status(Code::kUnschedulable,
                    absl::StrCat("minCount (", min_count, ") cannot be satisfied", counts));
    }
    if (progress.scheduled < min_count) {
      return Status(Code::kWait, absl::StrCat("minCount (", min_count, ") is not yet satisfied", counts));
    }
    return Status();
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    const auto same_group = [this](const PodInfo& pod, const api::Object*, const api::Object* added) {
      return QueueIf(framework::AreInOneGroup(*pod.pod, static_cast<const api::Pod&>(*added), cycle_));
    };
    const auto own_object = [this](const PodInfo& pod, const api::Object*, const api::Object* added) {
      return QueueIf(IsObjectOf(*pod.pod, *added));
    };
    if (cycle_ != PodGroupCycle::kAsEntity) {
      const EventResource object =
          cycle_ == PodGroupCycle::kAtPermit ? EventResource::kWorkload : EventResource::kPodGroup;
      return {{.event = {.resource = EventResource::kPod, .action = framework::kAdd}, .hint = same_group},
              {.event = {.resource = object, .action = framework::kAdd}, .hint = own_object}};
    }
    const auto smaller = [this](const PodInfo& pod, const api::Object* old_object,
                                const api::Object* new_object) {
      if (!IsObjectOf(*pod.pod, *new_object)) return framework::QueueingHint::kSkip;
      const auto& before = static_cast<const api::PodGroup&>(*old_object);
      const auto& after = static_cast<const api::PodGroup&>(*new_object);
      return QueueIf(before.IsGang() && after.IsGang() && after.MinCount() < before.MinCount());
    };
    return {
        {.event = {.resource = EventResource::kUnscheduledPod, .action = framework::kAdd},
         .hint = same_group},
        {.event = {.resource = EventResource::kAssignedPod, .action = framework::kAdd}, .hint = same_group},
        {.event = {.resource = EventResource::kPodGroup, .action = framework::kAdd}, .hint = own_object},
        {.event = {.resource = EventResource::kPodGroup, .action = framework::kUpdate}, .hint = smaller}};
  }

 private:
  // What the pod's group wants.
  struct Policy {
    bool is_missing = false;  // There is no such object, or it has no such group.
    std::string waiting = "";
    std::string error = "";
    int32_t min_count = 0;  // 0: the pods need not come together.
  };

  bool IsInGroup(const api::Pod& pod) const {
    return cycle_ == PodGroupCycle::kAtPermit ? pod.spec->workload_ref.has_value()
                                              : !pod.spec->pod_group_name.empty();
  }

  bool IsObjectOf(const api::Pod& pod, const api::Object& object) const {
    if (!IsInGroup(pod) || pod.metadata.namespace_ != object.metadata.namespace_) return false;
    const std::string& name =
        cycle_ == PodGroupCycle::kAtPermit ? pod.spec->workload_ref->name : pod.spec->pod_group_name;
    return object.metadata.name == name;
  }

  Policy PolicyOf(const api::Pod& pod) const {
    if (cycle_ == PodGroupCycle::kAtPermit) return PolicyOfWorkload(pod);
    const std::string& name = pod.spec->pod_group_name;
    const std::string& name_space = pod.metadata.namespace_;
    const api::ObjectPtr object = handle_.informers().Find(api::Kind::kPodGroup, name_space, name);
    if (object == nullptr) {
      const std::string cause =
          cycle_ == PodGroupCycle::kAsEntity
              ? absl::StrCat("pod group object not found for pod group podgroup/", name_space, "/", name)
              : absl::StrCat("podgroup.scheduling.k8s.io \"", name, "\" not found");
      return {.is_missing = true,
              .waiting =
                  absl::StrCat("waiting for pods's pod group \"", name, "\" to appear in scheduling queue"),
              .error = absl::StrCat("failed to get podGroup ", name_space, "/", name, ": ", cause)};
    }
    const auto& group = static_cast<const api::PodGroup&>(*object);
    return {.min_count = group.IsGang() ? group.MinCount() : 0};
  }

  Policy PolicyOfWorkload(const api::Pod& pod) const {
    const api::WorkloadReference& reference = *pod.spec->workload_ref;
    const std::string& name_space = pod.metadata.namespace_;
    const api::ObjectPtr object = handle_.informers().Find(api::Kind::kWorkload, name_space, reference.name);
    if (object == nullptr) {
      return {.is_missing = true,
              .waiting = absl::StrCat("waiting for pods's workload \"", reference.name,
                                      "\" to appear in scheduling queue"),
              .error = absl::StrCat("failed to get workload ", name_space, "/", reference.name,
                                    ": workload.scheduling.k8s.io \"", reference.name, "\" not found")};
    }
    const auto* group = static_cast<const api::Workload&>(*object).FindPodGroup(reference.pod_group);
    if (group == nullptr) {
      const std::string text = absl::StrCat("pod group \"", reference.pod_group,
                                            "\" doesn't exist for a workload \"", reference.name, "\"");
      return {.is_missing = true, .waiting = text, .error = text};
    }
    return {.min_count = group->policy.gang.has_value() ? group->policy.gang->min_count : 0};
  }

  // With each pod of a gang that comes, all those that wait are asked: one after the other of one group.
  const Policy& LastPolicyOf(const api::Pod& pod) {
    if (cycle_ == PodGroupCycle::kAtPermit) return last_policy_ = PolicyOf(pod);
    const uint64_t version = handle_.informers().ChangeCount(api::Kind::kPodGroup);
    const bool is_known = version == last_version_ && pod.spec->pod_group_name == last_name_ &&
                          pod.metadata.namespace_ == last_namespace_;
    if (is_known) return last_policy_;
    last_version_ = version;
    last_name_ = pod.spec->pod_group_name;
    last_namespace_ = pod.metadata.namespace_;
    return last_policy_ = PolicyOf(pod);
  }

  framework::PermitResult WaitForOthers(const PodInfo& pod, PodGroupState& state) {
    // The real scheduler ends here: it follows the pointer to a pod that is gone.
    if (state.HasLostPod()) {
      handle_.MarkInexact(pod, "a pod of the gang was deleted while it waited: the real scheduler crashes");
    }
    handle_.Activate(state.UnscheduledPods());
    if (cycle_ != PodGroupCycle::kAtPermit) {
      return {.status = Status(Code::kWait, "waiting for minCount pods from a gang to be scheduled"),
              .timeout = kPermitTimeout};
    }
    // All pods of the gang wait until the same time.
    const absl::Time now = handle_.clock().Now();
    std::optional<absl::Time>& deadline = state.scheduling_deadline;
    if (!deadline.has_value() || *deadline < now) deadline = now + kPermitTimeout;
    return {.status = Status(Code::kWait, "waiting for minCount pods from a gang to be waiting on permit"),
            .timeout = *deadline - now};
  }

  framework::Handle& handle_;
  const PodGroupCycle cycle_;
  const Status waiting_for_pods_ =
      Status(Code::kUnschedulableAndUnresolvable,
             "waiting for minCount pods from a gang to appear in scheduling queue");
  // Of LastPolicyOf: the group that was asked for last, and after how many changes of such objects.
  std::optional<uint64_t> last_version_;
  std::string last_namespace_;
  std::string last_name_;
  Policy last_policy_;
};

}  // namespace

PluginOr NewGangScheduling(const api::PluginArgs&, framework::Handle& handle) {
  return std::make_unique<GangScheduling>(handle);
}

}  // namespace schedsim::plugins
