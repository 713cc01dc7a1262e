// Label and node selectors as the API writes them.
#ifndef SCHEDSIM_CORE_API_SELECTORS_H_
#define SCHEDSIM_CORE_API_SELECTORS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/api/object.h"

namespace schedsim::api {

// A requirement on one label. `operator_` is In, NotIn, Exists or DoesNotExist.
struct LabelSelectorRequirement {
  std::string key;
  std::string operator_;
  std::vector<std::string> values;
};

// All of `match_labels` and of `match_expressions` must hold. An empty selector matches everything;
// an absent one (std::nullopt where it is used) matches nothing.
struct LabelSelector {
  StringMap match_labels;
  std::vector<LabelSelectorRequirement> match_expressions;
};

// A requirement on one node label or field. `operator_` is In, NotIn, Exists, DoesNotExist, Gt or Lt.
struct NodeSelectorRequirement {
  std::string key;
  std::string operator_;
  std::vector<std::string> values;
};

// All requirements must hold. A term without any matches nothing.
struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> match_expressions;
  std::vector<NodeSelectorRequirement> match_fields;
};

// One of the terms must hold.
struct NodeSelector {
  std::vector<NodeSelectorTerm> node_selector_terms;
};

// A term that adds `weight` (1 to 100) to the score of nodes that match it.
struct PreferredSchedulingTerm {
  int32_t weight = 0;
  NodeSelectorTerm preference;
};

struct NodeAffinity {
  std::optional<NodeSelector> required_during_scheduling_ignored_during_execution;
  std::vector<PreferredSchedulingTerm> preferred_during_scheduling_ignored_during_execution;
};

// Pods that match `label_selector` in the namespaces listed or selected; both absent: the pod's own.
struct PodAffinityTerm {
  std::optional<LabelSelector> label_selector;
  std::vector<std::string> namespaces;
  std::string topology_key;
  std::optional<LabelSelector> namespace_selector;
  std::vector<std::string> match_label_keys;
  std::vector<std::string> mismatch_label_keys;
};

struct WeightedPodAffinityTerm {
  int32_t weight = 0;
  PodAffinityTerm pod_affinity_term;
};

// Pod affinity, or pod anti-affinity: the two have the same shape.
struct PodAffinity {
  std::vector<PodAffinityTerm> required_during_scheduling_ignored_during_execution;
  std::vector<WeightedPodAffinityTerm> preferred_during_scheduling_ignored_during_execution;
};

struct Affinity {
  std::optional<NodeAffinity> node_affinity;
  std::optional<PodAffinity> pod_affinity;
  std::optional<PodAffinity> pod_anti_affinity;
};

struct TopologySpreadConstraint {
  int32_t max_skew = 0;
  std::string topology_key;
  std::string when_unsatisfiable;  // DoNotSchedule or ScheduleAnyway.
  std::optional<LabelSelector> label_selector;
  std::optional<int32_t> min_domains;
  std::string node_affinity_policy;  // Honor, Ignore or "" (Honor).
  std::string node_taints_policy;    // Honor, Ignore or "" (Ignore).
  std::vector<std::string> match_label_keys;
};

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_SELECTORS_H_
