#include "sim/controllers/persistent_volume.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/framework/selector.h"

namespace schedsim::sim {
namespace {

using plugins::kBindCompletedAnnotation;
using plugins::kNoProvisioner;
using plugins::kSelectedNodeAnnotation;
using plugins::kWaitForFirstConsumer;

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

std::vector<api::Kind> PersistentVolumeController::Watches() const {
  if (!options_.watches) return {};
  return {api::Kind::kPersistentVolume, api::Kind::kPersistentVolumeClaim, api::Kind::kStorageClass};
}

void PersistentVolumeController::Start() {
  started_ = true;
  Reconcile();
}

void PersistentVolumeController::OnEvent(const WatchEvent& event) {
  if (!started_ || event.new_object == nullptr) return;
  const api::Object& object = *event.new_object;
  const bool is_claim = object.kind == api::Kind::kPersistentVolumeClaim;
  if (object.kind == api::Kind::kPersistentVolume) {
    changed_volumes_.insert(object.Key());
    // Claims may have waited for it.
    if (!static_cast<const api::PersistentVolume&>(object).spec.claim_ref.has_value()) look_at_all_ = true;
  } else if (is_claim && event.old_object != nullptr) {
    changed_claims_.insert(object.Key());
  } else if (is_claim || object.kind == api::Kind::kStorageClass) {
    // Volumes may have waited for this claim, claims for this class.
    look_at_all_ = true;
  } else {
    return;
  }
  ReconcileLater();
}

void PersistentVolumeController::ReconcileLater() {
  // Without watching, each change has a look of its own, at everything.
  if (!started_ || (options_.watches && due_)) return;
  due_ = true;
  loop_.At(loop_.Now() + options_.delay, EventLoop::Phase::kWork, [this] { Reconcile(); });
}

// The objects as they are now; later changes do not show.
template <typename T>
std::vector<std::shared_ptr<const T>> PersistentVolumeController::ToLookAt(
    const std::set<std::string>& changed) const {
  std::vector<std::shared_ptr<const T>> list;
  const ApiServer::Objects& objects = server_.List(T().kind);
  if (look_at_all_) {
    for (const auto& [key, object] : objects) list.push_back(As<T>(object));
    return list;
  }
  for (const std::string& key : changed) {
    auto found = objects.find(key);
    if (found != objects.end()) list.push_back(As<T>(found->second));
  }
  return list;
}

void PersistentVolumeController::Reconcile() {
  due_ = false;
  if (options_.watches) MakeAvailable();
  BindVolumes();
  if (options_.watches) BindImmediateClaims();
  ProvisionVolumes();
  if (!options_.watches) return;
  look_at_all_ = false;
  changed_volumes_.clear();
  changed_claims_.clear();
}

void PersistentVolumeController::BindVolumes() {
  for (const VolumePtr& volume : ToLookAt<api::PersistentVolume>(changed_volumes_)) {
    if (!volume->spec.claim_ref.has_value()) continue;
    const api::ObjectReference& reference = *volume->spec.claim_ref;
    const ClaimPtr claim = As<api::PersistentVolumeClaim>(server_.Find(
        api::Kind::kPersistentVolumeClaim, "PersistentVolumeClaim", reference.namespace_, reference.name));
    if (claim != nullptr && claim->spec.volume_name.empty()) Bind(*claim, *volume);
  }
}

std::vector<PersistentVolumeController::ClaimPtr> PersistentVolumeController::ClaimsToLookAt() const {
  std::vector<ClaimPtr> claims = ToLookAt<api::PersistentVolumeClaim>(changed_claims_);
  std::stable_sort(claims.begin(), claims.end(),
                   [](const ClaimPtr& a, const ClaimPtr& b) { return a->metadata.name < b->metadata.name; });
  return claims;
}

void PersistentVolumeController::MakeAvailable() {
  for (const VolumePtr& volume : ToLookAt<api::PersistentVolume>(changed_volumes_)) {
    const bool is_new = volume->phase.empty() || volume->phase == "Pending";
    if (!is_new || volume->spec.claim_ref.has_value()) continue;
    auto available = std::make_shared<api::PersistentVolume>(*volume);
    available->phase = "Available";
    server_.Update(available).IgnoreError();
  }
}

std::shared_ptr<const api::StorageClass> PersistentVolumeController::ClassOf(
    const api::PersistentVolumeClaim& claim) const {
  return As<api::StorageClass>(
      server_.Find(api::Kind::kStorageClass, "StorageClass", "", plugins::ClassOf(claim)));
}

bool PersistentVolumeController::IsImmediate(const api::PersistentVolumeClaim& claim) const {
  if (!options_.watches || !claim.spec.volume_name.empty()) return false;
  const auto storage_class = ClassOf(claim);
  return storage_class == nullptr ||
         storage_class->volume_binding_mode.value_or("Immediate") != kWaitForFirstConsumer;
}

void PersistentVolumeController::BindImmediateClaims() {
  for (const ClaimPtr& claim : ClaimsToLookAt()) {
    if (!IsImmediate(*claim)) continue;
    const VolumePtr volume = FindVolume(*claim);
    if (volume == nullptr) continue;
    auto named = std::make_shared<api::PersistentVolume>(*volume);
    named->spec.claim_ref = ReferenceTo(*claim);
    Bind(*claim, *named);
  }
}

PersistentVolumeController::VolumePtr PersistentVolumeController::FindVolume(
    const api::PersistentVolumeClaim& claim) {
  std::optional<framework::LabelMatcher> selector;
  if (claim.spec.selector.has_value()) {
    selector = framework::LabelMatcher::Make(claim.spec.selector, symbols_);
    if (!selector.has_value()) return nullptr;
  }
  std::vector<plugins::CompiledVolumePtr> volumes;
  for (const auto& [key, object] : server_.List(api::Kind::kPersistentVolume)) {
    volumes.push_back(compiler_.Compile(As<api::PersistentVolume>(object)));
  }
  const plugins::CompiledVolumePtr found =
      plugins::FindMatchingVolume(claim, selector, volumes, {}, /*node_labels=*/nullptr, symbols_);
  return found == nullptr ? nullptr : found->volume;
}

void PersistentVolumeController::ProvisionVolumes() {
  for (const ClaimPtr& listed : ClaimsToLookAt()) {
    // It may have been bound a moment ago.
    const api::ObjectMeta& meta = listed->metadata;
    const ClaimPtr claim = As<api::PersistentVolumeClaim>(
        server_.Find(api::Kind::kPersistentVolumeClaim, "PersistentVolumeClaim", meta.namespace_, meta.name));
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
  if (!claim.spec.volume_name.empty() || (!selected && !IsImmediate(claim))) return nullptr;
  const auto storage_class = ClassOf(claim);
  if (storage_class == nullptr || storage_class->provisioner == kNoProvisioner) return nullptr;
  const api::ObjectPtr node = selected ? server_.Find(api::Kind::kNode, "Node", "", *node_name) : nullptr;
  if (selected && node == nullptr) return nullptr;
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
  if (node == nullptr) return volume;
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
