#include "sim/cluster/eviction.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/api/workloads.h"
#include "core/base/symbol.h"
#include "core/framework/client.h"
#include "core/framework/selector.h"
#include "sim/cluster/disruption_budget.h"

namespace schedsim::sim {
namespace {

using BudgetPtr = std::shared_ptr<const api::PodDisruptionBudget>;
using Outcome = Eviction::Outcome;

// How many evictions may wait for the controller.
constexpr size_t kDisruptedPodsMax = 2000;

// A pod that does not run yet, or no longer, is not disrupted. Input may leave out the phase of a pod on a
// node.
bool GoesWithoutBudget(const api::Pod& pod) {
  const bool is_pending = pod.status.phase == "Pending" && !IsHealthy(pod);
  return is_pending || pod.IsTerminal() || pod.metadata.deletion_timestamp.has_value();
}

std::vector<BudgetPtr> BudgetsOf(const api::Pod& pod, const ApiServer& server) {
  std::vector<BudgetPtr> budgets;
  const ApiServer::Objects& objects = server.List(api::Kind::kPodDisruptionBudget);
  SymbolTable symbols;
  const std::string& name_space = pod.metadata.namespace_;
  for (auto at = objects.lower_bound(absl::StrCat(name_space, "/")); at != objects.end(); ++at) {
    auto budget = std::static_pointer_cast<const api::PodDisruptionBudget>(at->second);
    if (budget->metadata.namespace_ != name_space) break;
    const auto selector = framework::LabelMatcher::Make(budget->selector, symbols);
    if (!selector.has_value()) continue;
    const framework::LabelSet labels(pod.metadata.labels, symbols);
    if (selector->Matches(labels, symbols)) budgets.push_back(std::move(budget));
  }
  return budgets;
}

Eviction TooMany(const std::string& budget, std::string cause) {
  return {.outcome = Outcome::kTooManyRequests,
          .message = "Cannot evict pod as it would violate the pod's disruption budget.",
          .budget = budget,
          .cause = std::move(cause)};
}

std::string WhyNoneIsAllowed(const std::string& name, const BudgetStatus& status) {
  const std::string budget = absl::StrCat("The disruption budget ", name);
  const bool has_message = status.condition == "False" && !status.message.empty();
  if (has_message && status.reason == "SyncFailed") {
    return absl::StrCat(budget,
                        " does not allow evicting pods currently because it failed sync: ", status.message);
  }
  if (status.current_healthy <= status.desired_healthy) {
    return absl::StrCat(budget, " needs ", status.desired_healthy, " healthy pods and has ",
                        status.current_healthy, " currently");
  }
  if (!has_message) return absl::StrCat(budget, " does not allow evicting pods currently");
  return absl::StrCat(budget, " does not allow evicting pods currently (", status.reason,
                      "): ", status.message);
}

// Takes one of the disruptions that the budget allows. Absent: it was taken.
std::optional<Eviction> TakeDisruption(const api::Pod& pod, const api::PodDisruptionBudget& object,
                                       const DisruptionBudget& budget, absl::Time now, ApiServer& server) {
  const std::string& name = object.metadata.name;
  BudgetStatus status = budget.status;
  if (status.observed_generation < budget.generation) {
    return TooMany(name,
                   absl::StrCat("The disruption budget ", name, " is still being processed by the server."));
  }
  const char* forbidden = nullptr;
  if (status.disruptions_allowed < 0) forbidden = "pdb disruptions allowed is negative";
  if (status.disrupted_pods.size() > kDisruptedPodsMax) {
    forbidden = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
  }
  if (forbidden != nullptr) {
    return Eviction{
        .outcome = Outcome::kFailed,
        .message = absl::StrCat("poddisruptionbudgets.policy \"", name, "\" is forbidden: ", forbidden),
        .budget = name,
        .cause = forbidden};
  }
  if (status.disruptions_allowed == 0) return TooMany(name, WhyNoneIsAllowed(name, status));
  if (--status.disruptions_allowed == 0) SetDisruptionAllowed(status);
  status.disrupted_pods[pod.metadata.name] = now;
  const absl::Status written = WriteBudgetStatus(object, budget.status, status, now, server);
  if (written.ok()) return std::nullopt;
  return Eviction{.outcome = Outcome::kFailed, .message = std::string(written.message()), .budget = name};
}

}  // namespace

Eviction EvictPod(const api::Pod& pod, absl::Time now, ApiServer& server) {
  const api::PodPtr stored = server.FindPod(pod.metadata.namespace_, pod.metadata.name);
  if (stored == nullptr || stored->metadata.uid != pod.metadata.uid) {
    return {.outcome = Outcome::kFailed,
            .message = absl::StrCat("pods \"", pod.metadata.name, "\" not found")};
  }
  const std::vector<BudgetPtr> budgets =
      GoesWithoutBudget(*stored) ? std::vector<BudgetPtr>() : BudgetsOf(*stored, server);
  if (budgets.size() > 1) {
    return {.outcome = Outcome::kFailed,
            .message =
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
                "support.",
            .budget = absl::StrCat(budgets[0]->metadata.name, ", ", budgets[1]->metadata.name)};
  }
  if (budgets.size() == 1) {
    const DisruptionBudget budget = ReadBudget(*budgets[0]);
    // A pod that is not ready is not what the budget keeps.
    const bool has_enough =
        budget.status.current_healthy >= budget.status.desired_healthy && budget.status.desired_healthy > 0;
    const bool goes = !IsHealthy(*stored) && (budget.evicts_unhealthy || has_enough);
    if (!goes) {
      if (std::optional<Eviction> refused = TakeDisruption(*stored, *budgets[0], budget, now, server)) {
        return *std::move(refused);
      }
    }
  }
  framework::PodStatusPatch patch;
  patch.condition = {.type = "DisruptionTarget",
                     .status = "True",
                     .reason = "EvictionByEvictionAPI",
                     .message = "Eviction API: evicting"};
  server.PatchPodStatus(*stored, patch).status().IgnoreError();
  const absl::Status deleted = server.DeletePod(*stored);
  if (deleted.ok()) return {};
  return {.outcome = Outcome::kFailed, .message = std::string(deleted.message())};
}

}  // namespace schedsim::sim
