#include "sim/controllers/volume_binder.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/symbol.h"
#include "core/framework/selector.h"

namespace schedsim::sim {
namespace {

constexpr char kZoneLabel[] = "topology.kubernetes.io/zone";
constexpr char kHostnameLabel[] = "kubernetes.io/hostname";
constexpr char kSelectedNodeAnnotation[] = "volume.kubernetes.io/selected-node";
constexpr char kBindCompletedAnnotation[] = "pv.kubernetes.io/bind-completed";
constexpr char kNoProvisioner[] = "kubernetes.io/no-provisioner";

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

bool HasModes(const std::vector<std::string>& modes, const std::vector<std::string>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&modes](const std::string& mode) {
    return std::find(modes.begin(), modes.end(), mode) != modes.end();
  });
}

api::Quantity StorageOf(const api::ResourceList& resources) {
  const api::Quantity* quantity = resources.Find("storage");
  return quantity == nullptr ? api::Quantity() : *quantity;
}

}  // namespace

VolumeBinder::VolumeBinder(const Options& options, EventLoop& loop, ApiServer& server, Trace& trace)
    : options_(options), loop_(loop), server_(server), trace_(trace) {
  if (options_.watches) server.Watch([this](const WatchEvent& event) { OnEvent(event); });
}

void VolumeBinder::Start() {
  started_ = true;
  Reconcile();
}

void VolumeBinder::OnEvent(const WatchEvent& event) {
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

void VolumeBinder::ReconcileLater() {
  // Without watching, each change has a look of its own, at everything.
  if (!started_ || (options_.watches && due_)) return;
  due_ = true;
  loop_.Post(options_.delay, [this] { Reconcile(); });
}

// The objects as they are now; later changes do not show.
template <typename T>
std::vector<std::shared_ptr<const T>> VolumeBinder::ToLookAt(const std::set<std::string>& changed) const {
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

void VolumeBinder::Reconcile() {
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

void VolumeBinder::BindVolumes() {
  for (const VolumePtr& volume : ToLookAt<api::PersistentVolume>(changed_volumes_)) {
    if (!volume->spec.claim_ref.has_value()) continue;
    const api::ObjectReference& reference = *volume->spec.claim_ref;
    const ClaimPtr claim = As<api::PersistentVolumeClaim>(server_.Find(
        api::Kind::kPersistentVolumeClaim, "PersistentVolumeClaim", reference.namespace_, reference.name));
    if (claim != nullptr && claim->spec.volume_name.empty()) Bind(*claim, *volume);
  }
}

std::vector<VolumeBinder::ClaimPtr> VolumeBinder::ClaimsToLookAt() const {
  std::vector<ClaimPtr> claims = ToLookAt<api::PersistentVolumeClaim>(changed_claims_);
  std::stable_sort(claims.begin(), claims.end(),
                   [](const ClaimPtr& a, const ClaimPtr& b) { return a->metadata.name < b->metadata.name; });
  return claims;
}

void VolumeBinder::MakeAvailable() {
  for (const VolumePtr& volume : ToLookAt<api::PersistentVolume>(changed_volumes_)) {
    const bool is_new = volume->phase.empty() || volume->phase == "Pending";
    if (!is_new || volume->spec.claim_ref.has_value()) continue;
    auto available = std::make_shared<api::PersistentVolume>(*volume);
    available->phase = "Available";
    server_.Update(available).IgnoreError();
  }
}

std::shared_ptr<const api::StorageClass> VolumeBinder::ClassOf(
    const api::PersistentVolumeClaim& claim) const {
  if (!claim.spec.storage_class_name.has_value()) return nullptr;
  return As<api::StorageClass>(
      server_.Find(api::Kind::kStorageClass, "StorageClass", "", *claim.spec.storage_class_name));
}

bool VolumeBinder::IsImmediate(const api::PersistentVolumeClaim& claim) const {
  if (!options_.watches || !claim.spec.volume_name.empty()) return false;
  const auto storage_class = ClassOf(claim);
  return storage_class == nullptr ||
         storage_class->volume_binding_mode.value_or("Immediate") != "WaitForFirstConsumer";
}

void VolumeBinder::BindImmediateClaims() {
  for (const ClaimPtr& claim : ClaimsToLookAt()) {
    if (!IsImmediate(*claim)) continue;
    const VolumePtr volume = FindVolume(*claim);
    if (volume == nullptr) continue;
    auto named = std::make_shared<api::PersistentVolume>(*volume);
    named->spec.claim_ref = ReferenceTo(*claim);
    Bind(*claim, *named);
  }
}

VolumeBinder::VolumePtr VolumeBinder::FindVolume(const api::PersistentVolumeClaim& claim) const {
  SymbolTable symbols;
  const std::optional<framework::LabelMatcher> selector =
      claim.spec.selector.has_value() ? framework::LabelMatcher::Make(claim.spec.selector, symbols)
                                      : framework::LabelMatcher::Exactly({}, symbols);
  VolumePtr smallest;
  for (const auto& [key, object] : server_.List(api::Kind::kPersistentVolume)) {
    VolumePtr volume = As<api::PersistentVolume>(object);
    const api::PersistentVolumeSpec& spec = volume->spec;
    if (spec.claim_ref.has_value() || volume->phase != "Available" || !selector.has_value()) continue;
    if (spec.storage_class_name != claim.spec.storage_class_name.value_or("")) continue;
    if (spec.volume_mode.value_or("Filesystem") != claim.spec.volume_mode.value_or("Filesystem")) continue;
    if (!HasModes(spec.access_modes, claim.spec.access_modes)) continue;
    if (StorageOf(spec.capacity) < StorageOf(claim.spec.requests)) continue;
    if (smallest != nullptr && StorageOf(smallest->spec.capacity) <= StorageOf(spec.capacity)) continue;
    if (!selector->Matches(framework::LabelSet(volume->metadata.labels, symbols), symbols)) continue;
    smallest = std::move(volume);
  }
  return smallest;
}

void VolumeBinder::ProvisionVolumes() {
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

std::shared_ptr<api::PersistentVolume> VolumeBinder::MakeVolume(
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
  spec.storage_class_name = *claim.spec.storage_class_name;
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
void VolumeBinder::Bind(const api::PersistentVolumeClaim& claim, const api::PersistentVolume& volume) {
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
