#include "core/hosting/process/event_names.h"

namespace schedsim::hosting {
namespace {

struct Action {
  absl::string_view name;
  framework::ActionType actions;
};

// Single ones first. Source: kube-scheduler v0.37, framework/types.go, ActionType.
constexpr Action kActions[] = {
    {"Add", framework::kAdd},
    {"Delete", framework::kDelete},
    {"UpdateNodeAllocatable", framework::kUpdateNodeAllocatable},
    {"UpdateNodeLabel", framework::kUpdateNodeLabel},
    {"UpdateNodeTaint", framework::kUpdateNodeTaint},
    {"UpdateNodeCondition", framework::kUpdateNodeCondition},
    {"UpdateNodeAnnotation", framework::kUpdateNodeAnnotation},
    {"UpdateNodeDeclaredFeature", framework::kUpdateNodeDeclaredFeature},
    {"UpdatePodLabel", framework::kUpdatePodLabel},
    {"UpdatePodScaleDown", framework::kUpdatePodScaleDown},
    {"UpdatePodScaleUp", framework::kUpdatePodScaleUp},
    {"UpdatePodToleration", framework::kUpdatePodToleration},
    {"UpdatePodSchedulingGatesEliminated", framework::kUpdatePodSchedulingGatesEliminated},
    {"UpdatePodGeneratedResourceClaim", framework::kUpdatePodGeneratedResourceClaim},
    {"Update", framework::kUpdate},
    {"All", framework::kAllActions},
};

}  // namespace

std::optional<framework::ActionType> ActionNamed(absl::string_view name) {
  for (const Action& action : kActions) {
    if (action.name == name) return action.actions;
  }
  return std::nullopt;
}

std::vector<absl::string_view> ActionNames(framework::ActionType actions) {
  for (const Action& action : kActions) {
    if (action.actions == actions) return {action.name};
  }
  const bool has_update = (actions & framework::kUpdate) == framework::kUpdate;
  std::vector<absl::string_view> names;
  for (const Action& action : kActions) {
    const bool is_single = (action.actions & (action.actions - 1)) == 0;
    const bool is_covered = has_update && is_single && (action.actions & framework::kUpdate) != 0;
    if ((is_single || action.actions == framework::kUpdate) && !is_covered &&
        (actions & action.actions) == action.actions) {
      names.push_back(action.name);
    }
  }
  return names;
}

}  // namespace schedsim::hosting
