// The topology spread constraints of a pod: its own, or the profile's defaults.
#ifndef SCHEDSIM_CORE_PLUGINS_POD_TOPOLOGY_SPREAD_POD_TOPOLOGY_SPREAD_CONSTRAINTS_H_
#define SCHEDSIM_CORE_PLUGINS_POD_TOPOLOGY_SPREAD_POD_TOPOLOGY_SPREAD_CONSTRAINTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/api/scheduler_config.h"
#include "core/base/lookup_map.h"
#include "core/base/symbol.h"
#include "core/framework/handle.h"
#include "core/framework/pod_info.h"
#include "core/framework/selector.h"

namespace schedsim::plugins {

// What a constraint does where it is not met: DoNotSchedule keeps the pod away, ScheduleAnyway scores.
enum class SpreadUse : uint8_t { kFilter, kScore };

struct SpreadConstraint {
  int32_t max_skew = 1;
  int32_t min_domains = 1;
  Symbol topology_key;
  // matchLabelKeys are merged into it.
  framework::LabelMatcher selector;
  // Whether only nodes count that the pod's node affinity, or its tolerations, allow.
  bool honors_affinity = true;
  bool honors_taints = false;

  friend bool operator==(const SpreadConstraint&, const SpreadConstraint&) = default;
};

struct SpreadConstraints {
  // Never nullptr.
  std::shared_ptr<const std::vector<SpreadConstraint>> list;
  // Why there are none, in upstream's words; "" where nothing is wrong.
  std::string error;
};

// Source: kubernetes v1.37, plugins/podtopologyspread/common.go.
class SpreadConstraintsFactory {
 public:
  SpreadConstraintsFactory(const api::PodTopologySpreadArgs& args, framework::Handle& handle);

  // The pod's constraints of one kind.
  SpreadConstraints Of(const framework::PodInfo& pod, SpreadUse use);
  // Whether pods without constraints of their own may get some.
  bool HasDefaults() const { return !defaults_.empty(); }
  // Whether constraints of this kind may follow from the pod's owner, and not from spec and labels alone.
  bool DependsOnOwner(SpreadUse use) const {
    return use == SpreadUse::kFilter ? filters_by_default_ : scores_by_default_;
  }
  // Whether nodes must have the keys of all constraints in order to count: not with system defaults, so
  // that nodes without zone are still spread over by host name.
  bool RequiresAllKeys(const framework::PodInfo& pod) const {
    return !system_defaulted_ || !pod.pod->spec->topology_spread_constraints.empty();
  }

 private:
  SpreadConstraints Own(const framework::PodInfo& pod, SpreadUse use) const;
  SpreadConstraints Default(const framework::PodInfo& pod, SpreadUse use) const;
  framework::LabelMatcher DefaultSelector(const framework::PodInfo& pod) const;

  framework::Handle& handle_;
  bool system_defaulted_ = false;
  std::vector<api::TopologySpreadConstraint> defaults_;
  const bool filters_by_default_;
  const bool scores_by_default_;
  const std::shared_ptr<const std::vector<SpreadConstraint>> none_;
  // Own constraints by spec and use, where they follow from the spec alone.
  LookupMap<std::pair<int32_t, SpreadUse>, SpreadConstraints> own_;
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_POD_TOPOLOGY_SPREAD_POD_TOPOLOGY_SPREAD_CONSTRAINTS_H_
