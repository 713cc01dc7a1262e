#include "sim/replay/follow.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/kinds.h"
#include "core/api/pod.h"
#include "core/api/storage.h"
#include "core/base/lookup_map.h"
#include "core/base/status_macros.h"
#include "sim/replay/contradictions.h"
#include "sim/replay/scheduler_view.h"

namespace schedsim::sim {
namespace {

// What an informer had not heard of, and bindings that overtook each other, lie this close together.
constexpr absl::Duration kOrderWindow = absl::Milliseconds(100);
// How many changes of that time are taken back, or put forward, at most.
constexpr size_t kOrderChangesMax = 64;
// The same where both are tried.
constexpr size_t kBothMax = 8;
// In a burst, bindings wait for their turn at the client's limit and at the API server.
constexpr absl::Duration kBurstWindow = absl::Seconds(1);
// How many bindings are put before or behind one at most.
constexpr int kBurstStepsMax = 16;
// How many bindings on each side are looked at for that, the nearest ones.
constexpr size_t kBurstChangesMax = 256;
// For how many bindings an explanation is looked for.
constexpr int64_t kSearchesMax = 1000;
// How many of the best nodes are named.
constexpr size_t kBestNamesMax = 10;
// With how many beginnings the search is tried in a cluster of which a part is looked at.
constexpr int32_t kWindowsMax = 32;
// Of volume binding. Source: component-helpers v0.37, storage/volume/pv_helpers.go.
constexpr absl::string_view kSelectedNode = "volume.kubernetes.io/selected-node";

const api::Pod* AsPod(const api::ObjectPtr& object) {
  const bool is_pod = object != nullptr && object->kind == api::Kind::kPod;
  return is_pod ? static_cast<const api::Pod*>(object.get()) : nullptr;
}

bool IsBinding(const RecordedChange& change) {
  const api::Pod* const before = AsPod(change.before);
  const api::Pod* const after = AsPod(change.after);
  return before != nullptr && after != nullptr && before->metadata.uid == after->metadata.uid &&
         before->node_name.empty() && !after->node_name.empty();
}

// The claims that the pod uses, "namespace/name".
std::vector<std::string> ClaimsOf(const api::Pod& pod) {
  std::vector<std::string> claims;
  for (const api::Volume& volume : pod.spec->volumes) {
    if (volume.persistent_volume_claim.has_value()) {
      claims.push_back(
          absl::StrCat(pod.metadata.namespace_, "/", volume.persistent_volume_claim->claim_name));
    } else if (volume.ephemeral.has_value()) {
      claims.push_back(absl::StrCat(pod.Key(), "-", volume.name));
    }
  }
  return claims;
}

class Follower {
 public:
  Follower(const Recording& recording, SchedulerView& view) : recording_(recording), view_(view) {}

  FollowResult Follow();

 private:
  using Changes = std::vector<const RecordedChange*>;

  // Takes over the object as it is now; nullptr: as it was.
  void Keep(const api::ObjectPtr& before, const api::ObjectPtr& after);
  // Whether the scheduler decided over a claim of a pod here, and so over the pod itself.
  void LookForDecision(size_t index);
  // The pod among those that wait for the claim for which it is decided on; "": none.
  std::string PodDecided(const std::set<std::string>& waiting, size_t index) const;
  // The object of that kind; nullptr: there is none.
  const api::Object* FindObject(const std::string& key, api::Kind kind) const;
  std::string ClaimDecided(const RecordedChange& change) const;
  bool WaitsForConsumer(const std::string& claim) const;
  void CheckBinding(const RecordedChange& binding, size_t index);
  bool IsBest(const api::PodPtr& pod, const std::string& node);
  bool IsBestOfAWindow(const api::PodPtr& pod, const std::string& node);
  bool IsBestInAnotherOrder(const RecordedChange& binding, size_t index);
  bool IsBestInABurst(const RecordedChange& binding, size_t index);
  OddBinding::Cause CauseOf(const RecordedChange& binding, size_t index, bool is_sampled);
  // The bindings of other pods in the burst around the change of `index`, those nearest to it first.
  Changes BurstAround(const RecordedChange& binding, size_t index, int step) const;
  // The pod as it is now; nullptr: there is none of that name and uid.
  api::ObjectPtr CurrentPod(const api::Object& pod) const;
  // Changes of other objects around that of `index`, those nearest to it first.
  Changes Around(const RecordedChange& binding, size_t index, int step) const;
  void CountEnd();

