#include "sim/explain/explanation.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/kubernetes_version.h"
#include "core/base/status_macros.h"
#include "sim/explain/attempt_watch.h"
#include "sim/explain/filter_explainer.h"
#include "sim/explain/preemption_choice.h"
#include "sim/explain/trial_cluster.h"
#include "sim/report/report.h"

namespace schedsim::sim {
namespace {

using framework::Status;
using Subject = AttemptWatch::Subject;

const api::EffectiveProfile& ProfileOf(const SimulationOptions& options, absl::string_view name) {
  const auto& profiles = options.config.profiles;
  const auto found =
      std::find_if(profiles.begin(), profiles.end(),
                   [&](const api::EffectiveProfile& profile) { return profile.scheduler_name == name; });
  return found == profiles.end() ? profiles.front() : *found;
}

// Why a pod has no attempt.
std::string NoAttempt(const Subject& subject) {
  const api::Pod& pod = *subject.pod;
  if (!pod.node_name.empty())
    return absl::StrCat("On ", pod.node_name, " from the start: it was not scheduled in this run.");
  if (subject.is_gone) return "Gone; it never had a node, and was never tried.";
  if (!subject.is_ours) {
    return absl::StrCat("Pending: it is for another scheduler, ", pod.spec->scheduler_name,
                        ", which is none of the profiles of this run.");
  }
  if (!pod.spec->scheduling_gates.empty()) {
    std::vector<std::string> gates;
    for (const api::PodSchedulingGate& gate : pod.spec->scheduling_gates) gates.push_back(gate.name);
    return absl::StrCat("Pending, never tried: it is gated by ", absl::StrJoin(gates, ", "),
                        " (spec.schedulingGates).");
  }
  return "Pending, never tried: the run ended before its turn came, or a plugin kept it out of the queue.";
}

absl::StatusOr<std::pair<const std::string, Subject>*> FindSubject(AttemptWatch& watch,
                                                                   absl::string_view pod) {
  if (watch.subjects().empty()) return absl::NotFoundError(NoSuchPod(pod, watch.pods(), "run"));
  if (watch.subjects().size() > 1) {
    std::vector<std::string> keys;
    for (const auto& [key, subject] : watch.subjects()) keys.push_back(key);
    return absl::InvalidArgumentError(SeveralPods(pod, keys));
  }
  return &*watch.subjects().begin();
}

absl::Status NoSuchAttempt(absl::string_view pod, int64_t number, int64_t count) {
  const std::string has = count == 0   ? "which was never tried"
                          : count == 1 ? "which has one attempt, 1"
                                       : absl::StrCat("which has the attempts 1 to ", count);
  return absl::NotFoundError(absl::StrCat("no attempt ", number, " of pod ", pod, ", ", has));
}

class Explainer {
 public:
  Explainer(TrialCluster& trial, const api::EffectiveProfile& profile, Explanation& explanation)
      : trial_(trial),
        filters_(trial, profile),
        misses_(trial, filters_, explanation.attempt.pod),
        explanation_(explanation),
        attempt_(explanation.attempt) {}

  void Run() {
    const bool no_node_fits = attempt_.is_fit_error && attempt_.host.empty();
    if (attempt_.pre_filter.IsRejected()) {
      RefuseAll();
    } else {
      for (const CapturedAttempt::Answer& answer : attempt_.answers) {
        if (!answer.status.IsSuccess()) Refuse(answer.node, answer.status, no_node_fits);
      }
      RefuseLeftOut(no_node_fits);
    }
    if (no_node_fits) {
      std::stable_sort(explanation_.refused.begin(), explanation_.refused.end(),
                       [](const RefusedNode& a, const RefusedNode& b) { return RankOf(a) < RankOf(b); });
    }
    CountReasons();
    explanation_.preemption = ChoiceOf(attempt_, trial_);
  }

 private:
  // Nodes for which nothing helps come last.
  static std::tuple<bool, int64_t> RankOf(const RefusedNode& refused) {
    const Miss& miss = *refused.miss;
    return {miss.changes.empty(), miss.Size()};
  }

  void RefuseAll() {
    explanation_.refused_by_pre_filter = true;
    const std::string message = attempt_.pre_filter.Message();
    for (const std::string& node : attempt_.cluster.nodes) {
      RefusedNode refused = {.node = node,
                             .plugin = std::string(attempt_.pre_filter.plugin()),
                             .reasons = attempt_.pre_filter.reasons()};
      refused.miss = Miss{.changes = {}, .why_not = absl::StrCat("it is not about one node: ", message)};
      explanation_.refused.push_back(std::move(refused));
    }
  }

