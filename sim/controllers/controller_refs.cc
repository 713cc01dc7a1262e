#include "sim/controllers/controller_refs.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/api/kinds.h"

namespace schedsim::sim {
namespace {

// Of so many sets of labels it is remembered whether a selector selects them.
constexpr size_t kKnownLabelsMax = 16;

bool IsOrphan(const api::Pod& pod) { return ControllerOf(pod) == nullptr && IsActive(pod); }

std::string ControllerUidOf(const api::Object& object) {
  const api::OwnerReference* owner = ControllerOf(object);
  return owner == nullptr ? "" : owner->uid;
}

}  // namespace

std::shared_ptr<api::Object> WithController(const api::Object& object, const api::Object& owner) {
  std::shared_ptr<api::Object> copy = object.Clone();
  std::vector<api::OwnerReference> owners = copy->metadata.owner_references.items();
  owners.push_back({.api_version = owner.api_version,
                    .kind = owner.kind_name,
                    .name = owner.metadata.name,
                    .uid = owner.metadata.uid,
                    .controller = true});
  copy->metadata.owner_references = std::move(owners);
  return copy;
}

std::shared_ptr<api::Object> WithoutOwner(const api::Object& object, const std::string& owner_uid) {
  std::shared_ptr<api::Object> copy = object.Clone();
  std::vector<api::OwnerReference> owners = copy->metadata.owner_references.items();
  std::erase_if(owners, [&owner_uid](const api::OwnerReference& owner) { return owner.uid == owner_uid; });
  copy->metadata.owner_references = std::move(owners);
  return copy;
}

std::string NamespaceOfOwner(const api::Object& object, const api::OwnerReference& owner) {
  const api::KindInfo* info = api::FindKind(owner.api_version, owner.kind);
  return info == nullptr || info->is_namespaced ? object.metadata.namespace_ : "";
}

bool SameSelector(const std::optional<api::LabelSelector>& a, const std::optional<api::LabelSelector>& b) {
  if (a.has_value() != b.has_value()) return false;
  if (!a.has_value()) return true;
  const auto same = [](const api::LabelSelectorRequirement& x, const api::LabelSelectorRequirement& y) {
    return x.key == y.key && x.operator_ == y.operator_ && x.values == y.values;
  };
  const auto& of_a = a->match_expressions;
  const auto& of_b = b->match_expressions;
  return a->match_labels == b->match_labels &&
         std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), same);
}

void ControllerRefs::OnEvent(const WatchEvent& event) {
  if (!fills_) return;
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind == api::Kind::kPod) {
    OnPod(event);
    return;
  }
  if (event.new_object != nullptr) return;
  const auto found = claimants_.find(object.metadata.uid);
  if (found == claimants_.end()) return;
  claimants_in_[found->second.name_space].erase(found->first);
  claimants_.erase(found);
}

void ControllerRefs::OnPod(const WatchEvent& event) {
  const auto* before = static_cast<const api::Pod*>(event.old_object.get());
  const auto* now = static_cast<const api::Pod*>(event.new_object.get());
  const bool was_orphan = before != nullptr && IsOrphan(*before);
  const bool is_orphan = now != nullptr && IsOrphan(*now);
  const bool same_labels =
      before != nullptr && now != nullptr && before->metadata.labels == now->metadata.labels;
  if (was_orphan && is_orphan && same_labels) return;
  if (was_orphan) orphans_[before->metadata.namespace_].erase(before->metadata.name);
  if (is_orphan) TellOfOrphan(*now);
  if (now == nullptr || is_orphan) return;
  // New pods are as their controller made them: whoever made others in their place would never end.
  if (before == nullptr || same_labels) return;
  const auto claimant = claimants_.find(ControllerUidOf(*now));
  if (claimant != claimants_.end()) claimant->second.changed.insert(now->metadata.name);
}

