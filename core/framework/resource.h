// Resource amounts as the scheduler adds and compares them.
#ifndef SCHEDSIM_CORE_FRAMEWORK_RESOURCE_H_
#define SCHEDSIM_CORE_FRAMEWORK_RESOURCE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/kubernetes_version.h"
#include "core/api/pod.h"
#include "core/api/quantity.h"
#include "core/base/lookup_map.h"
#include "core/base/symbol.h"

namespace schedsim::framework {

// An amount of a resource that is not cpu, memory or ephemeral storage: an extended one, huge pages
// and the like.
struct ScalarResource {
  Symbol name;
  int64_t value = 0;

  friend bool operator==(const ScalarResource&, const ScalarResource&) = default;
};

// Amounts by resource; sums wrap around, as upstream's do. Units: cpu in thousandths, memory and storage in
// bytes, scalars in wholes. Source: kubernetes v1.37, scheduler/framework/types.go, Resource.
struct Resource {
  int64_t milli_cpu = 0;
  int64_t memory_bytes = 0;
  int64_t ephemeral_storage_bytes = 0;
  int64_t allowed_pod_number = 0;       // Only of allocatable.
  std::vector<ScalarResource> scalars;  // In order of name where made of a ResourceList.

  // The amount of a scalar, 0 where there is none.
  int64_t Scalar(Symbol name) const;
  bool HasScalar(Symbol name) const;

  // Adds `sign` (1 or -1) times the amounts of `other`, pod numbers aside.
  void AddScaled(const Resource& other, int64_t sign);

  friend bool operator==(const Resource&, const Resource&) = default;
};

// Finds many scalars of one list by their names: all of them together take as long as the list and their
// number, however long both are.
class ScalarLookup {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  // `scalars` is borrowed, and may grow at its end, whose entries need not be found. About `count` names will
  // be asked for.
  ScalarLookup(const std::vector<ScalarResource>& scalars, size_t count);

  // The place of that name in the list; kNone: it is not there.
  size_t Find(Symbol name) const;
  // The amount, 0 where there is none.
  int64_t Amount(Symbol name) const;

 private:
  const std::vector<ScalarResource>& scalars_;
  // Whether `places_` is in use: short lists are searched.
  const bool is_indexed_;
  LookupMap<Symbol, size_t> places_;
};

// The amounts of a list; names that are neither native nor scalar are left out.
Resource MakeResource(const api::ResourceList& list, SymbolTable& symbols);

// Whether `name` belongs to a vendor's domain: it has a "/", is not of kubernetes.io and starts with
// no "requests.".
bool IsExtendedResourceName(absl::string_view name);

// Whether the scheduler counts `name` as a scalar.
bool IsScalarResourceName(absl::string_view name);

// How PodRequests aggregates.
struct PodRequestsOptions {
  // Takes a container that lacks cpu or memory as asking for these instead; 0: takes it as it is.
  int64_t default_milli_cpu = 0;
  int64_t default_memory_bytes = 0;
  bool use_pod_level = true;
  // Takes what is allocated and in force from the pod's status, too. Only for pods on nodes.
  bool use_status = false;
  // 1.37 adds up spec, allocated and actuated one by one and then takes the largest; before, each
  // container's largest was added up.
  bool aggregate_then_max = true;
  // Whether the pod's own status counts for pod-level resources (1.36 and later).
  bool use_pod_level_status = true;
};

// Those of a line's scheduler for a pod whose status counts.
PodRequestsOptions OptionsWithStatus(const api::LineBehavior& line);

// Whether the status has amounts, or says that a kubelet has refused some: only then can a pod ask for others
// than its spec.
bool HasStatusResources(const api::PodStatus& status);

// What a pod asks of a node: containers, init containers with sidecars, pod level, overhead.
// Source: component-helpers v0.37, resource/helpers.go, PodRequests.
api::ResourceList PodRequests(const api::PodSpec& spec, const api::PodStatus* status,
                              const PodRequestsOptions& options);

inline constexpr int64_t kDefaultMilliCpuRequest = 100;
inline constexpr int64_t kDefaultMemoryRequestBytes = 200LL * 1024 * 1024;

// The requests of a pod with the defaults for cpu and memory that it does not ask for, as the node's
// non-zero sums have them.
// Source: kubernetes v1.37, scheduler/framework/types.go, calculateResource.
api::ResourceList NonZeroRequests(const api::PodSpec& spec, const api::PodStatus* status,
                                  PodRequestsOptions options);

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_RESOURCE_H_
