// What plugins that preempt have in common: whether a pod may, and how victims go.
#ifndef SCHEDSIM_CORE_PLUGINS_PREEMPTION_EVICTION_H_
#define SCHEDSIM_CORE_PLUGINS_PREEMPTION_EVICTION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "core/framework/handle.h"

namespace schedsim::plugins {

// For whom room is made: a pod, or a group.
struct Preemptor {
  std::string uid;
  std::string scheduler_name;
  int32_t priority = 0;
  std::vector<api::PodPtr> pods;
  absl::string_view kind = "pod";
};
using PreemptorPtr = std::shared_ptr<const Preemptor>;

enum class Eviction : uint8_t { kFailed, kDone, kInMemory };

// Stops the victim's binding, or marks the victim and deletes it; calls `done` once, at once or later. That
// it is gone already is no failure. `plugin`: who preempts; `handle` must outlive the eviction. Source:
// kubernetes v1.37, framework/preemption/executor.go, PreemptPod.
void Evict(framework::Handle& handle, absl::string_view plugin, const api::PodPtr& victim,
           PreemptorPtr preemptor, std::string node_name, std::function<void(Eviction)> done);

// Less important pods nominated to the node may not fit there any more.
void ClearLowerNominations(framework::Handle& handle, absl::string_view node_name, int32_t priority);

// Whether the pod is on its way out because of an earlier preemption.
bool IsTerminatingByPreemption(const api::Pod& pod);

// Why the pod may not preempt now; absent: it may. `leaves`: whether a pod of its nominated node goes for it.
// Source: kubernetes v1.37, plugins/defaultpreemption/default_preemption.go, PodEligibleToPreemptOthers.
std::optional<std::string> WhyIneligible(const framework::Handle& handle, const api::Pod& pod,
                                         const framework::NodeToStatus& statuses,
                                         absl::FunctionRef<bool(const framework::PodInfo& other)> leaves);

// Several errors as one: each text once, in brackets where there are several.
// Source: apimachinery v0.37, pkg/util/errors/errors.go.
std::string AggregateText(std::vector<std::string> errors);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_PREEMPTION_EVICTION_H_
