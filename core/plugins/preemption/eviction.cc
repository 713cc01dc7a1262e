#include "core/plugins/preemption/eviction.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace schedsim::plugins {
namespace {

using framework::PodInfoPtr;

constexpr char kPreemptionByScheduler[] = "PreemptionByScheduler";

// Stops the binding of a victim that is not bound yet, if it can still be stopped.
bool PreemptInMemory(framework::Handle& handle, absl::string_view plugin, const api::Pod& victim) {
  const std::string& uid = victim.metadata.uid;
  framework::WaitingPod* waiting = handle.GetWaitingPod(uid);
  if (!handle.line().preempted_waiting_pod_is_error) {
    // That it may be too late is not looked at.
    if (waiting != nullptr) waiting->Reject(plugin, "preempted");
    return waiting != nullptr;
  }
  if (waiting != nullptr) return waiting->Preempt(plugin, "preempted");
  framework::PodInPreBind* in_pre_bind = handle.GetPodInPreBind(uid);
  return in_pre_bind != nullptr && in_pre_bind->CancelPod(absl::StrCat("preempted by ", plugin));
}

void RecordPreempted(framework::Handle& handle, const api::Pod& victim, const Preemptor& preemptor,
                     absl::string_view node_name, absl::string_view suffix) {
  handle.client().RecordEvent(victim, {.type = "Normal",
                                       .reason = "Preempted",
                                       .action = "Preempting",
                                       .note = absl::StrCat("Preempted by ", preemptor.kind, " ",
                                                            preemptor.uid, " on node ", node_name, suffix)});
}

}  // namespace

void Evict(framework::Handle& handle, absl::string_view plugin, const api::PodPtr& victim,
           PreemptorPtr preemptor, std::string node_name, std::function<void(Eviction)> done) {
  if (PreemptInMemory(handle, plugin, *victim)) {
    const bool says_so = handle.line().preempted_waiting_pod_is_error;
    RecordPreempted(handle, *victim, *preemptor, node_name, says_so ? " (in kube-scheduler memory)." : "");
    done(Eviction::kInMemory);
    return;
  }
  framework::PodStatusPatch patch;
  patch.condition = {
      .type = "DisruptionTarget",
      .status = "True",
      .reason = kPreemptionByScheduler,
      .message = absl::StrCat(preemptor->scheduler_name, ": preempting to accommodate a higher priority ",
                              preemptor->kind)};
  auto remove = [&handle, victim, preemptor, node_name, done = std::move(done)](const absl::Status& patched) {
    if (!patched.ok()) {
      done(absl::IsNotFound(patched) ? Eviction::kDone : Eviction::kFailed);
      return;
    }
    handle.client().DeletePod(
        victim, [&handle, victim, preemptor, node_name, done](const absl::Status& deleted) {
          if (deleted.ok()) RecordPreempted(handle, *victim, *preemptor, node_name, "");
          done(deleted.ok() || absl::IsNotFound(deleted) ? Eviction::kDone : Eviction::kFailed);
        });
  };
  const api::PodCondition* known = victim->FindCondition("DisruptionTarget");
  if (known != nullptr && *known == *patch.condition) {
    remove(absl::OkStatus());
    return;
  }
  handle.client().PatchPodStatus(victim, std::move(patch), std::move(remove));
}

void ClearLowerNominations(framework::Handle& handle, absl::string_view node_name, int32_t priority) {
  const std::vector<PodInfoPtr> nominated = handle.NominatedPodsForNode(handle.symbols().Intern(node_name));
  for (const PodInfoPtr& other : nominated) {
    if (other->Priority() >= priority || other->pod->status.nominated_node_name.empty()) continue;
    framework::PodStatusPatch patch;
    patch.nominated_node_name = "";
    handle.client().PatchPodStatus(other->pod, std::move(patch), [](const absl::Status&) {});
  }
}

bool IsTerminatingByPreemption(const api::Pod& pod) {
  const api::PodCondition* condition = pod.FindCondition("DisruptionTarget");
  return pod.metadata.deletion_timestamp.has_value() && condition != nullptr && condition->status == "True" &&
         condition->reason == kPreemptionByScheduler;
}

std::optional<std::string> WhyIneligible(const framework::Handle& handle, const api::Pod& pod,
                                         const framework::NodeToStatus& statuses,
                                         absl::FunctionRef<bool(const framework::PodInfo& other)> leaves) {
  if (pod.spec->preemption_policy == "Never") return "not eligible due to preemptionPolicy=Never.";
  const std::string& nominated = pod.status.nominated_node_name;
  if (nominated.empty()) return std::nullopt;
  const framework::NodeInfo* node = handle.snapshot().Get(handle.symbols().Find(nominated));
  // Where the nominated node can never take the pod, it may preempt elsewhere at once.
  if (node == nullptr ||
      statuses.Get(node->position).code() == framework::Code::kUnschedulableAndUnresolvable) {
    return std::nullopt;
  }
  const bool leaving = std::any_of(node->pods.begin(), node->pods.end(),
                                   [leaves](const PodInfoPtr& other) { return leaves(*other); });
  if (leaving) return "not eligible due to a terminating pod on the nominated node.";
  return std::nullopt;
}

std::string AggregateText(std::vector<std::string> errors) {
  std::vector<std::string> texts;
  for (std::string& error : errors) {
    if (std::find(texts.begin(), texts.end(), error) == texts.end()) texts.push_back(std::move(error));
  }
  return texts.size() == 1 ? texts[0] : absl::StrCat("[", absl::StrJoin(texts, ", "), "]");
}

}  // namespace schedsim::plugins
