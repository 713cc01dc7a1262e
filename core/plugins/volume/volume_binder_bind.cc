// PreBind: what the scheduler assumed of volumes becomes so.

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/selector_validation.h"
#include "core/base/status_macros.h"
#include "core/plugins/volume/volume_binder.h"

namespace schedsim::plugins {

using framework::LabelSet;
using framework::Status;

namespace {

constexpr absl::Duration kPollPeriod = absl::Seconds(1);

}  // namespace

struct VolumeBinder::BindOperation {
  std::string pod_namespace;
  std::string pod_name;
  std::string node_name;
  PodVolumes& volumes;
  // The claims as they are written; what is reverted later is the assumed version.
  std::vector<ClaimPtr> claims;
  // How many of the volumes, and then of the claims, are written.
  size_t written_volumes = 0;
  size_t written_claims = 0;
  absl::Time deadline;
  framework::StatusCallback done;
  bool finished = false;
  std::optional<uint64_t> poll;  // What Executor::Cancel takes, while the operation waits for its next look.
};

void VolumeBinder::BindPodVolumes(const api::Pod& pod, absl::string_view node_name, PodVolumes& volumes,
                                  framework::PodInPreBind* in_pre_bind, framework::StatusCallback done) {
  auto operation = std::make_shared<BindOperation>(BindOperation{.pod_namespace = pod.metadata.namespace_,
                                                                 .pod_name = pod.metadata.name,
                                                                 .node_name = std::string(node_name),
                                                                 .volumes = volumes,
                                                                 .claims = {},
                                                                 .deadline = absl::InfiniteFuture(),
                                                                 .done = std::move(done)});
  for (const DynamicProvision& provision : volumes.dynamic_provisions)
    operation->claims.push_back(provision.claim);
  if (in_pre_bind != nullptr) {
    in_pre_bind->set_on_cancel([this, operation] { Cancel(*operation); });
    if (in_pre_bind->canceled()) {
      Cancel(*operation);
      return;
    }
  }
  WriteNext(operation);
}

// What is on its way to the server still gets there, but is no longer waited for.
void VolumeBinder::Cancel(BindOperation& operation) {
  if (operation.finished) return;
  if (operation.poll.has_value()) {
    handle_.executor().Cancel(*operation.poll);
    Finish(operation, Status::Error(absl::StrCat("binding volumes: ", framework::kContextCanceled)));
  } else {
    RevertUnwritten(operation);
    Finish(operation, Status::Error(framework::kContextCanceled));
  }
}

void VolumeBinder::Finish(BindOperation& operation, Status status) {
  operation.finished = true;
  std::exchange(operation.done, nullptr)(std::move(status));
}

// Writes one object after the other: volumes first, then claims.
void VolumeBinder::WriteNext(const OperationPtr& operation) {
  std::vector<BindingInfo>& bindings = operation->volumes.static_bindings;
  if (operation->written_volumes < bindings.size()) {
    BindingInfo& binding = bindings[operation->written_volumes];
    handle_.client().Update(binding.volume,
                            [this, operation, &binding](absl::StatusOr<api::ObjectPtr> stored) {
                              if (operation->finished) return;
                              if (!stored.ok()) {
                                RevertUnwritten(*operation);
                                Finish(*operation, Status::Error(std::string(stored.status().message())));
                                return;
                              }
                              binding.volume = std::static_pointer_cast<const api::PersistentVolume>(*stored);
                              ++operation->written_volumes;
                              WriteNext(operation);
                            });
    return;
  }
  if (operation->written_claims < operation->claims.size()) {
    ClaimPtr& claim = operation->claims[operation->written_claims];
    handle_.client().Update(claim, [this, operation, &claim](absl::StatusOr<api::ObjectPtr> stored) {
      if (operation->finished) return;
      if (!stored.ok()) {
        RevertUnwritten(*operation);
        Finish(*operation, Status::Error(std::string(stored.status().message())));
        return;
      }
      claim = std::static_pointer_cast<const api::PersistentVolumeClaim>(*stored);
      ++operation->written_claims;
      WriteNext(operation);
    });
    return;
  }
  operation->deadline = handle_.clock().Now() + bind_timeout_;
  PollLater(operation);
}

void VolumeBinder::RevertUnwritten(const BindOperation& operation) {
  const std::vector<BindingInfo>& bindings = operation.volumes.static_bindings;
  for (size_t i = operation.written_volumes; i < bindings.size(); ++i) volumes_.Restore(*bindings[i].volume);
  for (size_t i = operation.written_claims; i < operation.claims.size(); ++i)
    claims_.Restore(*operation.claims[i]);
}

// Looks once a second until the deadline; a look that is due at the deadline comes too late.
void VolumeBinder::PollLater(const OperationPtr& operation) {
  const absl::Duration left = operation->deadline - handle_.clock().Now();
  if (left <= kPollPeriod) {
    operation->poll = handle_.executor().Post(std::max(left, absl::ZeroDuration()), [this, operation] {
      Finish(*operation, Status::Error("binding volumes: context deadline exceeded"));
    });
    return;
  }
  operation->poll = handle_.executor().Post(kPollPeriod, [this, operation] {
    const absl::StatusOr<bool> bound = CheckBindings(*operation);
    if (!bound.ok()) {
      Finish(*operation, Status::Error(absl::StrCat("binding volumes: ", bound.status().message())));
    } else if (*bound) {
      Finish(*operation, Status());
    } else {
      PollLater(operation);
    }
  });
}

// Looks at what the informers have seen, not at what is assumed: other pods may have assumed again.
absl::StatusOr<bool> VolumeBinder::CheckBindings(const BindOperation& operation) {
  const framework::InformerCache& informers = handle_.informers();
  const std::string& node_name = operation.node_name;
  const api::ObjectPtr node = informers.Find(api::Kind::kNode, "", node_name);
  if (node == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("failed to get node \"", node_name, "\": ", NotFoundMessage("node", node_name)));
  }
  if (informers.FindPod(operation.pod_namespace, operation.pod_name) == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("pod does not exist any more: ", NotFoundMessage("pod", operation.pod_name)));
  }
  const LabelSet labels(node->metadata.labels, handle_.symbols());
  for (const BindingInfo& binding : operation.volumes.static_bindings) {
    ASSIGN_OR_RETURN(const bool bound, CheckStaticBinding(binding, node_name, labels));
    if (!bound) return false;
  }
  for (const ClaimPtr& claim : operation.claims) {
    ASSIGN_OR_RETURN(const bool bound, CheckProvisioned(*claim, node_name, labels));
    if (!bound) return false;
  }
  return true;
}

