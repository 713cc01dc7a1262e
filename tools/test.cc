// schedsim test: runs tests of placements. Which files, how many at once, what is printed.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "sim/expect/evaluate.h"
#include "sim/expect/outcome.h"
#include "sim/expect/test_file.h"
#include "sim/expect/test_result.h"
#include "sim/explain/explanation.h"
#include "sim/explain/explanation_text.h"
#include "sim/plan/plan.h"
#include "sim/report/pod_story.h"
#include "sim/report/pod_story_text.h"
#include "sim/report/report.h"
#include "tools/forked_runs.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/run_request.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

struct TestOptions {
  std::vector<std::string> paths;
  bool update = false;
  std::optional<SeedRange> seeds;
  // What runs vary, what fails in them and a recorder go before what a test says, and libraries of plugins
  // come beside its own; nothing else of it counts.
  sim::RunRequest given;
  std::optional<std::string> junit;
  int64_t jobs = 1;
  std::string output;
};

// ---- One file ----

absl::StatusOr<sim::Plan> PlanOf(const sim::TestFile& test, sim::TestResult& result) {
  absl::StatusOr<sim::Plan> plan = sim::MakePlan(test.request);
  for (const std::string& path : plan.ok() ? plan->read_paths : test.request.Paths()) {
    if (std::find(result.inputs.begin(), result.inputs.end(), path) == result.inputs.end())
      result.inputs.push_back(path);
  }
  if (plan.ok() && (plan->follows || plan->recording != nullptr))
    return absl::InvalidArgumentError("run.scenario: is a recording, expected a scenario or files");
  return plan;
}

// Runs the plan, and takes down what the user should know of the run.
absl::StatusOr<sim::Outcome> RunTest(const sim::TestFile& test, const sim::Plan& plan,
                                     sim::TestResult& result) {
  sim::Outcome outcome;
  ASSIGN_OR_RETURN(outcome, sim::RunForOutcome(plan));
  result.notices = plan.notices;
  for (std::string& notice : sim::LateNotices(outcome.report, plan.input.warnings.size()))
    result.notices.push_back(std::move(notice));
  result.verdicts = sim::Evaluate(test, outcome);
  return outcome;
}

absl::Status WritePlacements(const sim::TestFile& test, const std::string& text, sim::TestResult& result) {
  if (text.empty()) {
    return absl::FailedPreconditionError(
        "--update: there is no pod in the end, expected one at least: placements without a pod say nothing");
  }
  std::unique_ptr<ResultFile> file;
  ASSIGN_OR_RETURN(file, ResultFile::Create(test.placements));
  file->Write(text);
  RETURN_IF_ERROR(file->Commit());
  result.is_updated = true;
  return absl::OkStatus();
}

absl::Status CheckPlacements(const sim::TestFile& test, const sim::Outcome& outcome,
                             sim::TestResult& result) {
  const absl::StatusOr<std::string> read = codec::ReadFile(test.placements);
  if (!read.ok())
    return absl::InvalidArgumentError(absl::StrCat(read.status().message(), "; --update writes it"));
  if (absl::StripAsciiWhitespace(*read).empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(test.placements, ": expected a line a pod, got an empty file; --update writes it"));
  }
  result.verdicts.push_back(sim::ComparePlacements(*read, outcome));
  return absl::OkStatus();
}

// Options for a command line that vary a run as `request` says.
std::vector<std::string> VariationArguments(const sim::RunRequest& request) {
  std::vector<std::string> arguments;
  if (request.variation.has_value())
    arguments.insert(arguments.end(), {"--vary", sim::VariationText(*request.variation)});
  if (request.faults.has_value())
    arguments.insert(arguments.end(), {"--faults", sim::FaultsText(*request.faults)});
  return arguments;
}

// What a process that ran one file, or one seed of it, wrote; `result` has what is known without it.
sim::TestResult ResultFrom(const absl::StatusOr<std::string>& json, sim::TestResult result) {
  absl::StatusOr<std::vector<sim::TestResult>> results =
      json.ok() ? sim::ParseTestResults(*json) : json.status();
  if (results.ok() && results->size() == 1) return std::move(results->front());
  result.error = std::string(results.status().message());
  return result;
}

