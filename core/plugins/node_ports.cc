// NodePorts: two pods on one node cannot take the same host port.
// Source: kubernetes v1.37, plugins/nodeports/node_ports.go.
// Extension points: PreFilter, Filter. Arguments: none.

#include <memory>
#include <set>
#include <vector>

#include "core/framework/host_ports.h"
#include "core/framework/plugin.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using framework::HostPort;
using framework::PodInfo;
using framework::QueueingHint;
using framework::Status;

class NodePorts final : public framework::Plugin,
                        public framework::PreFilterPlugin,
                        public framework::FilterPlugin,
                        public framework::SignPlugin,
                        public framework::EnqueueExtensions {
 public:
  explicit NodePorts(framework::Handle& handle)
      : handle_(handle),
        id_(handle.plugin_names().IdOf("NodePorts")),
        any_ip_(handle.symbols().Intern("0.0.0.0")) {}

  absl::string_view Name() const override { return "NodePorts"; }

  // Port numbers alone, and those of all init containers.
  bool SignPod(const PodInfo& pod, framework::PodSigner& signer) const override {
    if (!signer.Begin("host ports")) return true;
    const api::PodSpec& spec = *pod.pod->spec;
    std::set<int32_t> ports;
    for (const auto* containers : {&spec.init_containers, &spec.containers}) {
      for (const api::Container& container : *containers) {
        for (const api::ContainerPort& port : container.ports) {
          ports.insert(port.host_port == 0 && spec.host_network ? port.container_port : port.host_port);
        }
      }
    }
    ports.erase(0);
    signer.Add(static_cast<int64_t>(ports.size()));
    for (int32_t port : ports) signer.Add(port);
    return true;
  }

  framework::PreFilterResult PreFilter(framework::CycleState&, const PodInfo& pod,
                                       framework::NodeInfos) override {
    framework::PreFilterResult result;
    if (pod.spec_info->host_ports.empty()) result.status = Status::Skip();
    return result;
  }
  bool PreFilterFollowsFromClass() const override { return true; }

  Status Filter(const framework::CycleState& state, const PodInfo& pod,
                const framework::NodeInfo& node) override {
    if (!state.pre_filtered.test(static_cast<size_t>(id_))) return no_state_;
    return Conflict(pod.spec_info->host_ports, node.used_ports) ? taken_ : Status();
  }
  framework::Dependency FilterDependency() const override {
    return {.of = framework::Dependency::Of::kNode, .concern = framework::Concern::kHostPorts};
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    return {
        {.event = {.resource = framework::EventResource::kPod, .action = framework::kDelete},
         .hint =
             [this](const PodInfo& pod, const api::Object* old_object, const api::Object*) {
               return AfterPodDeleted(pod, *static_cast<const api::Pod*>(old_object));
             },
         .scope = framework::HintScope::kSpecAndLabels},
        {.event = {.resource = framework::EventResource::kNode, .action = framework::kAdd}, .hint = nullptr}};
  }

 private:
  bool Conflict(const std::vector<HostPort>& wanted, const std::vector<HostPort>& used) const {
    return framework::HostPortsConflict(wanted, used, any_ip_);
  }

  QueueingHint AfterPodDeleted(const PodInfo& pod, const api::Pod& deleted) {
    // A pod without a node, bound or nominated, took no ports.
    if (deleted.node_name.empty() && deleted.status.nominated_node_name.empty()) return QueueingHint::kSkip;
    const framework::PodInfoPtr info = handle_.pod_infos().Make(std::make_shared<api::Pod>(deleted));
    return framework::QueueIf(Conflict(pod.spec_info->host_ports, info->spec_info->host_ports));
  }

  framework::Handle& handle_;
  const framework::PluginId id_;
  const Symbol any_ip_;
  const Status no_state_ = Status::Error("reading \"PreFilterNodePorts\" from cycleState: not found");
  const Status taken_{framework::Code::kUnschedulable,
                      "node(s) didn't have free ports for the requested pod ports"};
};

}  // namespace

PluginOr NewNodePorts(const api::PluginArgs&, framework::Handle& handle) {
  return std::make_unique<NodePorts>(handle);
}

}  // namespace schedsim::plugins
