#include "sim/cluster/admission/default_storage_class.h"

#include "core/api/storage.h"

namespace schedsim::sim {
namespace {

bool IsDefault(const api::Object& storage_class) {
  for (const char* name :
       {"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"}) {
    const std::string* value = storage_class.metadata.annotations.Find(name);
    if (value != nullptr && *value == "true") return true;
  }
  return false;
}

}  // namespace

bool DefaultStorageClassPlugin::OnChange(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  const api::Object& object = new_object != nullptr ? *new_object : *old_object;
  if (object.kind != api::Kind::kStorageClass) return false;
  if (new_object != nullptr && IsDefault(*new_object)) {
    defaults_[object.metadata.name] = object.metadata.creation_timestamp.value_or(absl::InfinitePast());
  } else {
    defaults_.erase(object.metadata.name);
  }
  return false;
}

absl::Status DefaultStorageClassPlugin::Mutate(api::Object& object) const {
  if (object.kind != api::Kind::kPersistentVolumeClaim || defaults_.empty()) return absl::OkStatus();
  auto& claim = static_cast<api::PersistentVolumeClaim&>(object);
  const bool asks = claim.spec.storage_class_name.has_value() ||
                    claim.metadata.annotations.Find("volume.beta.kubernetes.io/storage-class") != nullptr;
  if (asks) return absl::OkStatus();
  // The newest default, and of equally old ones the first by name.
  // Source: kubernetes v1.37, pkg/volume/util/storageclass.go, GetDefaultClass.
  auto best = defaults_.begin();
  for (auto at = defaults_.begin(); at != defaults_.end(); ++at) {
    // Creation times of the API have whole seconds.
    if (absl::ToUnixSeconds(at->second) > absl::ToUnixSeconds(best->second)) best = at;
  }
  claim.spec.storage_class_name = best->first;
  return absl::OkStatus();
}

}  // namespace schedsim::sim
