#include "sim/html/page_explanations.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/status_macros.h"
#include "sim/explain/attempt_watch.h"

namespace schedsim::sim {
namespace {

// Each look at a preemption takes a copy of the list of all pods.
constexpr size_t kVictimsMax = 200;

// The pods that stand for a message, by pod.
std::map<std::string, std::string> PodsToExplain(const PageRun& run, size_t explanations_max) {
  std::map<std::string, std::string> messages;
  for (const Report::MessageCount& entry : run.report.pending_by_message) {
    if (messages.size() >= explanations_max) break;
    const auto tried = std::find_if(entry.pods.begin(), entry.pods.end(),
                                    [&run](const std::string& pod) { return run.attempts.count(pod) > 0; });
    if (tried != entry.pods.end()) messages[*tried] = entry.message;
  }
  return messages;
}

std::vector<std::string> VictimsOn(const CapturedAttempt& attempt, const std::string& node) {
  for (const CapturedAttempt::DryRun& run : attempt.dry_runs) {
    if (run.node == node) return run.victims;
  }
  return {};
}

}  // namespace

absl::Status AddExplanations(Plan plan, size_t explanations_max, Page& page) {
  const std::map<std::string, std::string> messages = PodsToExplain(page.run, explanations_max);
  std::set<std::string> pods;
  for (const auto& [pod, message] : messages) pods.insert(pod);
  std::map<std::tuple<std::string, int32_t, absl::Duration>, PagePreemption*> preemptions;
  for (PagePreemption& preemption : page.run.preemptions) {
    if (preemptions.size() >= kVictimsMax) break;
    preemptions[{preemption.pod, preemption.attempt, preemption.time}] = &preemption;
    pods.insert(preemption.pod);
  }
  if (pods.empty()) return absl::OkStatus();
  const SimulationOptions options = plan.simulation;
  AttemptWatch watch(std::move(pods));
  std::string last_preemptor;
  watch.set_sink([&](const CapturedAttempt& attempt) {
    // What is not to be explained need not be kept: it holds the whole cluster.
    if (!last_preemptor.empty()) watch.subjects()[last_preemptor].attempt.reset();
    const std::string pod = attempt.pod->Key();
    last_preemptor = messages.count(pod) > 0 ? "" : pod;
    const auto found = preemptions.find({pod, attempt.number, attempt.time});
    if (found != preemptions.end()) found->second->victims = VictimsOn(attempt, found->second->node);
  });
  plan.on_made = [&watch](Simulation& simulation) { watch.Attach(simulation); };
  plan.pod_rows = PodRows::kNone;
  RETURN_IF_ERROR(RunPlan(std::move(plan)).status());
  std::map<std::string, Explanation> by_message;
  for (const auto& [pod, message] : messages) {
    AttemptWatch::Subject& subject = watch.subjects()[pod];
    if (!subject.attempt.has_value()) continue;
    ASSIGN_OR_RETURN(by_message[message], ExplainAttempt(options, *std::move(subject.attempt), ""));
    subject.attempt.reset();
  }
  for (const Report::MessageCount& entry : page.run.report.pending_by_message) {
    const auto found = by_message.find(entry.message);
    if (found != by_message.end())
      page.explanations.push_back({.message = entry.message, .explanation = std::move(found->second)});
  }
  return absl::OkStatus();
}

}  // namespace schedsim::sim
