#include "core/plugins/inter_pod_affinity/inter_pod_affinity_terms.h"

#include <algorithm>
#include <string>

#include "core/api/workloads.h"
#include "core/base/wrapping.h"

namespace schedsim::plugins {
namespace {

using framework::AffinityTerm;
using framework::LabelSet;
using framework::NodeInfo;
using framework::PodInfo;

// Bounds what is remembered to some tens of megabytes.
constexpr size_t kRememberedSpecsMax = 512;

}  // namespace

const LabelSet& NamespaceLabels::Compiled(Symbol name_space, const api::ObjectPtr& object) {
  Version& version = versions_[name_space];
  if (version.object != object) {
    version = Version{.object = object, .labels = LabelSet(object->metadata.labels, handle_.symbols())};
  }
  return version.labels;
}

const LabelSet& NamespaceLabels::Of(Symbol name_space) {
  const api::ObjectPtr object =
      handle_.informers().Find(api::Kind::kNamespace, "", handle_.symbols().Text(name_space));
  return object == nullptr ? none_ : Compiled(name_space, object);
}

std::vector<Symbol> NamespaceLabels::Matching(const framework::LabelMatcher& selector) {
  std::vector<Symbol> matching;
  if (selector.matches_nothing()) return matching;
  for (const auto& [name, object] : handle_.informers().List(api::Kind::kNamespace)) {
    const Symbol symbol = handle_.symbols().Intern(object->metadata.name);
    if (selector.Matches(Compiled(symbol, object), handle_.symbols())) matching.push_back(symbol);
  }
  return matching;
}

bool ExistingTermMatches(const AffinityTerm& term, Symbol owner, const PodInfo& pod,
                         NamespaceLabels& namespaces, const SymbolTable& symbols) {
  if (!term.ListsNamespace(owner, pod.namespace_)) {
    if (term.namespace_selector.matches_nothing()) return false;
    if (!term.namespace_selector.empty() &&
        !term.namespace_selector.Matches(namespaces.Of(pod.namespace_), symbols)) {
      return false;
    }
  }
  return term.selector.Matches(pod.labels, symbols);
}

bool IncomingTerm::Matches(Symbol owner, const PodInfo& pod, const SymbolTable& symbols) const {
  const bool in_namespace = all_namespaces || term->ListsNamespace(owner, pod.namespace_) ||
                            std::find(selected_namespaces.begin(), selected_namespaces.end(),
                                      pod.namespace_) != selected_namespaces.end();
  return in_namespace && term->selector.Matches(pod.labels, symbols);
}

IncomingTermCounts::IncomingTermCounts(const PodInfo& pod, TermUse use, TopologyIndex& topology,
                                       NamespaceLabels& namespaces, framework::Handle& handle)
    : handle_(handle), namespaces_(namespaces), spec_(pod.spec_info), namespace_(pod.namespace_) {
  const framework::PodAffinityTerms& terms = spec_->affinity_terms;
  if (use == TermUse::kFilter) {
    has_affinity_ = !terms.required_affinity.empty();
    if (has_affinity_) AddGroup(terms.required_affinity, 0, topology);
    for (const AffinityTerm& term : terms.required_anti_affinity) AddGroup({&term, 1}, 0, topology);
  } else {
    for (const AffinityTerm& term : terms.preferred_affinity) AddGroup({&term, 1}, term.weight, topology);
    for (const AffinityTerm& term : terms.preferred_anti_affinity)
      AddGroup({&term, 1}, WrappingNegate(term.weight), topology);
  }
}

void IncomingTermCounts::AddGroup(absl::Span<const AffinityTerm> terms, int32_t weight,
                                  TopologyIndex& topology) {
  Group group;
  group.weight = weight;
  for (const AffinityTerm& term : terms) {
    group.terms.push_back(Resolve(term));
    has_namespace_selector_ = has_namespace_selector_ || !term.namespace_selector.matches_nothing();
    const TopologyDomains* domains = &topology.Of(term.topology_key);
    const bool known = std::any_of(group.columns.begin(), group.columns.end(),
                                   [domains](const Column& column) { return column.domains == domains; });
    if (!known) group.columns.push_back(Column{.domains = domains, .counts = {}});
  }
  groups_.push_back(std::move(group));
}

IncomingTerm IncomingTermCounts::Resolve(const AffinityTerm& term) const {
  IncomingTerm resolved = {.term = &term, .selected_namespaces = {}, .all_namespaces = false};
  const framework::LabelMatcher& selector = term.namespace_selector;
  if (selector.empty()) {
    resolved.all_namespaces = true;
    return resolved;
  }
  resolved.selected_namespaces = namespaces_.Matching(selector);
  // Up to 1.36 the selector stays and is asked about the other namespaces without their labels.
  resolved.all_namespaces = handle_.line().namespace_selector_kept_after_expansion &&
                            selector.Matches(LabelSet(), handle_.symbols());
  return resolved;
}

bool IncomingTermCounts::MatchesAll(const Group& group, const PodInfo& pod) const {
  return std::all_of(group.terms.begin(), group.terms.end(), [&](const IncomingTerm& term) {
    return term.Matches(namespace_, pod, handle_.symbols());
  });
}

void IncomingTermCounts::UpdateNode(const NodeInfo& node) {
  for (Group& group : groups_) {
    const int64_t count =
        std::count_if(node.pods.begin(), node.pods.end(),
                      [&](const framework::PodInfoPtr& pod) { return Matches(group, *pod); });
    for (Column& column : group.columns) {
      column.counts.Set(node.index, column.domains->Of(node), static_cast<int32_t>(count));
    }
  }
}

void IncomingTermCounts::Update() {
  if (has_namespace_selector_) {
    for (Group& group : groups_) {
      for (IncomingTerm& term : group.terms) {
        IncomingTerm resolved = Resolve(*term.term);
        if (resolved == term) continue;
        // Namespaces came, went, or changed their labels: what was counted for this term may be wrong.
        term = std::move(resolved);
        group.matches.Clear();
        position_ = -1;
      }
    }
  }
  FollowSnapshot(
      handle_.snapshot(), position_,
      [this] {
        for (Group& group : groups_) {
          for (Column& column : group.columns) column.counts.Clear();
        }
      },
      [this](const NodeInfo& node) { UpdateNode(node); });
}

std::shared_ptr<const IncomingTermCounts> IncomingTermCountsStore::Of(const PodInfo& pod, TermUse use) {
  std::shared_ptr<IncomingTermCounts> counts;
  const std::tuple<int32_t, Symbol, TermUse> key(pod.ConcernId(framework::Concern::kPodAffinity),
                                                 pod.namespace_, use);
  const std::shared_ptr<IncomingTermCounts>* known = handle_.reference() ? nullptr : counts_.Find(key);
  if (known != nullptr) {
    counts = *known;
  } else {
    counts = std::make_shared<IncomingTermCounts>(pod, use, topology_, namespaces_, handle_);
    if (!handle_.reference()) {
      if (counts_.size() >= kRememberedSpecsMax) counts_.Clear();
      counts_[key] = counts;
    }
  }
  counts->Update();
  return counts;
}

ExistingTermCounts::Group& ExistingTermCounts::GroupOf(const PodInfo& pod) {
  const std::pair<int32_t, Symbol> key(pod.ConcernId(framework::Concern::kPodAffinity), pod.namespace_);
  if (const int32_t* known = group_ids_.Find(key)) return groups_[static_cast<size_t>(*known)];
  Group group;
  group.spec = pod.spec_info;
  auto add = [&](const std::vector<AffinityTerm>& terms, auto weight_of) {
    for (const AffinityTerm& term : terms) {
      group.terms.push_back(std::make_unique<Term>(Term{.term = &term,
                                                        .owner = pod.namespace_,
                                                        .weight = weight_of(term),
                                                        .domains = &topology_.Of(term.topology_key),
                                                        .pods = {},
                                                        .total = 0}));
    }
  };
  const framework::PodAffinityTerms& terms = group.spec->affinity_terms;
  if (use_ == TermUse::kFilter) {
    add(terms.required_anti_affinity, [](const AffinityTerm&) { return 0; });
  } else {
    if (required_affinity_weight_ != 0) {
      add(terms.required_affinity, [this](const AffinityTerm&) { return required_affinity_weight_; });
    }
    add(terms.preferred_affinity, [](const AffinityTerm& term) { return term.weight; });
    add(terms.preferred_anti_affinity, [](const AffinityTerm& term) { return WrappingNegate(term.weight); });
  }
  group_ids_[key] = static_cast<int32_t>(groups_.size());
  groups_.push_back(std::move(group));
  return groups_.back();
}

void ExistingTermCounts::UpdateNode(const NodeInfo& node) {
  std::vector<Part>& parts = parts_[static_cast<size_t>(node.index)];
  const bool filters = use_ == TermUse::kFilter;
  const auto& pods = filters ? node.pods_with_required_anti_affinity : node.pods_with_affinity;
  if (parts.empty() && pods.empty()) return;
  // What the node brought before is taken back first, then what it brings now is added.
  for (const Part& part : parts) {
    --part.term->pods[static_cast<size_t>(part.domain)];
    --part.term->total;
  }
  parts.clear();
  for (const PodInfo* pod : pods) {
    for (const std::unique_ptr<Term>& term : GroupOf(*pod).terms) {
      const int32_t domain = term->domains->Of(node);
      if (domain == kNoDomain) continue;
      const size_t at = static_cast<size_t>(domain);
      if (at >= term->pods.size()) term->pods.resize(at + 1);
      ++term->pods[at];
      ++term->total;
      parts.push_back(Part{.term = term.get(), .domain = domain});
    }
  }
}

void ExistingTermCounts::Update() {
  if (handle_.reference()) position_ = -1;
  FollowSnapshot(
      handle_.snapshot(), position_,
      [this] {
        groups_.clear();
        group_ids_.Clear();
        parts_.clear();
        parts_.resize(static_cast<size_t>(handle_.snapshot().IndexLimit()));
      },
      [this](const NodeInfo& node) { UpdateNode(node); });
}

std::vector<const ExistingTermCounts::Term*> ExistingTermCounts::Matching(const PodInfo& pod,
                                                                          NamespaceLabels& namespaces) const {
  std::vector<const Term*> matching;
  for (const Group& group : groups_) {
    for (const std::unique_ptr<Term>& term : group.terms) {
      // Terms stay when their last pod leaves; they match nothing meanwhile.
      if (term->total == 0) continue;
      const auto matches = [&] {
        return ExistingTermMatches(*term->term, term->owner, pod, namespaces, handle_.symbols());
      };
      const framework::LabelMatcher& selector = term->term->namespace_selector;
      const bool reads_namespace = !selector.matches_nothing() && !selector.empty();
      if (reads_namespace ? matches() : term->matches.Matches(pod, matches)) matching.push_back(term.get());
    }
  }
  return matching;
}

}  // namespace schedsim::plugins
