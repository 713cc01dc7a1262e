// The extension points for groups of pods.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/framework/error_text.h"
#include "core/framework/framework.h"

namespace schedsim::framework {

Status Framework::RunPlacementFeasiblePlugins(const PodGroupInfo& group, PlacementProgress progress) {
  Status status;
  for (const Entry<PlacementFeasiblePlugin>& entry : placement_feasible_) {
    Status answer = entry.plugin->PlacementFeasible(group, progress);
    if (answer.IsSuccess()) continue;
    answer.SetPluginIfUnset(entry.name);
    if (!answer.IsWait()) return answer;
    status = std::move(answer);
  }
  return status;
}

GeneratePlacementsResult Framework::RunPlacementGeneratePlugins(const PodGroupInfo& group, NodeInfos nodes) {
  Placement all = {.name = "", .nodes = {nodes.begin(), nodes.end()}};
  GeneratePlacementsResult result;
  if (placement_generate_.empty()) {
    result.placements.push_back(std::move(all));
    return result;
  }
  const Entry<PlacementGeneratePlugin>& entry = placement_generate_[0];
  result = entry.plugin->GeneratePlacements(group, all);
  if (result.status.IsSuccess() && result.placements.empty()) {
    result.status = Status(Code::kUnschedulable, "no feasible placements found");
  }
  if (!result.status.IsSuccess()) result.status.SetPluginIfUnset(entry.name);
  return result;
}

Status Framework::RunPlacementScorePlugins(const PodGroupInfo& group,
                                           absl::Span<const PodGroupAssignments> assignments,
                                           std::vector<int64_t>& totals) {
  totals.assign(assignments.size(), 0);
  std::vector<int64_t> scores(assignments.size());
  for (size_t p = 0; p < placement_score_.size(); ++p) {
    const Entry<PlacementScorePlugin>& entry = placement_score_[p];
    const auto fail = [&entry](absl::string_view what, const Status& status) {
      return Status::Error(
          absl::StrCat("running ", what, ": plugin \"", entry.name, "\" failed with: ", ErrorText(status)));
    };
    for (size_t i = 0; i < assignments.size(); ++i) {
      const Status status = entry.plugin->ScorePlacement(group, assignments[i], scores[i]);
      if (!status.IsSuccess()) return fail("PlacementScore plugins", status);
    }
    const Status status = entry.plugin->NormalizePlacementScore(absl::MakeSpan(scores));
    if (!status.IsSuccess()) return fail("NormalizePlacementScore on PlacementScore plugins", status);
    for (size_t i = 0; i < scores.size(); ++i) totals[i] += scores[i] * placement_score_weights_[p];
  }
  return Status();
}

PodGroupPostFilterResult Framework::RunPodGroupPostFilterPlugins(CycleState& state, const PodGroupInfo& group,
                                                                 PodGroupSchedulingFunc schedule) {
  // 1.36 takes what its one plugin says as it is.
  if (handle_.line().pod_groups.cycle == api::PodGroupCycle::kOnPop) {
    return pod_group_post_filter_[0].plugin->PodGroupPostFilter(state, group, schedule);
  }
  std::vector<std::string> reasons;
  absl::string_view first_rejector;
  for (const Entry<PodGroupPostFilterPlugin>& entry : pod_group_post_filter_) {
    PodGroupPostFilterResult result = entry.plugin->PodGroupPostFilter(state, group, schedule);
    if (result.status.IsSuccess()) return result;
    if (result.status.code() == Code::kUnschedulableAndUnresolvable) {
      result.status.SetPluginIfUnset(entry.name);
      return result;
    }
    if (result.status.code() != Code::kUnschedulable) {
      PodGroupPostFilterResult error;
      error.status = Status::Error(absl::StrCat("error in \"", entry.name,
                                                "\" PodGroupPostFilter plugins: ", result.status.Message()));
      error.status.SetPluginIfUnset(entry.name);
      return error;
    }
    if (first_rejector.empty()) first_rejector = entry.name;
    const std::vector<std::string>& more = result.status.reasons();
    reasons.insert(reasons.end(), more.begin(), more.end());
  }
  PodGroupPostFilterResult outcome;
  outcome.status = Status(Code::kUnschedulable, std::move(reasons));
  if (!first_rejector.empty()) outcome.status.SetPluginIfUnset(first_rejector);
  return outcome;
}

}  // namespace schedsim::framework
