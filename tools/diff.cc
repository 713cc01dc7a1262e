// schedsim diff: which pods two runs place differently, and why.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "sim/diff/decision_source.h"
#include "sim/diff/diff.h"
#include "sim/diff/diff_text.h"
#include "sim/plan/plan.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/repeat.h"
#include "tools/run_request.h"
#include "tools/run_side.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

struct DiffOptions {
  // What both sides share.
  sim::RunRequest request;
  RunSide a;
  RunSide b;
  std::vector<std::string> ignore;
  // Where the runs of traces find what they read; "": where the program runs.
  std::string inputs;
  bool no_causes = false;
  std::string output;
  int64_t top = 20;
  // The names of the options that were given.
  std::vector<std::string> given;
};

void PrintNoticesOf(absl::string_view name, const std::vector<std::string>& notices) {
  for (const std::string& notice : notices) PrintNotice(absl::StrCat(name, ": ", notice));
}

absl::StatusOr<bool> IsTrace(const RunSide& side) {
  if (side.run.empty()) return false;
  return sim::IsTraceFile(side.run);
}

bool IsOfSide(absl::string_view option, absl::string_view name) {
  return absl::StartsWith(option, name == "A" ? "--a-" : "--b-");
}

// A trace was made with options of its own. Those that both sides share are refused unless the other side,
// `is_other_run`, is a run.
absl::Status RefuseOptionsOfRuns(const DiffOptions& options, const std::string& trace, absl::string_view name,
                                 bool is_other_run) {
  for (const std::string& option : options.given) {
    const bool is_of_diff = option == "A" || option == "B" || option == "--case" || option == "--ignore" ||
                            option == "--inputs" || option == "--no-causes" || option == "--top" ||
                            option == "--output" || option == "--quiet";
    const bool is_of_other = is_other_run && !IsOfSide(option, name) && option != "--filename";
    if (!is_of_diff && !is_of_other)
      return absl::InvalidArgumentError(
          absl::StrCat(trace, ": is a trace, expected no ", option, " beside it"));
  }
  return absl::OkStatus();
}

// Options that are about traces say nothing of two runs.
absl::Status RefuseOptionsOfTraces(const DiffOptions& options) {
  for (const char* option : {"--inputs", "--no-causes"}) {
    const bool is_given =
        std::find(options.given.begin(), options.given.end(), option) != options.given.end();
    if (is_given)
      return absl::InvalidArgumentError(absl::StrCat(option, ": expected a trace, A or B, beside it"));
  }
  return absl::OkStatus();
}

// Repeats the run of a trace.
absl::StatusOr<sim::Plan> PlanOfTrace(const sim::RunHeader& header, const std::string& inputs) {
  absl::StatusOr<sim::Plan> plan = RepeatedPlan(header, inputs);
  if (plan.ok()) return plan;
  return absl::Status(plan.status().code(),
                      absl::StrCat(plan.status().message(),
                                   "; for causes the run of a trace is repeated, --no-causes does without"));
}

// `name`: "A" or "B". `template_line`: the release of the first run, once there is one.
absl::StatusOr<std::unique_ptr<sim::DecisionSource>> SourceOf(
    const DiffOptions& options, const RunSide& side, const RunSide& other, absl::string_view name,
    std::optional<api::KubernetesLine>& template_line) {
  bool is_trace = false;
  ASSIGN_OR_RETURN(is_trace, IsTrace(side));
  if (is_trace) {
    bool is_other_trace = false;
    ASSIGN_OR_RETURN(is_other_trace, IsTrace(other));
    RETURN_IF_ERROR(RefuseOptionsOfRuns(options, side.run, name, !is_other_trace));
    sim::PlanOfHeader plan_of;
    if (!options.no_causes) {
      plan_of = [inputs = options.inputs](const sim::RunHeader& header) {
        return PlanOfTrace(header, inputs);
      };
    }
    return sim::MakeTraceSource(side.run, options.request.case_name.value_or(""), std::move(plan_of));
  }
  const sim::RunRequest request = RequestOf(side, options.request);
  sim::Plan plan;
  ASSIGN_OR_RETURN(plan, sim::MakePlan(request));
  if (plan.follows || plan.recording != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(side.run, ": is a recording, expected a trace, a scenario or a case"));
  }
  PrintNoticesOf(name, plan.notices);
  // Pods are compared by name. A cluster that is upgraded keeps its ReplicaSets, whose names say a template's
  // hash, though the new release hashes it otherwise.
  if (!template_line.has_value()) template_line = plan.simulation.line.line;
  plan.simulation.controllers.template_line = template_line;
  return sim::MakeRunSource(LabelOf(side, request), std::move(plan));
}

// What the side alone reads beside its run.
std::vector<std::string> PathsOf(const RunSide& side) {
  std::vector<std::string> paths = side.files;
  if (side.scheduler.config.has_value()) paths.push_back(*side.scheduler.config);
  return paths;
}

absl::Status CheckSides(const DiffOptions& options) {
  if (options.a.run.empty() != options.b.run.empty()) {
    return absl::InvalidArgumentError(
        "expected two runs, A and B, or none and a cluster with --filename (-f)");
  }
  if (IsEmpty(options.a) && IsEmpty(options.b)) {
    return absl::InvalidArgumentError(
        "A and B are the same run, expected two files, or what one of them has of its own: --a-config, "
        "--a-version, --a-gates, --a-file, or these with b");
  }
  // What both sides read, and runs, which are looked at before they are read.
  std::vector<std::string> paths = options.request.Paths();
  for (const std::string& run : {options.a.run, options.b.run})
    if (!run.empty()) paths.push_back(run);
  const std::vector<std::string> of_a = PathsOf(options.a);
  for (const std::string& path : PathsOf(options.b))
    if (std::find(of_a.begin(), of_a.end(), path) != of_a.end()) paths.push_back(path);
  return RefuseDescriptors(paths);
}

