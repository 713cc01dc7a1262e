#include "core/api/plugin_args_validation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "core/api/go_text.h"
#include "core/api/label_name.h"

namespace schedsim::api {
namespace {

constexpr int32_t kMaxUtilization = 100;
constexpr int32_t kMaxCustomPriorityScore = 10;

std::string JsonList(const std::vector<std::string>& values) {
  if (values.empty()) return "null";
  return absl::StrCat(
      "[",
      absl::StrJoin(values, ",",
                    [](std::string* out, const std::string& text) { absl::StrAppend(out, GoQuote(text)); }),
      "]");
}

std::string JsonShape(const std::vector<UtilizationShapePoint>& shape) {
  return absl::StrCat("[",
                      absl::StrJoin(shape, ",",
                                    [](std::string* out, const UtilizationShapePoint& point) {
                                      absl::StrAppend(out, "{\"Utilization\":", point.utilization,
                                                      ",\"Score\":", point.score, "}");
                                    }),
                      "]");
}

void ValidateShape(const std::string& path, const std::vector<UtilizationShapePoint>& shape,
                   FieldErrors& errors) {
  if (shape.empty()) {
    errors.Required(path, "at least one point must be specified");
    return;
  }
  for (size_t i = 1; i < shape.size(); ++i) {
    if (shape[i - 1].utilization < shape[i].utilization) continue;
    errors.Invalid(Child(Index(path, i), "utilization"), shape[i].utilization,
                   "values must be sorted in increasing order");
    break;
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].utilization < 0 || shape[i].utilization > kMaxUtilization) {
      errors.Invalid(Child(Index(path, i), "utilization"), shape[i].utilization,
                     "not in valid range [0, 100]");
    }
    if (shape[i].score < 0 || shape[i].score > kMaxCustomPriorityScore) {
      errors.Invalid(Child(Index(path, i), "score"), shape[i].score, "not in valid range [0, 10]");
    }
  }
}

