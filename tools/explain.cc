// schedsim explain: runs something, and explains an attempt of one pod.

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "sim/explain/explanation.h"
#include "sim/explain/explanation_text.h"
#include "sim/plan/plan.h"
#include "sim/plan/repeated_run.h"
#include "sim/plan/run_arguments.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/repeat.h"
#include "tools/run_request.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

struct ExplainOptions {
  sim::RunRequest request;
  // A trace whose run is repeated, in place of the request; "": none.
  std::string trace;
  std::string inputs;
  std::string name_space;
  sim::ExplainRequest explain;
  sim::ExplanationView view;
  std::string output;
};

// What is explained. That of a trace is compared with it while it runs, by `repeated`.
absl::StatusOr<sim::Plan> PlanOf(const ExplainOptions& options, std::unique_ptr<sim::RepeatedRun>& repeated) {
  if (options.trace.empty()) return sim::MakePlan(options.request);
  const std::vector<std::string> arguments = sim::ArgumentsOf(options.request);
  if (!arguments.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--trace: ", options.trace, " says what was run, expected no other run beside it, got ",
                     absl::StrJoin(arguments, " ")));
  }
  ASSIGN_OR_RETURN(repeated, sim::RepeatedRun::Read(options.trace));
  sim::Plan plan;
  ASSIGN_OR_RETURN(plan, RepeatedPlan(repeated->header(), options.inputs));
  repeated->Watch(plan, /*last_attempt=*/std::nullopt);
  return plan;
}

absl::StatusOr<int> Explain(const ExplainOptions& options) {
  sim::ExplainRequest request = options.explain;
  ASSIGN_OR_RETURN(request.pod, PodIn(options.name_space, request.pod));
  std::unique_ptr<sim::RepeatedRun> repeated;
  sim::Plan plan;
  ASSIGN_OR_RETURN(plan, PlanOf(options, repeated));
  PrintNotices(plan.notices);
  const size_t warnings_before = plan.input.warnings.size();
  plan.is_last = true;
  sim::ExplainedRun run;
  ASSIGN_OR_RETURN(run, sim::Explain(std::move(plan), request));
  if (repeated != nullptr) RETURN_IF_ERROR(repeated->status());
  // They may say why a pod is not there.
  PrintNotices(sim::LateNotices(run.report, warnings_before));
  for (const std::string& failure : run.report.failures)
    PrintMessage(absl::StrCat("schedsim explain: ", failure));
  RETURN_IF_ERROR(WithPodForm(run.explanation.status(), options.explain.pod));
  RETURN_IF_ERROR(WriteOutput(options.output == "json" ? ExplanationJson(*run.explanation)
                                                       : ExplanationText(*run.explanation, options.view)));
  return run.report.failures.empty() ? kDone : kVerdict;
}

}  // namespace

void AddExplain(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command =
      app.add_subcommand("explain", "Run a cluster, and explain an attempt of one pod node by node");
  AddOption(*command, "POD", options->explain.pod, "",
            "namespace/name, or a name that only one namespace has", ParseText)
      ->required();
  AddRunRequest(*command, options->request, "--until");
  CLI::Option* const trace = AddOption(
      *command, "--trace", options->trace, "FILE",
      "Explain the run that this trace is of, in place of another one: it is repeated, from the same "
      "inputs, and must decide alike",
      ParsePath);
  AddInputs(*command, options->inputs)->needs(trace);
  AddNamespace(*command, options->name_space);
  AddOption(*command, "--attempt", options->explain.attempt, "N",
            "Which attempt of the pod; default: its last", ParseCountAboveZero);
  AddOption(*command, "--node", options->explain.node, "NAME", "Say only how the attempt went on this node",
            ParseText);
  AddOption(*command, "--top", options->view.top, "N", "How many nodes the text goes into",
            ParseCountAboveZero)
      ->default_str("5");
  AddQuiet(*command);
  AddChoice(*command, "-o,--output", options->output, {"text", "json"}, "The format; json has all nodes");
  command->footer(
      "Of an attempt that failed: which filter refused which node, with the numbers and names behind it,\n"
      "and the least change of the pod or the node with which the pod fits there, found by trying. Of one\n"
      "that found a node: the scores by plugin, the search and the tie. Of a preemption: why this node and\n"
      "these victims. What happened to the pod between its attempts: schedsim why.\n\n"
      "Exit codes:\n"
      "  0  the attempt is explained\n"
      "  1  so it is, but a wait or an entry of the scenario failed, or the run went round in circles\n"
      "  2  bad usage, bad input, no such pod, attempt or node, output that cannot be written\n"
      "  3  a plugin of --plugin crashed, or answered what is no answer\n"
      "  4  a plugin or an extender gave no answer in time, or --extender-replay lacks a call\n\n"
      "Examples:\n"
      "  schedsim explain web-0 -f cluster.yaml\n"
      "  schedsim explain default/web-0 -f cluster.yaml --attempt 1 --node node-7\n"
      "  kubectl get nodes,pods -A -o yaml | schedsim explain web-0 -f - --top 20\n"
      "  schedsim explain default/web-0 scenario.yaml --output json\n"
      "  schedsim explain default/web-0 --trace out.jsonl.zst");
  command->callback([options, &exit_code] { exit_code = ExitCodeOf("schedsim explain", Explain(*options)); });
}

}  // namespace schedsim::tools
