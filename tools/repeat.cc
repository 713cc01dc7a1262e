#include "tools/repeat.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "sim/stages/default_stages.h"
#include "tools/options.h"
#include "tools/run_request.h"

namespace schedsim::tools {
namespace {

// As `schedsim run` takes them.
absl::StatusOr<sim::RunRequest> ParseArguments(std::vector<std::string> arguments) {
  sim::RunRequest request;
  CLI::App run;
  AddRunRequest(run, request, "--until");
  AddOtherSchedulers(run, request);
  // Whoever repeats a run looks into it as one of a single scheduler.
  request.takes_other_schedulers = false;
  bool reschedules = false;
  run.add_flag("--reschedule", reschedules);
  // The library takes them from the end.
  std::reverse(arguments.begin(), arguments.end());
  try {
    run.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(absl::StrCat("the arguments of the run that the trace is of: ",
                                                   Printable(error.what(), kShownBytesMax)));
  }
  if (reschedules) request.recorded = sim::RecordedRun::kReschedule;
  return request;
}

}  // namespace

CLI::Option* AddInputs(CLI::App& command, std::string& folder) {
  return AddOption(
      command, "--inputs", folder, "DIR",
      "Where the run of a trace finds what it read: relative paths in the trace are looked for there; "
      "default: where the program runs",
      ParsePath);
}

absl::StatusOr<sim::Plan> RepeatedPlan(const sim::RunHeader& header, const std::string& folder) {
  sim::RunRequest request;
  ASSIGN_OR_RETURN(request, ParseArguments(header.arguments));
  const auto find = [&folder](std::string& path) {
    const bool is_elsewhere = path.empty() || absl::StartsWith(path, "/") || codec::IsDescriptor(path);
    if (!folder.empty() && !is_elsewhere) path = absl::StrCat(folder, "/", path);
  };
  request.expected_inputs = header.inputs;
  for (codec::InputFile& file : *request.expected_inputs) find(file.path);
  find(request.scenario);
  find(request.autoscaler);
  for (std::string& path : request.files) find(path);
  if (request.scheduler.config.has_value()) find(*request.scheduler.config);
  for (std::string& path : request.scheduler.other_configs) find(path);
  const std::vector<std::string> sets = sim::DefaultStageSetNames();
  for (std::string& path : request.stages) {
    if (std::find(sets.begin(), sets.end(), path) == sets.end()) find(path);
  }
  return sim::MakePlan(request);
}

}  // namespace schedsim::tools
