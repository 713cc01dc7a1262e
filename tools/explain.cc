// schedsim explain: runs something, and explains an attempt of one pod.

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "core/base/status_macros.h"
#include "sim/explain/explanation.h"
#include "sim/explain/explanation_text.h"
#include "sim/plan/plan.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/run_request.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

struct ExplainOptions {
  sim::RunRequest request;
  sim::ExplainRequest explain;
  sim::ExplanationView view;
  std::string output;
};

absl::Status Explain(const ExplainOptions& options) {
  sim::Plan plan;
  ASSIGN_OR_RETURN(plan, sim::MakePlan(options.request));
  PrintNotices(plan.notices);
  sim::Explanation explanation;
  ASSIGN_OR_RETURN(explanation, sim::Explain(std::move(plan), options.explain));
  PrintNotices(explanation.notices);
  std::string text;
  ASSIGN_OR_RETURN(text, options.output == "json" ? sim::ExplanationJson(explanation, options.view)
                                                  : sim::ExplanationText(explanation, options.view));
  return WriteOutput(text);
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
  AddOption(*command, "--attempt", options->explain.attempt, "N",
            "Which attempt of the pod; default: its last", ParseCountAboveZero);
  AddOption(*command, "--node", options->view.node, "NAME", "Say only how the attempt went on this node",
            ParseText);
  AddOption(*command, "--top", options->view.top, "N", "How many nodes the text goes into",
            ParseCountAboveZero)
      ->default_str("5");
  AddChoice(*command, "--output", options->output, {"text", "json"}, "The format; json has all nodes");
  command->footer(
      "Of an attempt that failed: which filter refused which node, with the numbers and names behind it, "
      "and\n"
      "the least change of the pod or the node with which the pod fits there, found by trying. Of one that\n"
      "found a node: the scores by plugin, the search and the tie. Of a preemption: why this node and these\n"
      "victims.\n"
      "Exit codes: 0 printed, 2 bad usage, bad input, no such pod, attempt or node, or output that cannot "
      "be\n"
      "written.\n\n"
      "Examples:\n"
      "  schedsim explain web-0 -f cluster.yaml\n"
      "  schedsim explain default/web-0 -f cluster.yaml --attempt 1 --node node-7\n"
      "  kubectl get nodes,pods -A -o yaml | schedsim explain web-0 -f - --top 20\n"
      "  schedsim explain default/web-0 scenario.yaml --output json");
  command->callback([options, &exit_code] { exit_code = ExitCodeOf("schedsim explain", Explain(*options)); });
}

}  // namespace schedsim::tools
