#include "sim/autoscaler/drainability.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/api/workloads.h"
#include "sim/cluster/disruption_budget.h"
#include "sim/controllers/daemon_set.h"
#include "sim/controllers/workload_fields.h"

namespace schedsim::sim {
namespace {

constexpr char kSafeToEvict[] = "cluster-autoscaler.kubernetes.io/safe-to-evict";
constexpr char kSafeLocalVolumes[] = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes";
constexpr absl::Duration kLongTerminatingExtra = absl::Seconds(30);

// nullptr: no such annotation.
const std::string* Annotation(const api::Pod& pod, absl::string_view key) {
  return pod.metadata.annotations.Find(key);
}

bool HasAnnotation(const api::Pod& pod, absl::string_view key, absl::string_view value) {
  const std::string* found = Annotation(pod, key);
  return found != nullptr && *found == value;
}

// A volume that is lost with the node.
bool IsLocal(const api::Volume& volume) {
  if (absl::StartsWith(volume.source, "{\"hostPath\"")) return true;
  return absl::StartsWith(volume.source, "{\"emptyDir\"") &&
         !absl::StrContains(volume.source, "\"medium\":\"Memory\"");
}

// The names of its local volumes. Only the whole object has them: a PodSpec keeps none that decide nothing.
std::vector<std::string> LocalVolumesOf(const api::Pod& pod) {
  std::vector<std::string> names;
  ReadFields(pod, [&names](const codec::Value& root) {
    const codec::Value* spec = root.Find("spec");
    const codec::Value* volumes = spec == nullptr ? nullptr : spec->Find("volumes");
    if (volumes == nullptr) return absl::OkStatus();
    for (const codec::Value& volume : volumes->items) {
      const codec::Value* empty_dir = volume.Find("emptyDir");
      const codec::Value* medium = empty_dir == nullptr ? nullptr : empty_dir->Find("medium");
      const bool is_in_memory = medium != nullptr && medium->text == "Memory";
      const bool is_local = volume.Find("hostPath") != nullptr || (empty_dir != nullptr && !is_in_memory);
      const codec::Value* name = volume.Find("name");
      if (is_local && name != nullptr) names.emplace_back(name->text);
    }
    return absl::OkStatus();
  }).IgnoreError();
  return names;
}

bool HasBlockingLocalStorage(const api::Pod& pod) {
  const std::vector<api::Volume>& volumes = pod.spec->volumes;
  if (std::none_of(volumes.begin(), volumes.end(), IsLocal)) return false;
  const std::string* annotation = Annotation(pod, kSafeLocalVolumes);
  if (annotation == nullptr) return true;
  const std::vector<std::string> safe = absl::StrSplit(*annotation, ',');
  const std::vector<std::string> local = LocalVolumesOf(pod);
  return std::any_of(local.begin(), local.end(), [&safe](const std::string& name) {
    return std::find(safe.begin(), safe.end(), name) == safe.end();
  });
}

// "": the pod has a controller that makes it anew.
absl::string_view WhyNotReplicated(const api::Pod& pod, const ApiServer& server) {
  const api::OwnerReference* owner = ControllerOf(pod);
  if (owner == nullptr) return "NotReplicated";
  const std::string key = absl::StrCat(pod.metadata.namespace_, "/", owner->name);
  api::ObjectPtr found;
  if (owner->kind == "Job") {
    found = server.FindOther("batch/v1", "Job", key);
  } else if (owner->kind == "ReplicaSet") {
    found = server.FindByKey(api::Kind::kReplicaSet, owner->kind, key);
  } else if (owner->kind == "StatefulSet") {
    found = server.FindByKey(api::Kind::kStatefulSet, owner->kind, key);
  } else if (owner->kind == "ReplicationController") {
    found = server.FindByKey(api::Kind::kReplicationController, owner->kind, key);
  } else {
    return "NotReplicated";
  }
  return found == nullptr ? "ControllerNotFound" : "";
}

// Why the pod keeps its node; "": it does not.
absl::string_view WhyBlocked(const api::Pod& pod, const ApiServer& server, BudgetTracker& budgets) {
  const absl::string_view replicated = WhyNotReplicated(pod, server);
  if (!replicated.empty()) return replicated;
  if (pod.metadata.namespace_ == "kube-system" && !budgets.Covers(pod)) return "UnmovableKubeSystemPod";
  if (HasAnnotation(pod, kSafeToEvict, "false")) return "NotSafeToEvictAnnotation";
  if (HasBlockingLocalStorage(pod)) return "LocalStorageRequested";
  return budgets.Allows(pod) ? "" : "NotEnoughPdb";
}

}  // namespace

BudgetTracker::BudgetTracker(const ApiServer& server) {
  for (const auto& [key, object] : server.List(api::Kind::kPodDisruptionBudget)) {
    const auto& budget = static_cast<const api::PodDisruptionBudget&>(*object);
    auto selector = framework::LabelMatcher::Make(budget.selector, symbols_);
    if (!selector.has_value()) continue;
    budgets_.push_back({.name_space = budget.metadata.namespace_,
                        .selector = *std::move(selector),
                        .allowed = ReadBudget(budget).status.disruptions_allowed});
  }
}

std::vector<BudgetTracker::Budget*> BudgetTracker::Of(const api::Pod& pod) {
  std::vector<Budget*> found;
  if (budgets_.empty()) return found;
  const framework::LabelSet labels(pod.metadata.labels, symbols_);
  for (Budget& budget : budgets_) {
    const bool covers =
        budget.name_space == pod.metadata.namespace_ && budget.selector.Matches(labels, symbols_);
    if (covers) found.push_back(&budget);
  }
  return found;
}

bool BudgetTracker::Covers(const api::Pod& pod) { return !Of(pod).empty(); }

bool BudgetTracker::Allows(const api::Pod& pod) {
  const std::vector<Budget*> budgets = Of(pod);
  return std::all_of(budgets.begin(), budgets.end(),
                     [](const Budget* budget) { return budget->allowed > 0; });
}

void BudgetTracker::Remove(const std::vector<api::PodPtr>& pods) {
  for (const api::PodPtr& pod : pods) {
    for (Budget* budget : Of(*pod)) --budget->allowed;
  }
}

PodsToMove FindPodsToMove(const ClusterSnapshot::Pods& pods, const ApiServer& server, absl::Time now,
                          BudgetTracker& budgets) {
  PodsToMove found;
  for (const auto& [key, pod] : pods) {
    if (api::IsMirrorPod(*pod) || IsLongTerminating(*pod, now) || IsDaemonSetPod(*pod)) continue;
    // Budgets are not asked either; the eviction does that.
    const bool is_free = HasAnnotation(*pod, kSafeToEvict, "true") || pod->IsTerminal();
    const absl::string_view reason = is_free ? "" : WhyBlocked(*pod, server, budgets);
    if (!reason.empty()) {
      found.blocked = absl::StrCat("blocked by pod ", key, ": ", reason);
      return found;
    }
    found.pods.push_back(pod);
  }
  return found;
}

bool IsLongTerminating(const api::Pod& pod, absl::Time now) {
  return pod.metadata.deletion_timestamp.has_value() &&
         *pod.metadata.deletion_timestamp + kLongTerminatingExtra < now;
}

}  // namespace schedsim::sim
