#include "sim/controllers/disruption.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/kinds.h"
#include "core/api/selector_validation.h"
#include "core/codec/objects/object_writer.h"

namespace schedsim::sim {
namespace {

// How long an eviction that was allowed may take to become a deletion.
constexpr absl::Duration kDeletionTimeout = absl::Minutes(2);
// From a change to the look at it.
constexpr absl::Duration kDelay = absl::Milliseconds(1);

bool CountsAsHealthy(const api::Pod& pod) {
  return !pod.metadata.deletion_timestamp.has_value() && IsHealthy(pod);
}

// spec.replicas, which is 1 where it is left out; absent where there is no spec.
std::optional<int64_t> ReplicasOf(const api::Object& object) {
  std::optional<int64_t> replicas;
  codec::VisitObjectTree(object, [&replicas](const codec::Value& root) {
    const codec::Value* spec = root.Find("spec");
    if (spec == nullptr) return;
    int64_t number = 1;
    const codec::Value* value = spec->Find("replicas");
    if (value != nullptr && !absl::SimpleAtoi(value->text, &number)) number = 1;
    replicas = number;
  });
  return replicas;
}

bool IsOf(const api::OwnerReference& owner, absl::string_view kind, absl::string_view group) {
  const absl::string_view given = api::GroupOf(owner.api_version);
  return owner.kind == kind && (given == group || (group == "apps" && given == "extensions"));
}

// How many of the pods must be healthy.
int64_t DesiredHealthy(const DisruptionBudget& budget, int64_t expected_pods) {
  if (budget.max_unavailable.has_value())
    return std::max<int64_t>(expected_pods - Scaled(*budget.max_unavailable, expected_pods), 0);
  return budget.min_available.has_value() ? Scaled(*budget.min_available, expected_pods) : 0;
}

// Whether the status was written for this spec: that of a dump may have been changed since. A status without
// pods says nothing of it.
bool IsOfSpec(const DisruptionBudget& budget) {
  const BudgetStatus& status = budget.status;
  if (!budget.error.empty() || status.expected_pods == 0 || status.reason == "SyncFailed") return true;
  return status.desired_healthy == DesiredHealthy(budget, status.expected_pods);
}

// Whether nothing that a budget counts has changed.
bool IsSame(const api::Pod& before, const api::Pod& after) {
  const api::OwnerReference* owner_before = ControllerOf(before);
  const api::OwnerReference* owner_after = ControllerOf(after);
  const bool same_owner = (owner_before == nullptr) == (owner_after == nullptr) &&
                          (owner_before == nullptr || owner_before->uid == owner_after->uid);
  return same_owner && before.metadata.labels == after.metadata.labels &&
         CountsAsHealthy(before) == CountsAsHealthy(after);
}

}  // namespace

std::vector<api::Kind> DisruptionController::Watches() const {
  return {api::Kind::kPod,        api::Kind::kPodDisruptionBudget, api::Kind::kReplicationController,
          api::Kind::kReplicaSet, api::Kind::kStatefulSet,         api::Kind::kOther};
}

void DisruptionController::OnEvent(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind == api::Kind::kPodDisruptionBudget) {
    OnBudget(event);
  } else if (object.kind == api::Kind::kPod) {
    if (!budgets_.empty()) OnPod(event);
  } else if (event.new_object == nullptr) {
    deleted_.insert(object.metadata.uid);
  }
}

void DisruptionController::Start() {
  started_ = true;
  // Writing a status changes nothing in here but the status itself.
  for (const auto& [name_space, budgets] : budgets_) {
    for (const auto& [name, budget] : budgets) {
      const api::ObjectPtr object =
          server_.Find(api::Kind::kPodDisruptionBudget, "PodDisruptionBudget", name_space, name);
      const auto& stored = static_cast<const api::PodDisruptionBudget&>(*object);
      const DisruptionBudget fields = ReadBudget(stored);
      if (!fields.has_status || !IsOfSpec(fields)) Sync(name_space, name);
    }
  }
}

void DisruptionController::WarnOfBarePods(const std::string& key, Budget& budget) {
  if (budget.is_warned_of || budget.bare_count_max == 0) return;
  budget.is_warned_of = true;
  warnings_.push_back(absl::StrCat("PodDisruptionBudget ", key,
                                   ": pods without a controller count as expected here, while the disruption "
                                   "controller of a cluster expects none of them with maxUnavailable or a "
                                   "percentage, and so allows no eviction"));
}