  void Refuse(const std::string& node, const Status& status, bool wants_miss) {
    RefusedNode refused = {.node = node, .plugin = std::string(status.plugin()), .reasons = status.reasons()};
    const Status again = trial_.FitOn(attempt_.pod, node);
    // What plugins remember between cycles is not in the API server.
    const bool agrees = again.plugin() == status.plugin() && again.reasons() == status.reasons();
    if (agrees) refused.facts = filters_.Explain(attempt_.pod, node, status).facts;
    if (wants_miss) {
      refused.miss = agrees ? misses_.Find(node)
                            : Miss{.changes = {}, .why_not = "the attempt cannot be repeated there"};
    }
    explanation_.refused.push_back(std::move(refused));
  }

  // Nodes that PreFilter plugins left out were not looked at.
  void RefuseLeftOut(bool wants_miss) {
    if (!attempt_.pre_filter_nodes.has_value()) return;
    std::set<std::string> known(attempt_.pre_filter_nodes->begin(), attempt_.pre_filter_nodes->end());
    for (const RefusedNode& refused : explanation_.refused) known.insert(refused.node);
    const std::string reason = absl::StrCat("node(s) didn't satisfy plugin(s) [",
                                            absl::StrJoin(attempt_.pre_filter_plugins, " "), "]");
    for (const std::string& node : attempt_.cluster.nodes) {
      if (known.count(node) > 0) continue;
      RefusedNode refused = {
          .node = node, .plugin = absl::StrJoin(attempt_.pre_filter_plugins, ", "), .reasons = {reason}};
      const Status status = trial_.FitOn(attempt_.pod, node);
      refused.facts = filters_.Explain(attempt_.pod, node, status).facts;
      if (wants_miss) refused.miss = misses_.Find(node);
      explanation_.refused.push_back(std::move(refused));
    }
  }

  // As in the scheduler's message: a node with two reasons counts for both.
  void CountReasons() {
    std::map<std::pair<std::string, std::string>, int64_t> counts;
    for (const RefusedNode& refused : explanation_.refused) {
      for (const std::string& reason : refused.reasons) ++counts[{reason, refused.plugin}];
    }
    for (const auto& [key, count] : counts) {
      explanation_.fact.rejections.push_back(
          {.node_count = count, .reason = key.first, .plugin = key.second});
    }
    std::stable_sort(
        explanation_.fact.rejections.begin(), explanation_.fact.rejections.end(),
        [](const RejectionFact& a, const RejectionFact& b) { return a.node_count > b.node_count; });
  }

  TrialCluster& trial_;
  FilterExplainer filters_;
  MissFinder misses_;
  Explanation& explanation_;
  const CapturedAttempt& attempt_;
};

AttemptFact FactOf(const CapturedAttempt& attempt) {
  AttemptFact fact;
  fact.number = attempt.number;
  fact.host = attempt.host;
  fact.feasible_count = attempt.feasible_count;
  fact.evaluated_count = attempt.evaluated_count;
  if (attempt.is_fit_error && attempt.host.empty())
    fact.node_count = static_cast<int64_t>(attempt.cluster.nodes.size());
  fact.error = attempt.message;
  return fact;
}

}  // namespace

absl::StatusOr<Explanation> ExplainAttempt(const SimulationOptions& options, CapturedAttempt attempt) {
  Explanation explanation;
  explanation.pod = attempt.pod->Key();
  explanation.attempt_count = attempt.number;
  explanation.fact = FactOf(attempt);
  explanation.node_count = static_cast<int64_t>(attempt.cluster.nodes.size());
  explanation.draws_ties = options.line.host_tie_rule == api::HostTieRule::kRandom;
  explanation.attempt = std::move(attempt);
  std::unique_ptr<TrialCluster> trial;
  ASSIGN_OR_RETURN(trial, TrialCluster::Make(options, explanation.attempt.cluster));
  Explainer(*trial, ProfileOf(options, explanation.attempt.profile), explanation).Run();
  return explanation;
}

absl::StatusOr<Explanation> Explain(Plan plan, const ExplainRequest& request) {
  const SimulationOptions options = plan.simulation;
  AttemptWatch watch(request.pod, request.attempt);
  plan.on_made = [&watch](Simulation& simulation) { watch.Attach(simulation); };
  plan.pod_rows = PodRows::kNone;
  const size_t warnings_before = plan.input.warnings.size();
  Report report;
  ASSIGN_OR_RETURN(report, RunPlan(std::move(plan)));
  std::pair<const std::string, Subject>* found = nullptr;
  ASSIGN_OR_RETURN(found, FindSubject(watch, request.pod));
  Subject& subject = found->second;
  if (!subject.attempt.has_value() && request.attempt.has_value())
    return NoSuchAttempt(found->first, *request.attempt, subject.attempt_count);
  Explanation explanation;
  if (subject.attempt.has_value()) {
    ASSIGN_OR_RETURN(explanation, ExplainAttempt(options, *std::move(subject.attempt)));
  } else {
    explanation.no_attempt = NoAttempt(subject);
  }
  explanation.pod = found->first;
  explanation.attempt_count = subject.attempt_count;
  explanation.notices = LateNotices(report, warnings_before);
  return explanation;
}

}  // namespace schedsim::sim
