// schedsim run --check-wakeups: text, JSON and exit code.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/tools/json_schema.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Json = nlohmann::json;

ProgramResult RunCase(const std::string& name, std::vector<std::string> more = {"--check-wakeups"}) {
  std::vector<std::string> arguments = {"run", SCHEDSIM_SOURCE_DIR "/tests/sim/analysis/wakeups/cases.jsonl",
                                        "--case", name};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return RunProgram(arguments);
}

TEST(CheckWakeups, ReportsAFindingAndExitsWithOne) {
  const ProgramResult run = RunCase("namespace-selector-1");
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_TRUE(absl::StrContains(run.out, R"(
Missed wake-ups 1
  default/web: would fit on node-1 at 30.001s; rejected by InterPodAffinity in attempt 1 at 0.000s
    should have woken it:  AssignedPodAdd of team-b/db at 30.000s: InterPodAffinity says Skip
    woken:                 at 330.000s by UnschedulableTimeout
)")) << run.out;
}

TEST(CheckWakeups, SaysSoWhereItFindsNothing) {
  const ProgramResult run = RunCase("namespaces-listed-1");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(absl::StrContains(run.out, "\nMissed wake-ups 0\n")) << run.out;
}

TEST(CheckWakeups, IsOffByDefault) {
  const ProgramResult run = RunCase("namespace-selector-1", {});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_FALSE(absl::StrContains(run.out, "Missed wake-ups"));
  EXPECT_FALSE(
      Json::parse(RunCase("namespace-selector-1", {"--output", "json"}).out).contains("missedWakeups"));
}

TEST(CheckWakeups, PrintsJsonAsTheSchemaSays) {
  const ProgramResult run = RunCase("last-peer-1", {"--check-wakeups", "--output", "json"});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  const Json report = Json::parse(run.out);
  const Json schema = Json::parse(FileContent(SCHEDSIM_SOURCE_DIR "/docs/report.schema.json"));
  EXPECT_EQ(SchemaViolations(schema, report), std::vector<std::string>());
  const Json& missed = report["missedWakeups"].at(0);
  EXPECT_EQ(missed["pods"], Json::parse(R"(["default/web"])"));
  EXPECT_EQ(missed["node"], "node-2");
  EXPECT_EQ(missed["events"][0]["answers"],
            Json::parse(R"({"InterPodAffinity":"Skip","NodeUnschedulable":"not registered"})"));
  EXPECT_EQ(missed["wokenAtMicroseconds"], 330'000'000);
}

}  // namespace
}  // namespace schedsim
