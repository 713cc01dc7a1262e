#include "core/codec/patch/object_patch.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/api/kinds.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/patch/json_patch.h"
#include "core/codec/patch/merge_patch.h"
#include "core/codec/patch/strategic_merge_patch.h"
#include "core/codec/patch/value_copy.h"
#include "core/codec/text/reader.h"

namespace schedsim::codec {
namespace {

absl::StatusOr<Value> Apply(const Value& target, PatchType type, const Value& patch,
                            const api::Object& stored, Document& document) {
  switch (type) {
    case PatchType::kJson:
      return JsonPatch(target, patch, document);
    case PatchType::kMerge:
      if (patch.is_object()) return MergePatch(target, patch, document);
      return absl::InvalidArgumentError(absl::StrCat("expected a map, got ", Describe(patch.type)));
    case PatchType::kStrategicMerge:
      break;
  }
  const api::KindInfo* const kind = api::FindKind(stored.api_version, stored.kind_name);
  if (kind != nullptr) return StrategicMergePatch(target, patch, *kind, document);
  return absl::InvalidArgumentError(
      "a strategic merge patch is for a built-in kind, expected a JSON merge patch or a JSON patch");
}

}  // namespace

absl::StatusOr<api::ObjectPtr> PatchObject(const api::Object& stored, PatchType type, const Value& patch,
                                           ObjectReader& reader) {
  const std::string name = absl::StrCat(stored.kind_name, " ", stored.Key(), ", patched");
  api::ObjectPtr patched;
  Document merged;
  const auto apply = [&](const Document& before) -> absl::Status {
    const absl::StatusOr<Value> after = Apply(before.root, type, patch, stored, merged);
    if (!after.ok()) return absl::InvalidArgumentError(absl::StrCat(name, ": ", after.status().message()));
    ASSIGN_OR_RETURN(patched, reader.Decode(WithoutPlaces(*after, merged), name));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(ReadText(ObjectJson(stored), name, {}, apply));
  if (patched->api_version != stored.api_version || patched->kind_name != stored.kind_name ||
      patched->Key() != stored.Key()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": apiVersion, kind, namespace and name cannot change"));
  }
  return patched;
}

absl::StatusOr<api::ObjectPtr> PatchIntoObject(const api::Object& before, const Value& patch,
                                               absl::string_view api_version, absl::string_view kind,
                                               absl::string_view name, ObjectReader& reader) {
  api::ObjectPtr patched;
  Document merged;
  const api::KindInfo* const info = api::FindKind(api_version, kind);
  const auto apply = [&](const Document& document) -> absl::Status {
    Value after;
    if (info == nullptr) {
      after = MergePatch(document.root, patch, merged);
    } else {
      absl::StatusOr<Value> result = StrategicMergePatch(document.root, patch, *info, merged);
      if (!result.ok())
        return absl::InvalidArgumentError(absl::StrCat(name, ": ", result.status().message()));
      after = *result;
    }
    ASSIGN_OR_RETURN(patched, reader.Decode(WithoutPlaces(after, merged), name));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(ReadText(ObjectJson(before), name, {}, apply));
  return patched;
}

}  // namespace schedsim::codec
