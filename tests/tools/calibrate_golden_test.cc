// schedsim calibrate on recorded audit logs of real clusters, against tools/calibrate.
// UPDATE_GOLDEN=1 writes what is expected anew.
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

constexpr char kLogs[] = SCHEDSIM_SOURCE_DIR "/tests/tools/kwok-real";
constexpr char kGolden[] = SCHEDSIM_SOURCE_DIR "/tests/tools/calibrate";

std::string LogOf(const std::string& run) { return absl::StrCat(kLogs, "/", run, "/audit.log.gz"); }

void ExpectGolden(const std::string& name, const std::vector<std::string>& arguments) {
  const ProgramResult result = RunProgram(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string out = absl::StrReplaceAll(result.out, {{absl::StrCat(kLogs, "/"), ""}});
  const std::string golden = absl::StrCat(kGolden, "/", name);
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(golden, std::ios::binary) << out;
  EXPECT_EQ(FileContent(golden), out) << "if that is as it should be: UPDATE_GOLDEN=1 ctest -L golden";
  EXPECT_EQ(RunProgram(arguments).out, result.out);
}

TEST(CalibrateGoldenTest, FitsOneRunAndChecksTheOther) {
  ExpectGolden("formats.txt", {"calibrate", LogOf("formats"), "--check", LogOf("pending")});
}

TEST(CalibrateGoldenTest, WritesJson) {
  ExpectGolden("pending.json",
               {"calibrate", LogOf("pending"), "--check", LogOf("formats"), "--output", "json"});
}

}  // namespace
}  // namespace schedsim
