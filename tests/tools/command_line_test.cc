// The command line: what is wrong is said with the option, the value, and what was expected.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Strings = std::vector<std::string>;

constexpr char kSmall[] = SCHEDSIM_SOURCE_DIR "/snapshots/small";
constexpr char kCases[] = SCHEDSIM_SOURCE_DIR "/tests/conformance/cases/ports.jsonl.gz";
constexpr char kScenario[] = SCHEDSIM_SOURCE_DIR "/scenarios/rolling-drain/scenario.yaml";

struct Usage {
  Strings arguments;
  // What standard error starts with.
  std::string want;
};

void ExpectRefused(const Usage& usage) {
  const ProgramResult result = RunProgram(usage.arguments);
  const std::string command = absl::StrJoin(usage.arguments, " ");
  EXPECT_EQ(result.exit_code, 2) << command << "\n" << result.out << result.err;
  EXPECT_EQ(result.out, "") << command;
  EXPECT_TRUE(absl::StartsWith(result.err, usage.want)) << command << ": not \"" << usage.want << "\" but\n"
                                                        << result.err;
  // One message, one line.
  EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << command << "\n" << result.err;
}

TEST(CommandLine, NamesWhatWasMistyped) {
  const Usage usages[] = {
      {{},
       "schedsim: expected a command: run, conform, diff, test, what-if, config, why, explain, calibrate, "
       "bench, stage, "
       "scale, "
       "snapshot, "
       "record, report, plugin, help, completion; "
       "see "
       "schedsim --help"},
      {{"--verison"}, "schedsim: --verison: unknown option; did you mean --version?"},
      {{"config", "--hlep"}, "schedsim config: --hlep: unknown option; did you mean --help?"},
      {{"rnu"},
       "schedsim: expected a command: run, conform, diff, test, what-if, config, why, explain, calibrate, "
       "bench, stage, "
       "scale, "
       "snapshot, "
       "record, report, plugin, help, completion, "
       "got "
       "\"rnu\"; did you mean "
       "run?"},
      {{"config"}, "schedsim config: expected a command: print, migrate; see schedsim config --help"},
      {{"config", "pirnt"},
       "schedsim config: expected a command: print, migrate, got \"pirnt\"; did you mean print?"},
      {{"run", "-f", kSmall, "--trase", "x"}, "schedsim run: --trase: unknown option; did you mean --trace?"},
      {{"run", "-f", kSmall, "--untill=5s"}, "schedsim run: --untill: unknown option; did you mean --until?"},
      {{"run", "-f", kSmall, "--zzzzzzzzzz"},
       "schedsim run: --zzzzzzzzzz: unknown option; see schedsim run --help"},
      {{"--sed", "run", "-f", kSmall}, "schedsim run: --sed: unknown option; did you mean --seed?"},
      {{"config", "print", "--outptu", "json"},
       "schedsim config print: --outptu: unknown option; did you mean --output?"},
      {{"run", kScenario, kScenario, "more"}, "schedsim run: "},
      {{"why", "p"}, "schedsim why: expected TRACE; see schedsim why --help"},
      {{"explain"}, "schedsim explain: expected POD; see schedsim explain --help"},
      {{"explain", "p"}, "schedsim explain: expected a scenario, or a cluster with --filename (-f)"},
      {{"what-if", "drain"}, "schedsim what-if drain: expected a cluster with --filename (-f)"},
      {{"run", "-f", kSmall, "--trace-level", "full"},
       "schedsim run: --trace-level: expected --trace beside it; see schedsim run --help"},
      {{"run", "-f", kSmall, "--counters", "--output", "csv"},
       "schedsim run: --counters: --output csv has no place for them, expected text or json"},
      {{"run", "-f", kSmall, "--usage-interval", "1s"},
       "schedsim run: --usage-interval: expected --usage beside it"},
      {{"explain", "p", "-f", kSmall, "--inputs", "x"},
       "schedsim explain: --inputs: expected --trace beside it"},
      {{"diff", "-f", kSmall, "--a-version", "1.35", "--no-causes"},
       "schedsim diff: --no-causes: expected a trace, A or B, beside it"},
      {{"what-if", "nodes", "--like", "n", "-f", kSmall, "--add", "1", "--at-most", "2"},
       "schedsim what-if nodes: --add: expected no --at-most beside it"},
  };
  for (const Usage& usage : usages) ExpectRefused(usage);
}

