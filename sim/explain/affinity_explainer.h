// Why InterPodAffinity refused a node: the pods that are near, or not, where terms want them.
#ifndef SCHEDSIM_SIM_EXPLAIN_AFFINITY_EXPLAINER_H_
#define SCHEDSIM_SIM_EXPLAIN_AFFINITY_EXPLAINER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/lookup_map.h"
#include "core/base/symbol.h"
#include "core/framework/handle.h"
#include "core/framework/pod_info.h"
#include "core/plugins/inter_pod_affinity/inter_pod_affinity_terms.h"
#include "sim/explain/domain_pods.h"
#include "sim/explain/filter_explainer.h"

namespace schedsim::sim {

// For one pod, and what changes make of it: its namespace and labels stay.
class AffinityExplainer {
 public:
  // `handle` must outlive the explainer.
  explicit AffinityExplainer(framework::Handle& handle);

  Refusal Explain(const RefusedPod& refused);

 private:
  // Pods that stand in the way, or are wanted.
  struct Hits {
    // The first ones by name, each "namespace/name", with its node.
    std::vector<std::pair<std::string, Symbol>> first;
    int64_t count = 0;
  };
  // A required term of the pod, as compiled and as written.
  struct OwnTerm {
    plugins::IncomingTerm term;
    std::string text;
    size_t group = 0;
  };
  // The pod's own terms of one kind, and the pods that they mean.
  struct OwnTerms {
    explicit OwnTerms(framework::Handle& handle) : pods(handle) {}

    std::shared_ptr<const framework::PodSpecInfo> spec;  // Keeps the terms alive.
    std::vector<OwnTerm> terms;
    DomainPods pods;
    LookupMap<int32_t, std::vector<size_t>> groups;  // By PodInfo::labels_id.
  };
  enum class Kind : uint8_t { kAffinity, kAntiAffinity };

  Refusal OfExisting(const RefusedPod& refused);
  Refusal OfOwnAntiAffinity(const RefusedPod& refused);
  Refusal OfOwnAffinity(const RefusedPod& refused);

  // Up to date with the snapshot.
  OwnTerms& OwnTermsOf(const framework::PodInfo& pod, Kind kind);
  const std::vector<size_t>& OwnGroupsOf(const framework::PodInfo& pod, OwnTerms& own, Kind kind,
                                         Symbol name_space);
  const std::vector<size_t>& ExistingGroupsOf(const framework::PodInfo& pod);
  // The group's pods in the refused node's domain, with those that are nominated to the node.
  static Hits HitsOf(const RefusedPod& refused, const DomainPods& pods, size_t group);

  framework::Handle& handle_;
  plugins::NamespaceLabels namespaces_;
  // By kind, and by the number of the part of the spec that has the terms.
  std::map<std::pair<Kind, int32_t>, std::unique_ptr<OwnTerms>> own_;
  // Pods whose required anti-affinity is against the pod; a group for each term, as it is written.
  DomainPods existing_;
  framework::PodInfoPtr pod_;  // The pod that `existing_` is about.
  LookupMap<std::pair<int32_t, Symbol>, std::vector<size_t>> existing_groups_;  // By spec id and namespace.
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_AFFINITY_EXPLAINER_H_