void ControllerRefs::TellOfOrphan(const api::Pod& pod) {
  const std::string& name_space = pod.metadata.namespace_;
  framework::LabelSet& labels = orphans_[name_space][pod.metadata.name];
  labels = framework::LabelSet(pod.metadata.labels, symbols_);
  const auto uids = claimants_in_.find(name_space);
  if (uids == claimants_in_.end()) return;
  for (const std::string& uid : uids->second) {
    Claimant& claimant = claimants_.at(uid);
    if (!claimant.matcher.Matches(labels, symbols_)) continue;
    claimant.changed.insert(pod.metadata.name);
    claimant.listener();
  }
}

void ControllerRefs::Fill() {
  fills_ = true;
  server_.ForEachPod([this](const api::Pod& pod) {
    if (!IsOrphan(pod)) return;
    orphans_[pod.metadata.namespace_].emplace(pod.metadata.name,
                                              framework::LabelSet(pod.metadata.labels, symbols_));
  });
}

void ControllerRefs::Select(const std::string& uid, const std::optional<api::LabelSelector>& selector,
                            Claimant& claimant) {
  claimant.selector = selector;
  std::optional<framework::LabelMatcher> matcher = framework::LabelMatcher::Make(selector, symbols_);
  claimant.is_valid = selector.has_value() && matcher.has_value();
  claimant.matcher = std::move(matcher).value_or(framework::LabelMatcher());
  // Those that match are as they should be. Pods of a workload mostly share their labels, but for the zone
  // that they got with their nodes.
  std::vector<std::pair<const api::StringMap*, bool>> known;
  owned_pods_.ForEach(uid, [&](const api::Pod& pod) {
    const api::StringMap& labels = pod.metadata.labels;
    auto same = std::find_if(known.begin(), known.end(),
                             [&labels](const auto& other) { return *other.first == labels; });
    if (same == known.end()) {
      if (known.size() == kKnownLabelsMax) known.clear();
      const bool matches = claimant.matcher.Matches(framework::LabelSet(labels, symbols_), symbols_);
      same = known.insert(known.end(), {&labels, matches});
    }
    if (!same->second) claimant.changed.insert(pod.metadata.name);
  });
  for (const auto& [name, labels] : orphans_[claimant.name_space]) {
    if (claimant.matcher.Matches(labels, symbols_)) claimant.changed.insert(name);
  }
}

void ControllerRefs::Claim(const api::Object& owner, const std::optional<api::LabelSelector>& selector,
                           absl::FunctionRef<bool(const api::Pod& pod)> may_take, const Listener& listener) {
  const std::string& uid = owner.metadata.uid;
  const std::string& name_space = owner.metadata.namespace_;
  if (!selector.has_value() && claimants_.count(uid) == 0) return;
  if (!fills_) Fill();
  const auto [known, is_new] = claimants_.try_emplace(uid);
  Claimant& claimant = known->second;
  if (is_new) {
    claimant.name_space = name_space;
    claimant.listener = listener;
    claimants_in_[name_space].insert(uid);
  }
  if (is_new || !SameSelector(claimant.selector, selector)) Select(uid, selector, claimant);
  const std::set<std::string> changed = std::exchange(claimant.changed, {});
  if (!claimant.is_valid) return;
  for (const std::string& name : changed) {
    const api::PodPtr pod = server_.FindPod(name_space, name);
    if (pod == nullptr || !IsActive(*pod)) continue;
    const std::string controller_uid = ControllerUidOf(*pod);
    const bool matches =
        claimant.matcher.Matches(framework::LabelSet(pod->metadata.labels, symbols_), symbols_);
    if (controller_uid == uid && !matches) {
      server_.Update(WithoutOwner(*pod, uid)).IgnoreError();
    } else if (controller_uid.empty() && matches && may_take(*pod)) {
      server_.Update(WithController(*pod, owner)).IgnoreError();
    }
  }
}

}  // namespace schedsim::sim