TEST(CommandLine, NamesTheOptionTheValueAndWhatWasExpected) {
  const Usage usages[] = {
      {{"--seed", "-1"},
       R"(--seed: "-1" is not a seed, expected a whole number from 0 to 18446744073709551615)"},
      {{"--seed", "1e3"}, R"(--seed: "1e3" is not a seed, expected a whole number)"},
      {{"--seed", "18446744073709551616"}, R"(--seed: "18446744073709551616" is not a seed, expected)"},
      {{"--seed", ""}, "--seed: \"\" is not a seed, expected a whole number"},
      {{"--seed"}, "--seed: expected a value"},
      {{"--seed", "1", "--seed", "2"}, "--seed: is given twice, expected it once"},
      {{"--until", "60"}, R"(--until: "60" has no unit, expected a duration such as 60s)"},
      {{"--until", "-5s"}, R"(--until: "-5s" is out of range, expected a duration from 0s to 876600h)"},
      {{"--until", "inf"}, R"(--until: "inf" is not a duration, expected one such as 600s or 1h30m)"},
      {{"--until", "876601h"},
       R"(--until: "876601h" is out of range, expected a duration from 0s to 876600h)"},
      {{"--until", "99999999999999999999h"}, R"(--until: "99999999999999999999h" is )"},
      {{"--until", "soon"}, R"(--until: "soon" is not a duration, expected one such as 600s or 1h30m)"},
      {{"--until", ""}, R"(--until: "" is not a duration)"},
      {{"--start", "infinite-future"},
       R"(--start: "infinite-future" is not a time, expected RFC 3339 of the years)"},
      {{"--start", "infinite-past"}, R"(--start: "infinite-past" is not a time)"},
      {{"--start", "0000-12-31T23:59:59Z"}, R"(--start: "0000-12-31T23:59:59Z" is not a time)"},
      {{"--start", "10000-01-01T00:00:00Z"}, R"(--start: "10000-01-01T00:00:00Z" is not a time)"},
      {{"--start", "9999-12-31T23:59:59-01:00"}, R"(--start: "9999-12-31T23:59:59-01:00" is not a time)"},
      {{"--start", " 2026-01-01T00:00:00Z"}, R"(--start: " 2026-01-01T00:00:00Z" is not a time)"},
      {{"--start", "9999-12-31T00:00:00Z", "--until", "48h"},
       "--until: the run would end after the year 9999"},
      {{"--bound", "drop"}, R"(--bound: "drop" is not known, expected keep, reset or reset=SELECTOR)"},
      {{"--output", "xml"}, R"(--output: "xml" is not known, expected one of text, json, csv)"},
      {{"--trace-level", ""}, R"(--trace-level: "" is not known, expected one of decisions, ties, full)"},
      {{"--trace", ""}, "--trace: is empty, expected a value"},
      {{"--trace", "--strict"}, R"(--trace: "--strict" is an option, expected the path of a file)"},
      {{"--config", ""}, "--config: is empty, expected a value"},
      {{"--filename", ""}, "--filename: is empty, expected a value"},
      {{"--kubernetes-version", "new"}, "--kubernetes-version: "},
      {{"--case", "a-1"}, "--case: expected a file of cases before it"},
  };
  for (const Usage& usage : usages) {
    Strings arguments = {"run", "-f", kSmall};
    arguments.insert(arguments.end(), usage.arguments.begin(), usage.arguments.end());
    ExpectRefused({arguments, absl::StrCat("schedsim run: ", usage.want)});
  }
}

TEST(CommandLine, SaysWhatDoesNotGoTogether) {
  const Usage usages[] = {
      {{"run", kScenario, "--case", "a-1"}, "schedsim run: --case: "},
      {{"run", kCases}, "schedsim run: "},
      {{"run", kCases, "--case", "ports-1", "--bound", "reset"}, "schedsim run: "},
      {{"run", "-f", "-", "-f", "-"}, "schedsim run: standard input (-) is given twice, expected it once"},
      {{"run", "-", "-f", "-"}, "schedsim run: standard input (-) is given twice, expected it once"},
      // -f takes one value; what follows it is the scenario.
      {{"run", "-f", kScenario, absl::StrCat(kSmall, "/nodes.yaml")}, "schedsim run: "},
  };
  for (const Usage& usage : usages) ExpectRefused(usage);
}

