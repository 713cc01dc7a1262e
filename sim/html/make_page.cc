#include "sim/html/make_page.h"

#include <memory>
#include <utility>

#include "core/base/status_macros.h"
#include "sim/diff/decision_source.h"
#include "sim/html/page_explanations.h"
#include "sim/html/run_watch.h"

namespace schedsim::sim {

absl::StatusOr<Page> MakePage(const PageRequest& request) {
  Page page;
  RunWatch watch;
  Plan plan = request.plan;
  watch.AddTo(plan);
  if (request.other.has_value()) {
    RunWatch other_watch;
    Plan other = *request.other;
    other_watch.AddTo(other);
    const std::unique_ptr<DecisionSource> a = MakeRunSource(request.label, std::move(plan));
    const std::unique_ptr<DecisionSource> b = MakeRunSource(request.other_label, std::move(other));
    ASSIGN_OR_RETURN(page.diff, Diff(*a, *b, DiffIgnore()));
    page.run = watch.Take(*page.diff->a.report);
    page.other = other_watch.Take(*page.diff->b.report);
  } else {
    Report report;
    ASSIGN_OR_RETURN(report, RunPlan(std::move(plan)));
    page.run = watch.Take(std::move(report));
  }
  RETURN_IF_ERROR(AddExplanations(request.plan, request.explanations_max, page));
  return page;
}

}  // namespace schedsim::sim
