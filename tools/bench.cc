// schedsim bench: runs the workloads of a file of scheduler_perf and measures how fast pods are scheduled.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/api/go_text.h"
#include "core/api/kubernetes_version.h"
#include "core/base/status_macros.h"
#include "sim/bench/bench.h"
#include "sim/bench/bench_report.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

struct BenchOptions {
  sim::BenchRequest request;
  std::vector<std::string> labels;
  std::vector<std::string> names;
  std::vector<std::string> skipped;
  bool list = false;
  std::string output;
  std::optional<std::string> json;
};

sim::RealTime ReadClocks() {
  const auto wall = std::chrono::steady_clock::now().time_since_epoch();
  return {
      .wall = absl::FromChrono(wall),
      .processor = absl::Seconds(static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC))};
}

using Patterns = std::vector<std::regex>;

// `option` is for messages.
absl::Status ReadPatterns(absl::string_view option, const std::vector<std::string>& texts,
                          Patterns& patterns) {
  for (const std::string& text : texts) {
    try {
      patterns.emplace_back(text, std::regex::ECMAScript);
    } catch (const std::regex_error&) {
      return absl::InvalidArgumentError(
          absl::StrCat(option, ": ", api::GoQuote(text), " is not a regular expression"));
    }
  }
  return absl::OkStatus();
}

bool MatchesAny(const Patterns& patterns, const std::string& name) {
  for (const std::regex& pattern : patterns) {
    if (std::regex_search(name, pattern)) return true;
  }
  return false;
}

absl::Status SelectByName(const BenchOptions& options, sim::BenchRequest& request) {
  const auto names = std::make_shared<Patterns>();
  const auto skipped = std::make_shared<Patterns>();
  RETURN_IF_ERROR(ReadPatterns("--name", options.names, *names));
  RETURN_IF_ERROR(ReadPatterns("--skip", options.skipped, *skipped));
  request.selects = [names, skipped](const std::string& name) {
    return (names->empty() || MatchesAny(*names, name)) && !MatchesAny(*skipped, name);
  };
  return absl::OkStatus();
}

// Says on a terminal which workload runs, and how far it is.
class BenchProgress {
 public:
  BenchProgress() : shown_(isatty(STDERR_FILENO) == 1) {}
  ~BenchProgress() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  void Update(const std::string& name, int64_t attempts) {
    const auto now = std::chrono::steady_clock::now();
    if (!shown_ || (attempts > 0 && now - last_ < std::chrono::seconds(1))) return;
    last_ = now;
    std::fputs(absl::StrCat("\r\033[K", name, ": ", attempts, " attempts").c_str(), stderr);
  }

 private:
  const bool shown_;
  std::chrono::steady_clock::time_point last_;
};

absl::StatusOr<std::vector<sim::BenchResult>> RunAll(const std::vector<sim::BenchWorkload>& workloads) {
  std::vector<sim::BenchResult> results;
  BenchProgress progress;
  for (const sim::BenchWorkload& workload : workloads) {
    progress.Update(workload.name, 0);
    sim::BenchResult result;
    ASSIGN_OR_RETURN(result,
                     sim::RunBenchWorkload(workload, ReadClocks, [&](int64_t attempts, absl::Duration) {
                       progress.Update(workload.name, attempts);
                     }));
    results.push_back(std::move(result));
  }
  return results;
}

absl::StatusOr<int> Bench(BenchOptions options) {
  sim::BenchRequest& request = options.request;
  for (const std::string& list : options.labels) {
    for (absl::string_view label : absl::StrSplit(list, ',')) request.labels.emplace_back(label);
  }
  RETURN_IF_ERROR(SelectByName(options, request));
  std::unique_ptr<ResultFile> json;
  if (options.json.has_value()) {
    RETURN_IF_ERROR(RefuseInputAsOutput("--json", *options.json, {request.file}));
    ASSIGN_OR_RETURN(json, ResultFile::Create(*options.json));
  }
  sim::BenchWorkloads prepared;
  ASSIGN_OR_RETURN(prepared, sim::PrepareBench(request));
  for (const std::string& notice : prepared.notices) PrintNotice(notice);
  if (options.list) {
    RETURN_IF_ERROR(WriteOutput(sim::BenchList(prepared.workloads)));
    return kDone;
  }
  std::vector<sim::BenchResult> results;
  ASSIGN_OR_RETURN(results, RunAll(prepared.workloads));
  if (json != nullptr) {
    json->Write(sim::BenchJson(results));
    RETURN_IF_ERROR(json->Commit());
  }
  RETURN_IF_ERROR(
      WriteOutput(options.output == "json" ? sim::BenchJson(results) : ForTerminal(sim::BenchText(results))));
  int code = kDone;
  for (const sim::BenchResult& result : results) {
    if (!result.refusal.empty() || !result.failure.empty() || !result.MeetsThreshold()) code = kVerdict;
  }
  return code;
}

}  // namespace

void AddBench(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command =
      app.add_subcommand("bench", "Run and measure the workloads of a file of scheduler_perf");
  AddOption(*command, "FILE", options->request.file, "",
            "A performance-config.yaml of Kubernetes' test/integration/scheduler_perf, or one like it",
            ParsePath)
      ->required();
  AddTexts(
      *command, "--label", options->labels, "LIST",
      "Only workloads with these labels: performance,-short; a + in front says nothing, a - that the label "
      "must be absent; repeatable",
      ParseText);
  AddTexts(*command, "--name", options->names, "REGEX",
           "Only workloads whose name TESTCASE/WORKLOAD has a match of this; repeatable: or of another",
           ParseText);
  AddTexts(*command, "--skip", options->skipped, "REGEX",
           "Not those whose name has a match of this; repeatable", ParseText);
  command->add_flag("--list", options->list, "List the workloads, and what is not simulated, instead");
  AddOption(*command, "--kubernetes-version", options->request.kubernetes_version, "VERSION",
            "Line to simulate: 1.34 to 1.37", ParseText)
      ->default_str(std::string(api::KubernetesLineName(api::kDefaultKubernetesLine)));
  AddOption(*command, "--topic", options->request.topic, "NAME",
            "Whose threshold counts where there are several; default: the name of the file's folder",
            ParseText);
  AddOption(*command, "--seed", options->request.seed, "NUMBER",
            "Seed of everything that is drawn at random, such as names", ParseSeed)
      ->default_str("1");
  command->add_flag("--reference", options->request.reference,
                    "Turn off all fast paths; placements are the same");
  AddQuiet(*command);
  AddChoice(*command, "-o,--output", options->output, {"text", "json"},
            "json has scheduler_perf's data items");
  AddOption(*command, "--json", options->json, "FILE", "Write the JSON to this file, beside the output",
            ParsePath);
  command->footer(
      "Exit codes:\n"
      "  0  all workloads that were asked for ran, none missed its threshold\n"
      "  1  the verdict: one missed its threshold, failed, or needs what is not simulated\n"
      "  2  bad usage, bad input, or output that cannot be written\n\n"
      "Examples:\n"
      "  schedsim bench benchmarks/shapes/performance-config.yaml\n"
      "  schedsim bench --list misc/performance-config.yaml\n"
      "  schedsim bench --label performance --name 'SchedulingBasic/5000Nodes_10000Pods' --json out.json \\\n"
      "    kubernetes/test/integration/scheduler_perf/misc/performance-config.yaml");
  command->callback([options, &exit_code] { exit_code = ExitCodeOf("schedsim bench", Bench(*options)); });
}

}  // namespace schedsim::tools
