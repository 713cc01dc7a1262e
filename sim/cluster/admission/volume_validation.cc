#include "sim/cluster/admission/volume_validation.h"

#include <initializer_list>
#include <optional>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/api/dns_name.h"
#include "core/api/quantity.h"
#include "core/api/quantity_text.h"
#include "sim/cluster/admission/file_volume_validation.h"
#include "sim/cluster/admission/path_validation.h"
#include "sim/cluster/admission/policy_json.h"
#include "sim/cluster/admission/resource_validation.h"

namespace schedsim::sim {
namespace {

constexpr absl::string_view kAccessModes[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                              "ReadWriteOncePod"};
constexpr absl::string_view kHostPathTypes[] = {
    "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"};

// A kind of source: the texts that it must have, in order, and what messages call it where that is not its
// name.
struct Source {
  absl::string_view name;
  std::initializer_list<absl::string_view> required = {};
  absl::string_view shown = "";
};

// In the API server's order. Source: kubernetes v1.37, pkg/apis/core/validation/validation.go,
// validateVolumeSource.
const Source kPodSources[] = {
    {"emptyDir"},
    {"hostPath"},
    {"gitRepo", {"repository"}},
    {"gcePersistentDisk", {"pdName"}, "persistentDisk"},
    {"awsElasticBlockStore", {"volumeID"}},
    {"secret", {"secretName"}},
    {"nfs", {"server", "path"}},
    {"iscsi", {"targetPortal", "iqn"}},
    {"glusterfs", {"endpoints", "path"}},
    {"flocker"},
    {"persistentVolumeClaim", {"claimName"}},
    {"rbd", {"monitors", "image"}},
    {"cinder", {"volumeID"}},
    {"cephfs", {"monitors"}},
    {"quobyte", {"registry", "volume"}},
    {"downwardAPI"},
    {"fc"},
    {"flexVolume", {"driver"}},
    {"configMap", {"name"}},
    {"azureFile", {"secretName", "shareName"}},
    {"vsphereVolume", {"volumePath"}},
    {"photonPersistentDisk", {"pdID"}},
    {"portworxVolume", {"volumeID"}},
    {"azureDisk", {"diskName", "diskURI"}},
    {"storageos"},
    {"projected"},
    {"scaleIO", {"gateway", "system", "volumeName"}},
    {"csi"},
    {"ephemeral"},
    {"image"},
};
// Source: as above, ValidatePersistentVolumeSpec.
const Source kPersistentSources[] = {
    {"hostPath"},
    {"gcePersistentDisk", {"pdName"}, "persistentDisk"},
    {"awsElasticBlockStore", {"volumeID"}},
    {"glusterfs", {"endpoints", "path"}},
    {"flocker"},
    {"nfs", {"server", "path"}},
    {"rbd", {"monitors", "image"}},
    {"quobyte", {"registry", "volume"}},
    {"cephfs", {"monitors"}},
    {"iscsi", {"targetPortal", "iqn"}},
    {"cinder", {"volumeID"}},
    {"fc"},
    {"flexVolume", {"driver"}},
    {"azureFile", {"secretName", "shareName"}},
    {"vsphereVolume", {"volumePath"}},
    {"photonPersistentDisk", {"pdID"}},
    {"portworxVolume", {"volumeID"}},
    {"azureDisk", {"diskName", "diskURI"}},
    {"scaleIO", {"gateway", "system", "volumeName"}},
    {"local"},
    {"storageos"},
    {"csi", {"volumeHandle"}},
};

void CheckPath(const FieldAt& path, ValidationErrors& errors) {
  if (path.Text().empty()) return errors.Required(path.path, "");
  CheckNoBackSteps(path.path, path.Text(), errors);
}

void CheckEphemeral(const FieldAt& source, ValidationErrors& errors) {
  const FieldAt claim = source.Child("volumeClaimTemplate");
  if (!claim.is_present()) return errors.Required(claim.path, "");
  errors.Labels(claim.Child("metadata").Child("labels"));
  CheckClaimSpec(claim.Child("spec"), errors);
}

// The rules of one source that say more than which texts must be there.
void CheckOneSource(const Source& kind, const FieldAt& source, ValidationErrors& errors) {
  if (kind.name == "hostPath") {
    CheckPath(source.Child("path"), errors);
    if (!source.Child("path").Text().empty()) errors.OneOf(source.Child("type"), kHostPathTypes);
  } else if (kind.name == "local") {
    CheckPath(source.Child("path"), errors);
  } else if (kind.name == "csi") {
    CheckDriverName(source.Child("driver"), errors);
  } else if (kind.name == "ephemeral") {
    CheckEphemeral(source, errors);
  }
  for (const absl::string_view name : kind.required) {
    const FieldAt field = source.Child(name);
    if (field.Text().empty() && field.size() == 0) errors.Required(field.path, "");
  }
  CheckFileVolume(kind.name, source, errors);
  const FieldAt path = source.Child("path");
  if (kind.name == "nfs" && !absl::StartsWith(path.Text(), "/"))
    errors.Invalid(path.path, path.Text(), "must be an absolute path");
}

// Checks what there is of `kinds` in `volume`, and that it is not more than one. Returns whether there is
// one.
bool CheckSources(absl::Span<const Source> kinds, const FieldAt& volume, ValidationErrors& errors) {
  bool has_one = false;
  for (const Source& kind : kinds) {
    FieldAt source = volume.Child(kind.name);
    if (!source.is_present()) continue;
    if (has_one) {
      errors.Forbidden(source.path, "may not specify more than 1 volume type");
      continue;
    }
    has_one = true;
    if (!kind.shown.empty()) source.path = api::Child(volume.path, kind.shown);
    CheckOneSource(kind, source, errors);
  }
  return has_one;
}

}  // namespace

void CheckDriverName(const FieldAt& name, ValidationErrors& errors) {
  constexpr size_t kDriverBytesMax = 63;
  const std::string text = name.Text();
  if (text.empty()) return errors.Required(name.path, "");
  if (text.size() > kDriverBytesMax) errors.TooLong(name.path, kDriverBytesMax);
  for (const std::string& why : api::DnsSubdomainErrors(absl::AsciiStrToLower(text)))
    errors.Invalid(name.path, text, why);
}

PodVolumes CheckVolumes(const FieldAt& volumes, ValidationErrors& errors) {
  PodVolumes valid;
  for (size_t i = 0; i < volumes.size(); ++i) {
    const FieldAt volume = volumes.Item(i);
    const FieldAt name = volume.Child("name");
    ValidationErrors of_volume(errors.line());
    // Without a source it is an emptyDir.
    CheckSources(kPodSources, volume, of_volume);
    if (name.Text().empty()) {
      of_volume.Required(name.path, "");
    } else {
      of_volume.DnsLabel(name.path, name.Text());
    }
    if (valid.contains(name.Text())) of_volume.Duplicate(name.path, name.Text());
    if (of_volume.empty()) {
      valid[name.Text()] =
          volume.Child("persistentVolumeClaim").is_present() || volume.Child("ephemeral").is_present();
    }
    for (api::FieldError& error : of_volume.Take()) errors.Add(std::move(error.field), std::move(error.body));
  }
  return valid;
}

void CheckVolumeSource(const FieldAt& spec, ValidationErrors& errors) {
  if (!CheckSources(kPersistentSources, spec, errors))
    errors.Required(spec.path, "must specify a volume type");
}

void CheckAccessModes(const FieldAt& modes, ValidationErrors& errors) {
  bool is_alone = false;
  bool has_others = false;
  for (size_t i = 0; i < modes.size(); ++i) {
    const std::string mode = modes.Item(i).Text();
    const bool is_known = absl::c_linear_search(kAccessModes, mode);
    if (!is_known) errors.NotSupported(modes.path, mode, kAccessModes);
    is_alone |= mode == "ReadWriteOncePod";
    has_others |= is_known && mode != "ReadWriteOncePod";
  }
  if (is_alone && has_others)
    errors.Forbidden(modes.path, "may not use ReadWriteOncePod with other access modes");
}

void CheckClaimSpec(const FieldAt& spec, ValidationErrors& errors) {
  const FieldAt modes = spec.Child("accessModes");
  if (modes.size() == 0) errors.Required(modes.path, "at least 1 access mode is required");
  errors.LabelSelector(spec.Child("selector"));
  CheckAccessModes(modes, errors);
  const api::ResourceList requests = AmountsOf(spec.Child("resources").Child("requests").value);
  const api::Quantity* storage = requests.Find("storage");
  const std::string at = absl::StrCat(spec.Child("resources").path, "[storage]");
  if (storage == nullptr) {
    errors.Required(at, "");
  } else if (storage->IsZero() || storage->IsNegative()) {
    errors.Invalid(at, api::AmountText("storage", *storage), "must be greater than zero");
  }
  const FieldAt storage_class = spec.Child("storageClassName");
  if (!storage_class.Text().empty()) errors.DnsSubdomain(storage_class.path, storage_class.Text());
  errors.OneOf(spec.Child("volumeMode"), kVolumeModes);
}

}  // namespace schedsim::sim
