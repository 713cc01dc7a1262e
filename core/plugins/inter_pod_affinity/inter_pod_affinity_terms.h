// How many pods the terms of pod affinity mean, by domain.
#ifndef SCHEDSIM_CORE_PLUGINS_INTER_POD_AFFINITY_INTER_POD_AFFINITY_TERMS_H_
#define SCHEDSIM_CORE_PLUGINS_INTER_POD_AFFINITY_INTER_POD_AFFINITY_TERMS_H_

#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "core/api/object.h"
#include "core/base/lookup_map.h"
#include "core/base/symbol.h"
#include "core/framework/affinity_term.h"
#include "core/framework/handle.h"
#include "core/framework/pod_info.h"
#include "core/framework/selector.h"
#include "core/plugins/topology_domains.h"

namespace schedsim::plugins {

// Required terms filter; the others, and required affinity of existing pods, score.
enum class TermUse : uint8_t { kFilter, kScore };

// The labels of namespaces, compiled once per version.
class NamespaceLabels {
 public:
  explicit NamespaceLabels(framework::Handle& handle) : handle_(handle) {}

  // No labels where there is no such namespace. Valid until the next call.
  const framework::LabelSet& Of(Symbol name_space);
  // The namespaces that `selector` matches, by name.
  std::vector<Symbol> Matching(const framework::LabelMatcher& selector);

 private:
  struct Version {
    api::ObjectPtr object;
    framework::LabelSet labels;
  };

  const framework::LabelSet& Compiled(Symbol name_space, const api::ObjectPtr& object);

  framework::Handle& handle_;
  const framework::LabelSet none_;
  LookupMap<Symbol, Version> versions_;
};

// Whether a term of an existing pod in the namespace `owner` means the incoming `pod`.
bool ExistingTermMatches(const framework::AffinityTerm& term, Symbol owner, const framework::PodInfo& pod,
                         NamespaceLabels& namespaces, const SymbolTable& symbols);

// A term of the incoming pod, with the namespaces that its selector finds.
struct IncomingTerm {
  const framework::AffinityTerm* term = nullptr;
  std::vector<Symbol> selected_namespaces;
  bool all_namespaces = false;

  // `owner`: the namespace of the term's pod.
  bool Matches(Symbol owner, const framework::PodInfo& pod, const SymbolTable& symbols) const;
  friend bool operator==(const IncomingTerm&, const IncomingTerm&) = default;
};

// The existing pods that match the terms of incoming pods with one spec in one namespace.
class IncomingTermCounts {
 public:
  struct Column {
    const TopologyDomains* domains = nullptr;
    DomainCounts counts;
  };
  // Pods count that match all of these terms, once for each different key of the terms.
  struct Group {
    std::vector<IncomingTerm> terms;
    int32_t weight = 0;  // Negative in anti-affinity.
    std::vector<Column> columns;
    mutable MatchMemo matches;
  };

  // All but `pod` must outlive the counts.
  IncomingTermCounts(const framework::PodInfo& pod, TermUse use, TopologyIndex& topology,
                     NamespaceLabels& namespaces, framework::Handle& handle);

  // Brings the counts up to date with snapshot and namespaces; `topology` must be so already.
  void Update();

  // kFilter: required affinity as one group, where there is any, then a group for each term of required
  // anti-affinity. kScore: a group for each preferred term.
  const std::vector<Group>& groups() const { return groups_; }
  bool has_affinity() const { return has_affinity_; }
  bool Matches(const Group& group, const framework::PodInfo& pod) const {
    return group.matches.Matches(pod, [&] { return MatchesAll(group, pod); });
  }

 private:
  bool MatchesAll(const Group& group, const framework::PodInfo& pod) const;
  void AddGroup(absl::Span<const framework::AffinityTerm> terms, int32_t weight, TopologyIndex& topology);
  IncomingTerm Resolve(const framework::AffinityTerm& term) const;
  void UpdateNode(const framework::NodeInfo& node);

  framework::Handle& handle_;
  NamespaceLabels& namespaces_;
  const std::shared_ptr<const framework::PodSpecInfo> spec_;
  const Symbol namespace_;
  bool has_affinity_ = false;
  bool has_namespace_selector_ = false;
  std::vector<Group> groups_;
  int64_t position_ = -1;
};

// Keeps counts from cycle to cycle.
class IncomingTermCountsStore {
 public:
  IncomingTermCountsStore(TopologyIndex& topology, NamespaceLabels& namespaces, framework::Handle& handle)
      : topology_(topology), namespaces_(namespaces), handle_(handle) {}

  // The counts as of this cycle's snapshot.
  std::shared_ptr<const IncomingTermCounts> Of(const framework::PodInfo& pod, TermUse use);

 private:
  TopologyIndex& topology_;
  NamespaceLabels& namespaces_;
  framework::Handle& handle_;
  // By spec id, namespace and use.
  LookupMap<std::tuple<int32_t, Symbol, TermUse>, std::shared_ptr<IncomingTermCounts>> counts_;
};

// The terms of existing pods, equal ones as one, and where the pods are that have them.
class ExistingTermCounts {
 public:
  struct Term {
    const framework::AffinityTerm* term = nullptr;
    Symbol owner;        // The namespace of the pods that have it.
    int32_t weight = 0;  // What it scores; negative in anti-affinity.
    const TopologyDomains* domains = nullptr;
    std::vector<int32_t> pods;  // By domain; domains behind the end have none.
    int64_t total = 0;
    // Whether the term means a pod, where that does not depend on labels of namespaces.
    mutable MatchMemo matches = {};
  };

  // kFilter: required anti-affinity. kScore: preferred terms, and required affinity with
  // `required_affinity_weight` where that is not 0. `topology` and `handle` must outlive the counts.
  ExistingTermCounts(TermUse use, int32_t required_affinity_weight, TopologyIndex& topology,
                     framework::Handle& handle)
      : use_(use),
        required_affinity_weight_(required_affinity_weight),
        topology_(topology),
        handle_(handle) {}

  // Brings the counts up to date with the snapshot; `topology` must be so already.
  void Update();
  // The terms that mean the incoming `pod` and that pods have. They live as long as the counts.
  std::vector<const Term*> Matching(const framework::PodInfo& pod, NamespaceLabels& namespaces) const;

 private:
  struct Part {
    Term* term = nullptr;
    int32_t domain = 0;
  };
  struct Group {
    std::shared_ptr<const framework::PodSpecInfo> spec;  // Keeps the terms alive.
    std::vector<std::unique_ptr<Term>> terms;
  };

  Group& GroupOf(const framework::PodInfo& pod);
  void UpdateNode(const framework::NodeInfo& node);

  const TermUse use_;
  const int32_t required_affinity_weight_;
  TopologyIndex& topology_;
  framework::Handle& handle_;
  std::vector<Group> groups_;
  LookupMap<std::pair<int32_t, Symbol>, int32_t> group_ids_;  // By spec id and namespace.
  std::vector<std::vector<Part>> parts_;                      // By NodeInfo::index: one a pod and term.
  int64_t position_ = -1;
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_INTER_POD_AFFINITY_INTER_POD_AFFINITY_TERMS_H_