void DisruptionController::OnBudget(const WatchEvent& event) {
  if (event.new_object == nullptr) {
    const api::ObjectMeta& meta = event.old_object->metadata;
    auto found = budgets_.find(meta.namespace_);
    if (found == budgets_.end()) return;
    found->second.erase(meta.name);
    if (found->second.empty()) budgets_.erase(found);
    return;
  }
  if (writes_) return;
  const auto& object = static_cast<const api::PodDisruptionBudget&>(*event.new_object);
  const api::ObjectMeta& meta = object.metadata;
  Budget budget;
  std::optional<framework::LabelMatcher> selector = framework::LabelMatcher::Make(object.selector, symbols_);
  if (!selector.has_value()) budget.error = "the selector is invalid";
  budget.selector = std::move(selector).value_or(framework::LabelMatcher());
  std::map<std::string, Budget>& budgets = budgets_[meta.namespace_];
  auto known = budgets.find(meta.name);
  if (known == budgets.end() || known->second.selector != budget.selector) {
    Fill(meta.namespace_, budget);
    budget.is_due = known != budgets.end() && known->second.is_due;
    budgets.insert_or_assign(meta.name, std::move(budget));
  }
  if (started_) SyncLater(meta.namespace_, meta.name, kDelay);
}

void DisruptionController::Fill(const std::string& name_space, Budget& budget) {
  const ApiServer::Objects& pods = server_.List(api::Kind::kPod);
  for (auto at = pods.lower_bound(absl::StrCat(name_space, "/")); at != pods.end(); ++at) {
    const auto& pod = static_cast<const api::Pod&>(*at->second);
    if (pod.metadata.namespace_ != name_space) break;
    if (Covers(budget, pod)) Count(pod, 1, budget);
  }
}

bool DisruptionController::Covers(const Budget& budget, const api::Pod& pod) {
  return budget.selector.Matches(framework::LabelSet(pod.metadata.labels, symbols_), symbols_);
}

void DisruptionController::OnPod(const WatchEvent& event) {
  const auto* before = static_cast<const api::Pod*>(event.old_object.get());
  const auto* after = static_cast<const api::Pod*>(event.new_object.get());
  if (before != nullptr && after != nullptr && IsSame(*before, *after)) return;
  const api::ObjectMeta& meta = after != nullptr ? after->metadata : before->metadata;
  auto found = budgets_.find(meta.namespace_);
  if (found == budgets_.end()) return;
  for (auto& [name, budget] : found->second) {
    const bool was_covered = before != nullptr && Covers(budget, *before);
    const bool is_covered = after != nullptr && Covers(budget, *after);
    if (was_covered) Count(*before, -1, budget);
    if (is_covered) Count(*after, 1, budget);
    if (was_covered && is_covered) MoveToOwner(*before, *after, budget);
    // Upstream asks for the budgets of the pod as it is now.
    if (started_ && (is_covered || (was_covered && after == nullptr))) {
      SyncLater(meta.namespace_, name, kDelay);
    }
  }
}

void DisruptionController::Count(const api::Pod& pod, int64_t by, Budget& budget) {
  budget.pod_count += by;
  if (CountsAsHealthy(pod)) budget.healthy_count += by;
  const api::OwnerReference* owner = ControllerOf(pod);
  if (owner == nullptr) {
    budget.bare_count += by;
    budget.bare_count_max = std::max(budget.bare_count_max, budget.bare_count);
    return;
  }
  Owner& counts = budget.owners[owner->uid];
  counts.reference = *owner;
  counts.count += by;
  counts.count_max = std::max(counts.count_max, counts.count);
}

// A pod that somebody adopts is no longer expected of its owner before, or of none.
void DisruptionController::MoveToOwner(const api::Pod& before, const api::Pod& after, Budget& budget) {
  const api::OwnerReference* const owner = ControllerOf(before);
  const api::OwnerReference* const new_owner = ControllerOf(after);
  if (owner == nullptr) {
    if (new_owner != nullptr) --budget.bare_count_max;
  } else if (new_owner == nullptr || new_owner->uid != owner->uid) {
    --budget.owners[owner->uid].count_max;
  }
}

void DisruptionController::SyncLater(const std::string& name_space, const std::string& name,
                                     absl::Duration delay) {
  Budget& budget = budgets_[name_space][name];
  if (budget.is_due) return;
  budget.is_due = true;
  ++busy_count_;
  loop_.At(loop_.Now() + delay, EventLoop::Phase::kWork, [this, name_space, name] {
    --busy_count_;
    Sync(name_space, name);
  });
}

void DisruptionController::Sync(const std::string& name_space, const std::string& name) {
  const api::ObjectPtr object =
      server_.Find(api::Kind::kPodDisruptionBudget, "PodDisruptionBudget", name_space, name);
  if (object == nullptr) return;
  const auto& stored = static_cast<const api::PodDisruptionBudget&>(*object);
  Budget& budget = budgets_[name_space][name];
  budget.is_due = false;
  const DisruptionBudget fields = ReadBudget(stored);
  absl::Time recheck = absl::InfiniteFuture();
  const BudgetStatus status = StatusOf(name_space, name, fields, budget, recheck);
  if (!(status == fields.status)) {
    writes_ = true;
    WriteBudgetStatus(stored, fields.status, status, loop_.Now(), server_).IgnoreError();
    writes_ = false;
  }
  if (recheck == absl::InfiniteFuture()) return;
  loop_.AtInBackground(recheck, EventLoop::Phase::kWork, [this, name_space, name] {
    auto found = budgets_.find(name_space);
    if (found != budgets_.end() && found->second.count(name) > 0) Sync(name_space, name);
  });
}

