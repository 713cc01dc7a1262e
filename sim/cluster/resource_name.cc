#include "sim/cluster/resource_name.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/kinds.h"

namespace schedsim::sim {

std::string ResourceOf(api::Kind kind, absl::string_view kind_name) {
  const api::KindInfo* info =
      kind == api::Kind::kOther ? api::FindKindByName(kind_name) : &api::KindInfoOf(kind);
  if (info == nullptr) return api::GroupResource("v1", kind_name);
  return absl::StrCat(info->plural, info->group.empty() ? "" : ".", info->group);
}

std::string ResourceOf(const api::Object& object) {
  if (object.kind != api::Kind::kOther) return ResourceOf(object.kind, "");
  return api::GroupResource(object.api_version, object.kind_name);
}

absl::Status InvalidObject(const api::Object& object, const std::vector<std::string>& faults) {
  if (faults.empty()) return absl::OkStatus();
  const absl::string_view group = api::GroupOf(object.api_version);
  const std::string text =
      faults.size() == 1 ? faults[0] : absl::StrCat("[", absl::StrJoin(faults, ", "), "]");
  return absl::InvalidArgumentError(absl::StrCat(object.kind_name, group.empty() ? "" : ".", group, " \"",
                                                 object.metadata.name, "\" is invalid: ", text));
}

}  // namespace schedsim::sim
