// Source: kubernetes v1.37, plugins/interpodaffinity/plugin.go; the older lines' rules beside it.

#include "core/plugins/inter_pod_affinity/inter_pod_affinity_events.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/api/node.h"
#include "core/api/pod.h"
#include "core/framework/affinity_term.h"
#include "core/framework/pod_info.h"

namespace schedsim::plugins {
namespace {

using api::InterPodAffinityHints;
using framework::AffinityTerm;
using framework::LabelSet;
using framework::PodInfo;
using framework::QueueIf;
using framework::QueueingHint;
using Terms = std::vector<AffinityTerm>;

// What terms are compared with.
struct Target {
  Symbol name_space;
  LabelSet labels;
};

class Hints {
 public:
  explicit Hints(framework::Handle& handle)
      : handle_(handle), rules_(handle.line().inter_pod_affinity_hints) {}

  // 1.37: another pod on a node, or nominated to one; before, any pod, among them the waiting one.
  QueueingHint AfterPodChange(const PodInfo& pod, const api::Pod* old_pod, const api::Pod* new_pod) const {
    const bool update = old_pod != nullptr && new_pod != nullptr;
    const bool own_update = update && new_pod->metadata.uid == pod.Uid();
    if (own_update && rules_ == InterPodAffinityHints::k1_36) return QueueingHint::kQueue;
    if (!HasNode(old_pod) || !HasNode(new_pod)) return QueueingHint::kSkip;
    const framework::PodAffinityTerms& terms = pod.spec_info->affinity_terms;
    // Upstream's hint fails to parse the pod, and a hint that fails means Queue.
    if (terms.required_is_invalid) return QueueingHint::kQueue;
    if (update) {
      const Target before = TargetOf(*old_pod);
      const Target after = TargetOf(*new_pod);
      const bool attracts = !MatchesAll(terms.required_affinity, pod.namespace_, before) &&
                            MatchesAll(terms.required_affinity, pod.namespace_, after);
      const bool repelled = MatchesAnti(terms.required_anti_affinity, pod.namespace_, before) &&
                            !MatchesAnti(terms.required_anti_affinity, pod.namespace_, after);
      return QueueIf(attracts || repelled);
    }
    if (new_pod != nullptr) {
      return QueueIf(MatchesAll(terms.required_affinity, pod.namespace_, TargetOf(*new_pod)));
    }
    return AfterPodDeletion(pod, *old_pod);
  }

  QueueingHint AfterNodeChange(const PodInfo& pod, const api::Node* old_node,
                               const api::Node& new_node) const {
    const framework::PodAffinityTerms& terms = pod.spec_info->affinity_terms;
    if (terms.required_is_invalid) return QueueingHint::kQueue;
    for (const AffinityTerm& term : terms.required_affinity) {
      const std::string* before = old_node == nullptr ? nullptr : Find(*old_node, term);
      const std::string* after = Find(new_node, term);
      if (after != nullptr && (before == nullptr || *before != *after)) return QueueingHint::kQueue;
    }
    // A new node without the key takes any pod with anti-affinity; one with the key may be a new domain.
    if (old_node == nullptr) return QueueIf(!terms.required_anti_affinity.empty());
    for (const AffinityTerm& term : terms.required_anti_affinity) {
      const std::string* before = Find(*old_node, term);
      const std::string* after = Find(new_node, term);
      if (before != nullptr && (after == nullptr || *before != *after)) return QueueingHint::kQueue;
    }
    return QueueingHint::kSkip;
  }

 private:
  QueueingHint AfterPodDeletion(const PodInfo& pod, const api::Pod& deleted) const {
    const framework::PodAffinityTerms& terms = pod.spec_info->affinity_terms;
    if (MatchesAnti(terms.required_anti_affinity, pod.namespace_, TargetOf(deleted)))
      return QueueingHint::kQueue;
    if (rules_ == InterPodAffinityHints::k1_35) return QueueingHint::kSkip;
    const std::shared_ptr<const framework::PodSpecInfo> spec = handle_.pod_infos().Compile(*deleted.spec);
    // Upstream's hint fails here, and a hint that fails means Queue.
    if (spec->affinity_terms.required_anti_affinity_is_invalid) return QueueingHint::kQueue;
    const Symbol owner = handle_.symbols().Intern(deleted.metadata.namespace_);
    const Target target = {.name_space = pod.namespace_, .labels = pod.labels};
    return QueueIf(MatchesAnti(spec->affinity_terms.required_anti_affinity, owner, target));
  }

