#include "sim/controllers/owned_pods.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "core/api/kinds.h"

namespace schedsim::sim {
namespace {

api::PodPtr PodOf(const api::ObjectPtr& object) { return std::static_pointer_cast<const api::Pod>(object); }

// What the pod adds to the counts of its workload.
OwnedPods::Counts CountsOfPod(const api::Pod& pod) {
  OwnedPods::Counts counts;
  if (IsActive(pod)) {
    counts.active = 1;
    counts.ready = IsReady(pod) ? 1 : 0;
    counts.bound = pod.node_name.empty() ? 0 : 1;
  } else if (!pod.IsTerminal()) {
    counts.terminating = 1;
  }
  return counts;
}

bool IsActiveAndReady(const api::Pod& pod) { return IsActive(pod) && IsReady(pod); }

void AddCounts(const OwnedPods::Counts& counts, int64_t by, OwnedPods::Counts& sum) {
  sum.active += by * counts.active;
  sum.ready += by * counts.ready;
  sum.bound += by * counts.bound;
  sum.terminating += by * counts.terminating;
}

}  // namespace

std::string WorkloadOf(const api::Object& object) {
  const api::OwnerReference* owner = ControllerOf(object);
  if (owner == nullptr) return absl::StrCat(object.kind_name, " ", object.Key());
  return absl::StrCat(owner->kind, " ", object.metadata.namespace_, "/", owner->name);
}

OwnerChange OwnerChangeOf(const WatchEvent& event, absl::string_view owner_kind) {
  const auto uid_of = [owner_kind](const api::ObjectPtr& object) -> std::string {
    const api::OwnerReference* owner = object == nullptr ? nullptr : ControllerOf(*object);
    return owner == nullptr || owner->kind != owner_kind ? "" : owner->uid;
  };
  return {.before = uid_of(event.old_object), .now = uid_of(event.new_object)};
}

bool IsReady(const api::Pod& pod) {
  const api::PodCondition* condition = pod.FindCondition("Ready");
  return condition != nullptr && condition->status == "True";
}

bool IsTerminating(const api::Pod& pod) { return pod.metadata.deletion_timestamp.has_value(); }

bool IsActive(const api::Pod& pod) { return !pod.IsTerminal() && !IsTerminating(pod); }

void OwnedPods::Listen(absl::string_view kind_name, Listener listener) {
  listeners_[std::string(kind_name)].push_back(std::move(listener));
}

// Kinds of other groups may have these names, too.
bool OwnedPods::IsWorkload(const api::Object& object) const {
  const bool may_be = object.kind == api::Kind::kOther || object.kind == api::Kind::kReplicationController ||
                      object.kind == api::Kind::kReplicaSet || object.kind == api::Kind::kStatefulSet;
  if (!may_be || listeners_.find(object.kind_name) == listeners_.end()) return false;
  return api::FindKind(object.api_version, object.kind_name) != nullptr;
}

void OwnedPods::OnEvent(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind == api::Kind::kPod) {
    if (fills_) OnPod(event);
  } else if (!listeners_.empty() && IsWorkload(object)) {
    OnWorkload(event);
  }
}

void OwnedPods::OnWorkload(const WatchEvent& event) {
  if (event.new_object == nullptr) {
    workloads_.Erase(event.old_object->metadata.uid);
    return;
  }
  workloads_[event.new_object->metadata.uid] = true;
  if (!fills_) Fill();
}

void OwnedPods::Start() { tells_ = true; }

void OwnedPods::KeepAll() {
  if (!fills_) Fill();
}

void OwnedPods::Fill() {
  fills_ = true;
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) Insert(PodOf(object), absl::InfinitePast());
}

void OwnedPods::OnPod(const WatchEvent& event) {
  absl::Time ready_since = clock_.Now();
  if (event.old_object != nullptr) {
    const auto& before = static_cast<const api::Pod&>(*event.old_object);
    const api::OwnerReference* owner = ControllerOf(before);
    const Pods* pods = owner == nullptr ? nullptr : &Of(owner->uid);
    const auto found = pods == nullptr ? Pods::const_iterator() : pods->find(before.metadata.name);
    if (pods != nullptr && found != pods->end() && IsReady(before)) ready_since = found->second.ready_since;
    Remove(before);
  }
  if (event.new_object != nullptr) Insert(PodOf(event.new_object), ready_since);
  if (!tells_) return;
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  Tell(static_cast<const api::Pod&>(object), event);
  if (event.new_object == nullptr || event.old_object == nullptr) return;
  const api::OwnerReference* owner = ControllerOf(*event.new_object);
  const api::OwnerReference* old_owner = ControllerOf(*event.old_object);
  if (old_owner == nullptr || (owner != nullptr && owner->uid == old_owner->uid)) return;
  Tell(static_cast<const api::Pod&>(*event.old_object), event);
}

