#include "tools/run_request.h"

#include <CLI/CLI.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/go_text.h"
#include "core/codec/text/input.h"
#include "sim/kernel/time_limits.h"
#include "sim/stages/default_stages.h"
#include "tools/options.h"
#include "tools/output.h"

namespace schedsim::tools {

void AddRunRequest(CLI::App& command, sim::RunRequest& request, const std::string& end) {
  AddOption(
      command, "SCENARIO", request.scenario, "",
      "A scenario: cluster, timeline, latencies; a case of the conformance suite; a recording of kwok, or an "
      "audit log; - for standard input",
      ParsePath);
  AddCase(command, request);
  AddRunOptions(command, request, end);
}

void AddCase(CLI::App& command, sim::RunRequest& request) {
  AddOption(command, "--case", request.case_name, "NAME", "The case to run, of a file with several",
            ParseText);
}

void AddRunOptions(CLI::App& command, sim::RunRequest& request, const std::string& end) {
  AddTexts(
      command, "-f,--filename", request.files, "FILE",
      "Cluster state and pods: YAML or JSON, also .gz, .xz and .zst; a snapshot of etcd (.db); tar and zip; "
      "a file, a folder, or - for standard input; repeatable",
      ParsePath);
  AddSchedulerOptions(command, request.scheduler);
  AddExtenderOptions(command, request.scheduler.extenders);
  AddTexts(command, "--stage", request.stages, "SET|FILE",
           absl::StrCat("Play kwok's stages: ", absl::StrJoin(sim::DefaultStageSetNames(), ", "),
                        ", or a file or folder of them; repeatable; in place of a scenario's"),
           ParsePath);
  AddOption(command, end, request.until, "DURATION",
            "End at this virtual time, such as 600s, at most 876600h (100 years); default: when nothing but "
            "periodic flushes is left",
            sim::ParseSpan);
  AddOption(
      command, "--start", request.start, "TIME",
      "Virtual zero, RFC 3339, years 1 to 9999; default: the newest time that a server wrote in the input",
      sim::ParseRunTime);
  AddOption(command, "--bound", request.bound, "WHICH",
            "keep: pods on nodes stay there; reset or reset=SELECTOR: schedule those of the profiles' "
            "schedulers anew",
            sim::ParseBoundPods)
      ->default_str("keep");
  AddOption(
      command, "--autoscaler", request.autoscaler, "FILE",
      "Let node pools grow and shrink: a file of kind Autoscaler, or - for standard input; in place of a "
      "scenario's",
      ParsePath);
  const auto parse_controllers = [](absl::string_view text) -> absl::StatusOr<bool> {
    if (text == "all" || text == "none") return text == "all";
    return absl::InvalidArgumentError(
        absl::StrCat(api::GoQuote(text), " is not known, expected all or none"));
  };
  AddOption(command, "--controllers", request.controllers, "{all,none}",
            "all: the controllers of a cluster take part; none: objects change only as the scheduler and the "
            "timeline change them",
            parse_controllers)
      ->default_str("all");
  AddOption(command, "--seed", request.seed, "NUMBER", "Seed of everything that is drawn at random",
            ParseSeed)
      ->default_str("1");
  AddVariationOptions(command, request);
  command.add_flag("--allow-empty", request.allow_empty,
                   "Take input without objects or without nodes as it is");
}

void AddOtherSchedulers(CLI::App& command, sim::RunRequest& request) {
  request.takes_other_schedulers = true;
  AddTexts(command, "--other-scheduler", request.scheduler.other_configs, "FILE",
           "Another scheduler in the cluster, with this KubeSchedulerConfiguration and a queue of its own; "
           "repeatable; beside a scenario's",
           ParsePath);
}

void AddVariationOptions(CLI::App& command, sim::RunRequest& request) {
  AddOption(command, "--vary", request.variation, "WHAT",
            "Draw by the seed what a real cluster draws, of start,workers,ties: the order of nodes and pods "
            "at the scheduler's start, how its workers overtake each other, threads at one instant",
            sim::ParseVariation)
      ->default_str("none");
  AddOption(command, "--faults", request.faults, "NAME=RATE,...",
            "Let this share of calls and watches fail: bind, answer, status, evict, conflict, watch; such as "
            "bind=0.05,watch=0.01",
            sim::ParseFaults)
      ->default_str("none");
}

absl::Status RefuseDescriptors(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (codec::IsDescriptor(path))
      return absl::InvalidArgumentError(absl::StrCat(path, ": is read more than once here, expected a file"));
  }
  return absl::OkStatus();
}

void PrintNotices(const std::vector<std::string>& notices) {
  for (const std::string& notice : notices) PrintNotice(notice);
}

}  // namespace schedsim::tools
