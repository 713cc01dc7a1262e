#include "core/codec/config/plugin_args.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/api/default_profile.h"
#include "core/api/go_text.h"
#include "core/api/selectors.h"
#include "core/codec/text/writer.h"

namespace schedsim::codec {
namespace {

constexpr absl::string_view kGroup = "kubescheduler.config.k8s.io";

// One for each type that occurs in arguments, declared ahead for the templates below.
void Decode(const Value& value, const std::string& path, api::UtilizationShapePoint& target,
            ErrorList& errors);
void Decode(const Value& value, const std::string& path, api::ResourceSpec& target, ErrorList& errors);
void Decode(const Value& value, const std::string& path, api::NodeSelectorRequirement& target,
            ErrorList& errors);
void Decode(const Value& value, const std::string& path, api::LabelSelectorRequirement& target,
            ErrorList& errors);
void Decode(const Value& value, const std::string& path, api::StringMap& target, ErrorList& errors);
void Decode(const Value& value, const std::string& path, api::LabelSelector& target, ErrorList& errors);
void Decode(const Value& value, const std::string& path, api::TopologySpreadConstraint& target,
            ErrorList& errors);
void Decode(const Value& value, const std::string& path, api::NodeSelectorTerm& target, ErrorList& errors);
void Decode(const Value& value, const std::string& path, api::NodeSelector& target, ErrorList& errors);
void Decode(const Value& value, const std::string& path, api::PreferredSchedulingTerm& target,
            ErrorList& errors);
void Decode(const Value& value, const std::string& path, api::NodeAffinity& target, ErrorList& errors);
void Decode(const Value& value, const std::string& path, api::ScoringStrategy& target, ErrorList& errors);

// Reads a list of things that Decode knows. Returns whether there is a list.
template <typename T>
bool ReadAll(StrictReader& reader, absl::string_view name, std::vector<T>& target, ErrorList& errors) {
  return reader.ReadList(name, [&](const Value& item, const std::string& path) {
    Decode(item, path, target.emplace_back(), errors);
  });
}

// Reads a map that Decode knows.
template <typename T>
void ReadOne(StrictReader& reader, absl::string_view name, T& target, ErrorList& errors) {
  reader.ReadMap(name,
                 [&](const Value& value, const std::string& path) { Decode(value, path, target, errors); });
}

// The same where an absent map is told from an empty one.
template <typename T>
void ReadOne(StrictReader& reader, absl::string_view name, std::optional<T>& target, ErrorList& errors) {
  reader.ReadMap(name, [&](const Value& value, const std::string& path) {
    Decode(value, path, target.emplace(), errors);
  });
}

void Decode(const Value& value, const std::string& path, api::UtilizationShapePoint& target,
            ErrorList& errors) {
  StrictReader reader(value, path, errors);
  reader.Read("utilization", target.utilization);
  reader.Read("score", target.score);
  reader.Finish();
}

void Decode(const Value& value, const std::string& path, api::ResourceSpec& target, ErrorList& errors) {
  StrictReader reader(value, path, errors);
  reader.Read("name", target.name);
  reader.Read("weight", target.weight);
  if (target.weight == 0) target.weight = 1;
  reader.Finish();
}

void Decode(const Value& value, const std::string& path, api::NodeSelectorRequirement& target,
            ErrorList& errors) {
  StrictReader reader(value, path, errors);
  reader.Read("key", target.key);
  reader.Read("operator", target.operator_);
  reader.ReadStrings("values", target.values);
  reader.Finish();
}

void Decode(const Value& value, const std::string& path, api::LabelSelectorRequirement& target,
            ErrorList& errors) {
  StrictReader reader(value, path, errors);
  reader.Read("key", target.key);
  reader.Read("operator", target.operator_);
  reader.ReadStrings("values", target.values);
  reader.Finish();
}

void Decode(const Value& value, const std::string& path, api::StringMap& target, ErrorList& errors) {
  StrictReader reader(value, path, errors);
  if (!value.is_object()) return;
  for (const Member& member : value.members) {
    std::string text;
    reader.Read(member.key, text);
    target.Set(member.key, text);
  }
}

void Decode(const Value& value, const std::string& path, api::LabelSelector& target, ErrorList& errors) {
  StrictReader reader(value, path, errors);
  ReadOne(reader, "matchLabels", target.match_labels, errors);
  ReadAll(reader, "matchExpressions", target.match_expressions, errors);
  reader.Finish();
}

void Decode(const Value& value, const std::string& path, api::TopologySpreadConstraint& target,
            ErrorList& errors) {
  StrictReader reader(value, path, errors);
  reader.Read("maxSkew", target.max_skew);
  reader.Read("topologyKey", target.topology_key);
  reader.Read("whenUnsatisfiable", target.when_unsatisfiable);
  ReadOne(reader, "labelSelector", target.label_selector, errors);
  reader.Read("minDomains", target.min_domains);
  reader.Read("nodeAffinityPolicy", target.node_affinity_policy);
  reader.Read("nodeTaintsPolicy", target.node_taints_policy);
  reader.ReadStrings("matchLabelKeys", target.match_label_keys);
  reader.Finish();
}

void Decode(const Value& value, const std::string& path, api::NodeSelectorTerm& target, ErrorList& errors) {
  StrictReader reader(value, path, errors);
  ReadAll(reader, "matchExpressions", target.match_expressions, errors);
  ReadAll(reader, "matchFields", target.match_fields, errors);
  reader.Finish();
}

void Decode(const Value& value, const std::string& path, api::NodeSelector& target, ErrorList& errors) {
  StrictReader reader(value, path, errors);
  ReadAll(reader, "nodeSelectorTerms", target.node_selector_terms, errors);
  reader.Finish();
}

void Decode(const Value& value, const std::string& path, api::PreferredSchedulingTerm& target,
            ErrorList& errors) {
  StrictReader reader(value, path, errors);
  reader.Read("weight", target.weight);
  ReadOne(reader, "preference", target.preference, errors);
  reader.Finish();
}

void Decode(const Value& value, const std::string& path, api::NodeAffinity& target, ErrorList& errors) {
  StrictReader reader(value, path, errors);
  ReadOne(reader, "requiredDuringSchedulingIgnoredDuringExecution",
          target.required_during_scheduling_ignored_during_execution, errors);
  ReadAll(reader, "preferredDuringSchedulingIgnoredDuringExecution",
          target.preferred_during_scheduling_ignored_during_execution, errors);
  reader.Finish();
}

void Decode(const Value& value, const std::string& path, api::ScoringStrategy& target, ErrorList& errors) {
  StrictReader reader(value, path, errors);
  target.type.clear();
  reader.Read("type", target.type);
  std::vector<api::ResourceSpec> resources;
  ReadAll(reader, "resources", resources, errors);
  if (!resources.empty()) target.resources = std::move(resources);
  reader.ReadMap("requestedToCapacityRatio", [&](const Value& ratio, const std::string& ratio_path) {
    StrictReader ratio_reader(ratio, ratio_path, errors);
    ReadAll(ratio_reader, "shape", target.shape.emplace(), errors);
    ratio_reader.Finish();
  });
  reader.Finish();
}

// The fields of each kind of arguments; `args` holds the defaults.

void ReadArgs(StrictReader& reader, api::DefaultPreemptionArgs& args, const api::FeatureGates&, ErrorList&) {
  reader.Read("minCandidateNodesPercentage", args.min_candidate_nodes_percentage);
  reader.Read("minCandidateNodesAbsolute", args.min_candidate_nodes_absolute);
}

void ReadArgs(StrictReader& reader, api::InterPodAffinityArgs& args, const api::FeatureGates&, ErrorList&) {
  reader.Read("hardPodAffinityWeight", args.hard_pod_affinity_weight);
  reader.Read("ignorePreferredTermsOfExistingPods", args.ignore_preferred_terms_of_existing_pods);
}

void ReadArgs(StrictReader& reader, api::NodeAffinityArgs& args, const api::FeatureGates&,
              ErrorList& errors) {
  ReadOne(reader, "addedAffinity", args.added_affinity, errors);
}

void ReadArgs(StrictReader& reader, api::NodeResourcesFitArgs& args, const api::FeatureGates&,
              ErrorList& errors) {
  reader.ReadStrings("ignoredResources", args.ignored_resources);
  reader.ReadStrings("ignoredResourceGroups", args.ignored_resource_groups);
  ReadOne(reader, "scoringStrategy", args.scoring_strategy, errors);
}

void ReadArgs(StrictReader& reader, api::NodeResourcesBalancedAllocationArgs& args, const api::FeatureGates&,
              ErrorList& errors) {
  std::vector<api::ResourceSpec> resources;
  ReadAll(reader, "resources", resources, errors);
  if (!resources.empty()) args.resources = std::move(resources);
}

void ReadArgs(StrictReader& reader, api::PodTopologySpreadArgs& args, const api::FeatureGates&,
              ErrorList& errors) {
  ReadAll(reader, "defaultConstraints", args.default_constraints, errors);
  std::string type;
  reader.Read("defaultingType", type);
  if (!type.empty()) args.defaulting_type = type;
}

void ReadArgs(StrictReader& reader, api::VolumeBindingArgs& args, const api::FeatureGates& gates,
              ErrorList& errors) {
  reader.Read("bindTimeoutSeconds", args.bind_timeout_seconds);
  std::vector<api::UtilizationShapePoint> shape;
  const bool has_shape = ReadAll(reader, "shape", shape, errors);
  // An empty shape stands for the default where there is one.
  const bool has_default = gates.Enabled(api::Feature::kStorageCapacityScoring);
  if (has_shape && (!shape.empty() || !has_default)) args.shape = std::move(shape);
}

void ReadArgs(StrictReader& reader, api::DynamicResourcesArgs& args, const api::FeatureGates& gates,
              ErrorList&) {
  reader.Read("filterTimeout", args.filter_timeout);
  if (gates.line() >= api::KubernetesLine::k1_35) {
    reader.Read("bindingTimeout", args.binding_timeout);
  }
}

void ReadArgs(StrictReader&, api::UnknownArgs&, const api::FeatureGates&, ErrorList&) {}
void ReadArgs(StrictReader&, std::monostate&, const api::FeatureGates&, ErrorList&) {}

// Members of members, and items, follow what they are in, with their paths: `resources[0].name`. The reader
// of the text limits how deep they are.
void AddField(std::string path, const Value& value,  // NOLINT(misc-no-recursion)
              std::vector<api::ArgsField>& fields) {
  using Type = api::ArgsField::Type;
  api::ArgsField& field = fields.emplace_back(api::ArgsField{.name = path, .text = ""});
  if (value.type == Value::Type::kBool) {
    field.type = Type::kBool;
    field.text = value.boolean ? "true" : "false";
  } else if (value.type == Value::Type::kNumber || value.type == Value::Type::kString) {
    field.type = value.type == Value::Type::kNumber ? Type::kNumber : Type::kString;
    field.text = std::string(value.text);
  }
  for (const Member& member : value.members) {
    AddField(absl::StrCat(path, ".", member.key), member.value, fields);
  }
  for (size_t i = 0; i < value.items.size(); ++i) {
    AddField(absl::StrCat(path, "[", i, "]"), value.items[i], fields);
  }
}

std::vector<api::ArgsField> FieldsOf(const Value& value) {
  std::vector<api::ArgsField> fields;
  for (const Member& member : value.members) AddField(std::string(member.key), member.value, fields);
  return fields;
}

// Checks kind and apiVersion, which may be absent. Returns whether the arguments are of that kind.
bool CheckType(StrictReader& reader, absl::string_view plugin, absl::string_view kind, const Value& value,
               ErrorList& errors) {
  std::string actual_kind(kind);
  std::string actual_version = api::kSchedulerConfigApiVersion;
  reader.Read("kind", actual_kind);
  reader.Read("apiVersion", actual_version);
  if (actual_kind.empty()) actual_kind = std::string(kind);
  if (actual_version.empty()) actual_version = api::kSchedulerConfigApiVersion;
  if (actual_kind == kind && actual_version == api::kSchedulerConfigApiVersion) return true;

  const bool is_registered = actual_version == api::kSchedulerConfigApiVersion &&
                             (actual_kind == "KubeSchedulerConfiguration" ||
                              api::PluginArgsKind(absl::StripSuffix(actual_kind, "Args")) == actual_kind);
  const absl::string_view wrong = actual_version != api::kSchedulerConfigApiVersion ? "apiVersion" : "kind";
  const std::string what =
      is_registered
          ? absl::StrCat("args for plugin ", plugin, " were not of type ", kind, ".", kGroup, ", got ",
                         actual_kind, ".", kGroup)
          : absl::StrCat("decoding args for plugin ", plugin, ": no kind ", api::GoQuote(actual_kind),
                         " is registered for version ", api::GoQuote(actual_version));
  errors.Add(FindPosition(value, wrong), absl::StrCat(reader.PathOf(wrong), ": ", what));
  return false;
}

}  // namespace

api::PluginArgs DecodePluginArgs(absl::string_view plugin, const Value* value, const std::string& path,
                                 const api::FeatureGates& gates, ErrorList& errors) {
  const absl::string_view kind = api::PluginArgsKind(plugin);
  if (kind.empty()) {
    if (value == nullptr) return std::monostate{};
    return api::UnknownArgs{.json = ToJson(*value), .fields = FieldsOf(*value)};
  }
  api::PluginArgs args = api::DefaultPluginArgs(plugin, gates);
  if (value == nullptr) return args;
  StrictReader reader(*value, path, errors);
  if (!value->is_object() || !CheckType(reader, plugin, kind, *value, errors)) return args;
  std::visit([&](auto& typed) { ReadArgs(reader, typed, gates, errors); }, args);
  reader.Finish();
  return args;
}

}  // namespace schedsim::codec