// Runs seed by seed, several side by side, up to the first that fails. That one is the plan's then.
absl::Status RunSeeds(const TestOptions& options, const sim::TestFile& test, sim::Plan& plan,
                      sim::TestResult& result) {
  if (test.expectations.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(test.path,
                     ": expect: has golden placements only, which are of one seed, expected expectations "
                     "beside --seeds"));
  }
  const uint64_t first = options.seeds->first;
  const auto work = [&](int64_t i) {
    plan.simulation.seed = first + static_cast<uint64_t>(i);
    sim::TestResult run;
    const absl::Status status = RunTest(test, plan, run).status();
    run.error = std::string(status.message());
    return sim::TestResultsJson({run});
  };
  const auto take = [&](int64_t i, const absl::StatusOr<std::string>& json) {
    sim::TestResult run = ResultFrom(json, {});
    const uint64_t seed = first + static_cast<uint64_t>(i);
    result.notices = std::move(run.notices);
    result.verdicts = std::move(run.verdicts);
    if (!run.error.empty()) {
      result.error = absl::StrCat("seed ", seed, ": ", run.error);
      return false;
    }
    ++result.seed_count;
    if (!result.Passed()) result.seed = seed;
    return result.Passed();
  };
  const auto count = static_cast<int64_t>(options.seeds->last - first + 1);
  RETURN_IF_ERROR(RunForked(count, options.jobs, work, take));
  plan.simulation.seed = result.seed;
  return absl::OkStatus();
}

// Of how many pods that are not as expected a test says why: each is one run more.
constexpr size_t kExplainedMax = 3;

// What the records of a recorder tell of the pod; "": they have no such pod.
std::string RecordedStory(sim::Plan plan, const std::string& pod) {
  sim::StoryTeller teller(pod);
  absl::Status status;
  plan.simulation.trace_level = sim::TraceLevel::kFull;
  plan.simulation.trace_sink = [&](absl::string_view record) { status.Update(teller.Add(record, pod)); };
  status.Update(sim::RunPlan(std::move(plan)).status());
  if (!status.ok()) return "";
  const absl::StatusOr<sim::PodStory> story = teller.Finish();
  return story.ok() ? sim::StoryText(*story) : "";
}

// Why the pod is where it is; "": the run never had it.
std::string WhyItIsThere(const sim::Plan& plan, const std::string& pod) {
  if (plan.recorder.has_value()) return RecordedStory(plan, pod);
  const absl::StatusOr<sim::ExplainedRun> run =
      sim::Explain(plan, {.pod = pod, .attempt = std::nullopt, .node = ""});
  const bool is_known = run.ok() && run->explanation.ok();
  return is_known ? ExplanationText(*run->explanation, {.top = 1}) : "";
}

void ExplainFailures(const sim::Plan& plan, sim::TestResult& result) {
  // Attempts are explained of a single scheduler.
  if (!plan.simulation.other_schedulers.empty()) return;
  std::set<std::string> explained;
  for (sim::Verdict& verdict : result.verdicts) {
    const bool is_wanted = !verdict.pod.empty() && explained.size() < kExplainedMax;
    if (!is_wanted || !explained.insert(verdict.pod).second) continue;
    verdict.explanation = std::string(absl::StripTrailingAsciiWhitespace(WhyItIsThere(plan, verdict.pod)));
  }
}

absl::Status RunOnce(const TestOptions& options, const sim::TestFile& test, const sim::Plan& plan,
                     sim::TestResult& result) {
  sim::Outcome outcome;
  ASSIGN_OR_RETURN(outcome, RunTest(test, plan, result));
  if (test.placements.empty()) return absl::OkStatus();
  return options.update ? WritePlacements(test, sim::PlacementsText(outcome), result)
                        : CheckPlacements(test, outcome, result);
}

