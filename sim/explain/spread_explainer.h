// Why PodTopologySpread refused a node: domains and counts of pods.
#ifndef SCHEDSIM_SIM_EXPLAIN_SPREAD_EXPLAINER_H_
#define SCHEDSIM_SIM_EXPLAIN_SPREAD_EXPLAINER_H_

#include <cstdint>
#include <string>

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
  struct Least {
    int64_t count = 0;
    int64_t domain_count = 0;
    std::string domain;  // The first one by name; "": there is no domain.
  };
  Least LeastOf(const plugins::SpreadCounts& counts, size_t constraint, Symbol key) const;
  void ExplainConstraint(const RefusedPod& refused, const plugins::SpreadCounts& counts, size_t constraint,
                         Refusal& refusal) const;

  framework::Handle& handle_;
  plugins::SpreadConstraintsFactory constraints_;
  plugins::SpreadCountsStore counts_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_SPREAD_EXPLAINER_H_
