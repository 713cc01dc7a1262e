// NodeDeclaredFeatures: a pod that needs a feature of the kubelet goes only to nodes that declare it.
// Source: kubernetes v1.37, plugins/nodedeclaredfeatures/nodedeclaredfeatures.go.
// Extension points: PreFilter, Filter (1.36 and later). Arguments: none.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/framework/plugin.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using framework::QueueingHint;
using framework::Status;

// Sorted names of the features that a spec needs.
std::vector<std::string> NeededFeatures(const api::PodSpec& spec, bool knows_bind_mounts) {
  bool restart_all = false;
  bool bind_mounts = false;
  for (const auto* containers : {&spec.init_containers, &spec.containers}) {
    for (const api::Container& container : *containers) {
      for (const api::ContainerRestartRule& rule : container.restart_policy_rules) {
        restart_all = restart_all || rule.action == "RestartAllContainers";
      }
      for (const api::VolumeMount& mount : container.volume_mounts) {
        bind_mounts = bind_mounts || !mount.bind_mount_options.empty();
      }
    }
  }
  std::vector<std::string> features;
  if (restart_all) features.emplace_back("RestartAllContainersOnContainerExits");
  if (spec.host_network && spec.host_users == false)
    features.emplace_back("UserNamespacesHostNetworkSupport");
  if (bind_mounts && knows_bind_mounts) features.emplace_back("VolumeBindMountOptions");
  return features;
}

class NodeDeclaredFeatures final : public framework::Plugin,
                                   public framework::PreFilterPlugin,
                                   public framework::FilterPlugin,
                                   public framework::SignPlugin,
                                   public framework::EnqueueExtensions {
 public:
  explicit NodeDeclaredFeatures(framework::Handle& handle)
      : enabled_(handle.line().node_declared_features),
        knows_bind_mounts_(handle.line().infers_bind_mount_options) {}

  absl::string_view Name() const override { return "NodeDeclaredFeatures"; }

  bool SignPod(const framework::PodInfo& pod, framework::PodSigner& signer) const override {
    if (signer.Begin("features")) signer.Add(NeededFeatures(*pod.pod->spec, knows_bind_mounts_));
    return true;
  }

  framework::PreFilterResult PreFilter(framework::CycleState&, const framework::PodInfo& pod,
                                       framework::NodeInfos) override {
    framework::PreFilterResult result;
    // A profile may name the plugin where its gate is off: then it does nothing.
    if (!enabled_ || NeededFeatures(*pod.pod->spec, knows_bind_mounts_).empty())
      result.status = Status::Skip();
    return result;
  }
  bool PreFilterFollowsFromClass() const override { return true; }

  Status Filter(const framework::CycleState&, const framework::PodInfo& pod,
                const framework::NodeInfo& node) override {
    if (!enabled_) return Status();
    const std::vector<std::string>& declared = node.node->status.declared_features;
    for (const std::string& feature : NeededFeatures(*pod.pod->spec, knows_bind_mounts_)) {
      if (std::find(declared.begin(), declared.end(), feature) == declared.end()) return missing_;
    }
    return Status();
  }
  framework::Dependency FilterDependency() const override {
    return {.of = framework::Dependency::Of::kNodeObject, .concern = framework::Concern::kOther};
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    if (!enabled_) return {};
    return {{.event = {.resource = framework::EventResource::kNode,
                       .action = framework::kAdd | framework::kUpdateNodeDeclaredFeature},
             .hint =
                 [](const framework::PodInfo&, const api::Object* old_object, const api::Object* new_object) {
                   if (old_object == nullptr) return QueueingHint::kQueue;
                   const auto& old_node = *static_cast<const api::Node*>(old_object);
                   const auto& new_node = *static_cast<const api::Node*>(new_object);
                   return framework::QueueIf(old_node.status.declared_features !=
                                             new_node.status.declared_features);
                 },
             .scope = framework::HintScope::kSpecAndLabels},
            {.event = {.resource = framework::EventResource::kTargetPod, .action = framework::kUpdate},
             .hint = [this](const framework::PodInfo&, const api::Object* old_object,
                            const api::Object* new_object) {
               const auto& old_pod = *static_cast<const api::Pod*>(old_object);
               const auto& new_pod = *static_cast<const api::Pod*>(new_object);
               return framework::QueueIf(NeededFeatures(*old_pod.spec, knows_bind_mounts_) !=
                                         NeededFeatures(*new_pod.spec, knows_bind_mounts_));
             }}};
  }

 private:
  const bool enabled_;
  const bool knows_bind_mounts_;
  const Status missing_{framework::Code::kUnschedulableAndUnresolvable,
                        "node(s) didn't match Pod's required features"};
};

}  // namespace

PluginOr NewNodeDeclaredFeatures(const api::PluginArgs&, framework::Handle& handle) {
  return std::make_unique<NodeDeclaredFeatures>(handle);
}

}  // namespace schedsim::plugins
