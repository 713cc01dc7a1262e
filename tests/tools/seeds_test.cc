// schedsim run --seeds and schedsim test --seeds: what is drawn and what fails, over many seeds.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

// Four nodes with two cores each, and five pods that want two: which one waits is drawn.
std::string FivePods() {
  std::string text;
  for (int i = 0; i < 4; ++i) {
    absl::StrAppend(&text, "{apiVersion: v1, kind: Node, metadata: {name: n", i,
                    "}, status: {allocatable: {cpu: 2, memory: 8Gi, pods: 9}}}\n---\n");
  }
  for (int i = 0; i < 5; ++i) {
    absl::StrAppend(&text, "{apiVersion: v1, kind: Pod, metadata: {name: p", i,
                    "}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 2}}}]}}\n---\n");
  }
  return text;
}

class SeedsTest : public testing::Test {
 protected:
  SeedsTest() : cluster_(folder_.Write("cluster.yaml", FivePods())) {}

  // What `schedsim run -f cluster.yaml MORE...` prints; it ends well.
  std::string Run(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"run", "-f", cluster_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
    return result.out;
  }

  TestFolder folder_;
  const std::string cluster_;
};

TEST_F(SeedsTest, TheDistributionSaysHowOftenEachPodWaits) {
  const Json report = Json::parse(Run({"--seeds", "1..40", "--vary", "start", "--output", "json"}));
  EXPECT_EQ(report["kind"], "SeedReport");
  EXPECT_EQ(report["run"]["arguments"], Json::array({"-f", cluster_, "--vary", "start"}));
  EXPECT_EQ(report["run"]["inputs"].size(), 1U);
  EXPECT_EQ(report["run"]["seed"], "1");
  EXPECT_EQ(report["vary"], "start");
  EXPECT_EQ(report["runs"].size(), 40U);
  EXPECT_EQ(report["distribution"]["pending"]["min"], 1);
  EXPECT_EQ(report["distribution"]["pending"]["max"], 1);
  EXPECT_EQ(report["distribution"]["percent cpu"]["p50"], "100.00");
  EXPECT_EQ(report["reference"]["pendingPods"], Json({{"default/p4", 1}}));
  int64_t runs = 0;
  for (const Json& pod : report["pendingPods"]) {
    EXPECT_GT(pod["runs"], 0);
    EXPECT_LT(pod["runs"], 40);
    runs += pod["runs"].get<int64_t>();
  }
  EXPECT_EQ(runs, 40);
  EXPECT_EQ(report["pendingPods"].size(), 5U);
}

// The same seed gives the same run by itself and among others, however many go on at once.
TEST_F(SeedsTest, JobsAndOtherSeedsDoNotMatter) {
  const std::vector<std::string> options = {
      "--vary", "start,workers,ties", "--faults", "bind=0.3,answer=0.2,watch=0.2", "--output", "json"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), options.begin(), options.end());
    return Run(more);
  };
  const std::string one = with({"--seeds", "1..12", "--jobs", "1"});
  EXPECT_EQ(with({"--seeds", "1..12", "--jobs", "5"}), one);
  const Json all = Json::parse(one);
  const Json alone = Json::parse(with({"--seeds", "7"}));
  EXPECT_EQ(alone["runs"].size(), 1U);
  Json among = all["runs"][6];
  EXPECT_EQ(among.erase("toRunBefore"), 1U);
  EXPECT_EQ(alone["runs"][0], among);
  const Json run = Json::parse(with({"--seed", "7"}));
  EXPECT_EQ(run["digest"], all["runs"][6]["digest"]);
}

TEST_F(SeedsTest, WithoutVariationAllSeedsAreAlike) {
  const Json report = Json::parse(Run({"--seeds", "1..5", "--output", "json"}));
  for (const Json& run : report["runs"]) {
    EXPECT_EQ(run["digest"], report["reference"]["digest"]);
    EXPECT_EQ(run["toReference"], Json({{"sameNode", 4}, {"samePending", 1}}));
  }
  // The arguments, which are said first, are others.
  const auto result = [](const std::string& text) { return text.substr(text.find("\nKubernetes ")); };
  EXPECT_EQ(result(Run({"--vary", "none", "--faults", "none"})), result(Run({})));
}

TEST_F(SeedsTest, CsvHasALineASeed) {
  const std::string csv = Run({"--seeds", "3..5", "--vary", "start", "--output", "csv"});
  const std::vector<std::string> lines = absl::StrSplit(csv, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 4U) << csv;
  EXPECT_TRUE(absl::StartsWith(lines[0], "seed,passed,digest,bound,pending,evicted,attempts,")) << lines[0];
  EXPECT_TRUE(absl::StartsWith(lines[1], "3,true,")) << lines[1];
  const auto commas = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
  for (const std::string& line : lines) EXPECT_EQ(commas(line), commas(lines[0])) << line;
}

