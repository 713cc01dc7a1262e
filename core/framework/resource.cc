#include "core/framework/resource.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/wrapping.h"

namespace schedsim::framework {
namespace {

constexpr absl::string_view kHugePagesPrefix = "hugepages-";

// For so many names a list is searched: an index of it would take longer.
constexpr size_t kSearchedMax = 32;

void AddResourceList(api::ResourceList& list, const api::ResourceList& more) {
  for (const auto& [name, quantity] : more) list[name] += quantity;
}

void MaxResourceList(api::ResourceList& list, const api::ResourceList& other) {
  for (const auto& [name, quantity] : other) {
    const api::Quantity* known = list.Find(name);
    if (known == nullptr || quantity > *known) list[name] = quantity;
  }
}

bool IsPodLevelResource(absl::string_view name) {
  return name == "cpu" || name == "memory" || absl::StartsWith(name, kHugePagesPrefix);
}

bool HasPodLevelRequests(const api::PodSpec& spec) {
  if (!spec.resources.has_value()) return false;
  const api::ResourceList& requests = spec.resources->requests;
  return std::any_of(requests.begin(), requests.end(),
                     [](const auto& entry) { return IsPodLevelResource(entry.first); });
}

// Whether the kubelet has refused a resize for good. What the spec asks for then does not count.
bool IsResizeInfeasible(const api::PodStatus* status) {
  if (status == nullptr) return false;
  for (const api::PodCondition& condition : status->conditions) {
    if (condition.type == "PodResizePending") return condition.reason == "Infeasible";
  }
  return false;
}

const api::ContainerStatus* FindContainerStatus(const api::PodStatus& status, absl::string_view name) {
  for (const auto* statuses : {&status.container_statuses, &status.init_container_statuses}) {
    for (const api::ContainerStatus& container : *statuses) {
      if (container.name == name) return &container;
    }
  }
  return nullptr;
}

// Which of a container's amounts an aggregation reads.
enum class Source : uint8_t { kSpec, kAllocated, kActuated, kLargest };

bool HasActuated(const api::ContainerStatus* status) {
  return status != nullptr && status->resources.has_value() && !status->resources->requests.empty();
}

// Up to 1.36 the largest of spec, allocated and actuated counts for each container whose status has
// resources; ordinary init containers count by their spec.
api::ResourceList LargestRequests(const api::Container& container, const api::ContainerStatus* status,
                                  bool infeasible, bool counts_by_spec) {
  if (counts_by_spec || status == nullptr || !status->resources.has_value()) {
    return container.resources.requests;
  }
  api::ResourceList largest;
  if (!infeasible) largest = container.resources.requests;
  MaxResourceList(largest, status->resources->requests);
  MaxResourceList(largest, status->allocated_resources);
  return largest;
}

api::ResourceList ContainerRequests(const api::Container& container, const api::PodStatus* pod_status,
                                    Source source, bool ordinary_init) {
  if (source == Source::kSpec) return container.resources.requests;
  const api::ContainerStatus* status = FindContainerStatus(*pod_status, container.name);
  const bool infeasible = IsResizeInfeasible(pod_status);
  if (source == Source::kLargest) return LargestRequests(container, status, infeasible, ordinary_init);
  if (source == Source::kActuated && HasActuated(status)) return status->resources->requests;
  if (status != nullptr && !status->allocated_resources.empty()) return status->allocated_resources;
  return infeasible ? api::ResourceList() : container.resources.requests;
}

void ApplyDefaults(api::ResourceList& requests, const PodRequestsOptions& options) {
  if (options.default_milli_cpu > 0 && requests.Find("cpu") == nullptr) {
    requests["cpu"] = api::Quantity::FromMilli(options.default_milli_cpu);
  }
  if (options.default_memory_bytes > 0 && requests.Find("memory") == nullptr) {
    requests["memory"] = api::Quantity::FromValue(options.default_memory_bytes);
  }
}

// Containers add up; an init container counts with the sidecars started before it, and the pod needs
// at least as much as the largest of these.
api::ResourceList Aggregate(const api::PodSpec& spec, const api::PodStatus* status, Source source,
                            const PodRequestsOptions& options) {
  api::ResourceList result;
  for (const api::Container& container : spec.containers) {
    api::ResourceList requests = ContainerRequests(container, status, source, false);
    ApplyDefaults(requests, options);
    AddResourceList(result, requests);
  }
  api::ResourceList sidecars;
  api::ResourceList init;
  for (const api::Container& container : spec.init_containers) {
    const bool sidecar = container.restart_policy == "Always";
    api::ResourceList requests = ContainerRequests(container, status, source, !sidecar);
    ApplyDefaults(requests, options);
    if (sidecar) {
      AddResourceList(result, requests);
      AddResourceList(sidecars, requests);
      requests = sidecars;
    } else {
      AddResourceList(requests, sidecars);
    }
    MaxResourceList(init, requests);
  }
  MaxResourceList(result, init);
  return result;
}

api::ResourceList AggregateThenMax(const api::PodSpec& spec, const api::PodStatus& status,
                                   const PodRequestsOptions& options) {
  api::ResourceList result;
  if (!IsResizeInfeasible(&status)) result = Aggregate(spec, &status, Source::kSpec, options);
  // Where the kubelet reports amounts of the whole pod, those stand for the sums over containers.
  const bool pod_status = options.use_pod_level_status && !status.allocated_resources.empty() &&
                          status.resources.has_value() && !status.resources->requests.empty();
  if (pod_status) {
    MaxResourceList(result, status.resources->requests);
    MaxResourceList(result, status.allocated_resources);
  } else {
    MaxResourceList(result, Aggregate(spec, &status, Source::kActuated, options));
    MaxResourceList(result, Aggregate(spec, &status, Source::kAllocated, options));
  }
  return result;
}

api::ResourceList PodLevelRequests(const api::PodSpec& spec, const api::PodStatus* status,
                                   const PodRequestsOptions& options) {
  const bool use_status = options.use_status && options.use_pod_level_status && status != nullptr &&
                          status->resources.has_value();
  if (!use_status) return spec.resources->requests;
  api::ResourceList result;
  if (!IsResizeInfeasible(status)) result = spec.resources->requests;
  MaxResourceList(result, status->resources->requests);
  MaxResourceList(result, status->allocated_resources);
  return result;
}

}  // namespace

int64_t Resource::Scalar(Symbol name) const {
  for (const ScalarResource& scalar : scalars) {
    if (scalar.name == name) return scalar.value;
  }
  return 0;
}

bool Resource::HasScalar(Symbol name) const {
  return std::any_of(scalars.begin(), scalars.end(),
                     [name](const ScalarResource& scalar) { return scalar.name == name; });
}

void Resource::AddScaled(const Resource& other, int64_t sign) {
  const auto add = [sign](int64_t& amount, int64_t more) {
    amount = WrappingAdd(amount, WrappingMultiply(sign, more));
  };
  add(milli_cpu, other.milli_cpu);
  add(memory_bytes, other.memory_bytes);
  add(ephemeral_storage_bytes, other.ephemeral_storage_bytes);
  if (other.scalars.empty()) return;
  const ScalarLookup known(scalars, other.scalars.size());
  for (const ScalarResource& more : other.scalars) {
    size_t place = known.Find(more.name);
    if (place == ScalarLookup::kNone) {
      place = scalars.size();
      scalars.push_back(ScalarResource{.name = more.name, .value = 0});
    }
    add(scalars[place].value, more.value);
  }
}

ScalarLookup::ScalarLookup(const std::vector<ScalarResource>& scalars, size_t count)
    : scalars_(scalars), is_indexed_(count > kSearchedMax) {
  if (!is_indexed_) return;
  for (size_t place = 0; place < scalars.size(); ++place) places_[scalars[place].name] = place;
}

size_t ScalarLookup::Find(Symbol name) const {
  if (is_indexed_) {
    const size_t* place = places_.Find(name);
    return place == nullptr ? kNone : *place;
  }
  for (size_t place = 0; place < scalars_.size(); ++place) {
    if (scalars_[place].name == name) return place;
  }
  return kNone;
}

int64_t ScalarLookup::Amount(Symbol name) const {
  const size_t place = Find(name);
  return place == kNone ? 0 : scalars_[place].value;
}

bool IsExtendedResourceName(absl::string_view name) {
  return absl::StrContains(name, "/") && !absl::StrContains(name, "kubernetes.io/") &&
         !absl::StartsWith(name, "requests.");
}

bool IsScalarResourceName(absl::string_view name) {
  return IsExtendedResourceName(name) || absl::StartsWith(name, kHugePagesPrefix) ||
         absl::StrContains(name, "kubernetes.io/") || absl::StartsWith(name, "attachable-volumes-");
}

Resource MakeResource(const api::ResourceList& list, SymbolTable& symbols) {
  Resource resource;
  for (const auto& [name, quantity] : list) {
    if (name == "cpu") {
      resource.milli_cpu = quantity.MilliValue();
    } else if (name == "memory") {
      resource.memory_bytes = quantity.Value();
    } else if (name == "ephemeral-storage") {
      resource.ephemeral_storage_bytes = quantity.Value();
    } else if (name == "pods") {
      resource.allowed_pod_number = quantity.Value();
    } else if (IsScalarResourceName(name)) {
      resource.scalars.push_back(ScalarResource{.name = symbols.Intern(name), .value = quantity.Value()});
    }
  }
  return resource;
}

PodRequestsOptions OptionsWithStatus(const api::LineBehavior& line) {
  return {.use_status = true,
          .aggregate_then_max = line.pod_requests_aggregate_first,
          .use_pod_level_status = line.pod_level_requests_read_status};
}

bool HasStatusResources(const api::PodStatus& status) {
  if (!status.allocated_resources.empty() || status.resources.has_value()) return true;
  for (const auto* containers : {&status.container_statuses, &status.init_container_statuses}) {
    for (const api::ContainerStatus& container : *containers) {
      if (!container.allocated_resources.empty() || container.resources.has_value()) return true;
    }
  }
  return std::any_of(status.conditions.begin(), status.conditions.end(),
                     [](const api::PodCondition& condition) { return condition.type == "PodResizePending"; });
}

api::ResourceList PodRequests(const api::PodSpec& spec, const api::PodStatus* status,
                              const PodRequestsOptions& options) {
  api::ResourceList requests;
  if (!options.use_status || status == nullptr) {
    requests = Aggregate(spec, status, Source::kSpec, options);
  } else if (options.aggregate_then_max) {
    requests = AggregateThenMax(spec, *status, options);
  } else {
    requests = Aggregate(spec, status, Source::kLargest, options);
  }
  if (options.use_pod_level && HasPodLevelRequests(spec)) {
    for (const auto& [name, quantity] : PodLevelRequests(spec, status, options)) {
      if (IsPodLevelResource(name)) requests[name] = quantity;
    }
  }
  AddResourceList(requests, spec.overhead);
  return requests;
}

api::ResourceList NonZeroRequests(const api::PodSpec& spec, const api::PodStatus* status,
                                  PodRequestsOptions options) {
  options.default_milli_cpu = kDefaultMilliCpuRequest;
  options.default_memory_bytes = kDefaultMemoryRequestBytes;
  if (options.use_pod_level && HasPodLevelRequests(spec)) {
    // With pod-level requests only what is missing from the whole gets a default.
    PodRequestsOptions plain = options;
    plain.default_milli_cpu = 0;
    plain.default_memory_bytes = 0;
    const api::ResourceList requests = PodRequests(spec, status, plain);
    if (requests.Find("cpu") != nullptr) options.default_milli_cpu = 0;
    if (requests.Find("memory") != nullptr) options.default_memory_bytes = 0;
  }
  return PodRequests(spec, status, options);
}

}  // namespace schedsim::framework
