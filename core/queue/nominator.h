// Which pods are nominated to run on which node.
#ifndef SCHEDSIM_CORE_QUEUE_NOMINATOR_H_
#define SCHEDSIM_CORE_QUEUE_NOMINATOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/api/kubernetes_version.h"
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
  Nominator(const framework::InformerCache& informers, SymbolTable& symbols,
            api::PodGroupCycle groups = api::PodGroupCycle::kNone)
      : informers_(informers), symbols_(symbols), groups_(groups) {}

  // The pod as one of which nothing but the name is known.
  static framework::PodInfoPtr NameOnly(const api::Pod& pod);

  // Nominates the pod for `node_name`, or, where that is absent, for the node in its status; "" ends
  // the nomination. Pods that are gone or bound are not nominated. Of the pods of groups that stand in the
  // queue as such the name alone is kept: upstream does not find them there (see ReduceToName).
  void AddNominatedPod(const framework::PodInfoPtr& pod, const std::optional<std::string>& node_name);

  // Takes the new version of a pod. A nomination that neither version names is kept.
  void UpdateNominatedPod(const api::Pod& old_pod, const framework::PodInfoPtr& new_pod);

  void DeleteNominatedPodIfExists(const api::Pod& pod);

  // `name_only` takes the place of the nominated pod with its uid. Upstream looks nominated pods up in the
  // queue, and of one that is in none of its parts knows the name alone: such a pod counts as one pod, of
  // priority 0, that asks for nothing.
  void ReduceToName(const framework::PodInfoPtr& name_only);

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
  const api::PodGroupCycle groups_;
  LookupMap<Symbol, std::vector<framework::PodInfoPtr>> pods_of_node_;
  LookupMap<std::string, Symbol> node_of_pod_;  // By uid.
  // The newest changes; the first of them has the position `log_start_`.
  std::vector<Symbol> log_;
  int64_t log_start_ = 0;
};

}  // namespace schedsim::queue

#endif  // SCHEDSIM_CORE_QUEUE_NOMINATOR_H_
