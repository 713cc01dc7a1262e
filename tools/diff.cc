// schedsim diff: which pods two runs place differently, and why.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "sim/diff/decision_source.h"
#include "sim/diff/diff.h"
#include "sim/diff/diff_text.h"
#include "sim/plan/plan.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/run_request.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

// What one side has of its own.
struct SideOptions {
  std::string run;  // A trace, a scenario and the like; "": only files.
  std::vector<std::string> files;
  sim::SchedulerChoice scheduler;
};

struct DiffOptions {
  // What both sides share.
  sim::RunRequest request;
  SideOptions a;
  SideOptions b;
  std::vector<std::string> ignore;
  std::string output;
  int64_t top = 20;
};

bool IsEmpty(const SideOptions& side) {
  return side.run.empty() && side.files.empty() && !side.scheduler.config.has_value() &&
         !side.scheduler.kubernetes_version.has_value() && !side.scheduler.feature_gates.has_value();
}

// What tells the side from the other one, for people.
std::string LabelOf(const SideOptions& side, const sim::RunRequest& request) {
  std::vector<std::string> parts;
  if (!side.run.empty()) parts.push_back(side.run);
  for (const std::string& file : side.files) parts.push_back(absl::StrCat("with ", file));
  const sim::SchedulerChoice& scheduler = request.scheduler;
  if (scheduler.kubernetes_version.has_value())
    parts.push_back(absl::StrCat("Kubernetes ", *scheduler.kubernetes_version));
  if (scheduler.config.has_value()) parts.push_back(absl::StrCat("configuration ", *scheduler.config));
  if (scheduler.feature_gates.has_value()) parts.push_back(*scheduler.feature_gates);
  return parts.empty() ? "as it is" : absl::StrJoin(parts, ", ");
}

// `name`: "A" or "B".
absl::StatusOr<std::unique_ptr<sim::DecisionSource>> SourceOf(const DiffOptions& options,
                                                              const SideOptions& side,
                                                              absl::string_view name) {
  if (!side.run.empty()) {
    bool is_trace = false;
    ASSIGN_OR_RETURN(is_trace, sim::IsTraceFile(side.run));
    if (is_trace) {
      if (!side.files.empty() || !options.request.files.empty()) {
        return absl::InvalidArgumentError(
            absl::StrCat(side.run, ": is a trace, expected no --filename (-f) beside it"));
      }
      return sim::MakeTraceSource(side.run, options.request.case_name.value_or(""));
    }
  }
  sim::RunRequest request = options.request;
  request.scenario = side.run;
  request.files.insert(request.files.end(), side.files.begin(), side.files.end());
  if (side.scheduler.config.has_value()) request.scheduler.config = side.scheduler.config;
  if (side.scheduler.kubernetes_version.has_value())
    request.scheduler.kubernetes_version = side.scheduler.kubernetes_version;
  if (side.scheduler.feature_gates.has_value())
    request.scheduler.feature_gates = side.scheduler.feature_gates;
  sim::Plan plan;
  ASSIGN_OR_RETURN(plan, sim::MakePlan(request));
  if (plan.follows || plan.recording != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(side.run, ": is a recording, expected a trace, a scenario or a case"));
  }
  for (const std::string& notice : plan.notices) PrintMessage(absl::StrCat(name, ": ", notice));
  return sim::MakeRunSource(LabelOf(side, request), std::move(plan));
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
  std::vector<std::string> paths = options.request.files;
  paths.insert(paths.end(), {options.a.run, options.b.run});
  for (const std::string& path : paths) {
    if (path == "-")
      return absl::InvalidArgumentError("-: expected files, since both sides read what they share");
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Diff(const DiffOptions& options) {
  RETURN_IF_ERROR(CheckSides(options));
  sim::DiffIgnore ignore;
  for (const std::string& rule : options.ignore) {
    const absl::Status added = sim::AddIgnore(rule, ignore);
    if (!added.ok()) return absl::InvalidArgumentError(absl::StrCat("--ignore: ", added.message()));
  }
  std::unique_ptr<sim::DecisionSource> a;
  ASSIGN_OR_RETURN(a, SourceOf(options, options.a, "A"));
  std::unique_ptr<sim::DecisionSource> b;
  ASSIGN_OR_RETURN(b, SourceOf(options, options.b, "B"));
  sim::DiffResult diff;
  ASSIGN_OR_RETURN(diff, sim::Diff(*a, *b, ignore));
  const auto top = static_cast<size_t>(options.top);
  RETURN_IF_ERROR(WriteOutput(options.output == "json"       ? DiffJson(diff)
                              : options.output == "markdown" ? DiffMarkdown(diff, top)
                                                             : DiffText(diff, top)));
  return diff.pods.empty() ? kDone : kVerdict;
}

absl::StatusOr<int64_t> ParseCount(absl::string_view text) {
  int64_t count = 0;
  if (absl::SimpleAtoi(text, &count) && count >= 0) return count;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is no count, expected a whole number from 0 on"));
}

void AddSide(CLI::App& command, const std::string& name, SideOptions& side) {
  const std::string prefix = absl::StrCat("--", name == "A" ? "a" : "b", "-");
  AddOption(command, prefix + "config", side.scheduler.config, "FILE",
            absl::StrCat("The configuration of ", name, " alone"), ParsePath);
  AddOption(command, prefix + "version", side.scheduler.kubernetes_version, "VERSION",
            absl::StrCat("The Kubernetes of ", name, " alone, such as 1.35"), ParseText);
  AddOption(command, prefix + "gates", side.scheduler.feature_gates, "GATES",
            absl::StrCat("The feature gates of ", name, " alone"), ParseText);
  AddTexts(command, prefix + "file", side.files, "FILE",
           absl::StrCat("What ", name, " alone has beside --filename (-f); repeatable"), ParsePath);
}

}  // namespace

