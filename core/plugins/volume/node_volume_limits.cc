// NodeVolumeLimits: a node takes only so many volumes of each CSI driver.
// Source: kubernetes v1.37, plugins/nodevolumelimits/csi.go.
// Extension points: PreFilter, Filter. Arguments: none.

#include "core/plugins/volume/node_volume_limits.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/lookup_map.h"
#include "core/framework/plugin.h"
#include "core/plugins/registry.h"
#include "core/plugins/volume/csi_translation.h"
#include "core/plugins/volume/volume_claims.h"

namespace schedsim::plugins {
namespace {

using framework::Code;
using framework::PodInfo;
using framework::QueueingHint;
using framework::Status;

// Drivers by `driver/handle`: each volume once.
using Volumes = std::map<std::string, std::string>;

void AddVolume(const std::string& driver, absl::string_view handle, Volumes& volumes) {
  volumes.emplace(absl::StrCat(driver, "/", handle), driver);
}

// Whether a volume of this kind may count. Which do is known only with a node.
bool MayCount(const api::Volume& volume) {
  return volume.persistent_volume_claim.has_value() || volume.ephemeral.has_value() ||
         !InTreePluginOf(volume).empty();
}

bool MayCount(const api::Pod& pod) {
  return std::any_of(pod.spec->volumes.begin(), pod.spec->volumes.end(),
                     [](const api::Volume& volume) { return MayCount(volume); });
}

// The limits of a node by driver; a driver without a count has none.
std::map<std::string, int64_t> LimitsOf(const api::CSINode& node) {
  std::map<std::string, int64_t> limits;
  for (const api::CSINodeDriver& driver : node.drivers) {
    if (driver.allocatable_count.has_value()) limits[driver.name] = *driver.allocatable_count;
  }
  return limits;
}

struct LimitsState : framework::StateData {
  // Attached volumes by node name, from the VolumeAttachments; made when first needed.
  bool has_attachments = false;
  LookupMap<std::string, Volumes> attachments;

