#include "sim/controllers/ephemeral_volume.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "core/plugins/volume/volume_claims.h"

namespace schedsim::sim {
namespace {

bool HasEphemeralVolume(const api::Pod& pod) {
  return std::any_of(pod.spec->volumes.begin(), pod.spec->volumes.end(),
                     [](const api::Volume& volume) { return volume.ephemeral.has_value(); });
}

// The claim of a template, owned by the pod.
std::string ClaimJson(const api::Pod& pod, const std::string& name, const codec::Value& claim_template) {
  codec::JsonWriter json;
  json.BeginObject().Field("apiVersion", "v1").Field("kind", "PersistentVolumeClaim");
  json.Key("metadata").BeginObject().Field("name", name).Field("namespace", pod.metadata.namespace_);
  const codec::Value* metadata = claim_template.Find("metadata");
  for (const char* field : {"labels", "annotations"}) {
    const codec::Value* value = metadata == nullptr ? nullptr : metadata->Find(field);
    if (value != nullptr && !value->is_null()) json.Key(field).Raw(codec::ToJson(*value));
  }
  json.Key("ownerReferences").BeginArray().BeginObject().Field("apiVersion", "v1").Field("kind", "Pod");
  json.Field("name", pod.metadata.name).Field("uid", pod.metadata.uid);
  json.Key("controller").Bool(true).Key("blockOwnerDeletion").Bool(true).EndObject().EndArray().EndObject();
  const codec::Value* spec = claim_template.Find("spec");
  if (spec != nullptr) json.Key("spec").Raw(codec::ToJson(*spec));
  json.EndObject();
  return json.text();
}

}  // namespace

void EphemeralVolumeController::OnEvent(const WatchEvent& event) {
  if (event.new_object == nullptr) {
    if (event.old_object->kind != api::Kind::kPersistentVolumeClaim) return;
    for (const std::string& key : std::exchange(blocked_, {})) Add(key);
    // A pod whose claim is deleted gets another one.
    const api::ObjectMeta& meta = event.old_object->metadata;
    for (const api::OwnerReference& owner : meta.owner_references) {
      if (owner.kind == "Pod") Add(absl::StrCat(meta.namespace_, "/", owner.name));
    }
    return;
  }
  if (event.new_object->kind != api::Kind::kPod || event.old_object != nullptr) return;
  if (HasEphemeralVolume(static_cast<const api::Pod&>(*event.new_object))) Add(event.new_object->Key());
}

void EphemeralVolumeController::Start() {
  started_ = true;
  Run();
}

void EphemeralVolumeController::Add(const std::string& pod_key) {
  pods_.insert(pod_key);
  if (!started_ || is_due_) return;
  is_due_ = true;
  ++busy_count_;
  loop_.At(loop_.Now() + delay_, EventLoop::Phase::kWork, [this] {
    --busy_count_;
    Run();
  });
}

void EphemeralVolumeController::Run() {
  is_due_ = false;
  for (const std::string& key : std::exchange(pods_, {})) Sync(key);
}

void EphemeralVolumeController::Sync(const std::string& pod_key) {
  const auto pod =
      std::static_pointer_cast<const api::Pod>(server_.FindByKey(api::Kind::kPod, "Pod", pod_key));
  if (pod == nullptr || pod->metadata.deletion_timestamp.has_value() || pod->IsTerminal()) return;
  for (const api::Volume& volume : pod->spec->volumes) {
    if (!volume.ephemeral.has_value()) continue;
    const absl::Status status = MakeClaim(*pod, volume);
    if (status.ok()) continue;
    trace_.ApiError("create", status.message());
    const std::string warning = absl::StrCat("Pod ", pod_key, ": ", status.message());
    if (std::find(warnings_.begin(), warnings_.end(), warning) == warnings_.end())
      warnings_.push_back(warning);
    blocked_.insert(pod_key);
    return;
  }
}

absl::Status EphemeralVolumeController::MakeClaim(const api::Pod& pod, const api::Volume& volume) {
  const api::ObjectMeta& meta = pod.metadata;
  const std::string name = absl::StrCat(meta.name, "-", volume.name);
  const api::ObjectPtr known =
      server_.Find(api::Kind::kPersistentVolumeClaim, "PersistentVolumeClaim", meta.namespace_, name);
  if (known != nullptr) {
    const auto& claim = static_cast<const api::PersistentVolumeClaim&>(*known);
    if (plugins::IsOwner(pod, claim)) return absl::OkStatus();
    return absl::FailedPreconditionError(plugins::NotOwnerMessage(pod, claim));
  }
  absl::Status created;
  RETURN_IF_ERROR(codec::ReadText(volume.source, "volume.json", {}, [&](const codec::Document& document) {
    const codec::Value* ephemeral = document.root.Find("ephemeral");
    const codec::Value* claim_template =
        ephemeral == nullptr ? nullptr : ephemeral->Find("volumeClaimTemplate");
    if (claim_template == nullptr) return absl::OkStatus();
    codec::ObjectReader reader;
    created = reader.ReadText(
        ClaimJson(pod, name, *claim_template), "claim.json",
        [this](api::ObjectPtr object, const codec::Location&) { return server_.Create(object); });
    return absl::OkStatus();
  }));
  return created;
}

}  // namespace schedsim::sim