  const Recording& recording_;
  SchedulerView& view_;
  FollowResult result_;
  std::map<std::string, api::ObjectPtr> objects_;         // By kind with its group, namespace and name.
  int32_t start_ = 0;                                     // Where the next search begins.
  LookupMap<std::string, size_t> bindings_;               // By uid of the pod: index of the change.
  std::vector<size_t> binding_indices_;                   // Ascending.
  std::map<std::string, std::set<std::string>> waiting_;  // Uids of pods without a node, by claim.
  std::set<std::string> decided_;                         // Uids.
};

std::string KeyOf(const api::Object& object) {
  return absl::StrCat(api::GroupResource(object.api_version, object.kind_name), "|",
                      object.metadata.namespace_, "/", object.metadata.name);
}

void Follower::Keep(const api::ObjectPtr& before, const api::ObjectPtr& after) {
  view_.Change(before, after);
  for (const bool is_new : {false, true}) {
    const api::Pod* const pod = AsPod(is_new ? after : before);
    if (pod == nullptr || !pod->node_name.empty()) continue;
    for (const std::string& claim : ClaimsOf(*pod)) {
      if (is_new) {
        waiting_[claim].insert(pod->metadata.uid);
      } else {
        waiting_[claim].erase(pod->metadata.uid);
      }
    }
  }
  std::string key = KeyOf(after != nullptr ? *after : *before);
  if (after != nullptr) {
    objects_.insert_or_assign(std::move(key), after);
  } else {
    objects_.erase(key);
  }
}

// Another kind may have the same plural.
const api::Object* Follower::FindObject(const std::string& key, api::Kind kind) const {
  const auto found = objects_.find(key);
  return found != objects_.end() && found->second->kind == kind ? found->second.get() : nullptr;
}

bool Follower::WaitsForConsumer(const std::string& claim) const {
  const api::Object* const object =
      FindObject(absl::StrCat("persistentvolumeclaims|", claim), api::Kind::kPersistentVolumeClaim);
  if (object == nullptr) return false;
  const std::optional<std::string>& name =
      static_cast<const api::PersistentVolumeClaim*>(object)->spec.storage_class_name;
  if (!name.has_value()) return false;
  const api::Object* const of =
      FindObject(absl::StrCat("storageclasses.storage.k8s.io|/", *name), api::Kind::kStorageClass);
  return of != nullptr &&
         static_cast<const api::StorageClass*>(of)->volume_binding_mode == "WaitForFirstConsumer";
}

// The claim that the change decides over, as the scheduler does before it binds a pod: it gets a node, or a
// volume gets the claim.
std::string Follower::ClaimDecided(const RecordedChange& change) const {
  if (change.before == nullptr || change.after == nullptr) return "";
  const api::Kind kind = change.after->kind;
  if (kind == api::Kind::kPersistentVolumeClaim) {
    const bool had = change.before->metadata.annotations.Find(kSelectedNode) != nullptr;
    const bool has = change.after->metadata.annotations.Find(kSelectedNode) != nullptr;
    return has && !had ? change.after->Key() : "";
  }
  if (kind != api::Kind::kPersistentVolume) return "";
  const auto& before = static_cast<const api::PersistentVolume&>(*change.before);
  const auto& after = static_cast<const api::PersistentVolume&>(*change.after);
  if (before.spec.claim_ref.has_value() || !after.spec.claim_ref.has_value()) return "";
  const std::string claim = absl::StrCat(after.spec.claim_ref->namespace_, "/", after.spec.claim_ref->name);
  return WaitsForConsumer(claim) ? claim : "";
}

// The scheduler binds a pod as soon as its claims are bound, so it is the one that is bound next. The others
// find the claim bound, and are decided on later.
std::string Follower::PodDecided(const std::set<std::string>& waiting, size_t index) const {
  const std::string* const node = recording_.changes[index].after->metadata.annotations.Find(kSelectedNode);
  std::string decided;
  size_t first = recording_.changes.size();
  for (const std::string& uid : waiting) {
    const size_t* const binding = bindings_.Find(uid);
    if (binding == nullptr || *binding < index || *binding >= first) continue;
    const auto& bound = static_cast<const api::Pod&>(*recording_.changes[*binding].after);
    if (node != nullptr && *node != bound.node_name) continue;
    first = *binding;
    decided = uid;
  }
  return decided;
}

void Follower::LookForDecision(size_t index) {
  const RecordedChange& change = recording_.changes[index];
  const std::string claim = ClaimDecided(change);
  const auto found = claim.empty() ? waiting_.end() : waiting_.find(claim);
  if (found == waiting_.end()) return;
  const std::string uid = PodDecided(found->second, index);
  if (uid.empty() || !decided_.insert(uid).second) return;
  CheckBinding(recording_.changes[*bindings_.Find(uid)], index);
}

bool Follower::IsBest(const api::PodPtr& pod, const std::string& node) {
  return view_.FindBest(pod, start_, node).has_node;
}

bool Follower::IsBestOfAWindow(const api::PodPtr& pod, const std::string& node) {
  const int32_t count = view_.node_count();
  const int32_t windows = std::min(count, kWindowsMax);
  for (int32_t i = 0; i < windows; ++i) {
    const auto start = static_cast<int32_t>(int64_t{count} * i / windows);
    if (view_.FindBest(pod, start, node).has_node) return true;
  }
  return false;
}

Follower::Changes Follower::Around(const RecordedChange& binding, size_t index, int step) const {
  Changes around;
  const size_t count = recording_.changes.size();
  const absl::Time at = recording_.changes[index].at;
  // Below zero it is a large number.
  for (size_t i = index + static_cast<size_t>(step); i < count && around.size() < kOrderChangesMax;
       i += static_cast<size_t>(step)) {
    const RecordedChange& change = recording_.changes[i];
    if (absl::AbsDuration(change.at - at) > kOrderWindow) break;
    const api::Object& object = change.object();
    const bool is_own = object.kind == api::Kind::kPod && object.Key() == binding.after->Key();
    if (object.kind != api::Kind::kOther && !is_own) around.push_back(&change);
  }
  return around;
}

// Takes back what came just before, one change after the other; puts forward what comes just behind; and
// both. In the end all is as it was.
bool Follower::IsBestInAnotherOrder(const RecordedChange& binding, size_t index) {
  const auto pod = std::static_pointer_cast<const api::Pod>(binding.before);
  const std::string& node = AsPod(binding.after)->node_name;
  const Changes before = Around(binding, index, -1);
  Changes behind = Around(binding, index, 1);
  bool found = false;
  size_t taken_back = 0;
  for (; taken_back < before.size() && !found; ++taken_back) {
    view_.Change(before[taken_back]->after, before[taken_back]->before);
    found = IsBest(pod, node);
  }
  // From here on back to now.
  for (;; --taken_back) {
    const size_t forward_max = taken_back == 0 ? behind.size() : std::min(behind.size(), kBothMax);
    size_t forward = 0;
    const bool is_tried = !found && taken_back <= kBothMax;
    for (; is_tried && forward < forward_max && !found; ++forward) {
      view_.Change(behind[forward]->before, behind[forward]->after);
      found = IsBinding(*behind[forward]) && IsBest(pod, node);
    }
    for (; forward > 0; --forward) view_.Change(behind[forward - 1]->after, behind[forward - 1]->before);
    if (taken_back == 0) break;
    view_.Change(before[taken_back - 1]->before, before[taken_back - 1]->after);
  }
  return found;
}

Follower::Changes Follower::BurstAround(const RecordedChange& binding, size_t index, int step) const {
  Changes around;
  const size_t count = binding_indices_.size();
  const absl::Time at = recording_.changes[index].at;
  const auto behind = std::upper_bound(binding_indices_.begin(), binding_indices_.end(), index);
  const auto before = std::lower_bound(binding_indices_.begin(), binding_indices_.end(), index);
  // Below zero it is a large number.
  size_t i = step > 0 ? static_cast<size_t>(behind - binding_indices_.begin())
                      : static_cast<size_t>(before - binding_indices_.begin()) - 1;
  for (size_t looked = 0; i < count && looked < kBurstChangesMax; ++looked, i += static_cast<size_t>(step)) {
    const RecordedChange& change = recording_.changes[binding_indices_[i]];
    if (absl::AbsDuration(change.at - at) > kBurstWindow) break;
    if (change.after->Key() != binding.after->Key() && CurrentPod(*change.after) != nullptr)
      around.push_back(&change);
  }
  return around;
}

api::ObjectPtr Follower::CurrentPod(const api::Object& pod) const {
  const auto found = objects_.find(KeyOf(pod));
  const bool is_there = found != objects_.end() && found->second->metadata.uid == pod.metadata.uid;
  return is_there ? found->second : nullptr;
}

// Looks for the few bindings that would explain the node: those to the better nodes, which may have been
// decided on before, and those to this node, or of pods of the same workload, which may have been decided on
// behind.
bool Follower::IsBestInABurst(const RecordedChange& binding, size_t index) {
  const auto pod = std::static_pointer_cast<const api::Pod>(binding.before);
  const std::string& node = AsPod(binding.after)->node_name;
  Changes before = BurstAround(binding, index, -1);
  Changes behind = BurstAround(binding, index, 1);
  const api::OwnerReference* const owner = api::ControllerOf(*pod);
  std::vector<std::pair<api::ObjectPtr, api::ObjectPtr>> done;  // What pods were, and what they are.
  const auto put = [&](Changes& from, Changes::iterator at, const api::ObjectPtr& now) {
    done.emplace_back(CurrentPod(*now), now);
    view_.Change(done.back().first, done.back().second);
    from.erase(at);
  };
  bool found = false;
  for (int step = 0; step < kBurstStepsMax; ++step) {
    const BestNodes best = view_.FindBest(pod, start_, node);
    found = best.has_node;
    if (found) break;
    const auto is_better = [&](const RecordedChange* other) {
      return std::binary_search(best.names.begin(), best.names.end(), AsPod(other->after)->node_name);
    };
    const auto on_better = std::find_if(behind.begin(), behind.end(), is_better);
    if (on_better != behind.end()) {
      put(behind, on_better, (*on_better)->after);
      continue;
    }
    const auto is_near = [&](const RecordedChange* other) {
      const api::OwnerReference* const of_other = api::ControllerOf(*other->after);
      return AsPod(other->after)->node_name == node ||
             (owner != nullptr && of_other != nullptr && owner->uid == of_other->uid);
    };
    const auto near = std::find_if(before.begin(), before.end(), is_near);
    if (near == before.end()) break;
    put(before, near, (*near)->before);
  }
  for (; !done.empty(); done.pop_back()) view_.Change(done.back().second, done.back().first);
  return found;
}

OddBinding::Cause Follower::CauseOf(const RecordedChange& binding, size_t index, bool is_sampled) {
  const auto pod = std::static_pointer_cast<const api::Pod>(binding.before);
  if (is_sampled && IsBestOfAWindow(pod, AsPod(binding.after)->node_name)) return OddBinding::Cause::kWindow;
  if (IsBestInAnotherOrder(binding, index)) return OddBinding::Cause::kOrder;
  if (IsBestInABurst(binding, index)) return OddBinding::Cause::kBurst;
  return OddBinding::Cause::kUnknown;
}

// `index`: of the change at which the scheduler decided; the binding itself, or one of a claim before it.
void Follower::CheckBinding(const RecordedChange& binding, size_t index) {
  const auto pod = std::static_pointer_cast<const api::Pod>(binding.before);
  const std::string& node = AsPod(binding.after)->node_name;
  if (!view_.ResponsibleFor(*pod)) {
    ++result_.other_binding_count;
    return;
  }
  ++result_.binding_count;
  BestNodes best = view_.FindBest(pod, start_, node);
  if (view_.node_count() > 0) start_ = (start_ + best.evaluated_count) % view_.node_count();
  if (best.has_node) {
    ++(best.feasible_count == 1 ? result_.only_count : result_.best_count);
    return;
  }
  OddBinding odd = {.pod = pod->Key(),
                    .node = node,
                    .at = recording_.changes[index].at,
                    .line = binding.line,
                    .best = std::move(best.names),
                    .best_count = 0,
                    .best_score = best.best_total,
                    .feasible_count = best.feasible_count,
                    .score = best.node_total};
  if (!odd.score.has_value()) odd.why_not = view_.WhyNot(pod, node);
  odd.best_count = static_cast<int64_t>(odd.best.size());
  if (odd.best.size() > kBestNamesMax) {
    odd.best.resize(kBestNamesMax);
    odd.best.shrink_to_fit();
  }
  if (static_cast<int64_t>(result_.odd.size()) < kSearchesMax) {
    odd.cause = CauseOf(binding, index, best.is_sampled);
  } else {
    ++result_.unsearched_count;
  }
  ++(odd.cause == OddBinding::Cause::kWindow  ? result_.window_count
     : odd.cause == OddBinding::Cause::kOrder ? result_.order_count
     : odd.cause == OddBinding::Cause::kBurst ? result_.burst_count
                                              : result_.unknown_count);
  result_.odd.push_back(std::move(odd));
}

void Follower::CountEnd() {
  for (const auto& [key, object] : objects_) {
    result_.objects.push_back(object);
    if (object->kind == api::Kind::kNode) ++result_.node_count;
    const api::Pod* const pod = AsPod(object);
    if (pod == nullptr) continue;
    ++result_.pod_count;
    ++(pod->IsTerminal()        ? result_.finished_count
       : pod->node_name.empty() ? result_.pending_count
                                : result_.bound_count);
  }
}

FollowResult Follower::Follow() {
  result_.zero = recording_.zero;
  result_.length = recording_.end() - recording_.zero;
  result_.object_count = static_cast<int64_t>(recording_.objects.size());
  result_.change_count = static_cast<int64_t>(recording_.changes.size());
  result_.order_window = kOrderWindow;
  result_.burst_window = kBurstWindow;
  for (const api::ObjectPtr& object : recording_.objects) Keep(nullptr, object);
  for (size_t i = 0; i < recording_.changes.size(); ++i) {
    if (!IsBinding(recording_.changes[i])) continue;
    bindings_[recording_.changes[i].after->metadata.uid] = i;
    binding_indices_.push_back(i);
  }
  for (size_t i = 0; i < recording_.changes.size(); ++i) {
    const RecordedChange& change = recording_.changes[i];
    LookForDecision(i);
    if (IsBinding(change) && !decided_.contains(change.after->metadata.uid)) CheckBinding(change, i);
    Keep(change.before, change.after);
  }
  CountEnd();
  result_.contradictions = FindContradictions(recording_, result_.objects);
  return std::move(result_);
}

}  // namespace

absl::StatusOr<FollowResult> FollowRecording(const Recording& recording, const SimulationOptions& options) {
  std::unique_ptr<SchedulerView> view;
  ASSIGN_OR_RETURN(view, SchedulerView::Make(options));
  return Follower(recording, *view).Follow();
}

}  // namespace schedsim::sim
