// Why PodTopologySpread refused a node: domains and counts of pods.
#ifndef SCHEDSIM_SIM_EXPLAIN_SPREAD_EXPLAINER_H_
#define SCHEDSIM_SIM_EXPLAIN_SPREAD_EXPLAINER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "core/base/lookup_map.h"
#include "core/base/symbol.h"
#include "core/plugins/pod_topology_spread/pod_topology_spread_constraints.h"
#include "core/plugins/pod_topology_spread/pod_topology_spread_counts.h"
#include "sim/explain/filter_explainer.h"

namespace schedsim::sim {

// Counts as the plugin does, with its own parts.
class SpreadExplainer {
 public:
  // `handle` must outlive the explainer.
  SpreadExplainer(const api::EffectiveProfile& profile, framework::Handle& handle);

  Refusal Explain(const RefusedPod& refused);

 private:
  // The domains that there ever were, with their numbers, which stay.
  struct Domains {
    std::map<std::string, int32_t> by_name;
    int64_t position = -1;
  };

  // The first domain of the constraint, by name, that has so many pods; "": none.
  std::string FirstDomain(const plugins::SpreadCounts& counts, size_t constraint,
                          const plugins::ChangedCounts& pods, int64_t count);
  void ExplainConstraint(const RefusedPod& refused, const plugins::SpreadCounts& counts, size_t constraint,
                         Refusal& refusal);

  framework::Handle& handle_;
  plugins::SpreadConstraintsFactory constraints_;
  plugins::SpreadCountsStore counts_;
  LookupMap<Symbol, Domains> domains_;  // By key.
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_SPREAD_EXPLAINER_H_
