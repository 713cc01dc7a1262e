// The admission plugin PodTopologyLabels: pods get the zone and the region of their node as labels.
// Source: kubernetes v1.37, plugin/pkg/admission/podtopologylabels/admission.go.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_POD_TOPOLOGY_LABELS_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_POD_TOPOLOGY_LABELS_H_

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/api/node.h"
#include "core/api/object.h"
#include "core/base/lookup_map.h"

namespace schedsim::sim {

// Puts the labels topology.kubernetes.io/zone and …/region of the node that a pod is bound to into the pod.
class PodTopologyLabels {
 public:
  // Sets them in `labels`, which share their entries with equal labels that were changed before. `node` may
  // be nullptr.
  void Set(const api::Node* node, api::StringMap& labels);

 private:
  using Storage = std::shared_ptr<std::vector<api::StringMap::Entry>>;
  struct Changed {
    Storage before;  // Kept alive, so that its address stays its own.
    api::StringMap after;
  };

  // By the labels before, the zone and the region.
  using Key = std::tuple<const void*, std::optional<std::string>, std::optional<std::string>>;
  LookupMap<Key, Changed> known_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_POD_TOPOLOGY_LABELS_H_
