// NodeName: a pod that names its node fits on no other.
// Source: kubernetes v1.37, plugins/nodename/node_name.go.
// Extension points: PreFilter (1.37), Filter. Arguments: none.

#include <memory>
#include <vector>

#include "core/framework/plugin.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using framework::Status;

class NodeName final : public framework::Plugin,
                       public framework::PreFilterPlugin,
                       public framework::FilterPlugin,
                       public framework::SignPlugin,
                       public framework::EnqueueExtensions {
 public:
  explicit NodeName(framework::Handle& handle) : handle_(handle) {}

  absl::string_view Name() const override { return "NodeName"; }

  bool SignPod(const framework::PodInfo& pod, framework::PodSigner& signer) const override {
    if (signer.Begin("node name")) signer.Add(pod.pod->node_name);
    return true;
  }

  // A pod that is scheduled has no node yet, so in practice all nodes stay.
  framework::PreFilterResult PreFilter(framework::CycleState&, const framework::PodInfo& pod,
                                       framework::NodeInfos) override {
    framework::PreFilterResult result;
    if (!pod.pod->node_name.empty()) result.node_names = {{handle_.symbols().Intern(pod.pod->node_name)}};
    return result;
  }

  Status Filter(const framework::CycleState&, const framework::PodInfo& pod,
                const framework::NodeInfo& node) override {
    const std::string& name = pod.pod->node_name;
    return name.empty() || name == node.node->metadata.name ? Status() : mismatch_;
  }
  // A pod that is scheduled names no node, so nothing of it counts.
  framework::Dependency FilterDependency() const override {
    return {.of = framework::Dependency::Of::kNodeObject, .concern = framework::Concern::kOther};
  }
  // It fits on every node as far as its name goes.
  bool FilterNodes(const framework::CycleState&, const framework::PodInfo& pod, int32_t,
                   absl::Span<uint8_t>) override {
    return pod.pod->node_name.empty();
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    return {
        {.event = {.resource = framework::EventResource::kNode, .action = framework::kAdd}, .hint = nullptr}};
  }

 private:
  framework::Handle& handle_;
  const Status mismatch_{framework::Code::kUnschedulableAndUnresolvable,
                         "node(s) didn't match the requested node name"};
};

}  // namespace

PluginOr NewNodeName(const api::PluginArgs&, framework::Handle& handle) {
  return std::make_unique<NodeName>(handle);
}

}  // namespace schedsim::plugins
