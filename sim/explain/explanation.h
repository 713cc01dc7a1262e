// Why one attempt of a pod ended as it did: facts. explanation_text.h has them as text and as JSON.
#ifndef SCHEDSIM_SIM_EXPLAIN_EXPLANATION_H_
#define SCHEDSIM_SIM_EXPLAIN_EXPLANATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/explain/captured_attempt.h"
#include "sim/explain/fact.h"
#include "sim/explain/miss.h"
#include "sim/plan/plan.h"
#include "sim/report/pod_story.h"
#include "sim/report/report.h"

namespace schedsim::sim {

// A node that was refused.
struct RefusedNode {
  std::string node;
  // The filter, and what it said. Before any node was looked at: what PreFilter said.
  std::string plugin;
  std::vector<std::string> reasons;
  std::vector<Fact> facts;
  // Of a pod that fits nowhere.
  std::optional<Miss> miss;
};

// Why preemption took this node and these victims.
struct PreemptionChoice {
  // What one node would cost, in the order in which the criteria count.
  struct Candidate {
    std::string node;
    std::vector<std::string> victims;
    int64_t violations = 0;
    int64_t highest_priority = 0;
    int64_t priority_sum = 0;
    int64_t victim_count = 0;
    std::string earliest_start;  // Of victims of the highest priority; "": none has started.
    // Pods of the node that are less important than the preemptor; those that are no victims may stay.
    int64_t lower_count = 0;
  };
  Candidate taken;
  // The best of the others; absent: there is none.
  std::optional<Candidate> next;
  int64_t candidate_count = 0;
  // What decided against `next`: "violations", "highestPriority", "prioritySum", "victimCount", "startTime",
  // or "" where all are equal.
  std::string criterion;
};

struct Explanation {
  std::string pod;  // "namespace/name".
  // Not "": what is told of nodes is of this one alone.
  std::string node;
  // Without an attempt: why there is none, a sentence.
  std::string no_attempt;
  int64_t attempt_count = 0;
  // How many pods had the name before; they are not explained.
  int64_t namesake_count = 0;
  // What became of the pod, where the attempt does not say it, a sentence; "": there is nothing to say.
  std::string end;
  // What follows is only meaningful with an attempt.
  CapturedAttempt attempt;
  // As in the pod's story.
  AttemptFact fact;
  int64_t node_count = 0;
  bool refused_by_pre_filter = false;
  // The nearest first where misses were looked for; otherwise in the order in which they were looked at.
  std::vector<RefusedNode> refused;
  std::optional<PreemptionChoice> preemption;
  // Whether ties of the highest total are drawn, rather than decided by the order of nodes.
  bool draws_ties = false;
};

// Explains an attempt that was made with these options, for the node, or for all of them where it is "".
// InvalidArgument where a plugin refuses its arguments; NotFound where there is no such node, with the
// nearest name.
absl::StatusOr<Explanation> ExplainAttempt(const SimulationOptions& options, CapturedAttempt attempt,
                                           const std::string& node);

struct ExplainRequest {
  // "namespace/name", or a name that only one namespace has.
  std::string pod;
  // Absent: the last one.
  std::optional<int64_t> attempt;
  // Only this node is of interest; "": all are.
  std::string node;
};

struct ExplainedRun {
  Report report;
  // NotFound where there is no such pod, with names that are close, or no such attempt or node;
  // InvalidArgument where pods in several namespaces have the name.
  absl::StatusOr<Explanation> explanation;
};

// Runs the plan to its end and explains an attempt of the pod. Errors: those of RunPlan.
absl::StatusOr<ExplainedRun> Explain(Plan plan, const ExplainRequest& request);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_EXPLANATION_H_
