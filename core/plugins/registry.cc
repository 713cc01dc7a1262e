#include "core/plugins/registry.h"

namespace schedsim::plugins {

std::vector<framework::RegisteredPlugin> InTreeRegistry() {
  return {
      {"DefaultBinder", NewDefaultBinder},
      {"DefaultPreemption", NewDefaultPreemption},
      {"DynamicResources", NewDynamicResources},
      {"ImageLocality", NewImageLocality},
      {"InterPodAffinity", NewInterPodAffinity},
      {"NodeAffinity", NewNodeAffinity},
      {"NodeDeclaredFeatures", NewNodeDeclaredFeatures},
      {"NodeName", NewNodeName},
      {"NodePorts", NewNodePorts},
      {"NodeResourcesBalancedAllocation", NewNodeResourcesBalancedAllocation},
      {"NodeResourcesFit", NewNodeResourcesFit},
      {"NodeUnschedulable", NewNodeUnschedulable},
      {"NodeVolumeLimits", NewNodeVolumeLimits},
      {"PodTopologySpread", NewPodTopologySpread},
      {"PrioritySort", NewPrioritySort},
      {"SchedulingGates", NewSchedulingGates},
      {"TaintToleration", NewTaintToleration},
      {"VolumeBinding", NewVolumeBinding},
      {"VolumeRestrictions", NewVolumeRestrictions},
      {"VolumeZone", NewVolumeZone},
  };
}

}  // namespace schedsim::plugins