  std::unique_ptr<StateData> Clone() const override { return std::make_unique<LimitsState>(*this); }
};

class NodeVolumeLimits final : public framework::Plugin,
                               public framework::PreFilterPlugin,
                               public framework::FilterPlugin,
                               public framework::SignPlugin,
                               public framework::EnqueueExtensions {
 public:
  explicit NodeVolumeLimits(framework::Handle& handle)
      : handle_(handle), id_(handle.plugin_names().IdOf("NodeVolumeLimits")) {}

  absl::string_view Name() const override { return "NodeVolumeLimits"; }

  bool SignPod(const PodInfo& pod, framework::PodSigner& signer) const override {
    return framework::SignVolumes(pod, signer);
  }

  framework::PreFilterResult PreFilter(framework::CycleState& state, const PodInfo& pod,
                                       framework::NodeInfos) override {
    framework::PreFilterResult result;
    if (!MayCount(*pod.pod)) {
      result.status = Status::Skip();
    } else {
      state.Write(id_, framework::CycleState::kFilterSlot, std::make_unique<LimitsState>());
    }
    return result;
  }
  bool PreFilterFollowsFromClass() const override { return true; }

  Status Filter(const framework::CycleState& state, const PodInfo& pod,
                const framework::NodeInfo& node) override {
    const absl::string_view node_name = handle_.symbols().Text(node.name);
    const std::shared_ptr<const api::CSINode> csi_node = FindCsiNode(handle_.informers(), node_name);
    Volumes wanted;
    Status status = Collect(*pod.pod, csi_node.get(), /*must_exist=*/true, wanted);
    if (!status.IsSuccess() || wanted.empty()) return status;
    if (handle_.line().volume_limit_scaling) {
      for (const auto& [name, driver] : wanted) {
        if (IsInstalled(driver, csi_node.get())) continue;
        return Status(Code::kUnschedulable, absl::StrCat(driver, " CSI driver is not installed on the node"));
      }
    }
    if (csi_node == nullptr) return Status();
    const std::map<std::string, int64_t> limits = LimitsOf(*csi_node);
    if (limits.empty()) return Status();
    Volumes used;
    for (const framework::PodInfoPtr& other : node.pods) {
      status = Collect(*other->pod, csi_node.get(), /*must_exist=*/false, used);
      if (!status.IsSuccess()) return Status::Error(status.Message());
    }
    return Compare(limits, std::move(wanted), used, Attached(state, std::string(node_name)));
  }

  // See VolumeUsesOf.
  std::vector<VolumeUse> UsesOf(const PodInfo& pod, const framework::NodeInfo& node) const {
    const std::string node_name(handle_.symbols().Text(node.name));
    const std::shared_ptr<const api::CSINode> csi_node = FindCsiNode(handle_.informers(), node_name);
    Volumes wanted;
    Volumes used;
    static_cast<void>(Collect(*pod.pod, csi_node.get(), /*must_exist=*/false, wanted));
    for (const framework::PodInfoPtr& other : node.pods) {
      static_cast<void>(Collect(*other->pod, csi_node.get(), /*must_exist=*/false, used));
    }
    std::set<std::string> drivers;
    for (const auto& [name, driver] : wanted) drivers.insert(driver);
    std::map<std::string, int64_t> counts;
    const std::map<std::string, int64_t> more =
        Count(std::move(wanted), used, Attached(framework::CycleState(), node_name), counts);
    const std::map<std::string, int64_t> limits =
        csi_node == nullptr ? std::map<std::string, int64_t>() : LimitsOf(*csi_node);
    std::vector<VolumeUse> uses;
    for (const std::string& driver : drivers) {
      const auto wants = more.find(driver);
      const auto limit = limits.find(driver);
      uses.push_back(
          {.driver = driver,
           .wanted = wants == more.end() ? 0 : wants->second,
           .used = counts[driver],
           .limit = limit == limits.end() ? std::nullopt : std::optional(limit->second),
           .is_missing = handle_.line().volume_limit_scaling && !IsInstalled(driver, csi_node.get())});
    }
    return uses;
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    using framework::EventResource;
    return {{.event = {.resource = EventResource::kCSINode, .action = framework::kAdd}, .hint = nullptr},
            {.event = {.resource = EventResource::kCSINode, .action = framework::kUpdate},
             .hint =
                 [](const PodInfo&, const api::Object* old_object, const api::Object* new_object) {
                   return AfterCsiNodeUpdated(*static_cast<const api::CSINode*>(old_object),
                                              *static_cast<const api::CSINode*>(new_object));
                 },
             .scope = framework::HintScope::kSpecAndLabels},
            {.event = {.resource = EventResource::kAssignedPod, .action = framework::kDelete},
             .hint =
                 [](const PodInfo&, const api::Object* old_object, const api::Object*) {
                   const auto& deleted = *static_cast<const api::Pod*>(old_object);
                   // A pod that has no node, and is to get none, held nothing.
                   const bool held =
                       !deleted.node_name.empty() || !deleted.status.nominated_node_name.empty();
                   return framework::QueueIf(held && MayCount(deleted));
                 },
             .scope = framework::HintScope::kSpecAndLabels},
            {.event = {.resource = EventResource::kPersistentVolumeClaim, .action = framework::kAdd},
             .hint = AfterUsedClaimChange},
            {.event = {.resource = EventResource::kVolumeAttachment, .action = framework::kDelete},
             .hint =
                 [](const PodInfo& pod, const api::Object* old_object, const api::Object*) {
                   return AfterDetached(*pod.pod, *static_cast<const api::VolumeAttachment*>(old_object));
                 },
             .scope = framework::HintScope::kSpecAndLabels}};
  }

 private:
  // Whether the volumes of an in-tree plugin count for its driver on this node.
  bool IsMigrated(absl::string_view plugin, const api::CSINode* csi_node) const {
    if (csi_node == nullptr || !MigratesToCsi(plugin)) return false;
    if (plugin != kPortworxPlugin || !handle_.line().portworx_migration_needs_annotation) return true;
    return AnnotatedAsMigrated(plugin, csi_node);
  }

  // Adds the volumes of a pod that count on a node. Claims that do not exist are left out unless they
  // must: then the pod is rejected.
  Status Collect(const api::Pod& pod, const api::CSINode* csi_node, bool must_exist, Volumes& volumes) const {
    for (const api::Volume& volume : pod.spec->volumes) {
      const std::optional<ClaimReference> reference = ClaimOf(pod, volume);
      if (!reference.has_value()) {
        const absl::Status status = CollectInline(volume, csi_node, volumes);
        if (!status.ok()) return Status::Error(std::string(status.message()));
        continue;
      }
      if (reference->name.empty()) return Status::Error("PersistentVolumeClaim had no name");
      const std::string& name_space = pod.metadata.namespace_;
      const ClaimPtr claim = FindClaim(handle_.informers(), name_space, reference->name);
      if (claim == nullptr) {
        if (!must_exist) continue;
        return Status(Code::kUnschedulableAndUnresolvable,
                      absl::StrCat("looking up PVC ", name_space, "/", reference->name, ": ",
                                   NotFoundMessage("persistentvolumeclaim", reference->name)));
      }
      if (reference->is_ephemeral && !IsOwner(pod, *claim))
        return Status::Error(NotOwnerMessage(pod, *claim));
      CollectClaim(*claim, csi_node, volumes);
    }
    return Status();
  }

  absl::Status CollectInline(const api::Volume& volume, const api::CSINode* csi_node,
                             Volumes& volumes) const {
    const absl::string_view plugin = InTreePluginOf(volume);
    if (plugin.empty() || !IsMigrated(plugin, csi_node)) return absl::OkStatus();
    const absl::StatusOr<api::CSIPersistentVolumeSource> source = TranslateInlineToCsi(volume);
    if (!source.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("converting volume(", volume.name,
                                                     ") from inline to csi: ", source.status().message()));
    }
    AddVolume(source->driver, source->volume_handle, volumes);
    return absl::OkStatus();
  }

