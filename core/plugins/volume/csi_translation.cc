#include "core/plugins/volume/csi_translation.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"

namespace schedsim::plugins {
namespace {

constexpr absl::string_view kEbs = "kubernetes.io/aws-ebs";
constexpr absl::string_view kGcePd = "kubernetes.io/gce-pd";
constexpr absl::string_view kAzureDisk = "kubernetes.io/azure-disk";
constexpr absl::string_view kCinder = "kubernetes.io/cinder";
constexpr absl::string_view kAzureFile = "kubernetes.io/azure-file";
constexpr absl::string_view kVsphere = "kubernetes.io/vsphere-volume";

struct Migration {
  absl::string_view plugin;
  absl::string_view driver;
  // The driver's label for zones; "": it has none that stands for the in-tree zone labels.
  absl::string_view topology_key;
};

constexpr Migration kMigrations[] = {
    {kEbs, "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone"},
    {kGcePd, "pd.csi.storage.gke.io", "topology.gke.io/zone"},
    {kAzureDisk, "disk.csi.azure.com", ""},
    {kCinder, "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone"},
    {kPortworxPlugin, "pxd.portworx.com", ""},
    {kAzureFile, "file.csi.azure.com", ""},
    {kVsphere, "csi.vsphere.vmware.com", ""},
};

constexpr absl::string_view kZone = "topology.kubernetes.io/zone";
constexpr absl::string_view kRegion = "topology.kubernetes.io/region";
constexpr absl::string_view kBetaZone = "failure-domain.beta.kubernetes.io/zone";
constexpr absl::string_view kBetaRegion = "failure-domain.beta.kubernetes.io/region";
// Between the zones in a label of a volume.
constexpr absl::string_view kZoneDelimiter = "__";
constexpr absl::string_view kUnspecified = "UNSPECIFIED";

const Migration* FindMigration(absl::string_view plugin) {
  for (const Migration& migration : kMigrations) {
    if (migration.plugin == plugin) return &migration;
  }
  return nullptr;
}

// `aws://zone/vol-1`, `aws:///vol-1` or a plain id to the id.
absl::StatusOr<std::string> EbsVolumeId(const std::string& id) {
  if (!absl::StartsWith(id, "aws://")) return id;
  const std::string rest = id.substr(6);
  const size_t slash = rest.find('/');
  std::string path = slash == std::string::npos ? "" : rest.substr(slash);
  path = path.substr(0, path.find_first_of("?#"));
  const size_t first = path.find_first_not_of('/');
  path = first == std::string::npos ? "" : path.substr(first, path.find_last_not_of('/') - first + 1);
  if (!absl::StartsWith(path, "vol-") || absl::StrContains(path, "/")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (", id, ")"));
  }
  return path;
}

// The one region of zones like `us-east1-b`.
absl::StatusOr<std::string> GceRegion(const std::vector<std::string>& zones) {
  std::set<std::string> regions;
  for (const std::string& zone : zones) {
    const std::vector<std::string> parts = absl::StrSplit(zone, '-');
    if (parts.size() != 3) {
      return absl::InvalidArgumentError(
          absl::StrCat("failed to get region from zones: zone in unexpected format, expected: "
                       "{locale}-{region}-{zone}, got: ",
                       zone));
    }
    regions.insert(absl::StrCat(parts[0], "-", parts[1]));
  }
  if (regions.size() == 1) return *regions.begin();
  std::string list;
  for (const std::string& region : regions) absl::StrAppend(&list, list.empty() ? "" : " ", region, ":{}");
  return absl::InvalidArgumentError(absl::StrCat(
      "failed to get region from zones: multiple or no regions gotten from zones, got: map[", list, "]"));
}

absl::StatusOr<std::string> GceVolumeHandle(const api::PersistentVolume& volume) {
  const std::string& name = volume.spec.gce_persistent_disk->id;
  const std::string* label = volume.metadata.labels.Find(kBetaZone);
  if (label == nullptr || label->empty()) label = volume.metadata.labels.Find(kZone);
  const std::vector<std::string> zones = absl::StrSplit(label == nullptr ? "" : *label, kZoneDelimiter);
  if (zones.size() > 1) {
    ASSIGN_OR_RETURN(const std::string region, GceRegion(zones));
    return absl::StrCat("projects/", kUnspecified, "/regions/", region, "/disks/", name);
  }
  return absl::StrCat("projects/", kUnspecified, "/zones/", zones[0].empty() ? kUnspecified : zones[0],
                      "/disks/", name);
}

absl::Status CheckAzureKind(const std::optional<std::string>& kind) {
  if (!kind.has_value() || absl::EqualsIgnoreCase(*kind, "Managed")) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("kind(", *kind, ") is not supported in csi migration"));
}

absl::StatusOr<std::string> VolumeHandle(const api::PersistentVolume& volume) {
  const api::PersistentVolumeSpec& spec = volume.spec;
  if (spec.aws_elastic_block_store.has_value()) return EbsVolumeId(spec.aws_elastic_block_store->id);
  if (spec.gce_persistent_disk.has_value()) return GceVolumeHandle(volume);
  if (spec.cinder.has_value()) return spec.cinder->id;
  if (spec.portworx_volume.has_value()) return spec.portworx_volume->id;
  RETURN_IF_ERROR(CheckAzureKind(spec.azure_disk->kind));
  return spec.azure_disk->data_disk_uri;
}

bool HasKey(const api::PersistentVolumeSpec& spec, absl::string_view key) {
  if (!spec.node_affinity.has_value()) return false;
  return absl::c_any_of(spec.node_affinity->node_selector_terms, [key](const api::NodeSelectorTerm& term) {
    return absl::c_any_of(term.match_expressions,
                          [key](const api::NodeSelectorRequirement& entry) { return entry.key == key; });
  });
}

bool HasValues(const api::PersistentVolumeSpec& spec, absl::string_view key) {
  if (!spec.node_affinity.has_value()) return false;
  return absl::c_any_of(spec.node_affinity->node_selector_terms, [key](const api::NodeSelectorTerm& term) {
    return absl::c_any_of(term.match_expressions, [key](const api::NodeSelectorRequirement& entry) {
      return entry.key == key && !entry.values.empty();
    });
  });
}

void ReplaceKey(api::PersistentVolumeSpec& spec, absl::string_view old_key, absl::string_view new_key) {
  for (api::NodeSelectorTerm& term : spec.node_affinity->node_selector_terms) {
    for (api::NodeSelectorRequirement& entry : term.match_expressions) {
      if (entry.key == old_key) entry.key = std::string(new_key);
    }
  }
}

// Asks in each term for one of the zones of a label.
void AddTopology(api::PersistentVolumeSpec& spec, absl::string_view key, const std::string& label) {
  std::set<std::string> zones;
  for (absl::string_view zone : absl::StrSplit(label, kZoneDelimiter)) {
    zone = absl::StripAsciiWhitespace(zone);
    if (!zone.empty()) zones.insert(std::string(zone));
  }
  if (zones.empty()) return;
  if (!spec.node_affinity.has_value()) spec.node_affinity.emplace();
  std::vector<api::NodeSelectorTerm>& terms = spec.node_affinity->node_selector_terms;
  if (terms.empty()) terms.emplace_back();
  for (api::NodeSelectorTerm& term : terms) {
    api::NodeSelectorRequirement entry;
    entry.key = std::string(key);
    entry.operator_ = "In";
    entry.values.assign(zones.begin(), zones.end());
    term.match_expressions.push_back(std::move(entry));
  }
}

// The in-tree zone label, from the node affinity or else from the volume's own labels, becomes the
// driver's.
void TranslateTopology(api::PersistentVolume& volume, absl::string_view key) {
  api::PersistentVolumeSpec& spec = volume.spec;
  const api::StringMap& labels = volume.metadata.labels;
  const bool beta =
      !HasKey(spec, kZone) &&
      (HasKey(spec, kBetaZone) || (labels.Find(kZone) == nullptr && labels.Find(kBetaZone) != nullptr));
  const absl::string_view zone_label = beta ? kBetaZone : kZone;
  if (HasValues(spec, zone_label)) {
    ReplaceKey(spec, zone_label, key);
  } else if (const std::string* label = labels.Find(zone_label)) {
    AddTopology(spec, key, *label);
  }
  if (beta && HasValues(spec, kBetaRegion)) ReplaceKey(spec, kBetaRegion, kRegion);
}

}  // namespace

