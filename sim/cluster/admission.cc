#include "sim/cluster/admission.h"

#include <utility>

#include "absl/strings/match.h"
#include "core/api/scheduler_config.h"
#include "core/framework/resource.h"

namespace schedsim::sim {
namespace {

// Priorities of the classes that every cluster has.
constexpr int32_t kSystemClusterCritical = 2'000'000'000;
constexpr int32_t kSystemNodeCritical = 2'000'001'000;

void CompleteContainers(std::vector<api::Container>& containers, bool host_network) {
  for (api::Container& container : containers) {
    for (const auto& [name, quantity] : container.resources.limits) {
      if (container.resources.requests.Find(name) == nullptr) container.resources.requests[name] = quantity;
    }
    for (api::ContainerPort& port : container.ports) {
      if (port.protocol.empty()) port.protocol = "TCP";
      if (host_network && port.host_port == 0) port.host_port = port.container_port;
    }
  }
}

// With pod-level resources, what the pod level leaves open follows from the containers and the limits.
void CompletePodLevel(api::PodSpec& spec) {
  if (!spec.resources.has_value()) return;
  api::ResourceRequirements& pod_level = *spec.resources;
  if (pod_level.limits.empty() && pod_level.requests.empty()) return;
  api::PodSpec containers_only;
  containers_only.containers = spec.containers;
  containers_only.init_containers = spec.init_containers;
  const api::ResourceList requests = framework::PodRequests(containers_only, nullptr, {});
  for (const char* name : {"cpu", "memory"}) {
    const api::Quantity* of_containers = requests.Find(name);
    if (of_containers != nullptr && pod_level.requests.Find(name) == nullptr) {
      pod_level.requests[name] = *of_containers;
    }
  }
  for (const auto& [name, quantity] : pod_level.limits) {
    const bool supported = name == "cpu" || name == "memory" || absl::StartsWith(name, "hugepages-");
    if (supported && pod_level.requests.Find(name) == nullptr) pod_level.requests[name] = quantity;
  }
}

bool IsComplete(const api::PodSpec& a, const api::PodSpec& b) {
  auto same = [](const std::vector<api::Container>& x, const std::vector<api::Container>& y) {
    for (size_t i = 0; i < x.size(); ++i) {
      if (!(x[i].resources.requests == y[i].resources.requests)) return false;
      for (size_t j = 0; j < x[i].ports.size(); ++j) {
        if (x[i].ports[j].protocol != y[i].ports[j].protocol) return false;
        if (x[i].ports[j].host_port != y[i].ports[j].host_port) return false;
      }
    }
    return true;
  };
  if (a.scheduler_name != b.scheduler_name || a.priority != b.priority) return false;
  if (a.preemption_policy != b.preemption_policy) return false;
  if (a.resources.has_value() && !(a.resources->requests == b.resources->requests)) return false;
  return same(a.containers, b.containers) && same(a.init_containers, b.init_containers);
}

}  // namespace

void Admission::SetPriorityClass(absl::string_view name,
                                 std::shared_ptr<const api::PriorityClass> priority_class) {
  completed_.Clear();
  if (default_class_ != nullptr && default_class_->metadata.name == name) default_class_ = nullptr;
  if (priority_class != nullptr && priority_class->global_default) default_class_ = priority_class;
  priority_classes_[std::string(name)] = std::move(priority_class);
}

void Admission::SetPriority(api::PodSpec& spec) const {
  if (spec.priority.has_value()) return;
  const std::shared_ptr<const api::PriorityClass>* named = priority_classes_.Find(spec.priority_class_name);
  std::shared_ptr<const api::PriorityClass> found = named == nullptr ? nullptr : *named;
  if (spec.priority_class_name.empty()) found = default_class_;
  if (found != nullptr) {
    spec.priority = found->value;
    if (spec.preemption_policy.empty()) spec.preemption_policy = found->preemption_policy;
  } else if (spec.priority_class_name == "system-cluster-critical") {
    spec.priority = kSystemClusterCritical;
  } else if (spec.priority_class_name == "system-node-critical") {
    spec.priority = kSystemNodeCritical;
  }
}

std::shared_ptr<const api::PodSpec> Admission::Complete(const std::shared_ptr<const api::PodSpec>& spec) {
  if (const Entry* known = completed_.Find(spec.get())) return known->completed;
  auto completed = std::make_shared<api::PodSpec>(*spec);
  if (completed->scheduler_name.empty()) completed->scheduler_name = api::kDefaultSchedulerName;
  CompleteContainers(completed->containers, completed->host_network);
  CompleteContainers(completed->init_containers, completed->host_network);
  if (options_.complete) {
    CompletePodLevel(*completed);
    SetPriority(*completed);
  }
  std::shared_ptr<const api::PodSpec> result = spec;
  if (!IsComplete(*spec, *completed)) result = std::move(completed);
  completed_[spec.get()] = Entry{.spec = spec, .completed = result};
  return result;
}

}  // namespace schedsim::sim
