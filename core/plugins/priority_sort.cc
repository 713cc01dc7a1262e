// PrioritySort: higher priority first, then the pod that has waited longer since its last attempt.
// Source: kubernetes v1.37, plugins/queuesort/priority_sort.go.
// Extension points: QueueSort. Arguments: none.

#include <memory>

#include "core/framework/plugin.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

class PrioritySort final : public framework::Plugin, public framework::QueueSortPlugin {
 public:
  absl::string_view Name() const override { return "PrioritySort"; }

  bool Less(const framework::QueuedPodInfo& a, const framework::QueuedPodInfo& b) const override {
    const int32_t priority_a = a.pod_info->Priority();
    const int32_t priority_b = b.pod_info->Priority();
    if (priority_a != priority_b) return priority_a > priority_b;
    return a.timestamp < b.timestamp;
  }
  framework::QueueSortKey KeyOf(const framework::QueuedPodInfo& pod) const override {
    return {.rank = -int64_t{pod.pod_info->Priority()}, .time = pod.timestamp};
  }
};

}  // namespace

PluginOr NewPrioritySort(const api::PluginArgs&, framework::Handle&) {
  return std::make_unique<PrioritySort>();
}

}  // namespace schedsim::plugins