  void CollectClaim(const api::PersistentVolumeClaim& claim, const api::CSINode* csi_node,
                    Volumes& volumes) const {
    const std::string& name = claim.spec.volume_name;
    const VolumePtr volume = name.empty() ? nullptr : FindVolume(handle_.informers(), name);
    if (volume == nullptr) {
      CollectUnbound(claim, csi_node, volumes);
      return;
    }
    if (volume->spec.csi.has_value()) {
      const api::CSIPersistentVolumeSource& source = *volume->spec.csi;
      if (!source.driver.empty() && !source.volume_handle.empty()) {
        AddVolume(source.driver, source.volume_handle, volumes);
      }
      return;
    }
    const absl::string_view plugin = InTreePluginOf(volume->spec);
    if (plugin.empty() || !IsMigrated(plugin, csi_node)) return;
    const auto translated = TranslateToCsi(*volume);
    if (!translated.ok() || (*translated)->spec.csi->volume_handle.empty()) return;
    AddVolume((*translated)->spec.csi->driver, (*translated)->spec.csi->volume_handle, volumes);
  }

  // A claim without a volume counts as one volume to come, of its class's driver.
  void CollectUnbound(const api::PersistentVolumeClaim& claim, const api::CSINode* csi_node,
                      Volumes& volumes) const {
    const std::string& class_name = ClassOf(claim);
    if (class_name.empty()) return;
    const auto storage_class = FindClass(handle_.informers(), class_name);
    if (storage_class == nullptr) return;
    std::string driver = storage_class->provisioner;
    const absl::string_view migrated = CsiDriverOfInTreePlugin(driver);
    if (!migrated.empty()) {
      if (!IsMigrated(driver, csi_node)) return;
      driver = std::string(migrated);
    }
    // No real handle begins like this.
    if (!driver.empty()) AddVolume(driver, absl::StrCat("\n", claim.Key()), volumes);
  }

  bool IsInstalled(const std::string& driver, const api::CSINode* csi_node) const {
    const auto csi_driver = FindCsiDriver(handle_.informers(), driver);
    // Only drivers that ask for it keep pods away.
    if (csi_driver == nullptr || !csi_driver->prevent_pod_scheduling_if_missing.value_or(false)) return true;
    if (csi_node == nullptr) return false;
    return std::any_of(csi_node->drivers.begin(), csi_node->drivers.end(),
                       [&driver](const api::CSINodeDriver& installed) { return installed.name == driver; });
  }

