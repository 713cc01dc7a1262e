// schedsim test: runs tests of placements. Which files, how many at once, what is printed.

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
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
#include "sim/plan/plan.h"
#include "sim/report/report.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/run_request.h"
#include "tools/subcommands.h"

extern char** environ;

namespace schedsim::tools {
namespace {

struct TestOptions {
  std::vector<std::string> paths;
  bool update = false;
  std::optional<SeedRange> seeds;
  // What runs vary and what fails in them goes before what a test says; nothing else of it counts.
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

// Runs seed by seed, up to the first that fails.
absl::Status RunSeeds(const SeedRange& seeds, const sim::TestFile& test, sim::Plan plan,
                      sim::TestResult& result) {
  if (test.expectations.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(test.path,
                     ": expect: has golden placements only, which are of one seed, expected expectations "
                     "beside --seeds"));
  }
  for (uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    plan.simulation.seed = seed;
    RETURN_IF_ERROR(RunTest(test, plan, result).status());
    ++result.seed_count;
    if (!result.Passed()) {
      result.seed = seed;
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

absl::Status RunFile(const TestOptions& options, const std::string& path, sim::TestResult& result) {
  result.inputs = {path};
  sim::TestFile test;
  ASSIGN_OR_RETURN(test, sim::ReadTestFile(path));
  if (options.given.variation.has_value()) test.request.variation = options.given.variation;
  if (options.given.faults.has_value()) test.request.faults = options.given.faults;
  for (const std::string& argument : VariationArguments(options.given))
    absl::StrAppend(&result.run_options, " ", argument);
  sim::Plan plan;
  ASSIGN_OR_RETURN(plan, PlanOf(test, result));
  if (options.update && !test.placements.empty())
    RETURN_IF_ERROR(RefuseInputAsOutput("placements", test.placements, result.inputs));
  if (!test.placements.empty()) result.inputs.push_back(test.placements);
  if (options.seeds.has_value()) return RunSeeds(*options.seeds, test, std::move(plan), result);
  sim::Outcome outcome;
  ASSIGN_OR_RETURN(outcome, RunTest(test, plan, result));
  if (test.placements.empty()) return absl::OkStatus();
  return options.update ? WritePlacements(test, sim::PlacementsText(outcome), result)
                        : CheckPlacements(test, outcome, result);
}

sim::TestResult ResultOf(const TestOptions& options, const std::string& path) {
  sim::TestResult result;
  result.path = path;
  const absl::Status status = RunFile(options, path, result);
  if (!status.ok()) result.error = std::string(status.message());
  return result;
}

// ---- Many files ----

// A process of this program that runs one file, since a simulation has its process for itself.
class Child {
 public:
  static absl::StatusOr<Child> Start(const std::vector<std::string>& arguments) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return absl::UnavailableError("schedsim test: there is no pipe to be had");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::vector<char*> words;
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    Child child;
    child.descriptor_ = ends[0];
    const int error = posix_spawn(&child.pid_, "/proc/self/exe", &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error == 0) return child;
    close(ends[0]);
    return absl::UnavailableError("schedsim test: another process of the program can't be started");
  }

  int descriptor() const { return descriptor_; }

  // Reads what there is. False: that was the end.
  bool Read() {
    char buffer[4096];
    const ssize_t count = read(descriptor_, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) return true;
    if (count > 0) text_.append(buffer, static_cast<size_t>(count));
    return count > 0;
  }

  // What the process found of the file `path`, after its end.
  sim::TestResult Finish(const std::string& path) {
    close(descriptor_);
    int state = 0;
    while (waitpid(pid_, &state, 0) < 0 && errno == EINTR) {
    }
    absl::StatusOr<std::vector<sim::TestResult>> results = sim::ParseTestResults(text_);
    if (results.ok() && results->size() == 1) return std::move(results->front());
    sim::TestResult result;
    result.path = path;
    result.error = WIFSIGNALED(state) ? absl::StrCat("the run was ended by signal ", WTERMSIG(state))
                                      : "the run ended without a result";
    return result;
  }

 private:
  pid_t pid_ = 0;
  int descriptor_ = -1;
  std::string text_;
};

std::vector<std::string> ArgumentsOf(const TestOptions& options, const std::string& path) {
  std::vector<std::string> arguments = {"schedsim", "test", path, "--output", "json", "--jobs", "1"};
  if (options.update) arguments.emplace_back("--update");
  const std::vector<std::string> variation = VariationArguments(options.given);
  arguments.insert(arguments.end(), variation.begin(), variation.end());
  if (options.seeds.has_value()) {
    arguments.emplace_back("--seeds");
    arguments.push_back(absl::StrCat(options.seeds->first, "..", options.seeds->last));
  }
  return arguments;
}

absl::StatusOr<std::vector<sim::TestResult>> RunInProcesses(const TestOptions& options,
                                                            const std::vector<std::string>& files) {
  std::vector<sim::TestResult> results(files.size());
  std::vector<std::pair<size_t, Child>> running;  // With the place of the file.
  size_t next = 0;
  while (next < files.size() || !running.empty()) {
    while (next < files.size() && running.size() < static_cast<size_t>(options.jobs)) {
      Child child;
      ASSIGN_OR_RETURN(child, Child::Start(ArgumentsOf(options, files[next])));
      running.emplace_back(next++, std::move(child));
    }
    std::vector<pollfd> waits;
    for (const auto& [place, child] : running) waits.push_back({.fd = child.descriptor(), .events = POLLIN});
    if (poll(waits.data(), waits.size(), -1) < 0) continue;
    for (size_t i = waits.size(); i-- > 0;) {
      auto& [place, child] = running[i];
      if (waits[i].revents == 0 || child.Read()) continue;
      results[place] = child.Finish(files[place]);
      running.erase(running.begin() + static_cast<int64_t>(i));
    }
  }
  return results;
}

// Folders stand for the tests below them, in the order of their names.
absl::StatusOr<std::vector<std::string>> FilesOf(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::vector<std::string> found;
    ASSIGN_OR_RETURN(found, codec::ListFiles(path));
    const bool is_file = found.size() == 1 && found[0] == path;
    if (!is_file) std::erase_if(found, [](const std::string& file) { return !sim::IsTestFileName(file); });
    if (found.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, ": no tests in it, expected files named test.yaml or *.test.yaml"));
    }
    files.insert(files.end(), found.begin(), found.end());
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

absl::StatusOr<int> Test(const TestOptions& options) {
  if (options.update && options.seeds.has_value())
    return absl::InvalidArgumentError(
        "--update: expected it without --seeds: golden placements are of one seed");
  std::vector<std::string> files;
  ASSIGN_OR_RETURN(files, FilesOf(options.paths));
  std::vector<sim::TestResult> results;
  if (files.size() == 1 || options.jobs == 1) {
    for (const std::string& file : files) results.push_back(ResultOf(options, file));
  } else {
    ASSIGN_OR_RETURN(results, RunInProcesses(options, files));
  }
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
  AddOption(*command, "--junit", options->junit, "FILE", "Write the results as JUnit XML, too", ParsePath);
  AddOption(*command, "--jobs", options->jobs, "COUNT", "How many files run at once", ParseJobs)
      ->default_str("one a processor");
  AddQuiet(*command);
  AddChoice(*command, "-o,--output", options->output, {"text", "json", "github"},
            "github: with annotations of the lines that fail, for GitHub Actions");
  command->footer(
      "A test says what is run and what is expected: golden placements, or that pods are bound, in time, on\n"
      "certain nodes, spread, pending for a reason, with few attempts or preemptions. See docs/test.md.\n"
      "The last line is `N passed, N failed`, of files.\n"
      "Exit codes: 0 all hold, 1 some do not, 2 bad usage, or a file that can't be run.\n\n"
      "Examples:\n"
      "  schedsim test scenarios/\n"
      "  schedsim test placements.test.yaml --update\n"
      "  schedsim test tests/ --output github --junit results.xml\n"
      "  schedsim test spread.test.yaml --seeds 1..200\n"
      "  schedsim test spread.test.yaml --seeds 1..200 --vary start,workers,ties --faults bind=0.05");
  command->callback([options, &exit_code] { exit_code = ExitCodeOf("schedsim test", Test(*options)); });
}

}  // namespace schedsim::tools