absl::Status RunFile(const TestOptions& options, const std::string& path, sim::TestResult& result) {
  result.inputs = {path};
  sim::TestFile test;
  ASSIGN_OR_RETURN(test, sim::ReadTestFile(path));
  if (options.given.variation.has_value()) test.request.variation = options.given.variation;
  if (options.given.faults.has_value()) test.request.faults = options.given.faults;
  const std::vector<std::string>& plugins = options.given.scheduler.plugins;
  test.request.scheduler.plugins.insert(test.request.scheduler.plugins.end(), plugins.begin(), plugins.end());
  test.request.scheduler.processes = options.given.scheduler.processes;
  if (!options.given.scheduler.recorder.empty())
    test.request.scheduler.recorder = options.given.scheduler.recorder;
  for (const std::string& argument : VariationArguments(options.given))
    absl::StrAppend(&result.run_options, " ", argument);
  sim::Plan plan;
  ASSIGN_OR_RETURN(plan, PlanOf(test, result));
  if (options.update && !test.placements.empty())
    RETURN_IF_ERROR(RefuseInputAsOutput("placements", test.placements, result.inputs));
  if (!test.placements.empty()) result.inputs.push_back(test.placements);
  if (options.seeds.has_value()) {
    RETURN_IF_ERROR(RunSeeds(options, test, plan, result));
  } else {
    RETURN_IF_ERROR(RunOnce(options, test, plan, result));
  }
  ExplainFailures(plan, result);
  return absl::OkStatus();
}

sim::TestResult ResultOf(const TestOptions& options, const std::string& path) {
  sim::TestResult result;
  result.path = path;
  const absl::Status status = RunFile(options, path, result);
  if (!status.ok()) result.error = std::string(status.message());
  return result;
}

// ---- Many files ----

// Each in a process of its own, also a single one: a plugin that ends it leaves the others, and a result.
absl::StatusOr<std::vector<sim::TestResult>> RunFiles(const TestOptions& options,
                                                      const std::vector<std::string>& files) {
  std::vector<sim::TestResult> results;
  const auto work = [&](int64_t i) {
    return sim::TestResultsJson({ResultOf(options, files[static_cast<size_t>(i)])});
  };
  const auto take = [&](int64_t i, const absl::StatusOr<std::string>& json) {
    const std::string& path = files[static_cast<size_t>(i)];
    results.push_back(ResultFrom(json, {.path = path, .inputs = {path}}));
    return true;
  };
  // With seeds, those of one file run side by side.
  const int64_t jobs = options.seeds.has_value() ? 1 : options.jobs;
  RETURN_IF_ERROR(RunForked(static_cast<int64_t>(files.size()), jobs, work, take));
  return results;
}

// Folders stand for the tests below them, in the order of their names. A file that is named again counts
// once.
absl::StatusOr<std::vector<std::string>> FilesOf(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  std::set<std::filesystem::path> known;
  for (const std::string& path : paths) {
    std::vector<std::string> found;
    ASSIGN_OR_RETURN(found, codec::ListFiles(path));
    const bool is_file = found.size() == 1 && found[0] == path;
    if (!is_file) std::erase_if(found, [](const std::string& file) { return !sim::IsTestFileName(file); });
    if (found.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, ": no tests in it, expected files named test.yaml or *.test.yaml"));
    }
    for (const std::string& file : found) {
      std::error_code error;
      if (known.insert(std::filesystem::weakly_canonical(file, error)).second) files.push_back(file);
    }
  }
  return files;
}

// Nothing that was read is written over.
absl::Status WriteJUnit(const std::string& path, const std::vector<sim::TestResult>& results) {
  for (const sim::TestResult& result : results) {
    for (const std::string& input : result.inputs) {
      const absl::Status status = RefuseInputAsOutput("--junit", path, {input});
      // An input that can't be read is told of already.
      if (absl::IsInvalidArgument(status)) return status;
    }
  }
  std::unique_ptr<ResultFile> file;
  ASSIGN_OR_RETURN(file, ResultFile::Create(path));
  file->Write(TestResultsJUnit(results));
  return file->Commit();
}

