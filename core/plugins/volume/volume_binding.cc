// VolumeBinding: nodes that the volumes of a pod can be on, and those volumes bound to its claims.
// Source: kubernetes v1.37, plugins/volumebinding/volume_binding.go and scorer.go.
// Extension points: PreFilter, Filter, PreScore, Score, Reserve, PreBind.
// Arguments: VolumeBindingArgs.bindTimeoutSeconds, seconds that PreBind waits; shape, where storage
// capacity is scored (1.37).

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/api/scheduler_config.h"
#include "core/base/go_time.h"
#include "core/base/lookup_map.h"
#include "core/base/wrapping.h"
#include "core/framework/plugin.h"
#include "core/plugins/broken_linear_function.h"
#include "core/plugins/registry.h"
#include "core/plugins/volume/csi_translation.h"
#include "core/plugins/volume/volume_binder.h"

namespace schedsim::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfo;
using framework::QueueIf;
using framework::QueueingHint;
using framework::Status;

constexpr uint32_t kConflictCombinations = 16;

// The combinations of VolumeBinder's conflicts.
Status ConflictStatus(uint32_t conflicts) {
  std::vector<std::string> reasons;
  if ((conflicts & VolumeBinder::kNodeConflict) != 0) {
    reasons.emplace_back("node(s) didn't match PersistentVolume's node affinity");
  }
  if ((conflicts & VolumeBinder::kBindConflict) != 0) {
    reasons.emplace_back("node(s) didn't find available persistent volumes to bind");
  }
  if ((conflicts & VolumeBinder::kNotEnoughSpace) != 0) {
    reasons.emplace_back("node(s) did not have enough free storage");
  }
  if ((conflicts & VolumeBinder::kVolumeNotExist) != 0) {
    reasons.emplace_back("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
  }
  return Status(Code::kUnschedulableAndUnresolvable, std::move(reasons));
}

// One for the whole cycle: clones of the state share it.
struct CycleData {
  PodVolumeClaims claims;
  // What Filter found, by node name; only nodes where something is to be bound.
  LookupMap<Symbol, PodVolumes> volumes_by_node;
  bool all_bound = false;
};

struct BindingState : framework::StateData {
  std::shared_ptr<CycleData> data;

  std::unique_ptr<StateData> Clone() const override { return std::make_unique<BindingState>(*this); }
};

// Storage of one class on a node. Unit: bytes.
struct StorageResource {
  int64_t requested = 0;
  int64_t capacity = 0;
};

bool SameTopologies(const api::StorageClass& a, const api::StorageClass& b) {
  const auto same_requirement = [](const api::TopologySelectorLabelRequirement& x,
                                   const api::TopologySelectorLabelRequirement& y) {
    return x.key == y.key && x.values == y.values;
  };
  return absl::c_equal(a.allowed_topologies, b.allowed_topologies,
                       [&](const api::TopologySelectorTerm& x, const api::TopologySelectorTerm& y) {
                         return absl::c_equal(x.match_label_expressions, y.match_label_expressions,
                                              same_requirement);
                       });
}

template <typename T>
const T& As(const api::Object* object) {
  return *static_cast<const T*>(object);
}

QueueingHint AfterStorageClassChange(const PodInfo&, const api::Object* old_object,
                                     const api::Object* new_object) {
  return QueueIf(old_object == nullptr ||
                 !SameTopologies(As<api::StorageClass>(old_object), As<api::StorageClass>(new_object)));
}

QueueingHint AfterCsiNodeChange(const PodInfo&, const api::Object* old_object,
                                const api::Object* new_object) {
  if (old_object == nullptr) return QueueingHint::kQueue;
  const std::string* before = old_object->metadata.annotations.Find(kMigratedPluginsAnnotation);
  const std::string* after = new_object->metadata.annotations.Find(kMigratedPluginsAnnotation);
  return QueueIf((before == nullptr ? "" : *before) != (after == nullptr ? "" : *after));
}

// Capacity no longer counts for a driver that stops publishing it. Upstream looks at inline volumes only.
QueueingHint AfterCsiDriverChange(const PodInfo& pod, const api::Object* old_object,
                                  const api::Object* new_object) {
  const bool stopped = As<api::CSIDriver>(old_object).storage_capacity.value_or(false) &&
                       !As<api::CSIDriver>(new_object).storage_capacity.value_or(false);
  return QueueIf(stopped && absl::c_any_of(pod.pod->spec->volumes, [new_object](const api::Volume& volume) {
                   return volume.csi.has_value() && volume.csi->driver == new_object->metadata.name;
                 }));
}

QueueingHint AfterCapacityChange(const PodInfo&, const api::Object* old_object,
                                 const api::Object* new_object) {
  if (old_object == nullptr) return QueueingHint::kQueue;
  const std::optional<api::Quantity> before = VolumeLimit(As<api::CSIStorageCapacity>(old_object));
  const std::optional<api::Quantity> after = VolumeLimit(As<api::CSIStorageCapacity>(new_object));
  return QueueIf(after.has_value() && (!before.has_value() || after->Value() > before->Value()));
}

class VolumeBinding final : public framework::Plugin,
                            public framework::PreFilterPlugin,
                            public framework::FilterPlugin,
                            public framework::PreScorePlugin,
                            public framework::ScorePlugin,
                            public framework::ReservePlugin,
                            public framework::PreBindPlugin,
                            public framework::SignPlugin,
                            public framework::EnqueueExtensions {
 public:
  VolumeBinding(const api::VolumeBindingArgs& args, framework::Handle& handle)
      : handle_(handle),
        id_(handle.plugin_names().IdOf("VolumeBinding")),
        binder_(handle, GoSeconds(args.bind_timeout_seconds)),
        shape_(args.shape.value_or(std::vector<api::UtilizationShapePoint>())) {
    for (uint32_t i = 0; i < kConflictCombinations; ++i) conflicts_.push_back(ConflictStatus(i));
  }

  absl::string_view Name() const override { return "VolumeBinding"; }

  bool SignPod(const PodInfo& pod, framework::PodSigner& signer) const override {
    return framework::SignVolumes(pod, signer);
  }

  framework::PreFilterResult PreFilter(CycleState& state, const PodInfo& pod, framework::NodeInfos) override {
    framework::PreFilterResult result;
    bool has_claims = false;
    std::string problem = CheckClaims(*pod.pod, has_claims);
    if (!problem.empty()) {
      result.status = Status(Code::kUnschedulableAndUnresolvable, std::move(problem));
      return result;
    }
    auto own = std::make_unique<BindingState>();
    if (!has_claims) {
      result.status = Status::Skip();
      own->data = without_claims_;
    } else {
      own->data = std::make_shared<CycleData>();
      absl::StatusOr<PodVolumeClaims> claims = binder_.GetPodVolumeClaims(*pod.pod);
      if (!claims.ok()) {
        result.status = Status::Error(std::string(claims.status().message()));
        return result;
      }
      if (claims->has_immediate) {
        result.status = unbound_immediate_;
        return result;
      }
      own->data->claims = *std::move(claims);
    }
    state.Write(id_, CycleState::kFilterSlot, std::move(own));
    return result;
  }

  Status Filter(const CycleState& state, const PodInfo&, const NodeInfo& node) override {
    CycleData* data = DataOf(state);
    if (data == nullptr) return no_state_;
    absl::StatusOr<VolumeBinder::FoundVolumes> found = binder_.FindPodVolumes(data->claims, node);
    if (!found.ok()) return Status::Error(std::string(found.status().message()));
    if (found->conflicts != 0) return conflicts_[found->conflicts];
    if (!found->volumes.empty()) data->volumes_by_node[node.name] = std::move(found->volumes);
    return Status();
  }

  bool ScoresOnlyWithFilter() const override { return true; }

  Status PreScore(CycleState& state, const PodInfo&, framework::NodeInfos) override {
    if (!Scores()) return Status::Skip();
    return DataOf(state) == nullptr ? no_state_ : Status();
  }
  bool PreScoreFollowsFromClass() const override { return !Scores(); }

  Status Score(const CycleState& state, const PodInfo&, const NodeInfo& node, int64_t& score) override {
    score = 0;
    if (!Scores()) return Status();
    const CycleData* data = DataOf(state);
    if (data == nullptr) return no_state_;
    const PodVolumes* volumes = data->volumes_by_node.Find(node.name);
    if (volumes != nullptr) score = ScoreOf(*volumes);
    return Status();
  }

  Status Reserve(CycleState& state, const PodInfo& pod, const NodeInfo& node) override {
    CycleData* data = DataOf(state);
    if (data == nullptr) return no_state_;
    PodVolumes* volumes = data->volumes_by_node.Find(node.name);
    data->all_bound = volumes == nullptr;
    if (volumes == nullptr) return Status();
    const absl::StatusOr<bool> all_bound =
        binder_.AssumePodVolumes(*pod.pod, handle_.symbols().Text(node.name), *volumes);
    if (!all_bound.ok()) return Status::Error(std::string(all_bound.status().message()));
    data->all_bound = *all_bound;
    return Status();
  }

  void Unreserve(CycleState& state, const PodInfo&, absl::string_view node_name) override {
    const PodVolumes* volumes = VolumesOn(state, node_name);
    if (volumes != nullptr) binder_.RevertAssumedPodVolumes(*volumes);
  }

  Status PreBindPreFlight(CycleState& state, const PodInfo&, absl::string_view node_name) override {
    const CycleData* data = DataOf(state);
    if (data == nullptr) return no_state_;
    if (data->all_bound) return Status::Skip();
    return VolumesOn(state, node_name) == nullptr ? NoVolumes(node_name) : Status();
  }

  void PreBind(CycleState& state, const PodInfo& pod, absl::string_view node_name,
               framework::StatusCallback done) override {
    const CycleData* data = DataOf(state);
    PodVolumes* volumes = VolumesOn(state, node_name);
    if (data == nullptr) {
      done(no_state_);
    } else if (data->all_bound) {
      done(Status());
    } else if (volumes == nullptr) {
      done(NoVolumes(node_name));
    } else {
      binder_.BindPodVolumes(*pod.pod, node_name, *volumes, state.in_pre_bind, std::move(done));
    }
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    using framework::EventResource;
    const framework::ActionType add_or_update = framework::kAdd | framework::kUpdate;
    constexpr framework::HintScope by_spec = framework::HintScope::kSpecAndLabels;
    return {
        {.event = {.resource = EventResource::kStorageClass, .action = add_or_update},
         .hint = AfterStorageClassChange,
         .scope = by_spec},
        {.event = {.resource = EventResource::kPersistentVolumeClaim, .action = add_or_update},
         .hint = AfterUsedClaimChange},
        {.event = {.resource = EventResource::kPersistentVolume, .action = add_or_update}, .hint = nullptr},
        {.event = {.resource = EventResource::kNode, .action = framework::kAdd | framework::kUpdateNodeLabel},
         .hint = nullptr},
        {.event = {.resource = EventResource::kCSINode, .action = add_or_update},
         .hint = AfterCsiNodeChange,
         .scope = by_spec},
        {.event = {.resource = EventResource::kCSIDriver, .action = framework::kUpdate},
         .hint = AfterCsiDriverChange,
         .scope = by_spec},
        {.event = {.resource = EventResource::kCSIStorageCapacity, .action = add_or_update},
         .hint = AfterCapacityChange,
         .scope = by_spec}};
  }

 private:
  bool Scores() const { return handle_.line().storage_capacity_scoring; }

  // nullptr where PreFilter was not called.
  CycleData* DataOf(const CycleState& state) const {
    const auto* own = state.Read<BindingState>(id_, CycleState::kFilterSlot);
    return own == nullptr ? nullptr : own->data.get();
  }

  // What was found on the node, or nullptr.
  PodVolumes* VolumesOn(const CycleState& state, absl::string_view node_name) const {
    CycleData* data = DataOf(state);
    return data == nullptr ? nullptr : data->volumes_by_node.Find(handle_.symbols().Find(node_name));
  }

  static Status NoVolumes(absl::string_view node_name) {
    return Status::Error(absl::StrCat("no pod volume found for node \"", node_name, "\""));
  }

  // What is wrong with the pod's claims; "": nothing.
  std::string CheckClaims(const api::Pod& pod, bool& has_claims) const {
    for (const api::Volume& volume : pod.spec->volumes) {
      const std::optional<ClaimReference> reference = ClaimOf(pod, volume);
      if (!reference.has_value()) continue;
      has_claims = true;
      const std::string& name = reference->name;
      const ClaimPtr claim = FindClaim(handle_.informers(), pod.metadata.namespace_, name);
      if (claim == nullptr) {
        if (!reference->is_ephemeral) return NotFoundMessage("persistentvolumeclaim", name);
        return absl::StrCat("waiting for ephemeral volume controller to create the persistentvolumeclaim \"",
                            name, "\"");
      }
      if (claim->phase == "Lost") {
        return absl::StrCat("persistentvolumeclaim \"", name, "\" bound to non-existent persistentvolume \"",
                            claim->spec.volume_name, "\"");
      }
      if (claim->metadata.deletion_timestamp.has_value()) {
        return absl::StrCat("persistentvolumeclaim \"", name, "\" is being deleted");
      }
      if (reference->is_ephemeral && !IsOwner(pod, *claim)) return NotOwnerMessage(pod, *claim);
    }
    return "";
  }

  // The mean over storage classes. Claims of one class that are to get new volumes share its pool; of
  // several pools, the last one counts.
  int64_t ScoreOf(const PodVolumes& volumes) const {
    std::map<std::string, StorageResource> classes;
    for (const BindingInfo& binding : volumes.static_bindings) {
      StorageResource& resource = classes[binding.volume->spec.storage_class_name];
      resource.requested = WrappingAdd(resource.requested, RequestOf(*binding.claim).Value());
      resource.capacity = WrappingAdd(resource.capacity, CapacityOf(*binding.volume).Value());
    }
    if (volumes.static_bindings.empty()) {
      for (const DynamicProvision& provision : volumes.dynamic_provisions) {
        if (provision.capacity == nullptr) continue;
        StorageResource& resource = classes[ClassOf(*provision.claim)];
        resource.requested = WrappingAdd(resource.requested, RequestOf(*provision.claim).Value());
        resource.capacity = provision.capacity->capacity.value_or(api::Quantity()).Value();
      }
    }
    if (classes.empty()) return 0;
    int64_t sum = 0;
    for (const auto& [name, resource] : classes) {
      sum += shape_.ScoreOf(resource.requested, resource.capacity);
    }
    return static_cast<int64_t>(std::round(static_cast<double>(sum) / static_cast<double>(classes.size())));
  }

  framework::Handle& handle_;
  const framework::PluginId id_;
  VolumeBinder binder_;
  const BrokenLinearFunction shape_;
  // Of all pods without claims: nothing is found for them, and once one of them is reserved nothing is left
  // to bind for any.
  const std::shared_ptr<CycleData> without_claims_ = std::make_shared<CycleData>();
  // Shape: one per combination of VolumeBinder's conflicts.
  std::vector<Status> conflicts_;
  const Status unbound_immediate_{Code::kUnschedulableAndUnresolvable,
                                  "pod has unbound immediate PersistentVolumeClaims"};
  const Status no_state_ = Status::Error("not found");
};

}  // namespace

PluginOr NewVolumeBinding(const api::PluginArgs& args, framework::Handle& handle) {
  return std::make_unique<VolumeBinding>(ArgsOf<api::VolumeBindingArgs>(args), handle);
}

}  // namespace schedsim::plugins
