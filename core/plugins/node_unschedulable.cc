// NodeUnschedulable: nodes with spec.unschedulable take only pods that tolerate the taint of that name.
// Source: kubernetes v1.37, plugins/nodeunschedulable/node_unschedulable.go.
// Extension points: Filter. Arguments: none.

#include <memory>
#include <string>
#include <vector>

#include "core/api/taints.h"
#include "core/framework/plugin.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using framework::QueueingHint;
using framework::Status;

bool ToleratesUnschedulable(const api::Pod& pod) {
  const api::Taint taint = {
      .key = std::string(api::kTaintNodeUnschedulable), .value = "", .effect = "NoSchedule"};
  return api::TolerationsTolerateTaint(pod.spec->tolerations, taint);
}

QueueingHint AfterNodeChange(const framework::PodInfo&, const api::Object* old_object,
                             const api::Object* new_object) {
  const auto* old_node = static_cast<const api::Node*>(old_object);
  const auto* new_node = static_cast<const api::Node*>(new_object);
  const bool was_schedulable = old_node != nullptr && !old_node->spec.unschedulable;
  return framework::QueueIf(!was_schedulable && !new_node->spec.unschedulable);
}

QueueingHint AfterTolerationChange(const framework::PodInfo&, const api::Object*,
                                   const api::Object* new_object) {
  return framework::QueueIf(ToleratesUnschedulable(*static_cast<const api::Pod*>(new_object)));
}

class NodeUnschedulable final : public framework::Plugin,
                                public framework::PreFilterPlugin,
                                public framework::FilterPlugin,
                                public framework::SignPlugin,
                                public framework::EnqueueExtensions {
 public:
  absl::string_view Name() const override { return "NodeUnschedulable"; }

  bool SignPod(const framework::PodInfo& pod, framework::PodSigner& signer) const override {
    return framework::SignTolerations(pod, signer);
  }

  // Only narrows for pods that are being resized in place, which is off by default.
  framework::PreFilterResult PreFilter(framework::CycleState&, const framework::PodInfo&,
                                       framework::NodeInfos) override {
    return {};
  }
  bool PreFilterFollowsFromClass() const override { return true; }

  Status Filter(const framework::CycleState&, const framework::PodInfo& pod,
                const framework::NodeInfo& node) override {
    if (!node.node->spec.unschedulable || ToleratesUnschedulable(*pod.pod)) return Status();
    return unschedulable_;
  }
  framework::Dependency FilterDependency() const override {
    return {.of = framework::Dependency::Of::kNodeObject, .concern = framework::Concern::kTolerations};
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    return {{.event = {.resource = framework::EventResource::kNode,
                       .action = framework::kAdd | framework::kUpdateNodeTaint},
             .hint = AfterNodeChange,
             .scope = framework::HintScope::kSpecAndLabels},
            {.event = {.resource = framework::EventResource::kTargetPod,
                       .action = framework::kUpdatePodToleration},
             .hint = AfterTolerationChange}};
  }

 private:
  const Status unschedulable_{framework::Code::kUnschedulableAndUnresolvable, "node(s) were unschedulable"};
};

}  // namespace

PluginOr NewNodeUnschedulable(const api::PluginArgs&, framework::Handle&) {
  return std::make_unique<NodeUnschedulable>();
}

}  // namespace schedsim::plugins
