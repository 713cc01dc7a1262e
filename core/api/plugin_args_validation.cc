#include "core/api/plugin_args_validation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "core/api/go_text.h"
#include "core/api/label_name.h"
#include "core/api/selector_validation.h"

namespace schedsim::api {
namespace {

constexpr int32_t kMaxUtilization = 100;
constexpr int32_t kMaxCustomPriorityScore = 10;

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

void Validate(absl::string_view path, const NodeAffinityArgs& args, const FeatureGates& gates,
              FieldErrors& errors) {
  if (!args.added_affinity) return;
  const NodeAffinity& affinity = *args.added_affinity;
  const std::string added = Child(path, "addedAffinity");
  if (affinity.required_during_scheduling_ignored_during_execution) {
    ValidateNodeSelectorTerms(
        Child(Child(added, "requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms"),
        affinity.required_during_scheduling_ignored_during_execution->node_selector_terms, gates.line(),
        errors);
  }
  ValidatePreferredTerms(Child(added, "preferredDuringSchedulingIgnoredDuringExecution"),
                         affinity.preferred_during_scheduling_ignored_during_execution, gates.line(), errors);
}

void ValidateResourceNames(const std::string& path, const std::vector<std::string>& names, bool is_group,
                           KubernetesLine line, FieldErrors& errors) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (is_group && absl::StrContains(names[i], '/')) {
      errors.Invalid(Index(path, i), names[i], "resource group name can't contain '/'");
    }
    for (const std::string& error : LabelKeyErrors(names[i], line)) {
      errors.Invalid(Index(path, i), names[i], error);
    }
  }
}

void Validate(absl::string_view path, const NodeResourcesFitArgs& args, const FeatureGates& gates,
              FieldErrors& errors) {
  static constexpr absl::string_view kTypes[] = {"LeastAllocated", "MostAllocated",
                                                 "RequestedToCapacityRatio"};
  ValidateResourceNames(Child(path, "ignoredResources"), args.ignored_resources, false, gates.line(), errors);
  ValidateResourceNames(Child(path, "ignoredResourceGroups"), args.ignored_resource_groups, true,
                        gates.line(), errors);
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
                        KubernetesLine line, FieldErrors& errors) {
  static constexpr absl::string_view kActions[] = {"DoNotSchedule", "ScheduleAnyway"};
  if (constraint.max_skew <= 0) {
    errors.Invalid(Child(path, "maxSkew"), constraint.max_skew, "not in valid range (0, inf)");
  }
  if (constraint.topology_key.empty()) {
    errors.Required(Child(path, "topologyKey"), "can not be empty");
  } else {
    for (const std::string& error : LabelKeyErrors(constraint.topology_key, line)) {
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

void Validate(absl::string_view path, const PodTopologySpreadArgs& args, const FeatureGates& gates,
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
    ValidateConstraint(Index(constraints_path, i), constraint, gates.line(), errors);
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

}  // namespace schedsim::api
