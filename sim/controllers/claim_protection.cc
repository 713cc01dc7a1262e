#include "sim/controllers/claim_protection.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/api/pod.h"
#include "core/plugins/volume/volume_claims.h"
#include "sim/cluster/pod_finalizers.h"

namespace schedsim::sim {

namespace {

bool UsesClaims(const api::Pod& pod) {
  return std::any_of(pod.spec->volumes.begin(), pod.spec->volumes.end(),
                     [&pod](const api::Volume& volume) { return plugins::ClaimOf(pod, volume).has_value(); });
}

// Whether it has finalizers beside those of protection, of which nobody here knows when they go.
bool IsHeldByOthers(const api::Object& object) {
  const std::vector<std::string> finalizers = FinalizersOf(object);
  return std::any_of(finalizers.begin(), finalizers.end(), [](const std::string& finalizer) {
    return finalizer != "kubernetes.io/pvc-protection" && finalizer != "kubernetes.io/pv-protection";
  });
}

}  // namespace

ClaimProtectionController::ClaimProtectionController(const ControllerContext& context)
    : loop_(context.loop), server_(context.server) {
  server_.set_protection([this](const api::Object& object) {
    if (object.kind == api::Kind::kPersistentVolume)
      return static_cast<const api::PersistentVolume&>(object).phase == "Bound";
    return object.kind == api::Kind::kPersistentVolumeClaim && IsUsed(object);
  });
}

// A deletion is rare, so nobody keeps the pods of each claim.
bool ClaimProtectionController::IsUsed(const api::Object& claim) const {
  const std::string& name_space = claim.metadata.namespace_;
  const ApiServer::Objects& pods = server_.List(api::Kind::kPod);
  for (auto at = pods.lower_bound(absl::StrCat(name_space, "/")); at != pods.end(); ++at) {
    const auto& pod = static_cast<const api::Pod&>(*at->second);
    if (pod.metadata.namespace_ != name_space) break;
    if (!pod.node_name.empty() && plugins::UsesClaim(pod, claim)) return true;
  }
  return false;
}

void ClaimProtectionController::Start() {
  started_ = true;
  LookLater();
}

void ClaimProtectionController::OnEvent(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind == api::Kind::kPod) {
    if (event.new_object == nullptr && UsesClaims(static_cast<const api::Pod&>(object))) LookLater();
    return;
  }
  std::set<std::string>& deleted =
      object.kind == api::Kind::kPersistentVolume ? deleted_volumes_ : deleted_claims_;
  if (event.new_object == nullptr) {
    deleted.erase(object.Key());
  } else if (object.metadata.deletion_timestamp.has_value() && (started_ || !IsHeldByOthers(object))) {
    deleted.insert(object.Key());
    LookLater();
  }
}

void ClaimProtectionController::LookLater() {
  if (!started_ || is_due_ || (deleted_claims_.empty() && deleted_volumes_.empty())) return;
  is_due_ = true;
  loop_.At(loop_.Now(), EventLoop::Phase::kWork, [this] { Look(); });
}

// What is still used stays.
void ClaimProtectionController::Look() {
  is_due_ = false;
  const std::set<std::string> claims = deleted_claims_;
  for (const std::string& key : claims) {
    const size_t slash = key.find('/');
    server_
        .Delete(api::Kind::kPersistentVolumeClaim, "PersistentVolumeClaim", key.substr(0, slash),
                key.substr(slash + 1))
        .IgnoreError();
  }
  const std::set<std::string> volumes = deleted_volumes_;
  for (const std::string& name : volumes)
    server_.Delete(api::Kind::kPersistentVolume, "PersistentVolume", "", name).IgnoreError();
}

}  // namespace schedsim::sim
