#include "core/api/custom_resources.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "core/api/kinds.h"
#include "core/base/check.h"

namespace schedsim::api {
namespace {

// In the order of the enumeration.
constexpr CustomKindInfo kCustomKinds[] = {
    {CustomKind::kCoschedulingPodGroup, "scheduling.x-k8s.io", "v1alpha1", "PodGroup", "podgroups", true},
    {CustomKind::kElasticQuota, "scheduling.x-k8s.io", "v1alpha1", "ElasticQuota", "elasticquotas", true},
    {CustomKind::kNodeResourceTopology, "topology.node.k8s.io", "v1alpha2", "NodeResourceTopology",
     "noderesourcetopologies", false},
    {CustomKind::kNodeMetrics, "metrics.k8s.io", "v1beta1", "NodeMetrics", "nodes", false},
};

std::string KeyOf(absl::string_view kind, absl::string_view group, absl::string_view rest) {
  return absl::StrCat(kind, ".", group, "/", rest);
}

}  // namespace

const CustomKindInfo& CustomKindInfoOf(CustomKind kind) {
  CHECK(kind != CustomKind::kNone);
  return kCustomKinds[static_cast<size_t>(kind) - 1];
}

CustomKind FindCustomKind(absl::string_view api_version, absl::string_view name) {
  for (const CustomKindInfo& info : kCustomKinds) {
    if (info.name == name && info.group == GroupOf(api_version)) return info.kind;
  }
  return CustomKind::kNone;
}

CustomKind CustomKindOf(const Object& object) {
  if (object.kind != Kind::kOther) return CustomKind::kNone;
  return FindCustomKind(object.api_version, object.kind_name);
}

std::string CustomKey(const Object& object) {
  return KeyOf(object.kind_name, GroupOf(object.api_version), object.Key());
}

std::string CustomKey(CustomKind kind, absl::string_view name_space, absl::string_view name) {
  const CustomKindInfo& info = CustomKindInfoOf(kind);
  return KeyOf(info.name, info.group, absl::StrCat(name_space, name_space.empty() ? "" : "/", name));
}

}  // namespace schedsim::api
