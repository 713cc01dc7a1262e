#include "core/plugins/volume/volume_claims.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace schedsim::plugins {
namespace {

constexpr char kBetaStorageClassAnnotation[] = "volume.beta.kubernetes.io/storage-class";

template <typename T>
std::shared_ptr<const T> FindObject(const framework::InformerCache& informers, api::Kind kind,
                                    absl::string_view name_space, absl::string_view name) {
  return std::static_pointer_cast<const T>(informers.Find(kind, name_space, name));
}

api::Quantity StorageOf(const api::ResourceList& resources) {
  const api::Quantity* quantity = resources.Find("storage");
  return quantity == nullptr ? api::Quantity() : *quantity;
}

}  // namespace

std::optional<ClaimReference> ClaimOf(const api::Pod& pod, const api::Volume& volume) {
  if (volume.persistent_volume_claim.has_value()) {
    return ClaimReference{.name = volume.persistent_volume_claim->claim_name};
  }
  // The name by which the controller for ephemeral volumes makes the claim.
  if (!volume.ephemeral.has_value()) return std::nullopt;
  return ClaimReference{.name = absl::StrCat(pod.metadata.name, "-", volume.name), .is_ephemeral = true};
}

bool UsesClaim(const api::Pod& pod, const api::Object& claim) {
  if (pod.metadata.namespace_ != claim.metadata.namespace_) return false;
  const auto& volumes = pod.spec->volumes;
  return std::any_of(volumes.begin(), volumes.end(), [&](const api::Volume& volume) {
    const std::optional<ClaimReference> reference = ClaimOf(pod, volume);
    return reference.has_value() && reference->name == claim.metadata.name;
  });
}

bool NamesClaim(const api::Pod& pod, const api::Object& claim) {
  if (pod.metadata.namespace_ != claim.metadata.namespace_) return false;
  const auto& volumes = pod.spec->volumes;
  return std::any_of(volumes.begin(), volumes.end(), [&claim](const api::Volume& volume) {
    return volume.persistent_volume_claim.has_value() &&
           volume.persistent_volume_claim->claim_name == claim.metadata.name;
  });
}

framework::QueueingHint AfterUsedClaimChange(const framework::PodInfo& pod, const api::Object*,
                                             const api::Object* claim) {
  return framework::QueueIf(UsesClaim(*pod.pod, *claim));
}

framework::QueueingHint AfterNamedClaimChange(const framework::PodInfo& pod, const api::Object*,
                                              const api::Object* claim) {
  return framework::QueueIf(NamesClaim(*pod.pod, *claim));
}

bool IsOwner(const api::Pod& pod, const api::PersistentVolumeClaim& claim) {
  if (claim.metadata.namespace_ != pod.metadata.namespace_) return false;
  for (const api::OwnerReference& owner : claim.metadata.owner_references) {
    if (owner.controller) return owner.uid == pod.metadata.uid;
  }
  return false;
}

std::string NotOwnerMessage(const api::Pod& pod, const api::PersistentVolumeClaim& claim) {
  return absl::StrCat("PVC ", claim.Key(), " was not created for pod ", pod.Key(), " (pod is not owner)");
}

// The annotation is older than the field and still wins.
const std::string& ClassOf(const api::PersistentVolumeClaim& claim) {
  static const std::string& none = *new std::string();
  const std::string* annotation = claim.metadata.annotations.Find(kBetaStorageClassAnnotation);
  if (annotation != nullptr) return *annotation;
  return claim.spec.storage_class_name.has_value() ? *claim.spec.storage_class_name : none;
}

const std::string& ClassOf(const api::PersistentVolume& volume) {
  const std::string* annotation = volume.metadata.annotations.Find(kBetaStorageClassAnnotation);
  return annotation == nullptr ? volume.spec.storage_class_name : *annotation;
}

api::Quantity RequestOf(const api::PersistentVolumeClaim& claim) { return StorageOf(claim.spec.requests); }

api::Quantity CapacityOf(const api::PersistentVolume& volume) { return StorageOf(volume.spec.capacity); }

bool IsFullyBound(const api::PersistentVolumeClaim& claim) {
  return !claim.spec.volume_name.empty() &&
         claim.metadata.annotations.Find(kBindCompletedAnnotation) != nullptr;
}

std::string NotFoundMessage(absl::string_view resource, absl::string_view name) {
  return absl::StrCat(resource, " \"", name, "\" not found");
}

ClaimPtr FindClaim(const framework::InformerCache& informers, absl::string_view name_space,
                   absl::string_view name) {
  return FindObject<api::PersistentVolumeClaim>(informers, api::Kind::kPersistentVolumeClaim, name_space,
                                                name);
}

VolumePtr FindVolume(const framework::InformerCache& informers, absl::string_view name) {
  return FindObject<api::PersistentVolume>(informers, api::Kind::kPersistentVolume, "", name);
}

std::shared_ptr<const api::StorageClass> FindClass(const framework::InformerCache& informers,
                                                   absl::string_view name) {
  return FindObject<api::StorageClass>(informers, api::Kind::kStorageClass, "", name);
}

std::shared_ptr<const api::CSINode> FindCsiNode(const framework::InformerCache& informers,
                                                absl::string_view name) {
  return FindObject<api::CSINode>(informers, api::Kind::kCSINode, "", name);
}

std::shared_ptr<const api::CSIDriver> FindCsiDriver(const framework::InformerCache& informers,
                                                    absl::string_view name) {
  return FindObject<api::CSIDriver>(informers, api::Kind::kCSIDriver, "", name);
}

}  // namespace schedsim::plugins
