#include "sim/explain/affinity_explainer.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "sim/explain/selector_text.h"

namespace schedsim::sim {
namespace {

using Type = Change::Type;
using framework::AffinityTerm;
using framework::NodeInfo;
using framework::PodInfo;

// So many pods are named in a fact.
constexpr size_t kShown = 3;

// "zone=a".
std::string DomainText(const RefusedPod& refused, Symbol key) {
  const Symbol* const value = refused.node.labels.Find(key);
  return absl::StrCat(refused.Text(key), "=", value == nullptr ? "" : refused.Text(*value));
}

const std::vector<api::PodAffinityTerm>& Written(const api::PodAffinity& affinity) {
  return affinity.required_during_scheduling_ignored_during_execution;
}

template <typename Hits>
std::string NamesText(const Hits& hits) {
  std::string text;
  for (size_t i = 0; i < std::min(kShown, hits.first.size()); ++i)
    absl::StrAppend(&text, i == 0 ? "" : ", ", hits.first[i].first);
  const int64_t more = hits.count - static_cast<int64_t>(kShown);
  if (more > 0) absl::StrAppend(&text, " and ", more, " more");
  return text;
}

std::vector<Change> Away(const std::set<std::string>& pods) {
  std::vector<Change> changes;
  for (const std::string& pod : pods) changes.push_back({.type = Type::kPodAway, .name = pod, .size = 1500});
  return changes;
}

}  // namespace

AffinityExplainer::AffinityExplainer(framework::Handle& handle)
    : handle_(handle), namespaces_(handle), existing_(handle) {
  existing_.set_groups_of(
      [this](const PodInfo& pod) -> const std::vector<size_t>& { return ExistingGroupsOf(pod); });
}

Refusal AffinityExplainer::Explain(const RefusedPod& refused) {
  const std::string message = refused.status.Message();
  if (message == "node(s) didn't match pod affinity rules") return OfOwnAffinity(refused);
  if (message == "node(s) didn't match pod anti-affinity rules") return OfOwnAntiAffinity(refused);
  return OfExisting(refused);
}

AffinityExplainer::Hits AffinityExplainer::HitsOf(const RefusedPod& refused, const DomainPods& pods,
                                                  size_t group) {
  Hits hits;
  const DomainPods::Pods& there = pods.In(group, refused.node);
  hits.count = static_cast<int64_t>(there.size());
  for (auto pod = there.begin(); pod != there.end() && hits.first.size() <= kPodsAwayMax; ++pod)
    hits.first.emplace_back(pod->first, pod->second);
  if (!pods.DomainOf(group, refused.node).has_value()) return hits;
  for (const framework::PodInfoPtr& nominated : refused.Nominated()) {
    const std::vector<size_t>& groups = pods.GroupsFor(*nominated);
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) continue;
    hits.first.emplace_back(nominated->pod->Key(), refused.node.name);
    ++hits.count;
  }
  std::sort(hits.first.begin(), hits.first.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return hits;
}

Refusal AffinityExplainer::OfExisting(const RefusedPod& refused) {
  Refusal refusal;
  if (pod_ == nullptr) pod_ = handle_.pod_infos().Make(refused.pod.pod);
  existing_.Update();
  // Pods that are nominated may be the only ones with their terms.
  for (const framework::PodInfoPtr& nominated : refused.Nominated()) existing_.GroupsFor(*nominated);
  std::set<std::string> holders;
  std::map<std::string, size_t> by_text;
  for (size_t group = 0; group < existing_.groups().size(); ++group)
    by_text.emplace(existing_.groups()[group].text, group);
  for (const auto& [term, group] : by_text) {
    const Hits hits = HitsOf(refused, existing_, group);
    if (hits.count == 0) continue;
    const std::string domain = DomainText(refused, *existing_.groups()[group].key);
    const std::string node(refused.Text(hits.first[0].second));
    refusal.facts.push_back(
        {.kind = "existingAntiAffinity",
         .text = absl::StrCat(NamesText(hits), hits.count == 1 ? absl::StrCat(" on ", node) : "",
                              " must not be with ", term, ", and this pod is one in ", domain),
         .fields = {{"pod", hits.first[0].first},
                    {"node", node},
                    {"pods", hits.count},
                    {"term", term},
                    {"domain", domain}}});
    for (const auto& [pod, on] : hits.first) holders.insert(pod);
  }
  refusal.remedies.push_back(Away(holders));
  return refusal;
}

Refusal AffinityExplainer::OfOwnAntiAffinity(const RefusedPod& refused) {
  Refusal refusal;
  std::set<std::string> holders;
  std::vector<Change> left_out;
  const OwnTerms& own = OwnTermsOf(refused.pod, Kind::kAntiAffinity);
  for (const OwnTerm& term : own.terms) {
    const Hits hits = HitsOf(refused, own.pods, term.group);
    if (hits.count == 0) continue;
    const std::string domain = DomainText(refused, term.term.term->topology_key);
    refusal.facts.push_back(
        {.kind = "antiAffinity",
         .text = absl::StrCat("must not be with ", term.text, "; ", domain, " has ", NamesText(hits)),
         .fields = {
             {"term", term.text}, {"domain", domain}, {"pods", hits.count}, {"pod", hits.first[0].first}}});
    for (const auto& [pod, on] : hits.first) holders.insert(pod);
    left_out.push_back({.type = Type::kLeaveOut, .name = kPodAntiAffinity, .value = term.text, .size = 2000});
  }
  refusal.remedies.push_back(Away(holders));
  refusal.remedies.push_back(std::move(left_out));
  return refusal;
}

Refusal AffinityExplainer::OfOwnAffinity(const RefusedPod& refused) {
  Refusal refusal;
  std::vector<Change> labels;
  std::vector<Change> left_out;
  const OwnTerms& own = OwnTermsOf(refused.pod, Kind::kAffinity);
  for (const OwnTerm& term : own.terms) {
    const Symbol key = term.term.term->topology_key;
    const bool has_label = refused.node.labels.Find(key) != nullptr;
    // Pods that are nominated to the node do not count: that they come is not certain.
    if (!own.pods.In(term.group, refused.node).empty()) continue;
    const std::string elsewhere = own.pods.FirstDomain(term.group);
    const std::string where = elsewhere.empty() ? "no node has any" : absl::StrCat("such are in ", elsewhere);
    refusal.facts.push_back(
        {.kind = "affinity",
         .text = absl::StrCat("must be with ", term.text, "; ",
                              has_label ? absl::StrCat(DomainText(refused, key), " has none")
                                        : absl::StrCat("the node has no label ", refused.Text(key)),
                              ", ", where),
         .fields = {{"term", term.text}, {"domain", DomainText(refused, key)}, {"elsewhere", elsewhere}}});
    if (!elsewhere.empty() || !has_label) {
      // The first of pods that want to be together only needs some domain.
      std::optional<Change> label =
          LabelOf(refused, std::string(refused.Text(key)), elsewhere.empty() ? kSomeValue : elsewhere);
      if (label.has_value()) labels.push_back(*std::move(label));
    }
    left_out.push_back({.type = Type::kLeaveOut, .name = kPodAffinity, .value = term.text, .size = 2000});
  }
  refusal.remedies.push_back(std::move(labels));
  refusal.remedies.push_back(std::move(left_out));
  return refusal;
}

AffinityExplainer::OwnTerms& AffinityExplainer::OwnTermsOf(const PodInfo& pod, Kind kind) {
  std::unique_ptr<OwnTerms>& own = own_[{kind, pod.ConcernId(framework::Concern::kPodAffinity)}];
  if (own == nullptr) {
    own = std::make_unique<OwnTerms>(handle_);
    own->spec = pod.spec_info;
    const framework::PodAffinityTerms& terms = own->spec->affinity_terms;
    const std::vector<AffinityTerm>& compiled =
        kind == Kind::kAffinity ? terms.required_affinity : terms.required_anti_affinity;
    const api::Affinity& affinity = *pod.pod->spec->affinity;
    for (size_t i = 0; i < compiled.size(); ++i) {
      OwnTerm term = {
          .term = {.term = &compiled[i]},
          .text = AffinityTermText(
              Written(kind == Kind::kAffinity ? *affinity.pod_affinity : *affinity.pod_anti_affinity)[i])};
      term.term.all_namespaces = compiled[i].namespace_selector.empty();
      if (!term.term.all_namespaces)
        term.term.selected_namespaces = namespaces_.Matching(compiled[i].namespace_selector);
      term.group = own->pods.AddGroup(compiled[i].topology_key, absl::StrCat(i));
      own->terms.push_back(std::move(term));
    }
    own->pods.set_groups_of([this, kind, &own = *own, name_space = pod.namespace_](
                                const PodInfo& other) -> const std::vector<size_t>& {
      return OwnGroupsOf(other, own, kind, name_space);
    });
  }
  own->pods.Update();
  return *own;
}

// Pods count for affinity where all terms mean them, and for anti-affinity where one does.
const std::vector<size_t>& AffinityExplainer::OwnGroupsOf(const PodInfo& pod, OwnTerms& own, Kind kind,
                                                          Symbol name_space) {
  const std::vector<size_t>* const known = own.groups.Find(pod.labels_id);
  if (known != nullptr) return *known;
  std::vector<size_t> groups;
  for (const OwnTerm& term : own.terms) {
    if (term.term.Matches(name_space, pod, handle_.symbols())) groups.push_back(term.group);
  }
  if (kind == Kind::kAffinity && groups.size() < own.terms.size()) groups.clear();
  return own.groups[pod.labels_id] = std::move(groups);
}

const std::vector<size_t>& AffinityExplainer::ExistingGroupsOf(const PodInfo& pod) {
  const std::pair<int32_t, Symbol> id = {pod.spec_info->id, pod.namespace_};
  const std::vector<size_t>* const known = existing_groups_.Find(id);
  if (known != nullptr) return *known;
  std::vector<size_t> groups;
  const std::vector<AffinityTerm>& terms = pod.spec_info->affinity_terms.required_anti_affinity;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (!plugins::ExistingTermMatches(terms[i], pod.namespace_, *pod_, namespaces_, handle_.symbols()))
      continue;
    const size_t group = existing_.AddGroup(
        terms[i].topology_key, AffinityTermText(Written(*pod.pod->spec->affinity->pod_anti_affinity)[i]));
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  return existing_groups_[id] = std::move(groups);
}

}  // namespace schedsim::sim