// A cluster that runs has few pods to decide on, so that two schedulers may seem to be the same.
void PrintPodsLeftAlone(const sim::DecisionSource& a, const sim::DecisionSource& b) {
  int64_t count = 0;
  for (const sim::DecisionSource* source : {&a, &b})
    if (source->report() != nullptr) count = std::max(count, source->report()->bound_before);
  if (count == 0) return;
  PrintNotice(absl::StrCat("note: ", count, count == 1 ? " pod was" : " pods were",
                           " on nodes from the start, which is decided on by neither; --bound reset "
                           "schedules all pods anew"));
}

absl::StatusOr<int> Diff(const DiffOptions& options) {
  RETURN_IF_ERROR(CheckSides(options));
  sim::DiffIgnore ignore;
  for (const std::string& rule : options.ignore) {
    const absl::Status added = sim::AddIgnore(rule, ignore);
    if (!added.ok()) return absl::InvalidArgumentError(absl::StrCat("--ignore: ", added.message()));
  }
  bool is_trace_a = false;
  ASSIGN_OR_RETURN(is_trace_a, IsTrace(options.a));
  bool is_trace_b = false;
  ASSIGN_OR_RETURN(is_trace_b, IsTrace(options.b));
  if (!is_trace_a && !is_trace_b) RETURN_IF_ERROR(RefuseOptionsOfTraces(options));
  std::optional<api::KubernetesLine> template_line;
  std::unique_ptr<sim::DecisionSource> a;
  ASSIGN_OR_RETURN(a, SourceOf(options, options.a, options.b, "A", template_line));
  std::unique_ptr<sim::DecisionSource> b;
  ASSIGN_OR_RETURN(b, SourceOf(options, options.b, options.a, "B", template_line));
  sim::DiffResult diff;
  ASSIGN_OR_RETURN(diff, sim::Diff(*a, *b, ignore));
  PrintNoticesOf("A", a->notices());
  PrintNoticesOf("B", b->notices());
  PrintPodsLeftAlone(*a, *b);
  for (const std::string& rule : diff.unused_rules)
    PrintNotice(absl::StrCat("note: --ignore ", rule, ": no pod that differs falls under it"));
  const auto top = static_cast<size_t>(options.top);
  RETURN_IF_ERROR(WriteOutput(options.output == "json"       ? DiffJson(diff)
                              : options.output == "markdown" ? DiffMarkdown(diff, top)
                                                             : ForTerminal(DiffText(diff, top))));
  return diff.pods.empty() ? kDone : kVerdict;
}

}  // namespace

void AddDiff(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* command = app.add_subcommand("diff", "Say which pods two runs place differently, and why");
  AddOption(*command, "A", options->a.run, "", "A trace, a scenario, or a case of the conformance suite",
            ParsePath);
  AddOption(*command, "B", options->b.run, "", "The same", ParsePath);
  AddCase(*command, options->request);
  AddRunOptions(*command, options->request, "--until");
  AddRecorder(*command, "--recorder", options->request.scheduler.recorder);
  AddRunSide(*command, "A", options->a);
  AddRunSide(*command, "B", options->b);
  AddTexts(*command, "--ignore", options->ignore, "RULE",
           "Do not count pods that differ so: equals (moved among equals), namespace=NAME, "
           "pod=NAMESPACE/NAME, plugin=NAME; repeatable",
           ParseText);
  AddInputs(*command, options->inputs);
  command->add_flag("--no-causes", options->no_causes,
                    "Do not repeat the runs of traces: what these do not say is left out");
  AddOption(*command, "--top", options->top, "COUNT", "How many pods are listed; json has all", ParseCount)
      ->default_str("20");
  AddQuiet(*command);
  AddChoice(*command, "-o,--output", options->output, {"text", "json", "markdown"},
            "markdown: as for a comment on a pull request");
  command->footer(
      "Names the first decision that differs and its cause: which plugin's score or status differs by how\n"
      "much on which node, or a tie. Then sums, and the pods that end otherwise. Messages that only read\n"
      "otherwise are listed apart and are no difference. A trace of another level than full does not say\n"
      "why; where one differs, its run is repeated for it, from the same inputs.\n"
      "Exit codes:\n"
      "  0  no pod ends otherwise\n"
      "  1  some do\n"
      "  2  bad usage, bad input\n"
      "  3  a plugin of --plugin crashed, or answered what is no answer\n"
      "  4  a plugin or an extender gave no answer in time, or --extender-replay lacks a call\n\n"
      "Examples:\n"
      "  schedsim diff -f cluster.yaml --a-version 1.35 --b-version 1.37\n"
      "  schedsim diff -f cluster.yaml --b-config scheduler.yaml --ignore equals\n"
      "  schedsim diff -f cluster.yaml --b-file two-more-nodes.yaml --output markdown\n"
      "  schedsim diff before.yaml after.yaml            # two scenarios\n"
      "  schedsim diff golden.jsonl.zst new.jsonl.zst    # two traces");
  command->callback([options, command, &exit_code] {
    for (const CLI::Option* option : command->get_options())
      if (option->count() > 0) options->given.push_back(option->get_name());
    options->request.scheduler.plugins_are_shared =
        options->a.scheduler.config != options->b.scheduler.config || options->a.run != options->b.run;
    exit_code = ExitCodeOf("schedsim diff", Diff(*options));
  });
}

}  // namespace schedsim::tools
