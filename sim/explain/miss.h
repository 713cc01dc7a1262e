// What would have to change for a pod to fit on a node that refused it.
#ifndef SCHEDSIM_SIM_EXPLAIN_MISS_H_
#define SCHEDSIM_SIM_EXPLAIN_MISS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/api/pod.h"
#include "core/framework/status.h"
#include "sim/explain/change.h"
#include "sim/explain/filter_explainer.h"
#include "sim/explain/trial_cluster.h"

namespace schedsim::sim {

struct Miss {
  // With all of these the pod fits, and without any one of them it does not; empty: see `why_not`.
  std::vector<Change> changes;
  // Why no change of the pod or the node helps; "": `changes` do.
  std::string why_not;
};

// Finds them by trying: every one was verified by PreFilter and Filter of the changed pod on the changed
// node.
class MissFinder {
 public:
  // Both must outlive the finder.
  MissFinder(TrialCluster& trial, FilterExplainer& explainer, api::PodPtr pod)
      : trial_(trial), explainer_(explainer), pod_(std::move(pod)) {}

  // For a node that refuses the pod as things are.
  Miss Find(const std::string& node);
  // Whether the pod fits on the node with these changes.
  framework::Status Try(const std::string& node, const std::vector<Change>& changes);

 private:
  bool AddRemedy(const std::string& node, const framework::Status& status, Miss& miss);
  // Drops changes that are not needed, as long as there are some.
  void Minimise(const std::string& node, Miss& miss);
  // Makes the amounts no larger than needed beside the other changes.
  void Tighten(const std::string& node, Miss& miss);
  api::PodPtr PodAfter(const std::vector<Change>& changes);

  TrialCluster& trial_;
  FilterExplainer& explainer_;
  const api::PodPtr pod_;
  // Pods with changes that many nodes have in common, by the changes.
  std::map<std::string, api::PodPtr> pods_;
  // What was tried on the node that is looked at.
  std::set<std::string> tried_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_MISS_H_
