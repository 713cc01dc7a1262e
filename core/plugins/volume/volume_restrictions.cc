// VolumeRestrictions: disks that two pods on a node cannot share, and claims that only one pod may use.
// Source: kubernetes v1.37, plugins/volumerestrictions/volume_restrictions.go.
// Extension points: PreFilter, Filter. Arguments: none.

#include "core/plugins/volume/volume_restrictions.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/framework/plugin.h"
#include "core/plugins/registry.h"
#include "core/plugins/volume/volume_claims.h"

namespace schedsim::plugins {
namespace {

using framework::Code;
using framework::PodInfo;
using framework::QueueingHint;
using framework::Status;

bool NeedsCheck(const api::Volume& volume) {
  return volume.gce_persistent_disk.has_value() || volume.aws_elastic_block_store.has_value() ||
         volume.rbd.has_value() || volume.iscsi.has_value();
}

bool Overlap(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&b](const std::string& text) {
    return std::find(b.begin(), b.end(), text) != b.end();
  });
}

// Whether two pods with these volumes cannot run on one node. Disks that both only read may be shared,
// but for EBS.
bool Conflict(const api::Volume& a, const api::Volume& b) {
  if (a.gce_persistent_disk.has_value() && b.gce_persistent_disk.has_value() &&
      a.gce_persistent_disk->pd_name == b.gce_persistent_disk->pd_name &&
      !(a.gce_persistent_disk->read_only && b.gce_persistent_disk->read_only)) {
    return true;
  }
  if (a.aws_elastic_block_store.has_value() && b.aws_elastic_block_store.has_value() &&
      a.aws_elastic_block_store->volume_id == b.aws_elastic_block_store->volume_id) {
    return true;
  }
  if (a.iscsi.has_value() && b.iscsi.has_value() && a.iscsi->iqn == b.iscsi->iqn &&
      !(a.iscsi->read_only && b.iscsi->read_only)) {
    return true;
  }
  return a.rbd.has_value() && b.rbd.has_value() && Overlap(a.rbd->monitors, b.rbd->monitors) &&
         a.rbd->pool == b.rbd->pool && a.rbd->image == b.rbd->image &&
         !(a.rbd->read_only && b.rbd->read_only);
}

}  // namespace

bool DisksConflict(const api::PodSpec& spec, const api::PodSpec& other) {
  for (const api::Volume& volume : spec.volumes) {
    if (!NeedsCheck(volume)) continue;
    for (const api::Volume& existing : other.volumes) {
      if (Conflict(volume, existing)) return true;
    }
  }
  return false;
}

bool IsExclusive(const api::PersistentVolumeClaim& claim) {
  const std::vector<std::string>& modes = claim.spec.access_modes;
  return std::find(modes.begin(), modes.end(), "ReadWriteOncePod") != modes.end();
}

namespace {

// How many volumes of the spec are claims with one of these names.
int32_t CountClaims(const api::PodSpec& spec, const std::set<std::string>& names) {
  return static_cast<int32_t>(
      std::count_if(spec.volumes.begin(), spec.volumes.end(), [&names](const api::Volume& volume) {
        return volume.persistent_volume_claim.has_value() &&
               names.count(volume.persistent_volume_claim->claim_name) > 0;
      }));
}

struct RestrictionsState : framework::StateData {
  // The pod's claims with the access mode ReadWriteOncePod; the state shares them with its clones.
  std::shared_ptr<const std::set<std::string>> exclusive_claims;
  // How often pods on nodes use them.
  int32_t conflicts = 0;