TEST(CommandLine, ATimeOfTheInputMustBeOneOfTheYears) {
  constexpr char kNode[] =
      "{apiVersion: v1, kind: Node, metadata: {name: n1, creationTimestamp: '0000-01-01T00:00:00Z'},"
      " status: {allocatable: {cpu: 1, pods: 1}}}\n";
  const ProgramResult result = RunProgram({"run", "-f", "-"}, kNode);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err, "expected one of the years 1 to 9999")) << result.err;
  EXPECT_EQ(RunProgram({"run", "-f", "-", "--start", "0001-01-01T00:00:00Z"}, kNode).exit_code, 0);
  EXPECT_EQ(
      RunProgram({"run", "-f", "-", "--start", "9999-12-31T23:59:59Z", "--until", "0s"}, kNode).exit_code, 0);
}

TEST(CommandLine, DurationsOfAScenarioHaveBounds) {
  const std::vector<std::pair<std::string, std::string>> fields = {
      {"end: 876601h", "end: \"876601h\" is out of range, expected a duration from 0s to 876600h"},
      {"end: -1s", "end: \"-1s\" is out of range"},
      {"end: inf", "end: \"inf\" is not a duration"},
      {"end: '60'", "end: \"60\" has no unit, expected a duration such as 60s"},
      {"start: infinite-future",
       "start: \"infinite-future\" is not a time, expected RFC 3339 of the years 1 to 9999"},
      {"timeline: [{at: 876601h, cordon: n}]", "timeline[0].at: \"876601h\" is out of range"},
      {"timeline: [{after: -1s, cordon: n}]", "timeline[0].after: \"-1s\" is out of range"},
      {"timeline: [{waitUntil: {quiet: true, timeout: 876601h}}]", "timeout: \"876601h\" is out of range"},
      {"timeline: [{drain: {nodes: n, timeout: inf}}]", "timeout: \"inf\" is not a duration"},
      {"timeline: [{nodeDown: {nodes: n, gracePeriod: -1s}}]", "gracePeriod: \"-1s\" is out of range"}};
  for (const auto& [field, want] : fields) {
    const ProgramResult result =
        RunProgram({"run", "-"}, absl::StrCat("apiVersion: schedsim/v1\nkind: Scenario\n", field, "\n"));
    EXPECT_EQ(result.exit_code, 2) << field;
    EXPECT_TRUE(absl::StrContains(result.err, want)) << field << "\n" << result.err;
  }
}

TEST(CommandLine, HelpHasExamplesAndExitCodes) {
  const Strings commands[] = {{},      {"run"},       {"conform"}, {"config", "print"}, {"config", "migrate"},
                              {"why"}, {"calibrate"}, {"bench"}};
  for (const Strings& command : commands) {
    Strings arguments = command;
    arguments.push_back("--help");
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_TRUE(absl::StrContains(result.out, "Examples:\n  schedsim ")) << result.out;
    EXPECT_TRUE(absl::StrContains(result.out, "Exit codes:")) << result.out;
  }
  EXPECT_TRUE(absl::StartsWith(RunProgram({"--version"}).out, "schedsim 0.1.0\nguests of WebAssembly: "));
}

TEST(CommandLine, AScenarioComesFromAFileAPipeOrAnArchive) {
  const TestFolder folder;
  const std::string text =
      absl::StrCat("apiVersion: schedsim/v1\nkind: Scenario\nend: 10s\ninputs: [", kSmall, "]\n");
  const std::string file = folder.Write("scenario.yaml", text);
  const std::string want = BelowHead(RunProgram({"run", file}).out);
  EXPECT_TRUE(absl::StrContains(want, "Bound           240")) << want;
  EXPECT_EQ(BelowHead(RunProgram({"run", "-"}, text).out), want);
  EXPECT_EQ(BelowHead(RunProgram({"run", "/dev/stdin"}, text).out), want);
  EXPECT_EQ(BelowHead(RunProgram({"run", folder.Write("scenario.yaml.gz", Gzip(text))}).out), want);
  EXPECT_EQ(BelowHead(RunProgram({"run", "-"}, Gzip(text)).out), want);
  EXPECT_EQ(BelowHead(RunShell(absl::StrCat("cat ", file, " | \"$SCHEDSIM\" run -")).out), want);
  EXPECT_EQ(BelowHead(RunShell(absl::StrCat("cat ", file, " | \"$SCHEDSIM\" run /dev/fd/0")).out), want);
  const ProgramResult one_case =
      RunShell(absl::StrCat("cat ", kCases, " | \"$SCHEDSIM\" run - --case ports-1"));
  EXPECT_EQ(one_case.exit_code, 0) << one_case.err;
  EXPECT_EQ(BelowHead(one_case.out), BelowHead(RunProgram({"run", kCases, "--case", "ports-1"}).out));
}

}  // namespace
}  // namespace schedsim
