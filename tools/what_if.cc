// schedsim what-if: what a cluster would do with more pods, with more nodes, or with less.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/api/object.h"
#include "core/base/status_macros.h"
#include "sim/plan/plan.h"
#include "sim/whatif/fit.h"
#include "sim/whatif/what_if.h"
#include "sim/whatif/what_if_text.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/run_request.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

// Nodes that are added.
constexpr int64_t kCountMax = 100'000;

struct WhatIfOptions {
  sim::RunRequest request;
  // Manifests, or names of nodes.
  std::vector<std::string> subjects;
  std::string like;
  int64_t add = 0;
  int64_t count_max = 1000;
  std::string output;
};

absl::StatusOr<sim::Plan> PlanOf(const sim::RunRequest& request, bool says_notices) {
  if (request.files.empty()) return absl::InvalidArgumentError("expected a cluster with --filename (-f)");
  sim::Plan plan;
  ASSIGN_OR_RETURN(plan, sim::MakePlan(request));
  // What would be is asked of plugins alone.
  RETURN_IF_ERROR(sim::RefuseExtenders("", plan.simulation.config.config));
  if (says_notices) PrintNotices(plan.notices);
  return plan;
}

// The cluster, and the cluster with the manifests.
absl::Status MakePlans(const WhatIfOptions& options, sim::Plan& base, sim::Plan& with) {
  // The cluster is read for each of them.
  RETURN_IF_ERROR(RefuseDescriptors(options.request.Paths()));
  ASSIGN_OR_RETURN(base, PlanOf(options.request, /*says_notices=*/false));
  sim::RunRequest request = options.request;
  request.files.insert(request.files.end(), options.subjects.begin(), options.subjects.end());
  ASSIGN_OR_RETURN(with, PlanOf(request, /*says_notices=*/true));
  return absl::OkStatus();
}

absl::StatusOr<int> Fit(const WhatIfOptions& options) {
  sim::Plan base;
  sim::Plan with;
  RETURN_IF_ERROR(MakePlans(options, base, with));
  sim::FitAnswer answer;
  ASSIGN_OR_RETURN(answer, sim::WouldFit(base, with));
  PrintNotices(answer.notices);
  RETURN_IF_ERROR(WriteOutput(options.output == "json" ? FitJson(answer) : ForTerminal(FitText(answer))));
  return answer.Fits() ? kDone : kVerdict;
}

absl::StatusOr<int> Count(const WhatIfOptions& options) {
  sim::Plan base;
  sim::Plan with;
  RETURN_IF_ERROR(MakePlans(options, base, with));
  sim::CountAnswer answer;
  ASSIGN_OR_RETURN(answer, sim::HowManyFit(base, with));
  PrintNotices(answer.notices);
  RETURN_IF_ERROR(WriteOutput(options.output == "json" ? CountJson(answer) : ForTerminal(CountText(answer))));
  return answer.is_in_circles ? kVerdict : kDone;
}

absl::StatusOr<int> Nodes(const WhatIfOptions& options) {
  sim::Plan base;
  ASSIGN_OR_RETURN(base, PlanOf(options.request, /*says_notices=*/true));
  sim::NodesAnswer answer;
  ASSIGN_OR_RETURN(answer, options.add > 0 ? sim::WithNodes(base, options.like, options.add)
                                           : sim::FewestNodes(base, options.like, options.count_max));
  PrintNotices(answer.notices);
  RETURN_IF_ERROR(WriteOutput(options.output == "json" ? NodesJson(answer, options.like)
                                                       : ForTerminal(NodesText(answer, options.like))));
  return answer.pending_count == 0 && !answer.is_in_circles ? kDone : kVerdict;
}

// Those of several runs of one cluster are often the same.
void PrintNoticesOnce(const std::vector<sim::DrainAnswer>& answers) {
  std::set<std::string> printed;
  for (const sim::DrainAnswer& answer : answers)
    for (const std::string& notice : answer.notices)
      if (printed.insert(notice).second) PrintNotice(notice);
}

absl::StatusOr<int> Drain(const WhatIfOptions& options) {
  sim::Plan base;
  ASSIGN_OR_RETURN(base, PlanOf(options.request, /*says_notices=*/true));
  std::vector<std::string> nodes = options.subjects;
  for (const api::ObjectPtr& object : base.input.objects) {
    if (options.subjects.empty() && object->kind == api::Kind::kNode) nodes.push_back(object->metadata.name);
  }
  std::set<std::string> seen;
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(),
                             [&seen](const std::string& node) { return !seen.insert(node).second; }),
              nodes.end());
  std::vector<sim::DrainAnswer> answers;
  ASSIGN_OR_RETURN(answers, sim::WouldDrain(base, nodes));
  PrintNoticesOnce(answers);
  RETURN_IF_ERROR(WriteOutput(options.output == "json" ? DrainAnswersJson(answers)
                                                       : ForTerminal(DrainAnswersText(answers))));
  for (const sim::DrainAnswer& answer : answers)
    if (!answer.IsFree()) return kVerdict;
  return kDone;
}