void AddDiff(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* command = app.add_subcommand("diff", "Say which pods two runs place differently, and why");
  AddOption(*command, "A", options->a.run, "", "A trace, a scenario, or a case of the conformance suite",
            ParsePath);
  AddOption(*command, "B", options->b.run, "", "The same", ParsePath);
  AddRunOptions(*command, options->request, "--until");
  AddSide(*command, "A", options->a);
  AddSide(*command, "B", options->b);
  AddTexts(*command, "--ignore", options->ignore, "RULE",
           "Do not count pods that differ so: equals (moved among equals), namespace=NAME, "
           "pod=NAMESPACE/NAME, plugin=NAME; repeatable",
           ParseText);
  AddOption(*command, "--top", options->top, "COUNT", "How many pods are listed; json has all", ParseCount)
      ->default_str("20");
  AddChoice(*command, "--output", options->output, {"text", "json", "markdown"},
            "markdown: as for a comment on a pull request");
  command->footer(
      "Names the first decision that differs and its cause: which plugin's score or status differs by how\n"
      "much on which node, or a tie. Then sums, and the pods that end otherwise. Messages that only read\n"
      "otherwise are listed apart and are no difference. Of traces, only those of --trace-level full say "
      "why.\n"
      "Exit codes: 0 no pod ends otherwise, 1 some do, 2 bad usage or bad input.\n\n"
      "Examples:\n"
      "  schedsim diff -f cluster.yaml --a-version 1.35 --b-version 1.37\n"
      "  schedsim diff -f cluster.yaml --b-config scheduler.yaml --ignore equals\n"
      "  schedsim diff -f cluster.yaml --b-file two-more-nodes.yaml --output markdown\n"
      "  schedsim diff before.yaml after.yaml            # two scenarios\n"
      "  schedsim diff golden.jsonl.zst new.jsonl.zst    # two traces");
  command->callback([options, &exit_code] { exit_code = ExitCodeOf("schedsim diff", Diff(*options)); });
}

}  // namespace schedsim::tools
