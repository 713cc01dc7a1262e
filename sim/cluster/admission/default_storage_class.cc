#include "sim/cluster/admission/default_storage_class.h"

#include "absl/time/time.h"
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

const api::Object* BetterDefaultClass(const api::Object* best, const api::Object& storage_class) {
  if (!IsDefault(storage_class)) return best;
  // Creation times of the API have whole seconds.
  const auto seconds_of = [](const api::Object& object) {
    return absl::ToUnixSeconds(object.metadata.creation_timestamp.value_or(absl::InfinitePast()));
  };
  return best == nullptr || seconds_of(storage_class) > seconds_of(*best) ? &storage_class : best;
}

bool DefaultStorageClassPlugin::OnChange(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  const api::Object& object = new_object != nullptr ? *new_object : *old_object;
  if (object.kind != api::Kind::kStorageClass) return false;
  if (new_object != nullptr && IsDefault(*new_object)) {
    defaults_[object.metadata.name] = new_object;
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
  const api::Object* best = nullptr;
  for (const auto& [name, storage_class] : defaults_) best = BetterDefaultClass(best, *storage_class);
  claim.spec.storage_class_name = best->metadata.name;
  return absl::OkStatus();
}

}  // namespace schedsim::sim
