#include "sim/cluster/admission/storage_defaults.h"

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/api/object_text.h"
#include "core/api/storage.h"
#include "core/base/json_member.h"
#include "core/codec/text/json_edit.h"

namespace schedsim::sim {
namespace {

constexpr char kImmediate[] = "Immediate";
constexpr char kPending[] = "Pending";
constexpr char kFilesystem[] = "Filesystem";

// Sets a field of the object's text, where it is absent. Fields of which only the text tells need nothing
// else.
void SetInText(api::Object& object, std::initializer_list<absl::string_view> path, absl::string_view text) {
  if (object.json == nullptr) return;
  const std::string whole = object.json->ToString();
  absl::string_view at = whole;
  for (const absl::string_view key : path) at = FindJsonMember(at, key);
  if (!at.empty() && at != "null") return;
  const std::string value = absl::StrCat("\"", text, "\"");
  object.json = std::make_shared<api::ObjectText>(codec::SetJsonMember(whole, path, value));
}

void SetDefault(absl::string_view text, std::optional<std::string>& field) {
  if (!field.has_value()) field = std::string(text);
}

}  // namespace

void SetStorageDefaults(api::Object& object) {
  if (object.kind == api::Kind::kStorageClass) {
    SetDefault(kImmediate, static_cast<api::StorageClass&>(object).volume_binding_mode);
    SetInText(object, {"volumeBindingMode"}, kImmediate);
    SetInText(object, {"reclaimPolicy"}, "Delete");
  } else if (object.kind == api::Kind::kPersistentVolume) {
    auto& volume = static_cast<api::PersistentVolume&>(object);
    if (volume.phase.empty()) volume.phase = kPending;
    SetDefault(kFilesystem, volume.spec.volume_mode);
    SetInText(object, {"spec", "volumeMode"}, kFilesystem);
    SetInText(object, {"spec", "persistentVolumeReclaimPolicy"}, "Retain");
  } else if (object.kind == api::Kind::kPersistentVolumeClaim) {
    auto& claim = static_cast<api::PersistentVolumeClaim&>(object);
    if (claim.phase.empty()) claim.phase = kPending;
    SetDefault(kFilesystem, claim.spec.volume_mode);
    SetInText(object, {"spec", "volumeMode"}, kFilesystem);
  }
}

}  // namespace schedsim::sim