  std::unique_ptr<StateData> Clone() const override { return std::make_unique<RestrictionsState>(*this); }
};

class VolumeRestrictions final : public framework::Plugin,
                                 public framework::PreFilterPlugin,
                                 public framework::FilterPlugin,
                                 public framework::SignPlugin,
                                 public framework::EnqueueExtensions {
 public:
  explicit VolumeRestrictions(framework::Handle& handle)
      : handle_(handle), id_(handle.plugin_names().IdOf("VolumeRestrictions")) {}

  absl::string_view Name() const override { return "VolumeRestrictions"; }

  bool SignPod(const PodInfo& pod, framework::PodSigner& signer) const override {
    return framework::SignVolumes(pod, signer);
  }

  framework::PreFilterResult PreFilter(framework::CycleState& state, const PodInfo& pod,
                                       framework::NodeInfos nodes) override {
    framework::PreFilterResult result;
    const api::PodSpec& spec = *pod.pod->spec;
    std::set<std::string> exclusive;
    for (const api::Volume& volume : spec.volumes) {
      if (!volume.persistent_volume_claim.has_value()) continue;
      const std::string& name = volume.persistent_volume_claim->claim_name;
      const ClaimPtr claim = FindClaim(handle_.informers(), pod.pod->metadata.namespace_, name);
      if (claim == nullptr) {
        result.status =
            Status(Code::kUnschedulableAndUnresolvable, NotFoundMessage("persistentvolumeclaim", name));
        return result;
      }
      if (IsExclusive(*claim)) exclusive.insert(name);
    }
    const int32_t conflicts = exclusive.empty() ? 0 : CountUsed(pod, exclusive, nodes);
    if (conflicts == 0 && std::none_of(spec.volumes.begin(), spec.volumes.end(), NeedsCheck)) {
      result.status = Status::Skip();
      return result;
    }
    auto restrictions = std::make_unique<RestrictionsState>();
    restrictions->exclusive_claims = std::make_shared<const std::set<std::string>>(std::move(exclusive));
    restrictions->conflicts = conflicts;
    state.Write(id_, framework::CycleState::kFilterSlot, std::move(restrictions));
    return result;
  }
  bool PreFilterFollowsFromClass() const override { return true; }

  Status AddPod(framework::CycleState& state, const PodInfo&, const PodInfo& other,
                const framework::NodeInfo&) override {
    return Count(state, other, 1);
  }
  Status RemovePod(framework::CycleState& state, const PodInfo&, const PodInfo& other,
                   const framework::NodeInfo&) override {
    return Count(state, other, -1);
  }

  Status Filter(const framework::CycleState& state, const PodInfo& pod,
                const framework::NodeInfo& node) override {
    const api::PodSpec& spec = *pod.pod->spec;
    if (std::any_of(spec.volumes.begin(), spec.volumes.end(), NeedsCheck)) {
      for (const framework::PodInfoPtr& other : node.pods) {
        if (DisksConflict(spec, *other->pod->spec)) return disk_conflict_;
      }
    }
    const auto* restrictions = state.Read<RestrictionsState>(id_, framework::CycleState::kFilterSlot);
    if (restrictions == nullptr) return no_state_;
    return restrictions->conflicts > 0 ? in_use_ : Status();
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    using framework::EventResource;
    return {{.event = {.resource = EventResource::kAssignedPod, .action = framework::kDelete},
             .hint =
                 [](const PodInfo& pod, const api::Object* old_object, const api::Object*) {
                   return AfterPodDeleted(*pod.pod, *static_cast<const api::Pod*>(old_object));
                 },
             .scope = framework::HintScope::kSpecAndLabels},
            {.event = {.resource = EventResource::kNode, .action = framework::kAdd}, .hint = nullptr},
            {.event = {.resource = EventResource::kPersistentVolumeClaim, .action = framework::kAdd},
             .hint = AfterNamedClaimChange,
             .scope = framework::HintScope::kSpecAndLabels}};
  }

 private:
  // How many of the claims some pod on a node uses. Here namespaces count, unlike later.
  static int32_t CountUsed(const PodInfo& pod, const std::set<std::string>& claims,
                           framework::NodeInfos nodes) {
    std::set<std::string> used;
    for (const framework::NodeInfo* node : nodes) {
      for (const framework::PodInfoPtr& other : node->pods) {
        if (other->namespace_ != pod.namespace_) continue;
        for (const api::Volume& volume : other->pod->spec->volumes) {
          if (!volume.persistent_volume_claim.has_value()) continue;
          const std::string& name = volume.persistent_volume_claim->claim_name;
          if (claims.count(name) > 0) used.insert(name);
        }
      }
    }
    return static_cast<int32_t>(used.size());
  }

  Status Count(framework::CycleState& state, const PodInfo& other, int32_t sign) const {
    auto* restrictions = state.Read<RestrictionsState>(id_, framework::CycleState::kFilterSlot);
    if (restrictions == nullptr) return no_state_;
    restrictions->conflicts += sign * CountClaims(*other.pod->spec, *restrictions->exclusive_claims);
    return Status();
  }

  static QueueingHint AfterPodDeleted(const api::Pod& pod, const api::Pod& deleted) {
    if (deleted.metadata.namespace_ != pod.metadata.namespace_) return QueueingHint::kSkip;
    if (DisksConflict(*pod.spec, *deleted.spec)) return QueueingHint::kQueue;
    std::set<std::string> claims;
    for (const api::Volume& volume : pod.spec->volumes) {
      if (volume.persistent_volume_claim.has_value())
        claims.insert(volume.persistent_volume_claim->claim_name);
    }
    return framework::QueueIf(CountClaims(*deleted.spec, claims) > 0);
  }

  framework::Handle& handle_;
  const framework::PluginId id_;
  const Status disk_conflict_{Code::kUnschedulable, "node(s) had no available disk"};
  const Status in_use_{
      Code::kUnschedulable,
      "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
      "in-use by another pod"};
  // PreFilter is not in the profile.
  const Status no_state_ = Status::Error("cannot read \"PreFilterVolumeRestrictions\" from cycleState");
};

}  // namespace

PluginOr NewVolumeRestrictions(const api::PluginArgs&, framework::Handle& handle) {
  return std::make_unique<VolumeRestrictions>(handle);
}

}  // namespace schedsim::plugins
