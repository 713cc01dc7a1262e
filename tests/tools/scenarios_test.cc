// Every folder of scenarios/: its report is the one in expected/, twice the same, and without fast paths.
// UPDATE_GOLDEN=1 writes the reports anew.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

namespace fs = std::filesystem;

// Where the test runs is the top of the repository, and reports name files as they were given.
constexpr char kScenarios[] = "scenarios";

std::vector<std::string> ScenarioNames() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kScenarios)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class ScenarioGoldenTest : public testing::TestWithParam<std::string> {
 protected:
  std::string File(const std::string& name) const {
    return absl::StrCat(kScenarios, "/", GetParam(), "/", name);
  }

  struct Run {
    std::string report;
    std::string trace;
  };
  // The text report, which ends with the digest of the trace, and the trace.
  Run Play(const std::vector<std::string>& more = {}) const {
    const TestFolder folder;
    std::vector<std::string> arguments = {
        "run", File("scenario.yaml"), "--trace", folder.Path("trace.jsonl"), "--trace-level", "full"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 0) << absl::StrJoin(arguments, " ") << "\n" << result.err;
    return {.report = result.out, .trace = FileContent(folder.Path("trace.jsonl"))};
  }
};

TEST_P(ScenarioGoldenTest, GivesTheExpectedReport) {
  const std::string report = Play().report;
  const std::string golden = File("expected/report.txt");
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    fs::create_directories(File("expected"));
    std::ofstream(golden, std::ios::binary) << report;
  }
  EXPECT_EQ(FileContent(golden), report) << "if that is as it should be: UPDATE_GOLDEN=1 ctest -L golden";
}

TEST_P(ScenarioGoldenTest, GivesOneTraceWithAndWithoutFastPaths) {
  const Run run = Play();
  EXPECT_FALSE(run.trace.empty());
  for (const Run& again : {Play(), Play({"--reference"})}) {
    EXPECT_EQ(again.report, run.report);
    EXPECT_TRUE(again.trace == run.trace) << "the traces differ";
  }
}

TEST_P(ScenarioGoldenTest, SaysWhatItShows) { EXPECT_TRUE(fs::exists(File("README.md"))); }

INSTANTIATE_TEST_SUITE_P(Scenarios, ScenarioGoldenTest, testing::ValuesIn(ScenarioNames()),
                         [](const auto& run) {
                           std::string name = run.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace schedsim
