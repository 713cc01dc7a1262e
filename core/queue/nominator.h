// Which pods are nominated to run on which node.
#ifndef SCHEDSIM_CORE_QUEUE_NOMINATOR_H_
#define SCHEDSIM_CORE_QUEUE_NOMINATOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/lookup_map.h"
#include "core/base/symbol.h"
#include "core/framework/handle.h"
#include "core/framework/informer_cache.h"
#include "core/framework/pod_info.h"

namespace schedsim::queue {

// Source: kubernetes v1.37, scheduler/backend/queue/nominator.go.
class Nominator {
 public:
  // Both must outlive the nominator.
  Nominator(const framework::InformerCache& informers, SymbolTable& symbols)
      : informers_(informers), symbols_(symbols) {}

  // Nominates the pod for `node_name`, or, where that is absent, for the node in its status; "" ends
  // the nomination. Pods that are gone or bound are not nominated.
  void AddNominatedPod(const framework::PodInfoPtr& pod, const std::optional<std::string>& node_name);

  // Takes the new version of a pod. A nomination that neither version names is kept.
  void UpdateNominatedPod(const api::Pod& old_pod, const framework::PodInfoPtr& new_pod);

  void DeleteNominatedPodIfExists(const api::Pod& pod);

  // Until it is nominated anew, nothing is known of the pod but its name, its nomination apart: it counts as
  // one pod, of priority 0, that asks for nothing. Upstream looks nominated pods up in the queue, and those
  // of a group in its cycle are in none of the queue's parts.
  void ReduceToName(const api::Pod& pod);

  // Pods in the order in which they were nominated; valid until the next change.
  const std::vector<framework::PodInfoPtr>& NominatedPodsForNode(Symbol node_name) const;

  // Whether any pod is nominated to any node.
  bool empty() const { return node_of_pod_.empty(); }

  // The node that the pod is nominated to; absent: none.
  std::optional<Symbol> NodeOf(const api::Pod& pod) const;

  // See Handle::NominationsSince.
  framework::NominationChanges ChangesSince(int64_t position) const;

 private:
  void LogChange(Symbol node);

  const framework::InformerCache& informers_;
  SymbolTable& symbols_;
  LookupMap<Symbol, std::vector<framework::PodInfoPtr>> pods_of_node_;
  LookupMap<std::string, Symbol> node_of_pod_;  // By uid.
  // The newest changes; the first of them has the position `log_start_`.
  std::vector<Symbol> log_;
  int64_t log_start_ = 0;
};

}  // namespace schedsim::queue

#endif  // SCHEDSIM_CORE_QUEUE_NOMINATOR_H_
