// Objects that the API server does not know by itself, as far as built-in plugins read them. All are of
// Kind::kOther, so that only who asks for them pays for them.
#ifndef SCHEDSIM_CORE_API_CUSTOM_RESOURCES_H_
#define SCHEDSIM_CORE_API_CUSTOM_RESOURCES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/devices.h"
#include "core/api/object.h"
#include "core/api/quantity.h"

namespace schedsim::api {

enum class CustomKind : uint8_t {
  kNone,
  kCoschedulingPodGroup,
  kElasticQuota,
  kNodeResourceTopology,
  kNodeMetrics
};

struct CustomKindInfo {
  CustomKind kind = CustomKind::kNone;
  absl::string_view group;
  absl::string_view version;
  absl::string_view name;    // As in `kind:`.
  absl::string_view plural;  // As in the path of the API.
  bool is_namespaced = false;
};

// Not for kNone.
const CustomKindInfo& CustomKindInfoOf(CustomKind kind);

// The kind that an object says to be of; any version of the group counts.
CustomKind FindCustomKind(absl::string_view api_version, absl::string_view name);
// kNone for all objects whose struct is not one of the following.
CustomKind CustomKindOf(const Object& object);

// Tells objects of Kind::kOther apart: kind and group, namespace and name.
std::string CustomKey(const Object& object);
std::string CustomKey(CustomKind kind, absl::string_view name_space, absl::string_view name);

// Base of the structs.
template <typename T, CustomKind K>
struct CustomObject : Object {
  static constexpr CustomKind kCustomKind = K;

  std::shared_ptr<Object> Clone() const override { return std::make_shared<T>(static_cast<const T&>(*this)); }
};

// PodGroup of scheduling.x-k8s.io: pods that Coscheduling places together.
// Source: scheduler-plugins (903da7d), apis/scheduling/v1alpha1/types.go; so ElasticQuota.
struct CoschedulingPodGroup : CustomObject<CoschedulingPodGroup, CustomKind::kCoschedulingPodGroup> {
  int32_t min_member = 0;
  // What the group takes all together; absent: no one looks whether the cluster has it.
  std::optional<MapByName<NotedQuantity>> min_resources;
  std::optional<int32_t> schedule_timeout_seconds;
};

// What the pods of a namespace may take at most, and what they can always have.
struct ElasticQuota : CustomObject<ElasticQuota, CustomKind::kElasticQuota> {
  std::optional<ResourceList> min;
  std::optional<ResourceList> max;
};

struct TopologyAttribute {
  std::string name;
  std::string value;
};

struct ZoneCost {
  std::string name;  // Of the other zone.
  int64_t value = 0;
};

struct ZoneResource {
  std::string name;
  Quantity capacity;
  Quantity allocatable;
  Quantity available;
};

// A part of a node: those of type "Node" are its NUMA nodes.
struct TopologyZone {
  std::string name;
  std::string type;
  std::vector<ZoneCost> costs;
  std::vector<ZoneResource> resources;
};

// The NUMA nodes of the node of this name.
// Source: noderesourcetopology-api v0.1.2, pkg/apis/topology/v1alpha2/types.go.
struct NodeResourceTopology : CustomObject<NodeResourceTopology, CustomKind::kNodeResourceTopology> {
  std::vector<std::string> topology_policies;
  std::vector<TopologyAttribute> attributes;
  std::vector<TopologyZone> zones;
};

// What was measured of the node of this name. Beside the amounts that Kubernetes has there, cpu and memory,
// `usage` may have others by the names of series.
// Source: k8s.io/metrics v0.37, pkg/apis/metrics/v1beta1/types.go.
struct NodeMetrics : CustomObject<NodeMetrics, CustomKind::kNodeMetrics> {
  ResourceList usage;
};

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_CUSTOM_RESOURCES_H_