std::string VolumeBinder::NotFound(absl::string_view type, absl::string_view resource,
                                   absl::string_view key) const {
  if (handle_.line().passive_assume_cache) return NotFoundMessage(resource, key);
  return absl::StrCat("could not find ", type, " \"", key, "\"");
}

absl::Status VolumeBinder::CheckNode(const VolumePtr& volume, absl::string_view node_name,
                                     const LabelSet& labels) {
  ASSIGN_OR_RETURN(const bool suits, SuitsNode(*compiler_.Compile(volume), node_name, labels));
  if (suits) return absl::OkStatus();
  std::string reason;
  if (volume->spec.node_affinity.has_value()) {
    reason = api::NodeSelectorError(*volume->spec.node_affinity, handle_.line().line);
  }
  return absl::FailedPreconditionError(
      absl::StrCat("pv \"", volume->metadata.name, "\" node affinity doesn't match node \"", node_name,
                   "\": ", reason.empty() ? "no matching NodeSelectorTerms" : reason));
}

absl::StatusOr<bool> VolumeBinder::CheckStaticBinding(const BindingInfo& binding, absl::string_view node_name,
                                                      const LabelSet& labels) {
  const std::string& name = binding.volume->metadata.name;
  const VolumePtr volume = volumes_.FindApiObject("", name);
  if (volume == nullptr) {
    return absl::NotFoundError(absl::StrCat("failed to check binding: ",
                                            NotFound("v1.PersistentVolume", "persistentvolumes", name)));
  }
  const api::ObjectMeta& claim_meta = binding.claim->metadata;
  const ClaimPtr claim = claims_.FindApiObject(claim_meta.namespace_, claim_meta.name);
  if (claim == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("failed to check binding: ",
                     NotFound("v1.PersistentVolumeClaim", "persistentvolumeclaims", binding.claim->Key())));
  }
  // The informers have not seen the write yet.
  if (binding.volume->metadata.resource_version > volume->metadata.resource_version) return false;
  const absl::Status suits = CheckNode(volume, node_name, labels);
  if (absl::IsInvalidArgument(suits)) {
    return absl::InvalidArgumentError(absl::StrCat("failed to translate pv to csi: ", suits.message()));
  }
  RETURN_IF_ERROR(suits);
  if (!volume->spec.claim_ref.has_value() || volume->spec.claim_ref->uid.empty()) {
    return absl::FailedPreconditionError(absl::StrCat("ClaimRef got reset for pv \"", name, "\""));
  }
  return IsFullyBound(*claim);
}

absl::StatusOr<bool> VolumeBinder::CheckProvisioned(const api::PersistentVolumeClaim& written,
                                                    absl::string_view node_name, const LabelSet& labels) {
  const api::ObjectMeta& meta = written.metadata;
  const ClaimPtr claim = claims_.FindApiObject(meta.namespace_, meta.name);
  if (claim == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("failed to check provisioning pvc: ",
                     NotFound("v1.PersistentVolumeClaim", "persistentvolumeclaims", written.Key())));
  }
  if (meta.resource_version > claim->metadata.resource_version) return false;
  if (claim->metadata.annotations.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("selectedNode annotation reset for PVC \"", meta.name, "\""));
  }
  const std::string* selected = claim->metadata.annotations.Find(kSelectedNodeAnnotation);
  // A provisioner that fails takes the annotation away.
  if (selected == nullptr || *selected != node_name) {
    return absl::FailedPreconditionError(absl::StrCat("provisioning failed for PVC \"", meta.name, "\""));
  }
  if (!claim->spec.volume_name.empty()) {
    const VolumePtr volume = volumes_.FindApiObject("", claim->spec.volume_name);
    // It may come later; if it is gone the claim will be unbound.
    if (volume == nullptr) return false;
    RETURN_IF_ERROR(CheckNode(volume, node_name, labels));
  }
  return IsFullyBound(*claim);
}

}  // namespace schedsim::plugins
