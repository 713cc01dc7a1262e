#include "sim/cluster/admission/env_validation.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/api/dns_name.h"
#include "core/api/quantity.h"
#include "core/api/quantity_text.h"
#include "sim/cluster/admission/path_validation.h"

namespace schedsim::sim {
namespace {

// Those of variables, in the order of their names.
constexpr absl::string_view kFields[] = {
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs",     "status.podIP", "status.podIPs",
};
// Those that a pod can be selected by.
constexpr absl::string_view kSelectableFields[] = {
    "metadata.annotations", "metadata.labels",    "metadata.name",
    "metadata.namespace",   "metadata.uid",       "spec.nodeName",
    "spec.restartPolicy",   "spec.schedulerName", "spec.serviceAccountName",
    "status.hostIP",        "status.hostIPs",     "status.phase",
    "status.podIP",         "status.podIPs",
};
constexpr absl::string_view kResources[] = {
    "limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
    "requests.cpu", "requests.ephemeral-storage", "requests.memory",
};
constexpr absl::string_view kByteDivisors[] = {"1",   "1k",  "1M",  "1G",  "1T",  "1P", "1E",
                                               "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"};

// Source: apimachinery v0.37, pkg/util/validation/validation.go, IsRelaxedEnvVarName.
void CheckVariableName(const FieldAt& name, ValidationErrors& errors) {
  const std::string text = name.Text();
  const bool is_printable = absl::c_all_of(text, [](char c) { return absl::ascii_isprint(c) && c != '='; });
  if (is_printable) return;
  errors.Invalid(
      name.path, text,
      "a valid environment variable name must consist only of printable ASCII characters other than '='");
}

// Source: as above, IsConfigMapKey.
void CheckKey(const FieldAt& key, ValidationErrors& errors) {
  constexpr size_t kKeyBytesMax = 253;
  const std::string text = key.Text();
  if (text.empty()) return errors.Required(key.path, "");
  if (text.size() > kKeyBytesMax)
    errors.Invalid(key.path, text, absl::StrCat("must be no more than ", kKeyBytesMax, " bytes"));
  const auto may_be = [](char c) { return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.'; };
  if (!absl::c_all_of(text, may_be)) {
    errors.Invalid(key.path, text,
                   "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
                   "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
                   "'[-._a-zA-Z0-9]+')");
  }
  if (text == "." || text == "..") {
    errors.Invalid(key.path, text, absl::StrCat("must not be '", text, "'"));
  } else if (absl::StartsWith(text, "..")) {
    errors.Invalid(key.path, text, "must not start with '..'");
  }
}

void CheckKeyRef(const FieldAt& ref, ValidationErrors& errors) {
  const FieldAt name = ref.Child("name");
  errors.DnsSubdomain(name.path, name.Text());
  CheckKey(ref.Child("key"), errors);
}

void CheckFileKeyRef(const FieldAt& ref, ValidationErrors& errors) {
  const FieldAt key = ref.Child("key");
  const FieldAt volume = ref.Child("volumeName");
  const FieldAt path = ref.Child("path");
  errors.TextRequired(key);
  CheckVariableName(key, errors);
  errors.TextRequired(volume);
  if (!volume.Text().empty()) errors.DnsLabel(volume.path, volume.Text());
  errors.TextRequired(path);
  CheckNoBackSteps(path.path, path.Text(), errors);
}

void CheckValueFrom(const FieldAt& variable, ValidationErrors& errors) {
  const FieldAt from = variable.Child("valueFrom");
  if (!from.is_present()) return;
  // EnvFiles is off by default up to 1.34, and what a gate is for is dropped.
  const bool has_files = errors.line() >= api::KubernetesLine::k1_35;
  int source_count = 0;
  const auto check = [&](absl::string_view name, auto rule) {
    const FieldAt source = from.Child(name);
    if (!source.is_present()) return;
    ++source_count;
    rule(source);
  };
  check("fieldRef", [&errors](const FieldAt& ref) { CheckFieldRef(ref, kFields, errors); });
  check("resourceFieldRef", [&errors](const FieldAt& ref) { CheckResourceFieldRef(ref, false, errors); });
  check("configMapKeyRef", [&errors](const FieldAt& ref) { CheckKeyRef(ref, errors); });
  check("secretKeyRef", [&errors](const FieldAt& ref) { CheckKeyRef(ref, errors); });
  if (has_files) check("fileKeyRef", [&errors](const FieldAt& ref) { CheckFileKeyRef(ref, errors); });
  if (source_count == 0) {
    errors.Invalid(from.path, "",
                   absl::StrCat("must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`",
                                has_files ? ", `secretKeyRef` or `fileKeyRef`" : " or `secretKeyRef`"));
  } else if (!variable.Child("value").Text().empty()) {
    errors.Invalid(from.path, "", "may not be specified when `value` is not empty");
  } else if (source_count > 1) {
    errors.Invalid(from.path, "", "may not have more than one field specified at a time");
  }
}

// The divisor of what a container asks for. Source: as above, validateContainerResourceDivisor.
void CheckDivisor(const FieldAt& ref, const std::string& resource, ValidationErrors& errors) {
  const FieldAt divisor = ref.Child("divisor");
  if (!divisor.is_present()) return;
  const absl::string_view written = divisor.value->text;
  const absl::StatusOr<api::Quantity> amount = api::Quantity::Parse(written);
  if (!amount.ok() || amount->IsZero()) return;
  const bool is_binary = absl::EndsWith(written, "i");
  const std::string text =
      api::QuantityText(*amount, is_binary ? api::QuantityFormat::kBinary : api::QuantityFormat::kDecimal);
  const bool is_cpu = absl::EndsWith(resource, ".cpu");
  const bool is_huge = absl::StrContains(resource, ".hugepages-");
  absl::string_view shown = "memory";
  if (absl::EndsWith(resource, ".ephemeral-storage")) shown = "local ephemeral storage";
  if (is_huge) shown = "hugepages";
  if (is_cpu) {
    if (text != "1m" && text != "1")
      errors.Invalid(divisor.path, resource,
                     "only divisor's values 1m and 1 are supported with the cpu resource");
  } else if ((is_huge || absl::c_linear_search(kResources, resource)) &&
             !absl::c_linear_search(kByteDivisors, text)) {
    errors.Invalid(divisor.path, resource,
                   absl::StrCat("only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, "
                                "1Ei are supported with the ",
                                shown, " resource"));
  }
}

// A map's entry as field paths write it: `metadata.labels['app']`.
struct Subscript {
  absl::string_view path;
  absl::string_view key;
};

// Source: kubernetes v1.37, pkg/fieldpath/fieldpath.go, SplitMaybeSubscriptedPath.
std::optional<Subscript> SplitSubscript(absl::string_view path) {
  if (!absl::ConsumeSuffix(&path, "']")) return std::nullopt;
  const size_t open = path.find("['");
  if (open == absl::string_view::npos || open == 0) return std::nullopt;
  return Subscript{path.substr(0, open), path.substr(open + 2)};
}

}  // namespace

void CheckFieldRef(const FieldAt& ref, absl::Span<const absl::string_view> fields, ValidationErrors& errors) {
  const FieldAt version = ref.Child("apiVersion");
  const FieldAt field = ref.Child("fieldPath");
  const std::string path = field.Text() == "spec.host" ? "spec.nodeName" : field.Text();
  if (path.empty()) return errors.Required(field.path, "");
  const auto not_converted = [&](absl::string_view why) {
    errors.Invalid(field.path, field.Text(), absl::StrCat("error converting fieldPath: ", why));
  };
  if (!version.Text().empty() && version.Text() != "v1")
    return not_converted(absl::StrCat("unsupported pod version: ", version.Text()));
  if (const std::optional<Subscript> subscript = SplitSubscript(path)) {
    const std::string key(subscript->key);
    if (subscript->path == "metadata.annotations")
      return errors.LabelName(ref.path, absl::AsciiStrToLower(key));
    if (subscript->path == "metadata.labels") return errors.LabelName(ref.path, key);
    return not_converted(absl::StrCat("field label does not support subscript: ", path));
  }
  if (!absl::c_linear_search(kSelectableFields, path))
    return not_converted(absl::StrCat("field label not supported: ", path));
  if (!absl::c_linear_search(fields, path)) errors.NotSupported(field.path, path, fields);
}

void CheckResourceFieldRef(const FieldAt& ref, bool in_volume, ValidationErrors& errors) {
  const FieldAt resource = ref.Child("resource");
  const std::string name = resource.Text();
  if (in_volume && ref.Child("containerName").Text().empty()) {
    errors.Required(ref.Child("containerName").path, "");
  } else if (name.empty()) {
    errors.Required(resource.path, "");
  } else if (!absl::c_linear_search(kResources, name) && !absl::StartsWith(name, "requests.hugepages-") &&
             !absl::StartsWith(name, "limits.hugepages-")) {
    errors.NotSupported(resource.path, name, kResources);
  }
  CheckDivisor(ref, name, errors);
}

void CheckEnv(const FieldAt& env, ValidationErrors& errors) {
  for (size_t i = 0; i < env.size(); ++i) {
    const FieldAt variable = env.Item(i);
    const FieldAt name = variable.Child("name");
    errors.TextRequired(name);
    CheckVariableName(name, errors);
    CheckValueFrom(variable, errors);
  }
}

void CheckEnvFrom(const FieldAt& sources, ValidationErrors& errors) {
  for (size_t i = 0; i < sources.size(); ++i) {
    const FieldAt source = sources.Item(i);
    CheckVariableName(source.Child("prefix"), errors);
    int source_count = 0;
    for (const absl::string_view kind : {"configMapRef", "secretRef"}) {
      if (!source.Child(kind).is_present()) continue;
      ++source_count;
      const FieldAt name = source.Child(kind).Child("name");
      std::string text = name.Text();
      errors.TextRequired(name);
      // The rule is that for the beginning of a generated name.
      if (absl::EndsWith(text, "-")) text.back() = 'a';
      for (const std::string& why : text.empty() ? std::vector<std::string>() : api::DnsSubdomainErrors(text))
        errors.Invalid(name.path, name.Text(), why);
    }
    if (source_count == 0)
      errors.Invalid(sources.path, "", "must specify one of: `configMapRef` or `secretRef`");
    if (source_count > 1)
      errors.Invalid(sources.path, "", "may not have more than one field specified at a time");
  }
}

void CheckFilesOfEnv(const FieldAt& container, const FieldAt& spec, ValidationErrors& errors) {
  if (errors.line() < api::KubernetesLine::k1_35) return;
  const FieldAt env = container.Child("env");
  const FieldAt volumes = spec.Child("volumes");
  for (size_t i = 0; i < env.size(); ++i) {
    const FieldAt ref = env.Item(i).Child("valueFrom").Child("fileKeyRef");
    if (!ref.is_present()) continue;
    const FieldAt name = ref.Child("volumeName");
    FieldAt found;
    for (size_t j = 0; j < volumes.size(); ++j)
      if (volumes.Item(j).Child("name").Text() == name.Text()) found = volumes.Item(j);
    if (!found.is_present()) {
      errors.NotFound(name.path, name.Text());
    } else if (!found.Child("emptyDir").is_present()) {
      errors.Invalid(name.path, name.Text(), "referenced volume must be of type emptyDir");
    }
  }
}

}  // namespace schedsim::sim
