// What came of tests, for people and for programs.
#ifndef SCHEDSIM_SIM_EXPECT_TEST_RESULT_H_
#define SCHEDSIM_SIM_EXPECT_TEST_RESULT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/expect/evaluate.h"

namespace schedsim::sim {

// Of one file.
struct TestResult {
  std::string path;
  // Why it could not be run; "": it was.
  std::string error;
  // What the user should know of its input, each with `note: ` or `warning: ` in front.
  std::vector<std::string> notices;
  // The files and folders that were read, the test itself first.
  std::vector<std::string> inputs;
  std::vector<Verdict> verdicts;
  // How many seeds were run, and the one of these verdicts: the first that fails. 0: that of the file.
  int64_t seed_count = 0;
  uint64_t seed = 0;
  // Options of the command line that the runs depend on, each with a blank in front: " --vary start".
  std::string run_options;
  // Whether the golden placements were written anew.
  bool is_updated = false;

  bool Passed() const;
};

// docs/test.md has the fields.
std::string TestResultsJson(const std::vector<TestResult>& results);
// Reads what TestResultsJson wrote. InvalidArgument for anything else.
absl::StatusOr<std::vector<TestResult>> ParseTestResults(const std::string& json);

// Ends with a line `N passed, N failed`, which counts files.
std::string TestResultsText(const std::vector<TestResult>& results);
// Commands of GitHub's workflows, a line for each failure, which it shows beside the file.
std::string TestResultsGitHub(const std::vector<TestResult>& results);
// As CI servers read it: a suite a file, a case an expectation.
std::string TestResultsJUnit(const std::vector<TestResult>& results);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPECT_TEST_RESULT_H_
