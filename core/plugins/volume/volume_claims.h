// Claims, volumes and storage classes, as the volume plugins look at them.
#ifndef SCHEDSIM_CORE_PLUGINS_VOLUME_VOLUME_CLAIMS_H_
#define SCHEDSIM_CORE_PLUGINS_VOLUME_VOLUME_CLAIMS_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "core/api/pod.h"
#include "core/api/storage.h"
#include "core/framework/events.h"
#include "core/framework/informer_cache.h"
#include "core/framework/pod_info.h"

// Source of this file: component-helpers v0.37, storage/volume and storage/ephemeral.
namespace schedsim::plugins {

using ClaimPtr = std::shared_ptr<const api::PersistentVolumeClaim>;
using VolumePtr = std::shared_ptr<const api::PersistentVolume>;

inline constexpr char kSelectedNodeAnnotation[] = "volume.kubernetes.io/selected-node";
inline constexpr char kBindCompletedAnnotation[] = "pv.kubernetes.io/bind-completed";
inline constexpr char kBoundByControllerAnnotation[] = "pv.kubernetes.io/bound-by-controller";
inline constexpr char kNoProvisioner[] = "kubernetes.io/no-provisioner";
inline constexpr char kWaitForFirstConsumer[] = "WaitForFirstConsumer";

// The claim behind a volume of a pod.
struct ClaimReference {
  std::string name;
  // The claim is made for the pod, which must own it.
  bool is_ephemeral = false;
};

// Absent for volumes without a claim.
std::optional<ClaimReference> ClaimOf(const api::Pod& pod, const api::Volume& volume);

// Whether a volume of the pod, ephemeral ones included, is the claim of this namespace and name.
bool UsesClaim(const api::Pod& pod, const api::Object& claim);
// As above without ephemeral volumes.
bool NamesClaim(const api::Pod& pod, const api::Object& claim);

// Hints of plugins that wait for claims which the pod uses, or names; `claim` is the new object.
// The first looks at the pod's name, too, since the claims of ephemeral volumes have it in theirs.
framework::QueueingHint AfterUsedClaimChange(const framework::PodInfo& pod, const api::Object* old_claim,
                                             const api::Object* claim);
framework::QueueingHint AfterNamedClaimChange(const framework::PodInfo& pod, const api::Object* old_claim,
                                              const api::Object* claim);

// Whether the claim of an ephemeral volume was made for this pod.
bool IsOwner(const api::Pod& pod, const api::PersistentVolumeClaim& claim);
// What is said where it was not.
std::string NotOwnerMessage(const api::Pod& pod, const api::PersistentVolumeClaim& claim);

// The storage class; "": none.
const std::string& ClassOf(const api::PersistentVolumeClaim& claim);
const std::string& ClassOf(const api::PersistentVolume& volume);

// spec.resources.requests.storage and spec.capacity.storage; zero where absent.
api::Quantity RequestOf(const api::PersistentVolumeClaim& claim);
api::Quantity CapacityOf(const api::PersistentVolume& volume);

// Whether claim and volume are bound to each other for good.
bool IsFullyBound(const api::PersistentVolumeClaim& claim);

// `persistentvolume "x" not found`: what upstream's listers say.
std::string NotFoundMessage(absl::string_view resource, absl::string_view name);

ClaimPtr FindClaim(const framework::InformerCache& informers, absl::string_view name_space,
                   absl::string_view name);
VolumePtr FindVolume(const framework::InformerCache& informers, absl::string_view name);
std::shared_ptr<const api::StorageClass> FindClass(const framework::InformerCache& informers,
                                                   absl::string_view name);
std::shared_ptr<const api::CSINode> FindCsiNode(const framework::InformerCache& informers,
                                                absl::string_view name);
std::shared_ptr<const api::CSIDriver> FindCsiDriver(const framework::InformerCache& informers,
                                                    absl::string_view name);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_VOLUME_VOLUME_CLAIMS_H_