void OwnedPods::Tell(const api::Pod& pod, const WatchEvent& event) const {
  const api::OwnerReference* owner = ControllerOf(pod);
  if (owner == nullptr || workloads_.Find(owner->uid) == nullptr) return;
  const auto found = listeners_.find(owner->kind);
  if (found == listeners_.end()) return;
  const std::string key = pod.metadata.namespace_ + "/" + owner->name;
  for (const Listener& listener : found->second) listener(key, event);
}

void OwnedPods::Insert(const api::PodPtr& pod, absl::Time ready_since) {
  const api::OwnerReference* owner = ControllerOf(*pod);
  if (owner == nullptr) return;
  Group& group = groups_[owner->uid];
  group.unsorted.push_back({.pod = pod, .ready_since = ready_since});
  AddCounts(CountsOfPod(*pod), 1, group.counts);
  if (IsActiveAndReady(*pod)) group.ready_times.Add(ready_since, 1);
}

void OwnedPods::Remove(const api::Pod& pod) {
  const api::OwnerReference* owner = ControllerOf(pod);
  if (owner == nullptr) return;
  Group* group = groups_.Find(owner->uid);
  if (group == nullptr) return;
  Pods& pods = group->Sorted();
  const auto found = pods.find(pod.metadata.name);
  if (found == pods.end()) return;
  if (IsActiveAndReady(pod)) group->ready_times.Add(found->second.ready_since, -1);
  pods.erase(found);
  AddCounts(CountsOfPod(pod), -1, group->counts);
  if (pods.empty()) groups_.Erase(owner->uid);
}

const OwnedPods::Pods& OwnedPods::Of(const std::string& owner_uid) const {
  static const auto* const kNone = new Pods();
  const Group* group = groups_.Find(owner_uid);
  return group == nullptr ? *kNone : group->Sorted();
}

void OwnedPods::ForEach(const std::string& owner_uid,
                        absl::FunctionRef<void(const api::Pod& pod)> visit) const {
  const Group* group = groups_.Find(owner_uid);
  if (group == nullptr) return;
  for (const auto& [name, entry] : group->pods) visit(*entry.pod);
  for (const Entry& entry : group->unsorted) visit(*entry.pod);
}

OwnedPods::Pods& OwnedPods::Group::Sorted() const {
  for (Entry& entry : unsorted) {
    const std::string& name = entry.pod->metadata.name;
    // A cluster gives them out in the order of their names.
    pods.insert_or_assign(pods.end(), name, std::move(entry));
  }
  unsorted.clear();
  return pods;
}

OwnedPods::Counts OwnedPods::CountsOf(const std::string& owner_uid) const {
  const Group* group = groups_.Find(owner_uid);
  return group == nullptr ? Counts() : group->counts;
}

void OwnedPods::ReadyTimes::Add(absl::Time time, int64_t by) {
  const auto known = counts.try_emplace(time, 0).first;
  known->second += by;
  if (known->second == 0) counts.erase(known);
  if (time <= until) up_to_until += by;
}

int64_t OwnedPods::ReadyTimes::UpTo(absl::Time time) {
  if (time < until) {
    until = absl::InfinitePast();
    const auto first = counts.find(until);
    up_to_until = first == counts.end() ? 0 : first->second;
  }
  for (auto at = counts.upper_bound(until); at != counts.end() && at->first <= time; ++at) {
    up_to_until += at->second;
  }
  until = time;
  return up_to_until;
}

int64_t OwnedPods::AvailableOf(const std::string& owner_uid, absl::Duration min_ready) {
  if (min_ready <= absl::ZeroDuration()) return CountsOf(owner_uid).ready;
  Group* group = groups_.Find(owner_uid);
  return group == nullptr ? 0 : group->ready_times.UpTo(clock_.Now() - min_ready);
}

absl::Time OwnedPods::NextAvailable(const std::string& owner_uid, absl::Duration min_ready) const {
  const Group* group = groups_.Find(owner_uid);
  if (group == nullptr || min_ready <= absl::ZeroDuration()) return absl::InfiniteFuture();
  const auto next = group->ready_times.counts.upper_bound(clock_.Now() - min_ready);
  return next == group->ready_times.counts.end() ? absl::InfiniteFuture() : next->first + min_ready;
}

bool OwnedPods::IsOwned(const api::Pod& pod) const {
  if (workloads_.empty()) return false;
  const api::OwnerReference* owner = ControllerOf(pod);
  return owner != nullptr && workloads_.Find(owner->uid) != nullptr;
}

}  // namespace schedsim::sim