// A question with its options; `ask` answers it.
CLI::App* AddQuestion(CLI::App& what_if, const std::string& name, const std::string& description,
                      const std::string& footer, const std::shared_ptr<WhatIfOptions>& options,
                      absl::StatusOr<int> (*ask)(const WhatIfOptions&), int& exit_code) {
  CLI::App* command = what_if.add_subcommand(name, description);
  AddRunOptions(*command, options->request, "--until");
  AddQuiet(*command);
  AddChoice(*command, "-o,--output", options->output, {"text", "json"}, "The format");
  command->footer(footer);
  command->callback([options, ask, name, &exit_code] {
    exit_code = ExitCodeOf(absl::StrCat("schedsim what-if ", name), ask(*options));
  });
  return command;
}

void AddFit(CLI::App& what_if, int& exit_code) {
  auto options = std::make_shared<WhatIfOptions>();
  CLI::App* command =
      AddQuestion(what_if, "fit", "Does this workload fit, and where do its pods go?",
                  "Exit codes: 0 all its pods find a node, 1 some do not, or that is not known, 2 bad usage "
                  "or bad input.\n\n"
                  "Examples:\n"
                  "  schedsim what-if fit deployment.yaml -f cluster.yaml\n"
                  "  helm template chart | schedsim what-if fit - -f cluster.yaml --output json",
                  options, Fit, exit_code);
  AddTexts(*command, "MANIFEST", options->subjects, "",
           "Manifests of what would be created, - for standard input; repeatable", ParsePath)
      ->required();
}

void AddCount(CLI::App& what_if, int& exit_code) {
  auto options = std::make_shared<WhatIfOptions>();
  CLI::App* command =
      AddQuestion(what_if, "count", "How many pods like this one fit?",
                  "Exit codes: 0 counted, 1 the cluster goes round in circles, 2 bad usage or bad input.\n\n"
                  "Examples:\n"
                  "  schedsim what-if count pod.yaml -f cluster.yaml",
                  options, Count, exit_code);
  AddTexts(*command, "MANIFEST", options->subjects, "", "The manifest of one pod, - for standard input",
           ParsePath)
      ->required();
}

void AddNodes(CLI::App& what_if, int& exit_code) {
  auto options = std::make_shared<WhatIfOptions>();
  CLI::App* command = AddQuestion(
      what_if, "nodes", "What would more nodes like this one do?",
      "Without --add it looks for the fewest nodes with which no pod is pending, and runs that many and one\n"
      "less.\n"
      "Exit codes: 0 no pod is pending then, 1 some are, or that is not known, 2 bad usage or bad input.\n\n"
      "Examples:\n"
      "  schedsim what-if nodes --like node-1 --add 2 -f cluster.yaml\n"
      "  schedsim what-if nodes --like node-1 -f cluster.yaml -f deployment.yaml",
      options, Nodes, exit_code);
  AddOption(*command, "--like", options->like, "NODE",
            "A node of the cluster; taints of its condition stay behind", ParseText)
      ->required();
  CLI::Option* const add =
      AddOption(*command, "--add", options->add, "COUNT", "So many nodes, instead of looking for the fewest",
                ParseCountUpTo(kCountMax));
  AddOption(*command, "--at-most", options->count_max, "COUNT", "How many nodes are tried",
            ParseCountUpTo(kCountMax))
      ->excludes(add)
      ->default_str("1000");
}

void AddDrain(CLI::App& what_if, int& exit_code) {
  auto options = std::make_shared<WhatIfOptions>();
  CLI::App* command = AddQuestion(
      what_if, "drain", "Which nodes can be drained with everything placed again?",
      "Drains one node after the other, each in the cluster as it is, as kubectl drain --force does; budgets "
      "hold.\n"
      "Exit codes: 0 each of them can, 1 some can't, 2 bad usage or bad input.\n\n"
      "Examples:\n"
      "  schedsim what-if drain node-1 -f cluster.yaml\n"
      "  schedsim what-if drain -f cluster.yaml            # each node",
      options, Drain, exit_code);
  AddTexts(*command, "NODE", options->subjects, "", "Nodes; default: each node of the cluster", ParseText);
}

}  // namespace

void AddWhatIf(CLI::App& app, int& exit_code) {
  CLI::App* what_if = app.add_subcommand("what-if", "Try out more pods, more nodes, or fewer");
  what_if->require_subcommand(1);
  what_if->footer(
      "`schedsim what-if fit --help` has examples. Another version or configuration: `schedsim diff`.");
  AddFit(*what_if, exit_code);
  AddCount(*what_if, exit_code);
  AddNodes(*what_if, exit_code);
  AddDrain(*what_if, exit_code);
}

}  // namespace schedsim::tools
