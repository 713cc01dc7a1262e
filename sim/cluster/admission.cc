#include "sim/cluster/admission.h"

#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/api/scheduler_config.h"
#include "core/framework/resource.h"

namespace schedsim::sim {
namespace {

// The classes that every cluster has: the API server makes them when it starts.
// Source: kubernetes v1.37, pkg/apis/scheduling/v1/helpers.go.
struct SystemClass {
  absl::string_view name;
  int32_t value = 0;
};
constexpr SystemClass kSystemClasses[] = {
    {"system-cluster-critical", 2'000'000'000},
    {"system-node-critical", 2'000'001'000},
};

constexpr char kSystemPrefix[] = "system-";
constexpr int32_t kUserPriorityMax = 1'000'000'000;

const api::PriorityClass* FindSystemClass(absl::string_view name) {
  static const auto* const kClasses = [] {
    auto* classes = new std::map<std::string, api::PriorityClass>;
    for (const SystemClass& system_class : kSystemClasses) {
      (*classes)[std::string(system_class.name)].value = system_class.value;
    }
    return classes;
  }();
  const auto found = kClasses->find(std::string(name));
  return found == kClasses->end() ? nullptr : &found->second;
}

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

bool NeedsPriorityClass(const api::Pod& pod) {
  const bool came_from_cluster = !pod.metadata.uid.empty() || pod.metadata.resource_version != 0;
  return !came_from_cluster && !pod.spec->priority.has_value() && !pod.spec->priority_class_name.empty();
}

std::string NoPriorityClassMessage(const api::Pod& pod) {
  return absl::StrCat("pods \"", pod.metadata.name, "\" is forbidden: no PriorityClass with name ",
                      pod.spec->priority_class_name, " was found");
}

absl::Status ValidatePriorityClass(const api::PriorityClass& priority_class) {
  const std::string& name = priority_class.metadata.name;
  const api::PriorityClass* system_class = FindSystemClass(name);
  std::string error;
  if (absl::StartsWith(name, kSystemPrefix)) {
    if (system_class == nullptr) {
      error = absl::StrCat(name, " is not a known system priority class");
    } else if (priority_class.value != system_class->value) {
      error = absl::StrCat("value of ", name, " PriorityClass must be ", system_class->value);
    } else if (priority_class.global_default) {
      error = absl::StrCat("globalDefault of ", name, " PriorityClass must be false");
    }
    if (error.empty()) return absl::OkStatus();
    error = absl::StrCat("metadata.name: Forbidden: priority class names with '", kSystemPrefix,
                         "' prefix are reserved for system use only. error: ", error);
  } else if (priority_class.value > kUserPriorityMax) {
    error = absl::StrCat("value: Forbidden: maximum allowed value of a user defined priority is ",
                         kUserPriorityMax);
  }
  if (error.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("PriorityClass.scheduling.k8s.io \"", name, "\" is invalid: ", error));
}

bool IsSystemPriorityClass(absl::string_view name) { return FindSystemClass(name) != nullptr; }

void Admission::SetPriorityClass(absl::string_view name,
                                 std::shared_ptr<const api::PriorityClass> priority_class) {
  completed_.Clear();
  if (priority_class == nullptr) {
    priority_classes_.erase(std::string(name));
  } else {
    priority_classes_[std::string(name)] = std::move(priority_class);
  }
}

absl::Status Admission::Admit(const api::Pod& pod) const {
  if (!options_.complete || !NeedsPriorityClass(pod) || ClassOf(*pod.spec) != nullptr)
    return absl::OkStatus();
  return absl::PermissionDeniedError(NoPriorityClassMessage(pod));
}

const api::PriorityClass* Admission::ClassOf(const api::PodSpec& spec) const {
  if (!spec.priority_class_name.empty()) {
    const auto found = priority_classes_.find(spec.priority_class_name);
    return found != priority_classes_.end() ? found->second.get() : FindSystemClass(spec.priority_class_name);
  }
  // Of several defaults the lowest counts.
  const api::PriorityClass* lowest = nullptr;
  for (const auto& [name, priority_class] : priority_classes_) {
    if (!priority_class->global_default) continue;
    if (lowest == nullptr || priority_class->value < lowest->value) lowest = priority_class.get();
  }
  return lowest;
}

void Admission::SetPriority(api::PodSpec& spec) const {
  if (spec.priority.has_value()) return;
  const api::PriorityClass* const found = ClassOf(spec);
  if (found == nullptr) return;
  spec.priority = found->value;
  if (spec.preemption_policy.empty()) spec.preemption_policy = found->preemption_policy;
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
