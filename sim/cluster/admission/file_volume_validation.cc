#include "sim/cluster/admission/file_volume_validation.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "core/api/quantity.h"
#include "sim/cluster/admission/env_validation.h"
#include "sim/cluster/admission/path_validation.h"

namespace schedsim::sim {
namespace {

// Those that a file may hold, in the order of their names.
constexpr absl::string_view kFields[] = {"metadata.annotations", "metadata.labels", "metadata.name",
                                         "metadata.namespace", "metadata.uid"};

void CheckMode(const FieldAt& mode, ValidationErrors& errors) {
  const std::optional<int64_t> number = mode.Number();
  if (!number.has_value() || (*number >= 0 && *number <= 0777)) return;
  errors.Invalid(mode.path, *number, "must be a number between 0 and 0777 (octal), both inclusive");
}

// The paths of files that a volume of several sources has so far.
class PathsOfVolume {
 public:
  explicit PathsOfVolume(const FieldAt& volume) : volume_(volume) {}

  // `shown` is what the error names where the path is taken.
  void Take(const std::string& path, const std::string& shown, ValidationErrors& errors) {
    if (!paths_.insert(path).second) errors.Invalid(volume_.path, shown, "conflicting duplicate paths");
  }

 private:
  const FieldAt& volume_;
  std::set<std::string> paths_;
};

void CheckKeyToPath(const FieldAt& item, ValidationErrors& errors) {
  const FieldAt path = item.Child("path");
  errors.TextRequired(item.Child("key"));
  errors.TextRequired(path);
  CheckNonReservedPath(path.path, path.Text(), errors);
  CheckMode(item.Child("mode"), errors);
}

// A file of the downward API. Paths of errors are those of the list's owner, as in the real one.
void CheckDownwardFile(const FieldAt& written, const std::string& owner, ValidationErrors& errors) {
  const FieldAt file = {written.value, owner};
  const FieldAt path = file.Child("path");
  errors.TextRequired(path);
  CheckNonReservedPath(path.path, path.Text(), errors);
  const FieldAt field = file.Child("fieldRef");
  const FieldAt resource = file.Child("resourceFieldRef");
  if (field.is_present()) {
    CheckFieldRef(field, kFields, errors);
    if (resource.is_present()) {
      errors.Invalid(owner, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  } else if (resource.is_present()) {
    CheckResourceFieldRef(resource, true, errors);
  } else {
    errors.Required(owner, "one of fieldRef and resourceFieldRef is required");
  }
  CheckMode(file.Child("mode"), errors);
}

// A secret or a config map, which is one of several sources.
void CheckKeysSource(const FieldAt& source, PathsOfVolume& paths, ValidationErrors& errors) {
  const FieldAt name = source.Child("name");
  const FieldAt items = source.Child("items");
  errors.TextRequired(name);
  for (size_t i = 0; i < items.size(); ++i) {
    CheckKeyToPath(items.Item(i), errors);
    const std::string path = items.Item(i).Child("path").Text();
    if (!path.empty()) paths.Take(path, name.Text(), errors);
  }
}

void CheckToken(const FieldAt& token, const FieldAt& volume, ValidationErrors& errors) {
  constexpr int64_t kSecondsMin = 600;
  constexpr int64_t kSecondsMax = int64_t{1} << 32;
  const FieldAt expiration = token.Child("expirationSeconds");
  // One that is absent is an hour.
  const int64_t seconds = expiration.Number().value_or(kSecondsMin);
  if (seconds < kSecondsMin)
    errors.Invalid(expiration.path, seconds, "may not specify a duration less than 10 minutes");
  if (seconds > kSecondsMax)
    errors.Invalid(expiration.path, seconds, "may not specify a duration larger than 2^32 seconds");
  const FieldAt path = {token.Child("path").value, volume.Child("path").path};
  errors.TextRequired(path);
  if (!path.Text().empty()) CheckNonReservedPath(path.path, path.Text(), errors);
}

void CheckProjected(const FieldAt& volume, ValidationErrors& errors) {
  PathsOfVolume paths(volume);
  const FieldAt sources = volume.Child("sources");
  for (size_t i = 0; i < sources.size(); ++i) {
    const FieldAt source = sources.Item(i);
    int count = 0;
    for (const absl::string_view kind : {"secret", "configMap"}) {
      const FieldAt keys = source.Child(kind);
      if (!keys.is_present()) continue;
      ++count;
      CheckKeysSource(keys, paths, errors);
    }
    const FieldAt downward = source.Child("downwardAPI");
    const FieldAt files = downward.Child("items");
    if (downward.is_present()) ++count;
    for (size_t j = 0; j < files.size(); ++j) {
      CheckDownwardFile(files.Item(j), downward.path, errors);
      const std::string path = files.Item(j).Child("path").Text();
      if (!path.empty()) paths.Take(path, path, errors);
    }
    const FieldAt token = source.Child("serviceAccountToken");
    if (token.is_present()) {
      ++count;
      CheckToken(token, volume, errors);
    }
    for (const absl::string_view kind : {"clusterTrustBundle", "podCertificate"})
      if (source.Child(kind).is_present()) ++count;
    if (count > 1) errors.Forbidden(source.path, "may not specify more than 1 volume type per source");
  }
}

void CheckEmptyDir(const FieldAt& source, ValidationErrors& errors) {
  const FieldAt limit = source.Child("sizeLimit");
  if (!limit.is_present()) return;
  const absl::StatusOr<api::Quantity> amount = api::Quantity::Parse(limit.value->text);
  if (amount.ok() && amount->IsNegative())
    errors.Forbidden(limit.path, "SizeLimit field must be a valid resource quantity");
}

}  // namespace

void CheckFileVolume(absl::string_view kind, const FieldAt& source, ValidationErrors& errors) {
  if (kind == "emptyDir") return CheckEmptyDir(source, errors);
  if (kind != "secret" && kind != "configMap" && kind != "downwardAPI" && kind != "projected") return;
  CheckMode(source.Child("defaultMode"), errors);
  if (kind == "projected") return CheckProjected(source, errors);
  const FieldAt items = source.Child("items");
  for (size_t i = 0; i < items.size(); ++i) {
    if (kind == "downwardAPI") {
      CheckDownwardFile(items.Item(i), source.path, errors);
    } else {
      CheckKeyToPath(items.Item(i), errors);
    }
  }
}

}  // namespace schedsim::sim
