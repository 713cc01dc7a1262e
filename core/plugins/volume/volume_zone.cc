// VolumeZone: bound volumes with zone or region labels hold their pod in those zones.
// Source: kubernetes v1.37, plugins/volumezone/volume_zone.go.
// Extension points: PreFilter, Filter. Arguments: none.

#include "core/plugins/volume/volume_zone.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/framework/plugin.h"
#include "core/plugins/registry.h"
#include "core/plugins/volume/volume_claims.h"

namespace schedsim::plugins {

std::vector<Topology> TopologiesOf(const api::PersistentVolume& volume) {
  std::vector<Topology> topologies;
  for (size_t i = 0; i < kTopologyLabels.size(); ++i) {
    const std::string* label = volume.metadata.labels.Find(kTopologyLabels[i].key);
    if (label == nullptr) continue;
    Topology topology = {i, {}};
    bool valid = true;
    for (absl::string_view value : absl::StrSplit(*label, "__")) {
      value = absl::StripAsciiWhitespace(value);
      valid = valid && !value.empty();
      topology.second.insert(std::string(value));
    }
    if (valid) topologies.push_back(std::move(topology));
  }
  return topologies;
}

namespace {

using framework::Code;
using framework::PodInfo;
using framework::QueueingHint;
using framework::Status;

Status Rejection(std::string reason) {
  return Status(Code::kUnschedulableAndUnresolvable, std::move(reason));
}

// A Topology with symbols.
struct CompiledTopology {
  size_t label = 0;
  std::vector<Symbol> values;
};

struct ZoneState : framework::StateData {
  std::vector<CompiledTopology> topologies;

