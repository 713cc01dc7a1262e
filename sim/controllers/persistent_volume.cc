#include "sim/controllers/persistent_volume.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace schedsim::sim {
namespace {

using plugins::kBindCompletedAnnotation;
using plugins::kNoProvisioner;
using plugins::kSelectedNodeAnnotation;

constexpr char kZoneLabel[] = "topology.kubernetes.io/zone";
constexpr char kHostnameLabel[] = "kubernetes.io/hostname";

template <typename T>
std::shared_ptr<const T> As(const api::ObjectPtr& object) {
  return std::static_pointer_cast<const T>(object);
}

api::NodeSelector NodesWith(absl::string_view key, absl::string_view value) {
  api::NodeSelectorRequirement requirement;
  requirement.key = std::string(key);
  requirement.operator_ = "In";
  requirement.values = {std::string(value)};
  api::NodeSelectorTerm term;
  term.match_expressions.push_back(std::move(requirement));
  api::NodeSelector selector;
  selector.node_selector_terms.push_back(std::move(term));
  return selector;
}

api::ObjectReference ReferenceTo(const api::PersistentVolumeClaim& claim) {
  return {.kind = "PersistentVolumeClaim",
          .namespace_ = claim.metadata.namespace_,
          .name = claim.metadata.name,
          .uid = claim.metadata.uid};
}

}  // namespace

PersistentVolumeController::PersistentVolumeController(const ControllerContext& context)
    : options_(*context.options.persistent_volumes),
      loop_(context.loop),
      server_(context.server),
      trace_(context.trace) {}

void PersistentVolumeController::Start() {
  started_ = true;
  Reconcile();
}

// Each change has a look of its own, at everything.
void PersistentVolumeController::ReconcileLater() {
  if (!started_) return;
  loop_.At(loop_.Now() + options_.delay, EventLoop::Phase::kWork, [this] { Reconcile(); });
}

void PersistentVolumeController::Reconcile() {
  BindVolumes();
  ProvisionVolumes();
}

// The objects as they are now; later changes do not show.
void PersistentVolumeController::BindVolumes() {
  std::vector<VolumePtr> volumes;
  for (const auto& [key, object] : server_.List(api::Kind::kPersistentVolume)) {
    volumes.push_back(As<api::PersistentVolume>(object));
  }
  for (const VolumePtr& volume : volumes) {
    if (!volume->spec.claim_ref.has_value()) continue;
    const api::ObjectReference& reference = *volume->spec.claim_ref;
    const ClaimPtr claim = As<api::PersistentVolumeClaim>(server_.Find(
        api::Kind::kPersistentVolumeClaim, "PersistentVolumeClaim", reference.namespace_, reference.name));
    if (claim != nullptr && claim->spec.volume_name.empty()) Bind(*claim, *volume);
  }
}

// By name.
void PersistentVolumeController::ProvisionVolumes() {
  std::vector<ClaimPtr> claims;
  for (const auto& [key, object] : server_.List(api::Kind::kPersistentVolumeClaim)) {
    claims.push_back(As<api::PersistentVolumeClaim>(object));
  }
  std::stable_sort(claims.begin(), claims.end(),
                   [](const ClaimPtr& a, const ClaimPtr& b) { return a->metadata.name < b->metadata.name; });
  for (const ClaimPtr& claim : claims) {
    const std::shared_ptr<api::PersistentVolume> volume = MakeVolume(*claim);
    if (volume == nullptr) continue;
    const absl::Status status = server_.Create(volume);
    if (!status.ok()) trace_.ApiError("create", status.message());
    Bind(*claim, *volume);
  }
}

std::shared_ptr<api::PersistentVolume> PersistentVolumeController::MakeVolume(
    const api::PersistentVolumeClaim& claim) const {
  const std::string* node_name = claim.metadata.annotations.Find(kSelectedNodeAnnotation);
  const bool selected = node_name != nullptr && !node_name->empty();
  if (!claim.spec.volume_name.empty() || !selected) return nullptr;
  const auto storage_class = As<api::StorageClass>(
      server_.Find(api::Kind::kStorageClass, "StorageClass", "", plugins::ClassOf(claim)));
  if (storage_class == nullptr || storage_class->provisioner == kNoProvisioner) return nullptr;
  const api::ObjectPtr node = server_.Find(api::Kind::kNode, "Node", "", *node_name);
  if (node == nullptr) return nullptr;
  auto volume = std::make_shared<api::PersistentVolume>();
  volume->api_version = "v1";
  volume->kind_name = "PersistentVolume";
  volume->metadata.name = absl::StrCat("pvc-", claim.metadata.uid);
  api::PersistentVolumeSpec& spec = volume->spec;
  spec.capacity = claim.spec.requests;
  spec.access_modes = claim.spec.access_modes;
  spec.storage_class_name = plugins::ClassOf(claim);
  spec.csi = api::CSIPersistentVolumeSource{.driver = storage_class->provisioner,
                                            .volume_handle = absl::StrCat("vol-", claim.metadata.uid)};
  spec.claim_ref = ReferenceTo(claim);
  const std::string* zone = node->metadata.labels.Find(kZoneLabel);
  const bool has_zone = zone != nullptr && !zone->empty();
  spec.node_affinity = has_zone ? NodesWith(kZoneLabel, *zone) : NodesWith(kHostnameLabel, *node_name);
  return volume;
}

// The volume is written before the claim, so that whoever sees the claim bound knows the volume.
void PersistentVolumeController::Bind(const api::PersistentVolumeClaim& claim,
                                      const api::PersistentVolume& volume) {
  auto bound_volume = std::make_shared<api::PersistentVolume>(volume);
  if (bound_volume->spec.claim_ref->uid.empty()) bound_volume->spec.claim_ref->uid = claim.metadata.uid;
  bound_volume->phase = "Bound";
  auto bound_claim = std::make_shared<api::PersistentVolumeClaim>(claim);
  bound_claim->spec.volume_name = volume.metadata.name;
  bound_claim->metadata.annotations.Set(kBindCompletedAnnotation, "yes");
  bound_claim->phase = "Bound";
  // Both exist: nothing comes between finding them and this.
  server_.Update(bound_volume).IgnoreError();
  server_.Update(bound_claim).IgnoreError();
  trace_.ClaimBound(*bound_claim, volume.metadata.name);
}

}  // namespace schedsim::sim
