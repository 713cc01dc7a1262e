#include "sim/controllers/claim_protection.h"

#include "absl/strings/str_cat.h"
#include "core/api/pod.h"
#include "core/plugins/volume/volume_claims.h"

namespace schedsim::sim {

ClaimProtectionController::ClaimProtectionController(const ControllerContext& context)
    : loop_(context.loop), server_(context.server) {
  server_.set_protection([this](const api::Object& object) {
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
    if (!pod.node_name.empty() && !pod.IsTerminal() && plugins::UsesClaim(pod, claim)) return true;
  }
  return false;
}

void ClaimProtectionController::OnEvent(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind == api::Kind::kPersistentVolumeClaim) {
    if (event.new_object == nullptr) {
      deleted_claims_.erase(object.Key());
    } else if (object.metadata.deletion_timestamp.has_value()) {
      deleted_claims_.insert(object.Key());
    }
    return;
  }
  const bool is_over = event.new_object == nullptr || static_cast<const api::Pod&>(object).IsTerminal();
  if (!is_over || is_due_ || deleted_claims_.empty()) return;
  is_due_ = true;
  loop_.At(loop_.Now(), EventLoop::Phase::kWork, [this] { Look(); });
}

void ClaimProtectionController::Look() {
  is_due_ = false;
  const std::set<std::string> keys = deleted_claims_;
  for (const std::string& key : keys) {
    const size_t slash = key.find('/');
    // One that is still used stays.
    server_
        .Delete(api::Kind::kPersistentVolumeClaim, "PersistentVolumeClaim", key.substr(0, slash),
                key.substr(slash + 1))
        .IgnoreError();
  }
}

}  // namespace schedsim::sim