  std::unique_ptr<StateData> Clone() const override { return std::make_unique<ZoneState>(*this); }
};

class VolumeZone final : public framework::Plugin,
                         public framework::PreFilterPlugin,
                         public framework::FilterPlugin,
                         public framework::SignPlugin,
                         public framework::EnqueueExtensions {
 public:
  explicit VolumeZone(framework::Handle& handle)
      : handle_(handle), id_(handle.plugin_names().IdOf("VolumeZone")) {
    for (size_t i = 0; i < kTopologyLabels.size(); ++i) {
      keys_[i] = handle.symbols().Intern(kTopologyLabels[i].key);
      fallbacks_[i] = handle.symbols().Intern(kTopologyLabels[i].fallback);
    }
  }

  absl::string_view Name() const override { return "VolumeZone"; }

  bool SignPod(const PodInfo& pod, framework::PodSigner& signer) const override {
    return framework::SignVolumes(pod, signer);
  }

  framework::PreFilterResult PreFilter(framework::CycleState& state, const PodInfo& pod,
                                       framework::NodeInfos) override {
    framework::PreFilterResult result;
    auto zones = std::make_unique<ZoneState>();
    result.status = Collect(*pod.pod, zones->topologies);
    if (!result.status.IsSuccess()) return result;
    if (zones->topologies.empty()) {
      result.status = Status::Skip();
    } else {
      state.Write(id_, framework::CycleState::kFilterSlot, std::move(zones));
    }
    return result;
  }
  bool PreFilterFollowsFromClass() const override { return true; }

  Status Filter(const framework::CycleState& state, const PodInfo& pod,
                const framework::NodeInfo& node) override {
    const auto* zones = state.Read<ZoneState>(id_, framework::CycleState::kFilterSlot);
    // Without PreFilter in the profile, each node asks for itself.
    std::vector<CompiledTopology> own;
    if (zones == nullptr) {
      Status status = Collect(*pod.pod, own);
      if (!status.IsSuccess()) return status;
    }
    const bool constrained = std::any_of(keys_.begin(), keys_.end(),
                                         [&node](Symbol key) { return node.labels.Find(key) != nullptr; });
    // A cluster of one zone may do without labels.
    if (!constrained) return Status();
    for (const CompiledTopology& topology : zones == nullptr ? own : zones->topologies) {
      const Symbol* value = node.labels.Find(keys_[topology.label]);
      if (value == nullptr) value = node.labels.Find(fallbacks_[topology.label]);
      if (value == nullptr ||
          std::find(topology.values.begin(), topology.values.end(), *value) == topology.values.end()) {
        return conflict_;
      }
    }
    return Status();
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    using framework::EventResource;
    const framework::ActionType add_or_update = framework::kAdd | framework::kUpdate;
    return {
        {.event = {.resource = EventResource::kStorageClass, .action = framework::kAdd},
         .hint =
             [](const PodInfo&, const api::Object*, const api::Object* added) {
               const auto& mode = static_cast<const api::StorageClass*>(added)->volume_binding_mode;
               return framework::QueueIf(mode == kWaitForFirstConsumer);
             },
         .scope = framework::HintScope::kSpecAndLabels},
        {.event = {.resource = EventResource::kNode, .action = framework::kAdd | framework::kUpdateNodeLabel},
         .hint = nullptr},
        {.event = {.resource = EventResource::kPersistentVolumeClaim, .action = add_or_update},
         .hint = AfterNamedClaimChange,
         .scope = framework::HintScope::kSpecAndLabels},
        {.event = {.resource = EventResource::kPersistentVolume, .action = add_or_update},
         .hint =
             [](const PodInfo&, const api::Object* old_object, const api::Object* new_object) {
               if (old_object == nullptr) return QueueingHint::kQueue;
               return framework::QueueIf(
                   TopologiesOf(*static_cast<const api::PersistentVolume*>(old_object)) !=
                   TopologiesOf(*static_cast<const api::PersistentVolume*>(new_object)));
             },
         .scope = framework::HintScope::kSpecAndLabels}};
  }

 private:
  // Appends what the pod's bound volumes ask for. A rejection where that cannot be known.
  Status Collect(const api::Pod& pod, std::vector<CompiledTopology>& topologies) {
    const framework::InformerCache& informers = handle_.informers();
    for (const api::Volume& volume : pod.spec->volumes) {
      if (!volume.persistent_volume_claim.has_value()) continue;
      const std::string& name = volume.persistent_volume_claim->claim_name;
      if (name.empty()) return Rejection("PersistentVolumeClaim had no name");
      const ClaimPtr claim = FindClaim(informers, pod.metadata.namespace_, name);
      if (claim == nullptr) return Rejection(NotFoundMessage("persistentvolumeclaim", name));
      if (claim->spec.volume_name.empty()) {
        Status status = CheckUnbound(*claim);
        if (!status.IsSuccess()) return status;
        continue;
      }
      const VolumePtr bound = FindVolume(informers, claim->spec.volume_name);
      if (bound == nullptr) return Rejection(NotFoundMessage("persistentvolume", claim->spec.volume_name));
      for (const Topology& topology : TopologiesOf(*bound)) {
        CompiledTopology compiled = {.label = topology.first, .values = {}};
        for (const std::string& value : topology.second)
          compiled.values.push_back(handle_.symbols().Intern(value));
        topologies.push_back(std::move(compiled));
      }
    }
    return Status();
  }

  // Only claims that wait for their first consumer may be unbound.
  Status CheckUnbound(const api::PersistentVolumeClaim& claim) const {
    const std::string& name = ClassOf(claim);
    if (name.empty()) return Rejection("PersistentVolumeClaim had no pv name and storageClass name");
    const auto storage_class = FindClass(handle_.informers(), name);
    if (storage_class == nullptr) return Rejection(NotFoundMessage("storageclass.storage.k8s.io", name));
    if (!storage_class->volume_binding_mode.has_value()) {
      return Rejection(absl::StrCat("VolumeBindingMode not set for StorageClass \"", name, "\""));
    }
    if (*storage_class->volume_binding_mode == kWaitForFirstConsumer) return Status();
    return Rejection("PersistentVolume had no name");
  }

  framework::Handle& handle_;
  const framework::PluginId id_;
  // Shape: one per entry of kTopologyLabels.
  std::array<Symbol, kTopologyLabels.size()> keys_;
  std::array<Symbol, kTopologyLabels.size()> fallbacks_;
  const Status conflict_{Code::kUnschedulableAndUnresolvable, "node(s) had no available volume zone"};
};

}  // namespace

PluginOr NewVolumeZone(const api::PluginArgs&, framework::Handle& handle) {
  return std::make_unique<VolumeZone>(handle);
}

}  // namespace schedsim::plugins