absl::string_view InTreePluginOf(const api::PersistentVolumeSpec& spec) {
  if (spec.aws_elastic_block_store.has_value()) return kEbs;
  if (spec.gce_persistent_disk.has_value()) return kGcePd;
  if (spec.azure_disk.has_value()) return kAzureDisk;
  if (spec.cinder.has_value()) return kCinder;
  return spec.portworx_volume.has_value() ? kPortworxPlugin : "";
}

absl::string_view InTreePluginOf(const api::Volume& volume) {
  if (volume.aws_elastic_block_store.has_value()) return kEbs;
  if (volume.gce_persistent_disk.has_value()) return kGcePd;
  if (volume.azure_disk.has_value()) return kAzureDisk;
  if (volume.cinder.has_value()) return kCinder;
  if (volume.portworx_volume.has_value()) return kPortworxPlugin;
  if (volume.is_azure_file) return kAzureFile;
  return volume.is_vsphere_volume ? kVsphere : "";
}

absl::string_view CsiDriverOfInTreePlugin(absl::string_view plugin) {
  const Migration* migration = FindMigration(plugin);
  return migration == nullptr ? "" : migration->driver;
}

bool MigratesToCsi(absl::string_view plugin) {
  return FindMigration(plugin) != nullptr && plugin != kAzureFile && plugin != kVsphere;
}