void PrintNoticesOf(const std::vector<sim::TestResult>& results) {
  for (const sim::TestResult& result : results)
    for (const std::string& notice : result.notices) PrintNotice(absl::StrCat(result.path, ": ", notice));
}

// To write what no test has was hardly meant.
absl::Status CheckUpdated(const TestOptions& options, const std::vector<sim::TestResult>& results) {
  const auto says_something = [](const sim::TestResult& result) {
    return result.is_updated || !result.error.empty();
  };
  if (!options.update || std::any_of(results.begin(), results.end(), says_something)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--update: none of the tests has golden placements, expected the field placements in one of them");
}

absl::StatusOr<int> Test(const TestOptions& options) {
  if (options.update && options.seeds.has_value())
    return absl::InvalidArgumentError(
        "--update: expected it without --seeds: golden placements are of one seed");
  std::vector<std::string> files;
  ASSIGN_OR_RETURN(files, FilesOf(options.paths));
  std::vector<sim::TestResult> results;
  ASSIGN_OR_RETURN(results, RunFiles(options, files));
  RETURN_IF_ERROR(CheckUpdated(options, results));
  if (options.output != "json") PrintNoticesOf(results);
  if (options.junit.has_value()) RETURN_IF_ERROR(WriteJUnit(*options.junit, results));
  std::string text =
      options.output == "json" ? TestResultsJson(results) : ForTerminal(TestResultsText(results));
  if (options.output == "github") text = absl::StrCat(TestResultsGitHub(results), text);
  RETURN_IF_ERROR(WriteOutput(text));
  if (std::any_of(results.begin(), results.end(), [](const auto& result) { return !result.error.empty(); }))
    return kBadInput;
  return std::all_of(results.begin(), results.end(), [](const auto& result) { return result.Passed(); })
             ? kDone
             : kVerdict;
}

}  // namespace

void AddTest(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TestOptions>();
  options->jobs = DefaultJobs();
  CLI::App* command = app.add_subcommand("test", "Run tests of placements, as in CI");
  AddTexts(*command, "FILE", options->paths, "",
           "Files of kind Test, or folders of them: test.yaml and *.test.yaml", ParsePath)
      ->required();
  command->add_flag("--update", options->update, "Write the golden placements anew");
  AddOption(*command, "--seeds", options->seeds, "FIRST..LAST",
            "Run with each of these seeds, up to the first that fails; golden placements are left out",
            ParseSeedRange);
  AddVariationOptions(*command, options->given);
  AddPluginFiles(*command, options->given.scheduler.plugins, options->given.scheduler.processes);
  AddRecorder(*command, "--recorder", options->given.scheduler.recorder);
  AddOption(*command, "--junit", options->junit, "FILE", "Write the results as JUnit XML, too", ParsePath);
  AddOption(*command, "--jobs", options->jobs, "COUNT", "How many files, or seeds of a file, run at once",
            ParseJobs)
      ->default_str("one a processor");
  AddQuiet(*command);
  AddChoice(*command, "-o,--output", options->output, {"text", "json", "github"},
            "github: with annotations of the lines that fail, for GitHub Actions");
  command->footer(
      "A test says what is run and what is expected: golden placements, or that pods are bound, in time, on\n"
      "certain nodes, spread, pending for a reason, with few attempts or preemptions. See docs/test.md.\n"
      "The last line is `N passed, N failed`, of files.\n"
      "Exit codes: 0 all hold, 1 some do not, 2 bad usage, or a file that can't be run, also where a plugin\n"
      "crashes or gives no answer.\n\n"
      "Examples:\n"
      "  schedsim test scenarios/\n"
      "  schedsim test placements.test.yaml --update\n"
      "  schedsim test tests/ --output github --junit results.xml\n"
      "  schedsim test spread.test.yaml --seeds 1..200\n"
      "  schedsim test spread.test.yaml --seeds 1..200 --vary start,workers,ties --faults bind=0.05");
  command->callback([options, &exit_code] { exit_code = ExitCodeOf("schedsim test", Test(*options)); });
}

}  // namespace schedsim::tools