// A requirement on node labels. Returns at an unknown operator, as the real one does.
void ValidateLabelRequirement(const std::string& path, const NodeSelectorRequirement& requirement,
                              FieldErrors& errors) {
  static constexpr absl::string_view kOperators[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
  const std::string& name = requirement.operator_;
  const std::vector<std::string>& values = requirement.values;
  if (std::find(std::begin(kOperators), std::end(kOperators), name) == std::end(kOperators)) {
    errors.NotSupported(Child(path, "operator"), name, kOperators);
    return;
  }
  const std::vector<std::string> key_errors = LabelKeyErrors(requirement.key);
  if (!key_errors.empty()) {
    errors.Invalid(Child(path, "key"), requirement.key, absl::StrJoin(key_errors, "; "));
  }
  const std::string values_path = Child(path, "values");
  if (name == "In" || name == "NotIn") {
    if (values.empty()) {
      errors.InvalidJson(values_path, JsonList(values),
                         "for 'in', 'notin' operators, values set can't be empty");
    }
  } else if (name == "Exists" || name == "DoesNotExist") {
    if (!values.empty()) {
      errors.InvalidJson(values_path, JsonList(values),
                         "values set must be empty for exists and does not exist");
    }
  } else {
    if (values.size() != 1) {
      errors.InvalidJson(values_path, JsonList(values),
                         "for 'Gt', 'Lt' operators, exactly one value is required");
    }
    for (size_t i = 0; i < values.size(); ++i) {
      int64_t number = 0;
      if (absl::SimpleAtoi(values[i], &number)) continue;
      errors.Invalid(Index(values_path, i), values[i],
                     "for 'Gt', 'Lt' operators, the value must be an integer");
    }
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const std::vector<std::string> value_errors = LabelValueErrors(values[i]);
    if (value_errors.empty()) continue;
    errors.Invalid(absl::StrCat(Index(values_path, i), "[", requirement.key, "]"), values[i],
                   absl::StrJoin(value_errors, "; "));
  }
}

void ValidateFieldRequirement(const std::string& path, const NodeSelectorRequirement& requirement,
                              FieldErrors& errors) {
  static constexpr absl::string_view kOperators[] = {"In", "NotIn"};
  if (requirement.operator_ != "In" && requirement.operator_ != "NotIn") {
    errors.NotSupported(Child(path, "operator"), requirement.operator_, kOperators);
  } else if (requirement.values.size() != 1) {
    errors.InvalidJson(Child(path, "values"), JsonList(requirement.values), "must have one element");
  }
}

void ValidateTerm(const std::string& path, const NodeSelectorTerm& term, FieldErrors& errors) {
  for (size_t i = 0; i < term.match_expressions.size(); ++i) {
    ValidateLabelRequirement(Index(Child(path, "matchExpressions"), i), term.match_expressions[i], errors);
  }
  for (size_t i = 0; i < term.match_fields.size(); ++i) {
    ValidateFieldRequirement(Index(Child(path, "matchFields"), i), term.match_fields[i], errors);
  }
}

void ValidatePreferredTerms(absl::string_view path, const std::vector<PreferredSchedulingTerm>& terms,
                            FieldErrors& errors) {
  for (size_t i = 0; i < terms.size(); ++i) {
    // The real one leaves `preference` out of the path.
    if (terms[i].weight != 0) ValidateTerm(Index(path, i), terms[i].preference, errors);
  }
}

void Validate(absl::string_view path, const DefaultPreemptionArgs& args, const FeatureGates&,
              FieldErrors& errors) {
  const std::string percentage = Child(path, "minCandidateNodesPercentage");
  const std::string absolute = Child(path, "minCandidateNodesAbsolute");
  if (args.min_candidate_nodes_percentage < 0 || args.min_candidate_nodes_percentage > 100) {
    errors.Invalid(percentage, args.min_candidate_nodes_percentage, "not in valid range [0, 100]");
  }
  if (args.min_candidate_nodes_absolute < 0) {
    errors.Invalid(absolute, args.min_candidate_nodes_absolute, "not in valid range [0, inf)");
  }
  if (args.min_candidate_nodes_percentage == 0 && args.min_candidate_nodes_absolute == 0) {
    errors.Invalid(percentage, int64_t{0}, "cannot be zero at the same time as minCandidateNodesAbsolute");
    errors.Invalid(absolute, int64_t{0}, "cannot be zero at the same time as minCandidateNodesPercentage");
  }
}

void Validate(absl::string_view path, const InterPodAffinityArgs& args, const FeatureGates&,
              FieldErrors& errors) {
  if (args.hard_pod_affinity_weight < 0 || args.hard_pod_affinity_weight > 100) {
    errors.Invalid(Child(path, "hardPodAffinityWeight"), args.hard_pod_affinity_weight,
                   "not in valid range [0, 100]");
  }
}

void Validate(absl::string_view path, const NodeAffinityArgs& args, const FeatureGates&,
              FieldErrors& errors) {
  if (!args.added_affinity) return;
  const NodeAffinity& affinity = *args.added_affinity;
  const std::string added = Child(path, "addedAffinity");
  if (affinity.required_during_scheduling_ignored_during_execution) {
    const std::vector<NodeSelectorTerm>& terms =
        affinity.required_during_scheduling_ignored_during_execution->node_selector_terms;
    const std::string terms_path =
        Child(Child(added, "requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms");
    for (size_t i = 0; i < terms.size(); ++i) ValidateTerm(Index(terms_path, i), terms[i], errors);
  }
  ValidatePreferredTerms(Child(added, "preferredDuringSchedulingIgnoredDuringExecution"),
                         affinity.preferred_during_scheduling_ignored_during_execution, errors);
}

void ValidateResourceNames(const std::string& path, const std::vector<std::string>& names, bool is_group,
                           FieldErrors& errors) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (is_group && absl::StrContains(names[i], '/')) {
      errors.Invalid(Index(path, i), names[i], "resource group name can't contain '/'");
    }
    for (const std::string& error : LabelKeyErrors(names[i])) {
      errors.Invalid(Index(path, i), names[i], error);
    }
  }
}

