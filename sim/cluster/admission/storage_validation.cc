#include "sim/cluster/admission/storage_validation.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/api/label_name.h"
#include "core/api/quantity_text.h"
#include "core/api/selectors.h"
#include "core/codec/text/json_writer.h"
#include "sim/cluster/admission/pod_validation.h"
#include "sim/cluster/admission/policy_json.h"
#include "sim/cluster/admission/volume_validation.h"

namespace schedsim::sim {
namespace {

constexpr absl::string_view kVolumeReclaimPolicies[] = {"Delete", "Recycle", "Retain"};
constexpr absl::string_view kClassReclaimPolicies[] = {"Delete", "Retain"};
constexpr absl::string_view kBindingModes[] = {"Immediate", "WaitForFirstConsumer"};
constexpr size_t kNodeIdBytesMax = 256;

// Capacity must be storage alone, and some.
void CheckCapacity(const FieldAt& capacity, ValidationErrors& errors) {
  const api::ResourceList amounts = AmountsOf(capacity.value);
  if (amounts.empty()) errors.Required(capacity.path, "");
  if (amounts.Find("storage") == nullptr || amounts.size() > 1) {
    codec::JsonWriter json;
    json.BeginObject();
    for (const auto& [name, amount] : amounts) json.Field(name, api::AmountText(name, amount));
    json.EndObject();
    errors.Add(capacity.path, absl::StrCat("Unsupported value: ", amounts.empty() ? "null" : json.text(),
                                           ": supported values: \"storage\""));
  }
  for (const auto& [name, amount] : amounts) {
    const std::string at = absl::StrCat(capacity.path, "[", name, "]");
    if (amount.Value() < 0) errors.Invalid(at, amount.Value(), "must be a valid resource quantity");
    if (amount.IsZero() || amount.IsNegative())
      errors.Invalid(at, api::AmountText(name, amount), "must be greater than zero");
  }
}

std::vector<std::string> TextsOfList(const FieldAt& list) { return TextsOf(list.value); }

std::vector<api::NodeSelectorRequirement> ReadRequirements(const FieldAt& list) {
  std::vector<api::NodeSelectorRequirement> requirements;
  for (size_t i = 0; i < list.size(); ++i) {
    const FieldAt item = list.Item(i);
    requirements.push_back({.key = item.Child("key").Text(),
                            .operator_ = item.Child("operator").Text(),
                            .values = TextsOfList(item.Child("values"))});
  }
  return requirements;
}

// The operators' values are checked when the volume is read.
void CheckVolumeAffinity(const FieldAt& affinity, ValidationErrors& errors) {
  if (!affinity.is_present()) return;
  const FieldAt required = affinity.Child("required");
  if (!required.is_present()) return errors.Required(required.path, "must specify required node constraints");
  const FieldAt terms = required.Child("nodeSelectorTerms");
  api::NodeSelector selector;
  for (size_t i = 0; i < terms.size(); ++i) {
    selector.node_selector_terms.push_back(
        {.match_expressions = ReadRequirements(terms.Item(i).Child("matchExpressions")),
         .match_fields = ReadRequirements(terms.Item(i).Child("matchFields"))});
  }
  CheckNodeSelector(selector, required.path, errors);
}

// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, ValidateTopologySelectorTerm. Returns
// what the term says, for comparison.
std::map<std::string, std::set<std::string>> CheckTopologyTerm(const FieldAt& term,
                                                               ValidationErrors& errors) {
  std::map<std::string, std::set<std::string>> read;
  const FieldAt list = term.Child("matchLabelExpressions");
  for (size_t i = 0; i < list.size(); ++i) {
    const FieldAt key = list.Item(i).Child("key");
    const FieldAt values = list.Item(i).Child("values");
    std::set<std::string> seen;
    if (values.size() == 0) errors.Required(values.path, "");
    for (size_t j = 0; j < values.size(); ++j) {
      const FieldAt value = values.Item(j);
      if (!seen.insert(value.Text()).second) errors.Duplicate(value.path, value.Text());
    }
    errors.LabelName(key.path, key.Text());
    if (read.contains(key.Text())) errors.Duplicate(key.path, key.Text());
    read[key.Text()] = seen;
  }
  return read;
}

// A key of an empty driver is fine where it is a name.
void CheckTopologyKeys(const FieldAt& driver, ValidationErrors& errors) {
  std::set<std::string> keys;
  for (const std::string& key : TextsOfList(driver.Child("topologyKeys"))) {
    if (key.empty()) errors.Required(driver.path, "");
    if (!keys.insert(key).second) errors.Duplicate(driver.path, key);
    errors.LabelName(driver.path, key);
  }
}

}  // namespace

void CheckPersistentVolume(const codec::Value& root, ValidationErrors& errors) {
  const FieldAt spec = RootOf(root).Child("spec");
  const FieldAt modes = spec.Child("accessModes");
  if (modes.size() == 0) errors.Required(modes.path, "");
  CheckAccessModes(modes, errors);
  CheckCapacity(spec.Child("capacity"), errors);
  const FieldAt policy = spec.Child("persistentVolumeReclaimPolicy");
  if (!policy.Text().empty()) errors.OneOf(policy, kVolumeReclaimPolicies);
  CheckVolumeAffinity(spec.Child("nodeAffinity"), errors);
  CheckVolumeSource(spec, errors);
  if (spec.Child("local").is_present() && !spec.Child("nodeAffinity").is_present())
    errors.Required(spec.Child("nodeAffinity").path, "Local volume requires node affinity");
  const FieldAt storage_class = spec.Child("storageClassName");
  if (!storage_class.Text().empty()) errors.DnsSubdomain(storage_class.path, storage_class.Text());
  errors.OneOf(spec.Child("volumeMode"), kVolumeModes);
}

void CheckPersistentVolumeClaim(const codec::Value& root, ValidationErrors& errors) {
  CheckClaimSpec(RootOf(root).Child("spec"), errors);
}

void CheckStorageClass(const codec::Value& root, ValidationErrors& errors) {
  const FieldAt provisioner = RootOf(root).Child("provisioner");
  const std::string name = absl::AsciiStrToLower(provisioner.Text());
  if (name.empty()) {
    errors.Required(provisioner.path, "");
  } else {
    errors.LabelName(provisioner.path, name);
  }
  errors.OneOf(RootOf(root).Child("reclaimPolicy"), kClassReclaimPolicies);
  errors.OneOf(RootOf(root).Child("volumeBindingMode"), kBindingModes);
  const FieldAt topologies = RootOf(root).Child("allowedTopologies");
  std::set<std::map<std::string, std::set<std::string>>> seen;
  for (size_t i = 0; i < topologies.size(); ++i) {
    const auto term = CheckTopologyTerm(topologies.Item(i), errors);
    if (!seen.insert(term).second)
      errors.Duplicate(topologies.Item(i).Child("matchLabelExpressions").path, "");
  }
}

void CheckCsiNode(const codec::Value& root, ValidationErrors& errors) {
  const FieldAt drivers = RootOf(root).Child("spec").Child("drivers");
  std::set<std::string> names;
  for (size_t i = 0; i < drivers.size(); ++i) {
    const FieldAt driver = drivers.Item(i);
    const FieldAt name = driver.Child("name");
    const FieldAt node_id = driver.Child("nodeID");
    CheckDriverName(name, errors);
    errors.TextRequired(node_id);
    if (node_id.Text().size() > kNodeIdBytesMax) {
      errors.Invalid(node_id.path, node_id.Text(),
                     absl::StrCat("must be ", kNodeIdBytesMax, " characters or less"));
    }
    errors.NotNegative(driver.Child("allocatable").Child("count"));
    if (!names.insert(name.Text()).second) errors.Duplicate(name.path, name.Text());
    CheckTopologyKeys(driver, errors);
  }
}

}  // namespace schedsim::sim