  Volumes Attached(const framework::CycleState& state, const std::string& node_name) const {
    if (handle_.informers().List(api::Kind::kVolumeAttachment).empty()) return {};
    auto* cycle = state.Read<LimitsState>(id_, framework::CycleState::kFilterSlot);
    LimitsState own;
    LimitsState& limits = cycle == nullptr ? own : *cycle;
    if (!limits.has_attachments) {
      limits.has_attachments = true;
      for (const auto& [key, object] : handle_.informers().List(api::Kind::kVolumeAttachment)) {
        const auto& attachment = static_cast<const api::VolumeAttachment&>(*object);
        if (attachment.attacher.empty() || attachment.persistent_volume_name.empty()) continue;
        const VolumePtr volume = FindVolume(handle_.informers(), attachment.persistent_volume_name);
        if (volume == nullptr || !volume->spec.csi.has_value()) continue;
        AddVolume(attachment.attacher, volume->spec.csi->volume_handle,
                  limits.attachments[attachment.node_name]);
      }
    }
    const Volumes* volumes = limits.attachments.Find(node_name);
    return volumes == nullptr ? Volumes() : *volumes;
  }

  // Fills `counts` with the volumes that are on the node, by driver, and returns those to come. A volume that
  // is attached for no pod known here counts as attached even if it is one of `wanted`.
  static std::map<std::string, int64_t> Count(Volumes wanted, const Volumes& used, const Volumes& attached,
                                              std::map<std::string, int64_t>& counts) {
    for (const auto& [name, driver] : used) {
      wanted.erase(name);
      ++counts[driver];
    }
    for (const auto& [name, driver] : attached) {
      if (used.find(name) == used.end()) ++counts[driver];
    }
    std::map<std::string, int64_t> more;
    for (const auto& [name, driver] : wanted) ++more[driver];
    return more;
  }

  Status Compare(const std::map<std::string, int64_t>& limits, Volumes wanted, const Volumes& used,
                 const Volumes& attached) const {
    std::map<std::string, int64_t> counts;
    for (const auto& [driver, count] : Count(std::move(wanted), used, attached, counts)) {
      auto limit = limits.find(driver);
      if (limit != limits.end() && counts[driver] + count > limit->second) return exceeded_;
    }
    return Status();
  }

  static QueueingHint AfterCsiNodeUpdated(const api::CSINode& old_node, const api::CSINode& new_node) {
    std::map<std::string, int64_t> old_limits = LimitsOf(old_node);
    for (const auto& [driver, limit] : LimitsOf(new_node)) {
      if (limit > old_limits[driver]) return QueueingHint::kQueue;
    }
    return QueueingHint::kSkip;
  }

  static QueueingHint AfterDetached(const api::Pod& pod, const api::VolumeAttachment& attachment) {
    for (const api::Volume& volume : pod.spec->volumes) {
      if (volume.persistent_volume_claim.has_value()) return QueueingHint::kQueue;
      const absl::string_view plugin = InTreePluginOf(volume);
      if (plugin.empty()) continue;
      // What cannot be translated counts, to be safe.
      const absl::StatusOr<api::CSIPersistentVolumeSource> source = TranslateInlineToCsi(volume);
      if (!source.ok() || source->driver == attachment.attacher) return QueueingHint::kQueue;
    }
    return QueueingHint::kSkip;
  }

  framework::Handle& handle_;
  const framework::PluginId id_;
  const Status exceeded_{Code::kUnschedulable, "node(s) exceed max volume count"};
};

}  // namespace

std::vector<VolumeUse> VolumeUsesOf(framework::Handle& handle, const PodInfo& pod,
                                    const framework::NodeInfo& node) {
  return NodeVolumeLimits(handle).UsesOf(pod, node);
}

PluginOr NewNodeVolumeLimits(const api::PluginArgs&, framework::Handle& handle) {
  return std::make_unique<NodeVolumeLimits>(handle);
}

}  // namespace schedsim::plugins
