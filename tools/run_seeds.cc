#include "tools/run_seeds.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/api/kubernetes_line.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "sim/report/run_header.h"
#include "sim/seeds/distribution.h"
#include "tools/forked_runs.h"
#include "tools/output.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

// The command line of this process without what says which seeds, how many at once and in which form.
std::string CommandForSeeds() {
  const absl::StatusOr<std::string> line = codec::ReadFile("/proc/self/cmdline");
  std::vector<std::string> words = absl::StrSplit(line.value_or(""), '\0', absl::SkipEmpty());
  std::string command = "schedsim";
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    const bool is_left_out = name == "--seeds" || name == "--jobs" || name == "--output" || name == "-o";
    if (!is_left_out) {
      absl::StrAppend(&command, " ", sim::ShellWord(words[i]));
    } else if (name == words[i]) {
      ++i;  // Its value.
    }
  }
  return command + " --seeds ";
}

std::string RunToText(const sim::Plan& plan, uint64_t seed) {
  const absl::StatusOr<sim::SeedRun> run = sim::RunSeed(plan, seed);
  return SeedRunToText(run.ok() ? *run : sim::BrokenRun(seed, run.status()));
}

sim::SeedRun RunFromText(uint64_t seed, const absl::StatusOr<std::string>& text) {
  const absl::StatusOr<sim::SeedRun> run = text.ok() ? sim::SeedRunFromText(*text) : text.status();
  return run.ok() ? *run : sim::BrokenRun(seed, run.status());
}

// Adds the run, and keeps of all placements only those that the next one is compared with.
void Add(sim::SeedRun run, sim::SeedReport& report) {
  if (run.error.empty()) {
    run.to_reference = sim::Compare(run.placements, report.reference.placements);
    if (!report.runs.empty() && report.runs.back().error.empty())
      run.to_run_before = sim::Compare(run.placements, report.runs.back().placements);
  }
  if (!report.runs.empty()) report.runs.back().placements.clear();
  report.runs.push_back(std::move(run));
}

}  // namespace

absl::StatusOr<int> RunSeeds(const sim::Plan& plan, const SeedRange& seeds, int64_t jobs,
                             const std::string& output) {
  if (!plan.simulation.variation.any() && !plan.simulation.faults.any()) {
    PrintNotice(
        "note: neither --vary nor --faults is given: runs differ only in what is always drawn, such as "
        "latencies with a distribution");
  }
  sim::SeedReport report;
  report.header = plan.header;
  report.kubernetes_version = std::string(api::KubernetesLineName(plan.simulation.line.line));
  report.variation = plan.simulation.variation;
  report.faults = plan.simulation.faults;
  report.notices = plan.notices;
  sim::Plan plain = plan;
  plain.simulation.variation = {};
  plain.simulation.faults = {};
  const uint64_t seed = plain.simulation.seed;
  ASSIGN_OR_RETURN(report.reference, sim::RunSeed(std::move(plain), seed));
  const auto work = [&](int64_t i) { return RunToText(plan, seeds.first + static_cast<uint64_t>(i)); };
  const auto take = [&](int64_t i, const absl::StatusOr<std::string>& text) {
    Add(RunFromText(seeds.first + static_cast<uint64_t>(i), text), report);
    return true;
  };
  RETURN_IF_ERROR(RunForked(static_cast<int64_t>(seeds.last - seeds.first + 1), jobs, work, take));
  RETURN_IF_ERROR(WriteOutput(output == "json"  ? SeedReportJson(report)
                              : output == "csv" ? SeedReportCsv(report)
                                                : ForTerminal(SeedReportText(report, CommandForSeeds()))));
  return FirstFailed(report) == nullptr ? kDone : kVerdict;
}

}  // namespace schedsim::tools