// A run whose scenario fails is named with the command that repeats it.
TEST_F(SeedsTest, TheSmallestFailingSeedIsNamedWithItsCommand) {
  const std::string scenario =
      folder_.Write("it's.yaml",
                    "apiVersion: schedsim/v1\nkind: Scenario\ninputs: [cluster.yaml]\nvary: start\n"
                    "timeline:\n- waitUntil: {bound: {name: p3}, timeout: 10s}\n");
  const ProgramResult result = RunProgram({"run", scenario, "--seeds", "1..30", "--output=text"});
  EXPECT_EQ(result.exit_code, 1) << result.err << result.out;
  const size_t at = result.out.find("again with: schedsim ");
  ASSERT_NE(at, std::string::npos) << result.out;
  const std::string command = result.out.substr(at + std::string("again with: schedsim ").size());
  const ProgramResult again = RunShell(absl::StrCat("\"$SCHEDSIM\" ", command.substr(0, command.find('\n'))));
  EXPECT_EQ(again.exit_code, 1) << command << again.err;
  EXPECT_TRUE(absl::StrContains(again.out, "Failed runs     1 of 1\n")) << again.out;
}

// The same for a test, of which several run at once; what the command line varies goes before the file.
TEST_F(SeedsTest, ATestNamesItsSmallestFailingSeed) {
  const std::string head = "apiVersion: schedsim/v1\nkind: Test\nrun: {files: [cluster.yaml], vary: none}\n";
  const std::string path =
      folder_.Write("a.test.yaml", absl::StrCat(head, "expect:\n- {pods: {name: p3}, bound: true}\n"));
  folder_.Write("b.test.yaml", absl::StrCat(head, "expect:\n- {pods: {name: p0}, count: 1}\n"));
  EXPECT_EQ(RunProgram({"test", path, "--seeds", "1..30"}).exit_code, 0);
  const ProgramResult result = RunProgram({"test", folder_.Path(""), "--seeds", "1..30", "--vary", "start",
                                           "--faults", "bind=0.1", "--jobs", "2"});
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "1 passed, 1 failed")) << result.out;
  const std::string begin = "again with: schedsim ";
  const size_t at = result.out.find(begin);
  ASSERT_NE(at, std::string::npos) << result.out;
  const std::string command =
      result.out.substr(at + begin.size(), result.out.find('\n', at) - at - begin.size());
  EXPECT_TRUE(absl::EndsWith(command, " --vary start --faults bind=0.1")) << command;
  const ProgramResult again = RunShell(absl::StrCat("\"$SCHEDSIM\" ", command));
  EXPECT_EQ(again.exit_code, 1) << again.out;
  EXPECT_TRUE(absl::StrContains(again.out, "default/p3 is Pending")) << again.out;
}

TEST_F(SeedsTest, WhatCannotBeIsRefused) {
  const struct {
    std::vector<std::string> arguments;
    const char* message;
  } rows[] = {
      {{"--seeds", "5..1"}, "is no range, expected FIRST..LAST or one number, from 1 on"},
      {{"--seeds", "1..9000000"}, "has 9000000 seeds, expected at most 1000000"},
      {{"--seeds", "1..2", "--trace", "x"}, "--trace: expected none with --seeds"},
      {{"--seeds", "1..2", "--fail-on-pending"}, "--fail-on-pending: expected none with --seeds"},
      {{"--seeds", "1..2", "--pods", "pods.csv"}, "--pods: expected none with --seeds"},
      {{"--seeds", "1..2", "--output", "objects"}, "--output objects: expected none with --seeds"},
      {{"--seeds", "1..2", "--follow"}, "--follow"},
      {{"--seeds", "1..2", "--seed", "3"}, "--seed"},
      {{"--jobs", "2"}, "--jobs: expected --seeds beside it"},
      {{"--vary", "start,start"}, "--vary: start: is given twice, expected it once"},
      {{"--faults", "bind=0.5,watch=0.1,bind=0"}, "--faults: bind: is given twice, expected it once"},
      {{"--vary", "nodes"}, "--vary: \"nodes\" can't be varied"},
      {{"--faults", "bind=1.5"}, "--faults: bind: \"1.5\" is no rate"},
  };
  for (const auto& row : rows) {
    std::vector<std::string> arguments = {"run", "-f", cluster_};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 2) << row.message;
    EXPECT_TRUE(absl::StrContains(result.err, row.message)) << result.err;
  }
  const std::string scenario = folder_.Write(
      "bad.yaml",
      "apiVersion: schedsim/v1\nkind: Scenario\ninputs: [cluster.yaml]\nvary: clocks\nfaults: bind=x\n");
  const ProgramResult result = RunProgram({"run", scenario});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "bad.yaml:4:7: vary: \"clocks\" can't be varied")) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, "bad.yaml:5:9: faults: bind: \"x\" is no rate")) << result.err;
}

}  // namespace
}  // namespace schedsim