BudgetStatus DisruptionController::StatusOf(const std::string& name_space, const std::string& name,
                                            const DisruptionBudget& fields, Budget& budget,
                                            absl::Time& recheck) {
  BudgetStatus status = fields.status;
  std::string error = budget.error.empty() ? fields.error : budget.error;
  const std::optional<PodAmount>& max = fields.max_unavailable;
  const std::optional<PodAmount>& min = fields.min_available;
  const bool asks_owners = max.has_value() || (min.has_value() && min->is_percentage);
  Expected expected;
  if (error.empty() && asks_owners) {
    expected = ExpectedScale(name_space, budget);
    error = expected.error;
    WarnOfBarePods(absl::StrCat(name_space, "/", name), budget);
  }
  if (!error.empty()) {
    status.disruptions_allowed = 0;
    status.condition = "False";
    status.reason = "SyncFailed";
    status.message = error;
    return status;
  }
  status.desired_healthy = DesiredHealthy(fields, expected.count);
  if (!asks_owners && min.has_value()) expected.count = budget.pod_count;
  status.expected_pods = expected.count;
  status.current_healthy = budget.healthy_count;
  status.disrupted_pods.clear();
  for (const auto& [pod_name, time] : fields.status.disrupted_pods) {
    const api::PodPtr pod = server_.FindPod(name_space, pod_name);
    const bool counts =
        pod != nullptr && !pod->metadata.deletion_timestamp.has_value() && Covers(budget, *pod);
    const absl::Time end = time + kDeletionTimeout;
    if (!counts || end < loop_.Now()) continue;
    status.disrupted_pods[pod_name] = time;
    recheck = std::min(recheck, end + absl::Nanoseconds(1));
    if (end > loop_.Now() && CountsAsHealthy(*pod)) --status.current_healthy;
  }
  const int64_t allowed = status.current_healthy - status.desired_healthy;
  status.disruptions_allowed = status.expected_pods <= 0 ? 0 : std::max<int64_t>(allowed, 0);
  status.observed_generation = fields.generation;
  SetDisruptionAllowed(status);
  return status;
}

DisruptionController::Expected DisruptionController::ExpectedScale(const std::string& name_space,
                                                                   const Budget& budget) const {
  Expected expected = {.count = budget.bare_count_max, .error = ""};
  std::set<std::string> counted;
  for (const auto& [uid, owner] : budget.owners) {
    if (owner.count == 0) continue;
    std::string error;
    const std::optional<Scale> scale = FindScale(name_space, owner.reference, error);
    if (scale.has_value()) {
      if (counted.insert(scale->uid).second) expected.count += scale->replicas;
    } else if (!error.empty()) {
      return {.count = 0, .error = error};
    } else if (deleted_.count(uid) > 0) {
      return {.count = 0,
              .error = absl::StrCat("found no controllers for pods of ", owner.reference.kind, " \"",
                                    owner.reference.name, "\"")};
    } else {
      expected.count += owner.count_max;
    }
  }
  return expected;
}

std::optional<DisruptionController::Scale> DisruptionController::FindScale(const std::string& name_space,
                                                                           const api::OwnerReference& owner,
                                                                           std::string& error) const {
  for (const char* kind : {"DaemonSet", "Job", "CronJob", "Node"}) {
    if (owner.kind != kind) continue;
    error = absl::StrCat(api::GroupResource(owner.api_version, owner.kind),
                         " does not implement the scale subresource");
    return std::nullopt;
  }
  api::Kind kind = api::Kind::kOther;
  if (IsOf(owner, "ReplicaSet", "apps")) kind = api::Kind::kReplicaSet;
  if (IsOf(owner, "StatefulSet", "apps")) kind = api::Kind::kStatefulSet;
  if (IsOf(owner, "ReplicationController", "")) kind = api::Kind::kReplicationController;
  const api::ObjectPtr object =
      kind == api::Kind::kOther
          ? server_.FindOther(owner.api_version, owner.kind, absl::StrCat(name_space, "/", owner.name))
          : server_.Find(kind, owner.kind, name_space, owner.name);
  if (object == nullptr || object->metadata.uid != owner.uid) return std::nullopt;
  const api::OwnerReference* above = kind == api::Kind::kReplicaSet ? ControllerOf(*object) : nullptr;
  if (above != nullptr && IsOf(*above, "Deployment", "apps")) {
    const std::optional<Scale> deployment = FindScale(name_space, *above, error);
    if (deployment.has_value()) return deployment;
  }
  const std::optional<int64_t> replicas = ReplicasOf(*object);
  if (!replicas.has_value()) return std::nullopt;
  return Scale{.uid = owner.uid, .replicas = *replicas};
}

}  // namespace schedsim::sim