  // Whether a pod counts as scheduled; up to 1.35 a nomination is not enough.
  bool HasNode(const api::Pod* pod) const {
    if (pod == nullptr || !pod->node_name.empty()) return true;
    return rules_ != InterPodAffinityHints::k1_35 && !pod->status.nominated_node_name.empty();
  }

  // Selectors of namespaces are asked without labels here.
  bool Matches(const AffinityTerm& term, Symbol owner, const Target& target) const {
    const SymbolTable& symbols = handle_.symbols();
    const bool in_namespace =
        term.ListsNamespace(owner, target.name_space) || term.namespace_selector.Matches(LabelSet(), symbols);
    return in_namespace && term.selector.Matches(target.labels, symbols);
  }
  bool MatchesAll(const Terms& terms, Symbol owner, const Target& target) const {
    return !terms.empty() && std::all_of(terms.begin(), terms.end(), [&](const AffinityTerm& term) {
      return Matches(term, owner, target);
    });
  }
  // Up to 1.36 anti-affinity, too, must match with all terms.
  bool MatchesAnti(const Terms& terms, Symbol owner, const Target& target) const {
    if (rules_ != InterPodAffinityHints::k1_37) return MatchesAll(terms, owner, target);
    return std::any_of(terms.begin(), terms.end(),
                       [&](const AffinityTerm& term) { return Matches(term, owner, target); });
  }

  Target TargetOf(const api::Pod& pod) const {
    SymbolTable& symbols = handle_.symbols();
    return {.name_space = symbols.Intern(pod.metadata.namespace_),
            .labels = LabelSet(pod.metadata.labels, symbols)};
  }
  const std::string* Find(const api::Node& node, const AffinityTerm& term) const {
    return node.metadata.labels.Find(handle_.symbols().Text(term.topology_key));
  }

  framework::Handle& handle_;
  const InterPodAffinityHints rules_;
};

}  // namespace

std::vector<framework::ClusterEventWithHint> InterPodAffinityEvents(framework::Handle& handle) {
  using framework::EventResource;
  auto hints = std::make_shared<const Hints>(handle);
  const framework::QueueingHintFn after_pod_change =
      [hints](const PodInfo& pod, const api::Object* old_object, const api::Object* new_object) {
        return hints->AfterPodChange(pod, static_cast<const api::Pod*>(old_object),
                                     static_cast<const api::Pod*>(new_object));
      };
  const framework::QueueingHintFn after_node_change =
      [hints](const PodInfo& pod, const api::Object* old_object, const api::Object* new_object) {
        return hints->AfterNodeChange(pod, static_cast<const api::Node*>(old_object),
                                      static_cast<const api::Node&>(*new_object));
      };
  const bool by_kind_of_pod = handle.line().inter_pod_affinity_hints == InterPodAffinityHints::k1_37;
  std::vector<framework::ClusterEventWithHint> events;
  events.push_back({.event = {.resource = by_kind_of_pod ? EventResource::kAssignedPod : EventResource::kPod,
                              .action = framework::kAdd | framework::kUpdatePodLabel | framework::kDelete},
                    .hint = after_pod_change,
                    .scope = framework::HintScope::kSpecAndLabels});
  if (by_kind_of_pod) {
    events.push_back({.event = {.resource = EventResource::kTargetPod, .action = framework::kUpdatePodLabel},
                      .hint = nullptr});
  }
  events.push_back(
      {.event = {.resource = EventResource::kNode, .action = framework::kAdd | framework::kUpdateNodeLabel},
       .hint = after_node_change,
       .scope = framework::HintScope::kSpecAndLabels});
  return events;
}

}  // namespace schedsim::plugins
