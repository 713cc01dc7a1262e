#include "sim/formats/manifest_fields.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"
#include "core/api/kinds.h"
#include "core/base/check.h"
#include "core/base/json_member.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/json_edit.h"

namespace schedsim::sim {
namespace {

// Kinds whose status is made anew.
constexpr absl::string_view kKinds[] = {
    "CronJob",       "DaemonSet",           "Deployment",       "HorizontalPodAutoscaler",
    "Job",           "Namespace",           "PersistentVolume", "PersistentVolumeClaim",
    "Pod",           "PodDisruptionBudget", "ReplicaSet",       "ReplicationController",
    "ResourceClaim", "ResourceQuota",       "Service",          "StatefulSet"};

bool IsReset(const api::Object& object) {
  const bool is_built_in = api::FindKind(object.api_version, object.kind_name) != nullptr;
  return is_built_in && absl::c_linear_search(kKinds, object.kind_name);
}

}  // namespace

std::vector<std::string> DropServerFields(api::ObjectPtr& object) {
  std::vector<std::string> dropped;
  if (api::CameFromCluster(*object) || object->json == nullptr) return dropped;
  std::string text = object->json->ToString();
  const absl::string_view status = IsReset(*object) ? FindJsonMember(text, "status") : "";
  const bool has_status = !status.empty() && status != "null" && status != "{}";
  if (object->metadata.deletion_timestamp.has_value()) {
    dropped.emplace_back("metadata.deletionTimestamp");
    text = codec::SetJsonMember(text, {"metadata", "deletionTimestamp"}, "null");
  }
  if (has_status) {
    dropped.emplace_back("status");
    text = codec::SetJsonMember(text, {"status"}, "{}");
  }
  if (dropped.empty()) return dropped;
  // It could be read before, so that it can be now.
  CHECK(codec::ObjectReader()
            .ReadText(text, "object.json",
                      [&object](api::ObjectPtr read, const codec::Location&) {
                        object = std::move(read);
                        return absl::OkStatus();
                      })
            .ok());
  return dropped;
}

}  // namespace schedsim::sim
