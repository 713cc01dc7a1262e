#include "sim/run/attached_volumes.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/base/and_more.h"
#include "core/codec/objects/object_writer.h"
#include "core/plugins/volume/volume_claims.h"

namespace schedsim::sim {
namespace {

bool IsOnNode(const api::ObjectPtr& object) {
  if (object == nullptr) return false;
  const auto& pod = static_cast<const api::Pod&>(*object);
  return !pod.node_name.empty() && !pod.IsTerminal();
}

}  // namespace

AttachedVolumes::AttachedVolumes(ApiServer& server) : server_(server) {
  server_.Watch([this](const WatchEvent& event) { OnEvent(event); });
}

void AttachedVolumes::OnEvent(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind != api::Kind::kPod) return;
  const bool was_on_node = IsOnNode(event.old_object);
  const bool is_on_node = IsOnNode(event.new_object);
  if (was_on_node == is_on_node) return;
  const auto& pod = static_cast<const api::Pod&>(object);
  for (const api::Volume& volume : pod.spec->volumes) {
    const std::optional<plugins::ClaimReference> claim = plugins::ClaimOf(pod, volume);
    if (!claim.has_value()) continue;
    const std::string key = absl::StrCat(pod.metadata.namespace_, "/", claim->name);
    if (is_on_node) {
      if (started_) LookAt(pod, key);
      users_[key][pod.Key()] = pod.node_name;
      continue;
    }
    const auto users = users_.find(key);
    if (users == users_.end()) continue;
    users->second.erase(pod.Key());
    if (users->second.empty()) users_.erase(users);
  }
}

void AttachedVolumes::LookAt(const api::Pod& pod, const std::string& claim_key) {
  const auto users = users_.find(claim_key);
  if (users == users_.end()) return;
  const auto other = std::find_if(users->second.begin(), users->second.end(),
                                  [&pod](const auto& user) { return user.second != pod.node_name; });
  if (other == users->second.end()) return;
  const api::ObjectPtr claim =
      server_.FindByKey(api::Kind::kPersistentVolumeClaim, "PersistentVolumeClaim", claim_key);
  if (claim == nullptr || !IsForOneNode(static_cast<const api::PersistentVolumeClaim&>(*claim))) return;
  if (count_++ > 0) return;
  first_ = absl::StrCat("Pod ", pod.Key(), ": it was bound to ", pod.node_name, " while the volume of claim ",
                        claim_key, " was in use on ", other->second, ", by ", other->first);
}

// As the attach-detach controller sees it. Source: kubernetes v1.37, pkg/volume/util/util.go,
// and attachdetach/reconciler/reconciler.go, isMultiAttachForbidden.
bool AttachedVolumes::IsForOneNode(const api::PersistentVolumeClaim& claim) const {
  const api::ObjectPtr object =
      server_.Find(api::Kind::kPersistentVolume, "PersistentVolume", "", claim.spec.volume_name);
  if (object == nullptr) return false;
  const api::PersistentVolumeSpec& volume = static_cast<const api::PersistentVolume&>(*object).spec;
  const bool is_shared =
      std::any_of(volume.access_modes.begin(), volume.access_modes.end(),
                  [](const std::string& mode) { return mode == "ReadWriteMany" || mode == "ReadOnlyMany"; });
  if (is_shared || volume.access_modes.empty()) return false;
  if (!volume.csi.has_value()) {
    return volume.gce_persistent_disk.has_value() || volume.aws_elastic_block_store.has_value() ||
           volume.azure_disk.has_value() || volume.cinder.has_value();
  }
  const api::ObjectPtr driver = server_.Find(api::Kind::kCSIDriver, "CSIDriver", "", volume.csi->driver);
  bool attaches = true;
  if (driver != nullptr) {
    codec::VisitObjectTree(*driver, [&attaches](const codec::Value& root) {
      const codec::Value* const spec = root.Find("spec");
      const codec::Value* const required = spec == nullptr ? nullptr : spec->Find("attachRequired");
      if (required != nullptr) attaches = required->boolean;
    });
  }
  return attaches;
}

std::string AttachedVolumes::Warning() const {
  if (count_ == 0) return "";
  return absl::StrCat(first_, AndMore(count_),
                      "; a cluster attaches it to one node at a time, so that the pod waits there until the "
                      "other is gone, while here it starts at once");
}

}  // namespace schedsim::sim