void Validate(absl::string_view path, const NodeResourcesFitArgs& args, const FeatureGates& gates,
              FieldErrors& errors) {
  static constexpr absl::string_view kTypes[] = {"LeastAllocated", "MostAllocated",
                                                 "RequestedToCapacityRatio"};
  ValidateResourceNames(Child(path, "ignoredResources"), args.ignored_resources, false, errors);
  ValidateResourceNames(Child(path, "ignoredResourceGroups"), args.ignored_resource_groups, true, errors);
  const std::string strategy_path = Child(path, "scoringStrategy");
  const ScoringStrategy& strategy = args.scoring_strategy;
  if (std::find(std::begin(kTypes), std::end(kTypes), strategy.type) == std::end(kTypes)) {
    errors.NotSupported(Child(strategy_path, "type"), strategy.type, kTypes);
  }
  for (size_t i = 0; i < strategy.resources.size(); ++i) {
    const ResourceSpec& resource = strategy.resources[i];
    if (resource.weight > 0 && resource.weight <= 100) continue;
    errors.Invalid(Child(Index(Child(strategy_path, "resources"), i), "weight"), resource.weight,
                   absl::StrCat("resource weight of ", resource.name, " not in valid range (0, 100]"));
  }
  const std::string ratio_path = Child(strategy_path, "requestedToCapacityRatio");
  const bool is_ratio = strategy.type == "RequestedToCapacityRatio";
  if (is_ratio && !strategy.shape) {
    // Before 1.36 the real one crashes here.
    errors.Required(ratio_path, "must be specified when type is RequestedToCapacityRatio");
  } else if (gates.line() < KubernetesLine::k1_36) {
    if (strategy.shape) ValidateShape(Child(strategy_path, "shape"), *strategy.shape, errors);
  } else if (is_ratio) {
    ValidateShape(Child(ratio_path, "shape"), *strategy.shape, errors);
  } else if (strategy.shape) {
    errors.Forbidden(ratio_path, "must be nil when type is not RequestedToCapacityRatio");
  }
}

void Validate(absl::string_view path, const NodeResourcesBalancedAllocationArgs& args, const FeatureGates&,
              FieldErrors& errors) {
  const std::string resources_path = Child(path, "resources");
  for (size_t i = 0; i < args.resources.size(); ++i) {
    const ResourceSpec& resource = args.resources[i];
    const auto end = args.resources.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(args.resources.begin(), end,
                    [&](const ResourceSpec& other) { return other.name == resource.name; })) {
      errors.Duplicate(Child(Index(resources_path, i), "name"), resource.name);
    }
    if (resource.weight != 1) {
      errors.Invalid(Child(Index(resources_path, i), "weight"), resource.weight, "must be 1");
    }
  }
}

void ValidateConstraint(const std::string& path, const TopologySpreadConstraint& constraint,
                        FieldErrors& errors) {
  static constexpr absl::string_view kActions[] = {"DoNotSchedule", "ScheduleAnyway"};
  if (constraint.max_skew <= 0) {
    errors.Invalid(Child(path, "maxSkew"), constraint.max_skew, "not in valid range (0, inf)");
  }
  if (constraint.topology_key.empty()) {
    errors.Required(Child(path, "topologyKey"), "can not be empty");
  } else {
    for (const std::string& error : LabelKeyErrors(constraint.topology_key)) {
      errors.Invalid(Child(path, "topologyKey"), constraint.topology_key, error);
    }
  }
  const std::string& action = constraint.when_unsatisfiable;
  if (action.empty()) {
    errors.Required(Child(path, "whenUnsatisfiable"), "can not be empty");
  } else if (action != kActions[0] && action != kActions[1]) {
    errors.NotSupported(Child(path, "whenUnsatisfiable"), action, kActions);
  }
  if (constraint.label_selector) {
    errors.Forbidden(Child(path, "labelSelector"),
                     "constraint must not define a selector, as they deduced for each pod");
  }
}

