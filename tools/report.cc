// schedsim report: runs something, and writes a page about it; or about two runs and what differs.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "sim/html/html_page.h"
#include "sim/html/make_page.h"
#include "sim/plan/plan.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/run_request.h"
#include "tools/run_side.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

struct ReportOptions {
  sim::RunRequest request;
  RunSide other;
  std::string path;
  int64_t explanations_max = 20;
};

absl::Status CheckOther(const ReportOptions& options) {
  if (!options.other.run.empty() && options.request.scenario.empty())
    return absl::InvalidArgumentError("--b-run: expected a scenario to compare with, SCENARIO");
  // A second run reads again what both share.
  return RefuseDescriptors(options.request.Paths());
}

void PrintPlanNotices(absl::string_view name, const sim::Plan& plan) {
  std::vector<std::string> notices;
  for (const std::string& notice : plan.notices) notices.push_back(absl::StrCat(name, notice));
  PrintNotices(notices);
}

// Prints what is to be said of the run behind it; `warnings_before` are those of the input. Returns whether
// it went as its scenario has it.
bool PrintOutcome(absl::string_view name, const sim::Report& report, size_t warnings_before) {
  for (const std::string& notice : sim::LateNotices(report, warnings_before))
    PrintNotice(absl::StrCat(name, notice));
  for (const std::string& failure : report.failures)
    PrintMessage(absl::StrCat("schedsim report: ", name, failure));
  return report.failures.empty();
}

absl::StatusOr<int> WriteReport(const ReportOptions& options) {
  sim::PageRequest request;
  request.explanations_max = static_cast<size_t>(options.explanations_max);
  RunSide own;
  own.run = options.request.scenario;
  request.label = LabelOf(own, options.request);
  const bool has_other = !IsEmpty(options.other);
  if (has_other) RETURN_IF_ERROR(CheckOther(options));
  ASSIGN_OR_RETURN(request.plan, sim::MakePlan(options.request));
  RETURN_IF_ERROR(RefuseInputAsOutput("--path", options.path, request.plan.read_paths));
  PrintPlanNotices(has_other ? "A: " : "", request.plan);
  const size_t warnings = request.plan.input.warnings.size();
  size_t other_warnings = 0;
  if (has_other) {
    RunSide side = options.other;
    if (side.run.empty()) side.run = options.request.scenario;
    const sim::RunRequest other = RequestOf(side, options.request);
    ASSIGN_OR_RETURN(request.other, sim::MakePlan(other));
    // As with diff, ReplicaSets keep their names.
    request.other->simulation.controllers.template_line = request.plan.simulation.line.line;
    RETURN_IF_ERROR(RefuseInputAsOutput("--path", options.path, request.other->read_paths));
    PrintPlanNotices("B: ", *request.other);
    request.other_label = LabelOf(side, other);
    other_warnings = request.other->input.warnings.size();
  }
  std::unique_ptr<ResultFile> file;
  ASSIGN_OR_RETURN(file, ResultFile::Create(options.path));
  sim::Page page;
  ASSIGN_OR_RETURN(page, sim::MakePage(request));
  file->Write(sim::HtmlPage(page));
  RETURN_IF_ERROR(file->Commit());
  bool is_as_meant = PrintOutcome(has_other ? "A: " : "", page.run.report, warnings);
  if (has_other) is_as_meant = PrintOutcome("B: ", page.other->report, other_warnings) && is_as_meant;
  return is_as_meant ? kDone : kVerdict;
}

}  // namespace

void AddReport(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "Run a cluster, and write a page about it to look at");
  AddRunRequest(*command, options->request, "--until");
  AddRecorder(*command, "--recorder", options->request.scheduler.recorder);
  AddQuiet(*command);
  AddOption(*command, "-o,--path", options->path, "FILE",
            "The page: one file of HTML that needs no network; a name in .gz or .zst as an archive, - for "
            "standard output",
            ParsePath)
      ->required();
  AddOption(*command, "--explain", options->explanations_max, "COUNT",
            "Of how many reasons of pending pods, the most frequent ones, a pod is explained", ParseCount)
      ->default_str("20");
  AddOption(*command, "--b-run", options->other.run, "SCENARIO",
            "Compare with a second run, B: this scenario, in place of SCENARIO", ParsePath);
  AddRunSide(*command, "B", options->other);
  command->footer(
      "The page has a summary, resources and queues over virtual time, a map of the nodes, why pods are\n"
      "pending with the numbers behind it, preemptions, latencies, and a table of all pods. With an option\n"
      "that begins with --b-, a second run is compared with the first. The same input gives the same bytes.\n"
      "Exit codes:\n"
      "  0  written\n"
      "  1  written, but a wait or an entry of the scenario failed, or the run went round in circles\n"
      "  2  bad usage, bad input, or a file that cannot be written\n"
      "  3  a plugin of --plugin crashed, or answered what is no answer\n"
      "  4  a plugin or an extender gave no answer in time, or --extender-replay lacks a call\n\n"
      "Examples:\n"
      "  schedsim report -f cluster.yaml -o report.html\n"
      "  schedsim report scenario.yaml --seed 7 -o report.html\n"
      "  schedsim report -f cluster.yaml --b-version 1.35 -o compared.html\n"
      "  schedsim report before.yaml --b-run after.yaml -o compared.html");
  command->callback([options, &exit_code] {
    options->request.scheduler.plugins_are_shared =
        options->other.scheduler.config.has_value() || !options->other.run.empty();
    exit_code = ExitCodeOf("schedsim report", WriteReport(*options));
  });
}

}  // namespace schedsim::tools
