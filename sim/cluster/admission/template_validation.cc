#include "sim/cluster/admission/template_validation.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/api/pod.h"
#include "core/api/selector_validation.h"
#include "core/base/printable.h"
#include "core/codec/objects/objects.h"
#include "sim/cluster/admission/defaults.h"
#include "sim/cluster/admission/metadata_validation.h"
#include "sim/cluster/admission/pod_validation.h"

namespace schedsim::sim {
namespace {

bool Selects(const api::LabelSelectorRequirement& requirement, const api::StringMap& labels) {
  const std::string* label = labels.Find(requirement.key);
  const bool is_among = label != nullptr && absl::c_linear_search(requirement.values, *label);
  if (requirement.operator_ == "In") return is_among;
  if (requirement.operator_ == "NotIn") return !is_among;
  return (requirement.operator_ == "Exists") == (label != nullptr);
}

bool Selects(const api::LabelSelector& selector, const api::StringMap& labels) {
  for (const auto& [key, value] : selector.match_labels) {
    const std::string* label = labels.Find(key);
    if (label == nullptr || *label != value) return false;
  }
  return absl::c_all_of(selector.match_expressions,
                        [&labels](const auto& requirement) { return Selects(requirement, labels); });
}

// What reading says of a pod with this spec, without the place in a text that nobody has: `spec.x: what`.
std::string WithoutPlace(absl::string_view message) {
  const size_t begin = message.find(": spec");
  if (begin != absl::string_view::npos) message.remove_prefix(begin + 2);
  const size_t end = message.rfind(" (Pod");
  return Printable(message.substr(0, end));
}

// The spec of the template; an error is added where it cannot be read.
std::shared_ptr<const api::PodSpec> ReadSpec(const FieldAt& spec, ValidationErrors& errors) {
  const auto text = [](absl::string_view value) {
    return codec::Value{.type = codec::Value::Type::kString, .text = value};
  };
  const codec::Member name[] = {{"name", {}, text("template")}};
  const codec::Member members[] = {{"apiVersion", {}, text("v1")},
                                   {"kind", {}, text("Pod")},
                                   {"metadata", {}, {.type = codec::Value::Type::kObject, .members = name}},
                                   {"spec", {}, *spec.value}};
  const codec::Value pod = {.type = codec::Value::Type::kObject, .members = members};
  codec::ObjectReader reader;
  const absl::StatusOr<api::ObjectPtr> read = reader.Decode(pod, "template");
  if (read.ok()) return static_cast<const api::Pod&>(**read).spec;
  const std::string fault = WithoutPlace(read.status().message());
  const size_t colon = fault.find(": ");
  if (colon == std::string::npos || !absl::StartsWith(fault, "spec")) {
    errors.Add(spec.path, fault);
  } else {
    errors.Add(absl::StrCat(spec.path, fault.substr(4, colon - 4)), fault.substr(colon + 2));
  }
  return nullptr;
}

// Each is `field: what`.
void AddTexts(const std::vector<std::string>& texts, ValidationErrors& errors) {
  for (const std::string& text : texts) {
    const size_t colon = text.find(": ");
    errors.Add(text.substr(0, colon), text.substr(colon + 2));
  }
}

}  // namespace

bool IsReadable(const FieldAt& selector, api::KubernetesLine line) {
  const std::optional<api::LabelSelector> read = ReadLabelSelector(selector);
  if (!read.has_value()) return true;
  constexpr absl::string_view kOperators[] = {"In", "NotIn", "Exists", "DoesNotExist"};
  const bool has_operators = absl::c_all_of(read->match_expressions, [&kOperators](const auto& requirement) {
    return absl::c_linear_search(kOperators, requirement.operator_);
  });
  return has_operators && api::LabelSelectorError(*read, line).empty();
}

bool IsEmptySelector(const FieldAt& selector) {
  const std::optional<api::LabelSelector> read = ReadLabelSelector(selector);
  return read.has_value() && read->match_labels.empty() && read->match_expressions.empty();
}

void CheckSelects(const FieldAt& selector, const FieldAt& pod_template, ValidationErrors& errors) {
  if (!IsReadable(selector, errors.line())) return;
  const FieldAt labels = pod_template.Child("metadata").Child("labels");
  const std::optional<api::LabelSelector> read = ReadLabelSelector(selector);
  if (read.has_value() && Selects(*read, ReadTexts(labels))) return;
  errors.InvalidJson(labels.path, SortedJson(labels), "`selector` does not match template `labels`");
}

void CheckTemplate(const FieldAt& pod_template, const TemplateRules& rules, ValidationErrors& errors) {
  FieldAt labels = pod_template.Child("metadata").Child("labels");
  labels.path = api::Child(pod_template.path, "labels");
  errors.Labels(labels);
  const api::StringMap annotations = ReadTexts(pod_template.Child("metadata").Child("annotations"));
  const std::string of_annotations = api::Child(pod_template.path, "annotations");
  AddTexts(AnnotationFaults(annotations, of_annotations, errors.line()), errors);
  AddTexts(PodAnnotationFaults(annotations, of_annotations), errors);
  PodSpecParts parts = {.written = pod_template.Child("spec"),
                        .is_template = true,
                        .more_volumes = rules.more_volumes,
                        .has_own_names = rules.has_own_names};
  const FieldAt& spec = parts.written;
  if (spec.Child("containers").size() == 0) return errors.Required(spec.Child("containers").path, "");
  const std::shared_ptr<const api::PodSpec> read = ReadSpec(spec, errors);
  if (read == nullptr) return;
  api::PodSpec completed = *read;
  // Ports of the host are only set in pods.
  const bool host_network = std::exchange(completed.host_network, false);
  SetPodDefaults(completed);
  completed.host_network = host_network;
  RoundAmounts(completed);
  CheckPodSpec(completed, parts, errors);
  if (spec.Child("ephemeralContainers").size() > 0)
    errors.Forbidden(spec.Child("ephemeralContainers").path,
                     "ephemeral containers not allowed in pod template");
}

void CheckRunsForever(const FieldAt& pod_template, absl::string_view workload, ValidationErrors& errors) {
  const FieldAt spec = pod_template.Child("spec");
  const FieldAt policy = spec.Child("restartPolicy");
  constexpr absl::string_view kAlways[] = {"Always"};
  errors.OneOf(policy, kAlways);
  const FieldAt deadline = spec.Child("activeDeadlineSeconds");
  if (deadline.is_present()) {
    errors.Forbidden(deadline.path, absl::StrCat("activeDeadlineSeconds in ", workload, " is not Supported"));
  }
}

}  // namespace schedsim::sim
