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
#include "core/base/nearest_name.h"
#include "core/base/status_macros.h"
#include "sim/explain/attempt_watch.h"
#include "sim/explain/filter_explainer.h"
#include "sim/explain/preemption_choice.h"
#include "sim/explain/trial_cluster.h"
#include "sim/report/pod_story_text.h"

namespace schedsim::sim {
namespace {

using framework::Status;
using Subject = AttemptWatch::Subject;

std::string GatesOf(const api::Pod& pod) {
  std::vector<std::string> gates;
  for (const api::PodSchedulingGate& gate : pod.spec->scheduling_gates) gates.push_back(gate.name);
  return absl::StrJoin(gates, ", ");
}

// What became of a pod that is no more, or soon will be; "": it is there.
std::string EndOf(const Subject& subject) {
  const api::Pod& pod = *subject.pod;
  if (subject.is_gone) return "gone";
  if (pod.IsTerminal()) return absl::StrCat("finished (", pod.status.phase, ")");
  return pod.metadata.deletion_timestamp.has_value() ? "being deleted" : "";
}

// Why a pod has no attempt.
std::string NoAttempt(const Subject& subject) {
  const api::Pod& pod = *subject.pod;
  const std::string end = EndOf(subject);
  if (!pod.node_name.empty()) {
    const std::string how = subject.came_with_node
                                ? " from the start: it was not scheduled in this run"
                                : ": something else than this scheduler bound it, before its first attempt";
    return absl::StrCat("On ", pod.node_name, how, ".",
                        end.empty() ? "" : absl::StrCat(" By the end it is ", end, "."));
  }
  if (!end.empty()) return absl::StrCat("Never tried, and without a node: by the end it is ", end, ".");
  if (!subject.is_ours) {
    return absl::StrCat("Pending: it is for another scheduler, ", pod.spec->scheduler_name,
                        ", which is none of the profiles of this run.");
  }
  if (!pod.spec->scheduling_gates.empty())
    return absl::StrCat("Pending, never tried: it is gated by ", GatesOf(pod), " (spec.schedulingGates).");
  if (!subject.claim_gate.empty())
    return absl::StrCat("Pending, never tried: ", subject.claim_gate,
                        absl::EndsWith(subject.claim_gate, "?") ? "" : ".");
  return "Pending, never tried: the run ended before its turn came, or a plugin kept it out of the queue.";
}

// What became of a pod after the attempt; "": what the attempt says.
std::string AfterAttempt(const Subject& subject) {
  const CapturedAttempt& attempt = *subject.attempt;
  const std::string end = EndOf(subject);
  if (!end.empty()) return absl::StrCat("By the end of the run the pod is ", end, ".");
  if (attempt.number < subject.attempt_count) return "";
  const std::string& node = subject.pod->node_name;
  const bool found_node = attempt.message.empty() && attempt.bind_failure.empty();
  if (node.empty()) {
    const std::string& hold = subject.hold;
    return found_node
               ? absl::StrCat("The run ended before the pod was bound", hold.empty() ? "" : ": ", hold, ".")
               : "";
  }
  if (found_node && node == attempt.host) return "";
  return absl::StrCat("By the end of the run the pod is on ", node,
                      ": something else than this scheduler bound it.");
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
  // Goes into the one node that the explanation is of, or into all.
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
      if (!attempt_.FitsWhereTriedFirst()) RefuseLeftOut(no_node_fits);
    }
    CountReasons();
    std::vector<RefusedNode>& refused = explanation_.refused;
    std::erase_if(refused, [this](const RefusedNode& node) { return !IsAskedFor(node.node); });
    if (no_node_fits) {
      std::stable_sort(refused.begin(), refused.end(),
                       [](const RefusedNode& a, const RefusedNode& b) { return RankOf(a) < RankOf(b); });
    }
    explanation_.preemption = ChoiceOf(attempt_, trial_);
  }

 private:
  bool IsAskedFor(const std::string& node) const {
    return explanation_.node.empty() || explanation_.node == node;
  }

  // Nodes for which nothing helps come last. Sizes are rounded; where they are equal, the amounts decide.
  static std::tuple<bool, int64_t, std::vector<api::Quantity>> RankOf(const RefusedNode& refused) {
    const Miss& miss = *refused.miss;
    std::vector<api::Quantity> amounts;
    for (const Change& change : miss.changes) amounts.push_back(change.amount);
    return {miss.changes.empty(), SizeOf(miss.changes), std::move(amounts)};
  }

