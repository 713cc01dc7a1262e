#include "sim/controllers/volume_binding.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/json_writer.h"
#include "core/framework/selector.h"
#include "core/plugins/volume/csi_translation.h"
#include "sim/cluster/admission/default_storage_class.h"
#include "sim/controllers/volume_topology.h"

namespace schedsim::sim {
namespace {

using plugins::kBindCompletedAnnotation;
using plugins::kBoundByControllerAnnotation;
using plugins::kNoProvisioner;
using plugins::kSelectedNodeAnnotation;
using plugins::kWaitForFirstConsumer;

constexpr char kProvisionedBy[] = "pv.kubernetes.io/provisioned-by";
constexpr char kProvisioner[] = "volume.kubernetes.io/storage-provisioner";
constexpr char kBetaProvisioner[] = "volume.beta.kubernetes.io/storage-provisioner";
constexpr char kClassAnnotation[] = "volume.beta.kubernetes.io/storage-class";

// How often the controller looks at everything again.
constexpr absl::Duration kResyncPeriod = absl::Seconds(15);
// Looks at the start, each of which may make the next one necessary.
constexpr int kStartLooksMax = 100;

std::string KeyOf(const api::ObjectReference& reference) {
  return absl::StrCat(reference.namespace_, "/", reference.name);
}

bool HasAnnotation(const api::Object& object, absl::string_view name) {
  return object.metadata.annotations.Find(name) != nullptr;
}

// A text of an object's JSON, `parent.key`, or `key` without a parent; "" where it is not there.
std::string TextOf(const api::Object& object, absl::string_view parent, absl::string_view key) {
  std::string text;
  codec::VisitObjectTree(object, [&](const codec::Value& root) {
    const codec::Value* at = parent.empty() ? &root : root.Find(parent);
    if (at != nullptr) at = at->Find(key);
    if (at != nullptr) text = std::string(at->text);
  });
  return text;
}

// spec.resources.requests.storage, as it was written; "0" where it is not there.
std::string RequestText(const api::PersistentVolumeClaim& claim) {
  std::string text = "0";
  codec::VisitObjectTree(claim, [&text](const codec::Value& root) {
    const codec::Value* at = &root;
    for (const char* key : {"spec", "resources", "requests", "storage"}) {
      if (at != nullptr) at = at->Find(key);
    }
    if (at != nullptr) text = std::string(at->text);
  });
  return text;
}

bool WaitsForConsumer(const api::StorageClass& storage_class) {
  return storage_class.volume_binding_mode.value_or("Immediate") == kWaitForFirstConsumer;
}

// Whether the claim may have the volume that it names.
// Source: checkVolumeSatisfyClaim.
bool Satisfies(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  if (volume.metadata.deletion_timestamp.has_value()) return false;
  if (plugins::CapacityOf(volume) < plugins::RequestOf(claim)) return false;
  if (plugins::ClassOf(volume) != plugins::ClassOf(claim)) return false;
  const auto attributes = [](const std::optional<std::string>& name) { return name.value_or(""); };
  if (attributes(volume.spec.volume_attributes_class_name) !=
      attributes(claim.spec.volume_attributes_class_name)) {
    return false;
  }
  if (volume.spec.volume_mode.value_or("Filesystem") != claim.spec.volume_mode.value_or("Filesystem")) {
    return false;
  }
  return std::all_of(claim.spec.access_modes.begin(), claim.spec.access_modes.end(),
                     [&volume](const std::string& mode) {
                       const auto& modes = volume.spec.access_modes;
                       return std::find(modes.begin(), modes.end(), mode) != modes.end();
                     });
}

// The CSI driver that makes a provisioner's volumes; "": it has none, as `rancher.io/local-path`.
std::string DriverOf(const std::string& provisioner) {
  const absl::string_view migrated = plugins::CsiDriverOfInTreePlugin(provisioner);
  if (!migrated.empty()) return std::string(migrated);
  return absl::StrContains(provisioner, "/") ? "" : provisioner;
}

// What a provisioner makes for the claim. `driver`: see DriverOf.
std::string VolumeJson(const std::string& name, const api::PersistentVolumeClaim& claim,
                       const api::StorageClass& storage_class, const std::string& driver,
                       const VolumeTopology& topology) {
  const api::ObjectMeta& meta = claim.metadata;
  const std::string policy = TextOf(storage_class, "", "reclaimPolicy");
  codec::JsonWriter json;
  json.BeginObject()
      .Field("apiVersion", "v1")
      .Field("kind", "PersistentVolume")
      .Key("metadata")
      .BeginObject();
  json.Field("name", name).Key("annotations").BeginObject();
  json.Field(kProvisionedBy, storage_class.provisioner).EndObject().EndObject().Key("spec").BeginObject();
  json.Key("capacity").BeginObject().Field("storage", RequestText(claim)).EndObject();
  json.Key("accessModes").BeginArray();
  for (const std::string& mode : claim.spec.access_modes) json.String(mode);
  json.EndArray().Field("persistentVolumeReclaimPolicy", policy.empty() ? "Delete" : policy);
  json.Field("storageClassName", plugins::ClassOf(claim));
  json.Field("volumeMode", claim.spec.volume_mode.value_or("Filesystem"));
  if (claim.spec.volume_attributes_class_name.has_value()) {
    json.Field("volumeAttributesClassName", *claim.spec.volume_attributes_class_name);
  }
  if (driver.empty()) {
    json.Key("hostPath").BeginObject().Field("path", absl::StrCat("/volumes/", name)).EndObject();
  } else {
    json.Key("csi").BeginObject().Field("driver", driver);
    json.Field("volumeHandle", absl::StrCat("vol-", meta.uid)).EndObject();
  }
  json.Key("claimRef").BeginObject().Field("apiVersion", "v1").Field("kind", "PersistentVolumeClaim");
  json.Field("namespace", meta.namespace_).Field("name", meta.name).Field("uid", meta.uid).EndObject();
  topology.Write(json);
  json.EndObject().EndObject();
  return json.text();
}

}  // namespace

VolumeBindingController::VolumeBindingController(const ControllerContext& context)
    : options_(*context.options.persistent_volumes),
      loop_(context.loop),
      server_(context.server),
      trace_(context.trace),
      warnings_(context.warnings),
      busy_count_(context.busy_count) {}

std::vector<api::Kind> VolumeBindingController::Watches() const {
  return {api::Kind::kPersistentVolume, api::Kind::kPersistentVolumeClaim, api::Kind::kStorageClass};
}

void VolumeBindingController::Index(const api::PersistentVolume& volume, bool is_there) {
  const std::string& name = volume.metadata.name;
  std::set<std::string>& free = volumes_of_class_[plugins::ClassOf(volume)];
  if (volume.spec.claim_ref.has_value()) {
    std::set<std::string>& reserved = volumes_of_claim_[KeyOf(*volume.spec.claim_ref)];
    is_there ? (void)reserved.insert(name) : (void)reserved.erase(name);
  } else {
    is_there ? (void)free.insert(name) : (void)free.erase(name);
  }
}

void VolumeBindingController::OnEvent(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  const bool is_deleted = event.new_object == nullptr;
  if (object.kind == api::Kind::kPersistentVolume) {
    if (event.old_object != nullptr)
      Index(static_cast<const api::PersistentVolume&>(*event.old_object), false);
    if (!is_deleted) Index(static_cast<const api::PersistentVolume&>(object), true);
    if (is_deleted) {
      deleted_volumes_.insert(object.metadata.name);
      const auto& volume = static_cast<const api::PersistentVolume&>(object);
      if (volume.spec.claim_ref.has_value()) changed_claims_.insert(KeyOf(*volume.spec.claim_ref));
    } else {
      changed_volumes_.insert(object.metadata.name);
      const auto& reference = static_cast<const api::PersistentVolume&>(object).spec.claim_ref;
      const bool is_free = !reference.has_value() || reference->uid.empty();
      if (is_free && !waiting_claims_.empty()) ResyncLater();
    }
  } else if (object.kind == api::Kind::kPersistentVolumeClaim) {
    const std::string key = object.Key();
    if (is_deleted) deleted_claims_.insert(key);
    if (is_deleted) waiting_claims_.erase(key);
    if (!is_deleted) changed_claims_.insert(key);
    if (event.old_object == nullptr) new_claims_.insert(key);
    // Volumes that name the claim may have waited for it, or are released.
    auto named = volumes_of_claim_.find(key);
    const bool comes_or_goes = is_deleted || event.old_object == nullptr;
    if (comes_or_goes && named != volumes_of_claim_.end()) {
      changed_volumes_.insert(named->second.begin(), named->second.end());
    }
  } else if (!waiting_claims_.empty()) {
    ResyncLater();
  }
  RunLater();
}

void VolumeBindingController::Start() {
  start_ = loop_.Now();
  for (int look = 0; look < kStartLooksMax; ++look) {
    if (changed_volumes_.empty() && changed_claims_.empty()) break;
    Run();
  }
  started_ = true;
  RunLater();
}

void VolumeBindingController::RunLater() {
  if (!started_ || is_due_ || (changed_volumes_.empty() && changed_claims_.empty())) return;
  is_due_ = true;
  ++busy_count_;
  loop_.At(loop_.Now() + options_.delay, EventLoop::Phase::kWork, [this] {
    --busy_count_;
    Run();
  });
}

// The next time at which the controller looks at everything. What it would find changed nothing before.
void VolumeBindingController::ResyncLater() {
  if (is_resync_due_) return;
  if (!started_) {
    changed_claims_.insert(waiting_claims_.begin(), waiting_claims_.end());
    return;
  }
  is_resync_due_ = true;
  const absl::Duration since = absl::Floor(loop_.Now() - start_, kResyncPeriod);
  loop_.At(start_ + since + kResyncPeriod, EventLoop::Phase::kWork, [this] {
    is_resync_due_ = false;
    changed_claims_.insert(waiting_claims_.begin(), waiting_claims_.end());
    RunLater();
  });
}

// Volumes first, so that those that are new can be taken.
void VolumeBindingController::Run() {
  is_due_ = false;
  for (const std::string& name : std::exchange(changed_volumes_, {})) SyncVolume(name);
  for (const std::string& key : std::exchange(changed_claims_, {})) SyncClaim(key);
}

VolumeBindingController::VolumePtr VolumeBindingController::StoredVolume(const std::string& name) const {
  return std::static_pointer_cast<const api::PersistentVolume>(
      server_.Find(api::Kind::kPersistentVolume, "PersistentVolume", "", name));
}

VolumeBindingController::ClaimPtr VolumeBindingController::StoredClaim(const std::string& key) const {
  const ApiServer::Objects& claims = server_.List(api::Kind::kPersistentVolumeClaim);
  auto found = claims.find(key);
  if (found == claims.end()) return nullptr;
  return std::static_pointer_cast<const api::PersistentVolumeClaim>(found->second);
}

VolumeBindingController::ClassPtr VolumeBindingController::ClassOf(
    const api::PersistentVolumeClaim& claim) const {
  return std::static_pointer_cast<const api::StorageClass>(
      server_.Find(api::Kind::kStorageClass, "StorageClass", "", plugins::ClassOf(claim)));
}

void VolumeBindingController::SetPhase(const api::PersistentVolume& volume, const char* phase) {
  if (volume.phase == phase) return;
  auto copy = std::make_shared<api::PersistentVolume>(volume);
  copy->phase = phase;
  server_.Update(copy).IgnoreError();
}

void VolumeBindingController::SetPhase(const api::PersistentVolumeClaim& claim, const char* phase) {
  if (claim.phase == phase) return;
  auto copy = std::make_shared<api::PersistentVolumeClaim>(claim);
  copy->phase = phase;
  server_.Update(copy).IgnoreError();
}

void VolumeBindingController::SyncVolume(const std::string& name) {
  const VolumePtr volume = StoredVolume(name);
  if (volume == nullptr) return;
  if (!volume->spec.claim_ref.has_value() || volume->spec.claim_ref->uid.empty()) {
    // A claim that is there already takes the volume that names it.
    if (volume->spec.claim_ref.has_value()) changed_claims_.insert(KeyOf(*volume->spec.claim_ref));
    SetPhase(*volume, "Available");
    return;
  }
  const std::string key = KeyOf(*volume->spec.claim_ref);
  const ClaimPtr claim = StoredClaim(key);
  if (claim == nullptr && deleted_claims_.count(key) == 0) return;
  if (claim == nullptr || claim->metadata.uid != volume->spec.claim_ref->uid) {
    Release(volume);
  } else if (claim->spec.volume_name.empty()) {
    changed_claims_.insert(key);
  } else if (claim->spec.volume_name == name) {
    SetPhase(*volume, "Bound");
  } else if (HasAnnotation(*volume, kProvisionedBy) &&
             TextOf(*volume, "spec", "persistentVolumeReclaimPolicy") == "Delete") {
    // The claim has another volume: this one was made in vain.
    Release(volume);
  } else {
    Unbind(*volume);
  }
}

void VolumeBindingController::Release(const VolumePtr& volume) {
  VolumePtr released = volume;
  if (volume->phase != "Released" && volume->phase != "Failed") {
    SetPhase(*volume, "Released");
    released = StoredVolume(volume->metadata.name);
  }
  const std::string policy = TextOf(*released, "spec", "persistentVolumeReclaimPolicy");
  if (policy == "Recycle") {
    Unbind(*released);
    return;
  }
  if (policy != "Delete") return;
  const std::string* provisioner = released->metadata.annotations.Find(kProvisionedBy);
  if (provisioner == nullptr) {
    // No plugin of the controller can delete it.
    SetPhase(*released, "Failed");
  } else if (options_.Runs(*provisioner)) {
    server_.Delete(released->kind, released->kind_name, "", released->metadata.name).IgnoreError();
  }
}

void VolumeBindingController::Unbind(const api::PersistentVolume& volume) {
  auto copy = std::make_shared<api::PersistentVolume>(volume);
  if (HasAnnotation(volume, kBoundByControllerAnnotation) || volume.phase == "Released") {
    copy->spec.claim_ref.reset();
    copy->metadata.annotations.Erase(kBoundByControllerAnnotation);
  } else {
    copy->spec.claim_ref->uid.clear();
  }
  copy->phase = "Available";
  server_.Update(copy).IgnoreError();
}

void VolumeBindingController::SyncClaim(const std::string& key) {
  const ClaimPtr claim = StoredClaim(key);
  if (claim == nullptr) return;
  waiting_claims_.erase(key);
  if (!HasAnnotation(*claim, kBindCompletedAnnotation)) {
    if (claim->spec.volume_name.empty()) {
      SyncUnboundClaim(claim);
    } else {
      SyncNamedVolume(claim);
    }
    return;
  }
  const std::string& name = claim->spec.volume_name;
  const VolumePtr volume = StoredVolume(name);
  if (volume == nullptr) {
    // Whether it is missing, or only not in the input, shows a deletion alone.
    if (name.empty() || deleted_volumes_.count(name) > 0) SetPhase(*claim, "Lost");
  } else if (!volume->spec.claim_ref.has_value() || plugins::IsBoundTo(*volume, *claim)) {
    const bool is_settled = claim->phase == "Bound" && volume->phase == "Bound";
    if (!is_settled && volume->phase != "Released") Bind(*claim, *volume);
  } else {
    SetPhase(*claim, "Lost");
  }
}

void VolumeBindingController::SyncUnboundClaim(const ClaimPtr& claim) {
  // Admission has given a new claim the default class.
  const bool is_new = new_claims_.erase(claim->Key()) > 0;
  if (is_new && AssignDefaultClass(*claim)) return;
  const ClassPtr storage_class = ClassOf(*claim);
  const bool waits = storage_class != nullptr && WaitsForConsumer(*storage_class);
  if (const VolumePtr volume = FindVolume(*claim, /*only_reserved=*/waits)) {
    Bind(*claim, *volume);
    return;
  }
  if (AssignDefaultClass(*claim)) return;
  const std::string* node = claim->metadata.annotations.Find(kSelectedNodeAnnotation);
  const bool has_node = node != nullptr && !node->empty();
  const bool provisions = storage_class != nullptr && storage_class->provisioner != kNoProvisioner;
  if (provisions && (has_node || !waits)) {
    Provision(*claim, *storage_class);
    return;
  }
  SetPhase(*claim, "Pending");
  // The scheduler finds volumes for claims that wait for a consumer.
  if (!waits) Wait(claim);
}

void VolumeBindingController::SyncNamedVolume(const ClaimPtr& claim) {
  const VolumePtr volume = StoredVolume(claim->spec.volume_name);
  const bool is_free = volume != nullptr && !volume->spec.claim_ref.has_value();
  if (volume != nullptr && (is_free ? Satisfies(*volume, *claim) : plugins::IsBoundTo(*volume, *claim))) {
    Bind(*claim, *volume);
    return;
  }
  // A claim of a cluster may be bound already, to a volume that is not in the input.
  if (volume == nullptr && claim->phase == "Bound") return;
  SetPhase(*claim, "Pending");
  Wait(claim);
}

bool VolumeBindingController::AssignDefaultClass(const api::PersistentVolumeClaim& claim) {
  if (claim.spec.storage_class_name.has_value() || HasAnnotation(claim, kClassAnnotation)) return false;
  const api::Object* best = nullptr;
  for (const auto& [name, object] : server_.List(api::Kind::kStorageClass))
    best = BetterDefaultClass(best, *object);
  if (best == nullptr) return false;
  auto copy = std::make_shared<api::PersistentVolumeClaim>(claim);
  copy->spec.storage_class_name = best->metadata.name;
  if (copy->phase.empty()) copy->phase = "Pending";
  server_.Update(copy).IgnoreError();
  return true;
}

void VolumeBindingController::Wait(const ClaimPtr& claim) { waiting_claims_.insert(claim->Key()); }

VolumeBindingController::VolumePtr VolumeBindingController::FindVolume(
    const api::PersistentVolumeClaim& claim, bool only_reserved) {
  std::optional<framework::LabelMatcher> selector;
  if (claim.spec.selector.has_value()) {
    selector = framework::LabelMatcher::Make(claim.spec.selector, symbols_);
    if (!selector.has_value()) return nullptr;
  }
  std::vector<plugins::CompiledVolumePtr> volumes;
  const auto add = [&](const std::set<std::string>& names) {
    for (const std::string& name : names) volumes.push_back(compiler_.Compile(StoredVolume(name)));
  };
  auto reserved = volumes_of_claim_.find(claim.Key());
  if (reserved != volumes_of_claim_.end()) add(reserved->second);
  auto free = volumes_of_class_.find(plugins::ClassOf(claim));
  if (!only_reserved && free != volumes_of_class_.end()) add(free->second);
  const plugins::CompiledVolumePtr found =
      plugins::FindMatchingVolume(claim, selector, volumes, {}, /*node_labels=*/nullptr, symbols_);
  return found == nullptr ? nullptr : found->volume;
}

void VolumeBindingController::Provision(const api::PersistentVolumeClaim& claim,
                                        const api::StorageClass& storage_class) {
  const std::string& provisioner = storage_class.provisioner;
  const std::string* node_name = claim.metadata.annotations.Find(kSelectedNodeAnnotation);
  const bool has_node = node_name != nullptr && !node_name->empty();
  const api::ObjectPtr node = has_node ? server_.Find(api::Kind::kNode, "Node", "", *node_name) : nullptr;
  if (!options_.Runs(provisioner) || (has_node && node == nullptr)) {
    // The controller says who is to make the volume, and waits.
    auto copy = std::make_shared<api::PersistentVolumeClaim>(claim);
    copy->phase = "Pending";
    copy->metadata.annotations.Set(kProvisioner, provisioner);
    copy->metadata.annotations.Set(kBetaProvisioner, provisioner);
    const bool is_said = HasAnnotation(claim, kProvisioner) && claim.phase == "Pending";
    if (!is_said) server_.Update(copy).IgnoreError();
    waiting_claims_.insert(claim.Key());
    if (!options_.Runs(provisioner) && warned_classes_.insert(storage_class.metadata.name).second) {
      warnings_.push_back(absl::StrCat("StorageClass ", storage_class.metadata.name,
                                       ": nobody runs its provisioner ", provisioner,
                                       ", so its claims stay Pending; the first is ", claim.Key()));
    }
    return;
  }
  const std::string name = absl::StrCat("pvc-", claim.metadata.uid);
  const std::string driver = DriverOf(provisioner);
  const VolumeTopology topology =
      TopologyOf(driver, claim, storage_class, static_cast<const api::Node*>(node.get()), server_);
  if (!topology.unknown.empty() && assumed_classes_.insert(storage_class.metadata.name).second) {
    warnings_.push_back(absl::StrCat("StorageClass ", storage_class.metadata.name, " of ", provisioner, ": ",
                                     topology.unknown, ", so that of claim ", claim.Key(), " is taken for ",
                                     topology.taken_for));
  }
  codec::ObjectReader reader;
  const absl::Status created = reader.ReadText(
      VolumeJson(name, claim, storage_class, driver, topology), "volume.json",
      [this](api::ObjectPtr object, const codec::Location&) { return server_.Create(object); });
  if (!created.ok()) {
    trace_.ApiError("create", created.message());
    if (warned_classes_.insert(storage_class.metadata.name).second) {
      warnings_.push_back(absl::StrCat("StorageClass ", storage_class.metadata.name,
                                       ": no volume could be made for claim ", claim.Key(), ": ",
                                       created.message()));
    }
  }
  if (created.ok() && has_node) CountCapacity(claim, driver, static_cast<const api::Node&>(*node));
  if (const VolumePtr stored = StoredVolume(name)) Bind(claim, *stored);
}

void VolumeBindingController::CountCapacity(const api::PersistentVolumeClaim& claim,
                                            const std::string& driver, const api::Node& node) {
  const api::ObjectPtr object = server_.Find(api::Kind::kCSIDriver, "CSIDriver", "", driver);
  if (object == nullptr || !static_cast<const api::CSIDriver&>(*object).storage_capacity.value_or(false))
    return;
  const framework::LabelSet labels(node.metadata.labels, symbols_);
  for (const auto& [key, listed] : server_.List(api::Kind::kCSIStorageCapacity)) {
    const auto& capacity = static_cast<const api::CSIStorageCapacity&>(*listed);
    if (capacity.storage_class_name != plugins::ClassOf(claim) || !capacity.capacity.has_value()) continue;
    const auto topology = framework::LabelMatcher::Make(capacity.node_topology, symbols_);
    if (!topology.has_value() || !topology->Matches(labels, symbols_)) continue;
    int64_t& taken = taken_bytes_[key];
    const int64_t most = capacity.capacity->Value();
    const bool was_warned = taken > most;
    taken += plugins::RequestOf(claim).Value();
    if (was_warned || taken <= most) continue;
    warnings_.push_back(
        absl::StrCat("CSIStorageCapacity ", key, ": with claim ", claim.Key(), ", volumes of class ",
                     capacity.storage_class_name, " come to ", taken, " bytes where it says ", most,
                     ": it is not used up here, while a real driver makes no volume beyond it"));
  }
}

// The volume is written before the claim, so that whoever sees the claim bound knows the volume.
void VolumeBindingController::Bind(const api::PersistentVolumeClaim& claim,
                                   const api::PersistentVolume& volume) {
  std::shared_ptr<api::PersistentVolume> bound_volume = plugins::BindVolumeToClaim(volume, claim);
  const bool is_named = bound_volume != nullptr;
  if (!is_named) bound_volume = std::make_shared<api::PersistentVolume>(volume);
  if (is_named || volume.phase != "Bound") {
    bound_volume->phase = "Bound";
    server_.Update(bound_volume).IgnoreError();
  }
  auto bound_claim = std::make_shared<api::PersistentVolumeClaim>(claim);
  if (claim.spec.volume_name.empty())
    bound_claim->metadata.annotations.Set(kBoundByControllerAnnotation, "yes");
  bound_claim->spec.volume_name = volume.metadata.name;
  bound_claim->metadata.annotations.Set(kBindCompletedAnnotation, "yes");
  bound_claim->phase = "Bound";
  server_.Update(bound_claim).IgnoreError();
  trace_.ClaimBound(*bound_claim, volume.metadata.name);
}

}  // namespace schedsim::sim
