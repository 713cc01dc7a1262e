// SchedulingGates: a pod with gates is not scheduled.
// Source: kubernetes v1.37, plugins/schedulinggates/scheduling_gates.go.
// Extension points: PreEnqueue. Arguments: none.

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/framework/plugin.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using framework::Status;

class SchedulingGates final : public framework::Plugin,
                              public framework::PreEnqueuePlugin,
                              public framework::EnqueueExtensions {
 public:
  absl::string_view Name() const override { return "SchedulingGates"; }

  Status PreEnqueue(const framework::PodInfo& pod) override {
    const std::vector<api::PodSchedulingGate>& gates = pod.pod->spec->scheduling_gates;
    if (gates.empty()) return Status();
    const std::string names = absl::StrJoin(
        gates, " ", [](std::string* out, const api::PodSchedulingGate& gate) { *out += gate.name; });
    return Status(framework::Code::kUnschedulableAndUnresolvable,
                  absl::StrCat("waiting for scheduling gates: [", names, "]"));
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    return {{.event = {.resource = framework::EventResource::kTargetPod,
                       .action = framework::kUpdatePodSchedulingGatesEliminated},
             .hint = nullptr}};
  }
};

}  // namespace

PluginOr NewSchedulingGates(const api::PluginArgs&, framework::Handle&) {
  return std::make_unique<SchedulingGates>();
}

}  // namespace schedsim::plugins