  void RefuseAll() {
    explanation_.refused_by_pre_filter = true;
    const std::string message = attempt_.pre_filter.Message();
    const std::vector<Fact> facts = filters_.ExplainPod(*attempt_.pod, attempt_.pre_filter.plugin());
    for (const std::string& node : attempt_.cluster.nodes) {
      RefusedNode refused = {.node = node,
                             .plugin = std::string(attempt_.pre_filter.plugin()),
                             .reasons = attempt_.pre_filter.reasons(),
                             .facts = facts};
      refused.miss = Miss{.changes = {}, .why_not = absl::StrCat("it is not about one node: ", message)};
      explanation_.refused.push_back(std::move(refused));
    }
  }

  void Refuse(const std::string& node, const Status& status, bool wants_miss) {
    RefusedNode refused = {.node = node, .plugin = std::string(status.plugin()), .reasons = status.reasons()};
    if (!IsAskedFor(node)) {
      explanation_.refused.push_back(std::move(refused));
      return;
    }
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
      if (IsAskedFor(node)) {
        const Status status = trial_.FitOn(attempt_.pod, node);
        refused.facts = filters_.Explain(attempt_.pod, node, status).facts;
        if (wants_miss) refused.miss = misses_.Find(node);
      }
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
  if (!attempt.host.empty()) fact.failure = attempt.message;
  return fact;
}

absl::Status CheckNode(const CapturedAttempt& attempt, const std::string& node) {
  const std::vector<std::string>& nodes = attempt.cluster.nodes;
  if (node.empty() || std::find(nodes.begin(), nodes.end(), node) != nodes.end()) return absl::OkStatus();
  const absl::string_view nearest = NearestName(node, {nodes.begin(), nodes.end()});
  return absl::NotFoundError(absl::StrCat(
      "no node ", node, " in the attempt, which has ", NodesText(static_cast<int64_t>(nodes.size())),
      nearest.empty() ? "" : "; did you mean ", nearest, nearest.empty() ? "" : "?"));
}

// What the watch kept of the pod that is asked for.
absl::StatusOr<Explanation> ExplainKept(AttemptWatch& watch, const SimulationOptions& options,
                                        const ExplainRequest& request) {
  std::pair<const std::string, Subject>* found = nullptr;
  ASSIGN_OR_RETURN(found, FindSubject(watch, request.pod));
  Subject& subject = found->second;
  if (!subject.attempt.has_value() && request.attempt.has_value())
    return NoSuchAttempt(found->first, *request.attempt, subject.attempt_count);
  Explanation explanation;
  if (subject.attempt.has_value()) {
    const std::string end = AfterAttempt(subject);
    ASSIGN_OR_RETURN(explanation, ExplainAttempt(options, *std::move(subject.attempt), request.node));
    explanation.end = end;
  } else {
    explanation.no_attempt = NoAttempt(subject);
  }
  explanation.pod = found->first;
  explanation.attempt_count = subject.attempt_count;
  explanation.namesake_count = subject.namesake_count;
  return explanation;
}

}  // namespace

absl::StatusOr<Explanation> ExplainAttempt(const SimulationOptions& options, CapturedAttempt attempt,
                                           const std::string& node) {
  RETURN_IF_ERROR(CheckNode(attempt, node));
  Explanation explanation;
  explanation.pod = attempt.pod->Key();
  explanation.node = node;
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

absl::StatusOr<ExplainedRun> Explain(Plan plan, const ExplainRequest& request) {
  const SimulationOptions options = plan.simulation;
  AttemptWatch watch(request.pod, request.attempt);
  plan.on_made = [&watch, on_made = std::move(plan.on_made)](Simulation& simulation) {
    if (on_made != nullptr) on_made(simulation);
    watch.Attach(simulation);
  };
  plan.on_end = [&watch, on_end = std::move(plan.on_end)](const Simulation& simulation) {
    watch.NoteEnd();
    if (on_end != nullptr) on_end(simulation);
  };
  plan.pod_rows = PodRows::kNone;
  ExplainedRun run;
  ASSIGN_OR_RETURN(run.report, RunPlan(std::move(plan)));
  run.explanation = ExplainKept(watch, options, request);
  return run;
}

}  // namespace schedsim::sim