void Validate(absl::string_view path, const PodTopologySpreadArgs& args, const FeatureGates&,
              FieldErrors& errors) {
  static constexpr absl::string_view kTypes[] = {"System", "List"};
  const std::vector<TopologySpreadConstraint>& constraints = args.default_constraints;
  const std::string type_path = Child(path, "defaultingType");
  if (args.defaulting_type != kTypes[0] && args.defaulting_type != kTypes[1]) {
    errors.NotSupported(type_path, args.defaulting_type, kTypes);
  } else if (args.defaulting_type == kTypes[0] && !constraints.empty()) {
    errors.Invalid(type_path, args.defaulting_type, "when .defaultConstraints are not empty");
  }
  const std::string constraints_path = Child(path, "defaultConstraints");
  for (size_t i = 0; i < constraints.size(); ++i) {
    const TopologySpreadConstraint& constraint = constraints[i];
    ValidateConstraint(Index(constraints_path, i), constraint, errors);
    const auto end = constraints.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(constraints.begin(), end, [&](const TopologySpreadConstraint& other) {
          return other.topology_key == constraint.topology_key &&
                 other.when_unsatisfiable == constraint.when_unsatisfiable;
        })) {
      errors.Duplicate(Index(constraints_path, i),
                       absl::StrCat("{", constraint.topology_key, ", ", constraint.when_unsatisfiable, "}"));
    }
  }
}

void Validate(absl::string_view path, const VolumeBindingArgs& args, const FeatureGates& gates,
              FieldErrors& errors) {
  if (args.bind_timeout_seconds < 0) {
    errors.Invalid(Child(path, "bindTimeoutSeconds"), args.bind_timeout_seconds,
                   "invalid BindTimeoutSeconds, should not be a negative value");
  }
  if (gates.Enabled(Feature::kStorageCapacityScoring)) {
    ValidateShape(Child(path, "shape"), args.shape.value_or(std::vector<UtilizationShapePoint>()), errors);
  } else if (args.shape) {
    errors.InvalidJson(Child(path, "shape"), JsonShape(*args.shape),
                       "unexpected field `shape`, remove it or turn on the feature gate "
                       "StorageCapacityScoring");
  }
}

void Validate(absl::string_view path, const DynamicResourcesArgs& args, const FeatureGates& gates,
              FieldErrors& errors) {
  const std::string filter_path = Child(path, "filterTimeout");
  if (args.filter_timeout && !gates.Enabled(Feature::kDRASchedulerFilterTimeout)) {
    errors.Forbidden(filter_path, "DRASchedulingFilterTimeout feature gate is disabled");
  } else if (args.filter_timeout && *args.filter_timeout < absl::ZeroDuration()) {
    errors.Invalid(filter_path, FormatGoDuration(*args.filter_timeout), "must be zero or positive");
  }
  if (!args.binding_timeout) return;
  const std::string binding_path = Child(path, "bindingTimeout");
  if (!gates.Enabled(Feature::kDRADeviceBindingConditions) ||
      !gates.Enabled(Feature::kDRAResourceClaimDeviceStatus)) {
    errors.Forbidden(binding_path,
                     "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled");
  } else if (*args.binding_timeout < absl::Seconds(1)) {
    errors.Invalid(binding_path, FormatGoDuration(*args.binding_timeout), "must be at least 1 second");
  }
}

// Plugins that are not in-tree check their arguments themselves.
void Validate(absl::string_view, const UnknownArgs&, const FeatureGates&, FieldErrors&) {}
void Validate(absl::string_view, const std::monostate&, const FeatureGates&, FieldErrors&) {}

}  // namespace

void ValidatePluginArgs(absl::string_view path, const PluginArgs& args, const FeatureGates& gates,
                        FieldErrors& errors) {
  std::visit([&](const auto& typed) { Validate(path, typed, gates, errors); }, args);
}

std::string PreferredNodeTermsError(const std::vector<PreferredSchedulingTerm>& terms) {
  FieldErrors errors;
  ValidatePreferredTerms("", terms, errors);
  std::vector<std::string> texts;
  for (const FieldError& error : errors.Take()) texts.push_back(absl::StrCat(error.field, ": ", error.body));
  return texts.size() == 1 ? texts[0]
         : texts.empty()   ? ""
                           : absl::StrCat("[", absl::StrJoin(texts, ", "), "]");
}

}  // namespace schedsim::api
