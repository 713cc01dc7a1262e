#include "sim/cluster/admission/label_keys.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/strings/string_view.h"
#include "core/api/selectors.h"

namespace schedsim::sim {
namespace {

void Merge(const std::vector<std::string>& keys, absl::string_view op, const api::StringMap& labels,
           api::LabelSelector& selector) {
  for (const std::string& key : keys) {
    const std::string* const value = labels.Find(key);
    if (value == nullptr) continue;
    // A pod that was stored once, and lost what shows it, has the requirement already.
    const auto is_same = [&](const api::LabelSelectorRequirement& other) {
      return other.key == key && other.operator_ == op && other.values.size() == 1 &&
             other.values[0] == *value;
    };
    const auto& known = selector.match_expressions;
    if (std::any_of(known.begin(), known.end(), is_same)) continue;
    selector.match_expressions.push_back({.key = key, .operator_ = std::string(op), .values = {*value}});
  }
}

// Calls `visit` with each term of the pod's affinity and anti-affinity.
template <typename Affinity, typename Visitor>
void ForEachTerm(Affinity& affinity, const Visitor& visit) {
  if (!affinity.has_value()) return;
  for (auto* part : {&affinity->pod_affinity, &affinity->pod_anti_affinity}) {
    if (!part->has_value()) continue;
    for (auto& term : (*part)->preferred_during_scheduling_ignored_during_execution)
      visit(term.pod_affinity_term);
    for (auto& term : (*part)->required_during_scheduling_ignored_during_execution) visit(term);
  }
}

}  // namespace

std::vector<std::string> LabelKeysOf(const api::PodSpec& spec) {
  std::set<std::string> keys;
  ForEachTerm(spec.affinity, [&keys](const api::PodAffinityTerm& term) {
    keys.insert(term.match_label_keys.begin(), term.match_label_keys.end());
    keys.insert(term.mismatch_label_keys.begin(), term.mismatch_label_keys.end());
  });
  for (const api::TopologySpreadConstraint& constraint : spec.topology_spread_constraints)
    keys.insert(constraint.match_label_keys.begin(), constraint.match_label_keys.end());
  return {keys.begin(), keys.end()};
}

void MergeLabelKeys(const api::StringMap& labels, api::PodSpec& spec) {
  ForEachTerm(spec.affinity, [&labels](api::PodAffinityTerm& term) {
    if (!term.label_selector.has_value()) return;
    Merge(term.match_label_keys, "In", labels, *term.label_selector);
    Merge(term.mismatch_label_keys, "NotIn", labels, *term.label_selector);
  });
  for (api::TopologySpreadConstraint& constraint : spec.topology_spread_constraints) {
    if (constraint.label_selector.has_value())
      Merge(constraint.match_label_keys, "In", labels, *constraint.label_selector);
  }
}

}  // namespace schedsim::sim