bool AnnotatedAsMigrated(absl::string_view plugin, const api::CSINode* csi_node) {
  if (csi_node == nullptr) return false;
  const std::string* list = csi_node->metadata.annotations.Find(kMigratedPluginsAnnotation);
  if (list == nullptr) return false;
  const std::vector<absl::string_view> plugins = absl::StrSplit(*list, ',');
  return absl::c_linear_search(plugins, plugin);
}

absl::StatusOr<std::shared_ptr<api::PersistentVolume>> TranslateToCsi(const api::PersistentVolume& volume) {
  const Migration& migration = *FindMigration(InTreePluginOf(volume.spec));
  ASSIGN_OR_RETURN(std::string handle, VolumeHandle(volume));
  auto translated = std::make_shared<api::PersistentVolume>(volume);
  if (!migration.topology_key.empty()) TranslateTopology(*translated, migration.topology_key);
  api::PersistentVolumeSpec& spec = translated->spec;
  spec.aws_elastic_block_store.reset();
  spec.gce_persistent_disk.reset();
  spec.azure_disk.reset();
  spec.cinder.reset();
  spec.portworx_volume.reset();
  spec.csi = api::CSIPersistentVolumeSource{.driver = std::string(migration.driver), .volume_handle = handle};
  return translated;
}

absl::StatusOr<api::CSIPersistentVolumeSource> TranslateInlineToCsi(const api::Volume& volume) {
  api::CSIPersistentVolumeSource source = {
      .driver = std::string(CsiDriverOfInTreePlugin(InTreePluginOf(volume))), .volume_handle = ""};
  if (volume.aws_elastic_block_store.has_value()) {
    ASSIGN_OR_RETURN(source.volume_handle, EbsVolumeId(volume.aws_elastic_block_store->volume_id));
  } else if (volume.gce_persistent_disk.has_value()) {
    source.volume_handle = absl::StrCat("projects/", kUnspecified, "/zones/", kUnspecified, "/disks/",
                                        volume.gce_persistent_disk->pd_name);
  } else if (volume.azure_disk.has_value()) {
    RETURN_IF_ERROR(CheckAzureKind(volume.azure_disk->kind));
    source.volume_handle = volume.azure_disk->data_disk_uri;
  } else if (volume.cinder.has_value()) {
    source.volume_handle = volume.cinder->volume_id;
  } else if (volume.portworx_volume.has_value()) {
    source.volume_handle = volume.portworx_volume->volume_id;
  }
  return source;
}

}  // namespace schedsim::plugins
