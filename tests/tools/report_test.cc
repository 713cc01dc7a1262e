// schedsim report: a page about a run, against what `schedsim run` and `schedsim diff` say of it.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/tools/five_pods.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Json = nlohmann::json;

const std::string kSnapshots = absl::StrCat(SCHEDSIM_SOURCE_DIR, "/snapshots/");

// A pod that preempts another one, one that fits nowhere, and one that waits for a gate.
const std::string kCluster = absl::StrCat(R"(
apiVersion: v1
kind: Node
metadata: {name: node-1, labels: {topology.kubernetes.io/zone: north, karpenter.sh/nodepool: small}}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
---
apiVersion: v1
kind: Node
metadata: {name: node-2, labels: {topology.kubernetes.io/zone: south}}
spec: {unschedulable: true}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
)",
                                          kFourPods);

Json DataOf(absl::string_view html) {
  constexpr absl::string_view kStart = "<script type=\"application/json\" id=\"data\">";
  const size_t start = html.find(kStart);
  if (start == absl::string_view::npos) return nullptr;
  const absl::string_view rest = html.substr(start + kStart.size());
  return Json::parse(rest.substr(0, rest.find("</script>")), nullptr, /*allow_exceptions=*/false);
}

std::string Page(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "report");
  arguments.insert(arguments.end(), {"-o", "-"});
  const ProgramResult result = RunProgram(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.out;
}

// The rows of the pods' table as the JSON report has them.
Json RowsOf(const Json& pods) {
  Json rows = Json::array();
  for (size_t i = 0; i < pods["name"].size(); ++i) {
    Json row = {{"name", pods["name"][i]}, {"inexact", pods["inexact"][i] == 1}};
    for (const char* column : {"namespace", "status", "node", "reason", "message"})
      row[column] = pods["texts"][pods[column][i].get<size_t>()];
    const Json& latency = pods["queueLatencyMicroseconds"][i];
    row["queueLatencyMicroseconds"] = latency == -1 ? Json(nullptr) : latency;
    rows.push_back(row);
  }
  return rows;
}

void ExpectTheReport(const Json& run, const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {"run", "--output", "json"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const Json report = Json::parse(RunProgram(command).out);
  Json found = run["report"];
  found["pods"] = RowsOf(run["pods"]);
  EXPECT_EQ(found, report);
}

TEST(ReportCommand, HasWhatTheJsonReportHas) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"-f", kSnapshots + "small", "--bound", "reset"},
           {"-f", kSnapshots + "mixed", "--seed", "7"},
           {absl::StrCat(SCHEDSIM_SOURCE_DIR, "/scenarios/rolling-drain/scenario.yaml")}}) {
    const Json data = DataOf(Page(arguments));
    ASSERT_TRUE(data.is_object());
    ExpectTheReport(data["run"], arguments);
  }
}

TEST(ReportCommand, GivesTheSameBytesForTheSameInput) {
  const std::vector<std::string> arguments = {"-f", kSnapshots + "mixed", "--b-version", "1.35"};
  EXPECT_EQ(Page(arguments), Page(arguments));
}

TEST(ReportCommand, EndsItsSeriesAndNodesWithTheSumsOfTheReport) {
  const Json run = DataOf(Page({"-f", kSnapshots + "mixed"}))["run"];
  const Json& series = run["series"];
  EXPECT_EQ(series["bound"].back(), run["report"]["bound"]);
  EXPECT_EQ(series["pending"].back(), run["report"]["pending"]);
  EXPECT_EQ(series["nodes"].back(), run["report"]["nodes"]);
  EXPECT_EQ(series["attempts"].back(), run["report"]["attempts"]);
  EXPECT_EQ(series["microseconds"].back(), run["report"]["virtualTimeMicroseconds"]);
  EXPECT_EQ(run["nodes"]["name"].size(), run["report"]["nodes"]);
  for (const Json& column : series["resources"]) {
    int64_t requested = 0;
    for (const Json& resource : run["nodes"]["resources"]) {
      if (resource["name"] != column["name"]) continue;
      for (const Json& amount : resource["requested"]) requested += amount.get<int64_t>();
    }
    EXPECT_EQ(column["requested"].back(), requested) << column["name"];
  }
  // cpu: thousandths there, cores here.
  EXPECT_EQ(series["resources"][0]["name"], "cpu");
  EXPECT_EQ(series["resources"][0]["requested"].back(), 395'860);
  EXPECT_EQ(run["report"]["resources"][0]["requested"], "395.860");
  int64_t latencies = 0;
  for (const Json& count : run["latencies"]["count"]) latencies += count.get<int64_t>();
  EXPECT_EQ(latencies, run["report"]["bound"]);
}

TEST(ReportCommand, TellsOfNodesPreemptionsAndReasons) {
  const TestFolder folder;
  const Json data = DataOf(Page({"-f", folder.Write("cluster.yaml", kCluster)}));
  const Json& nodes = data["run"]["nodes"];
  EXPECT_EQ(nodes["name"], Json::parse(R"(["node-1", "node-2"])"));
  EXPECT_EQ(nodes["unschedulable"], Json::parse("[0, 1]"));
  EXPECT_EQ(nodes["texts"][nodes["zone"][1].get<size_t>()], "south");
  EXPECT_EQ(nodes["texts"][nodes["pool"][0].get<size_t>()], "small");
  const Json& preemptions = data["run"]["preemptions"];
  ASSERT_EQ(preemptions["count"], 1);
  EXPECT_EQ(preemptions["list"][0]["pod"], "default/high");
  EXPECT_EQ(preemptions["list"][0]["node"], "node-1");
  EXPECT_EQ(preemptions["list"][0]["victims"], Json::parse(R"(["default/low"])"));
  EXPECT_EQ(data["run"]["series"]["evicted"].back(), 1);
  // The gated pod was not tried, and its message says all.
  ASSERT_EQ(data["explanations"].size(), 1);
  const Json& explanation = data["explanations"][0];
  EXPECT_EQ(explanation["pod"], "default/wide");
  EXPECT_TRUE(absl::StrContains(explanation["text"].get<std::string>(), "ask for"));
  bool is_a_reason = false;
  for (const Json& reason : data["run"]["report"]["pendingByMessage"])
    is_a_reason = is_a_reason || reason["message"] == explanation["message"];
  EXPECT_TRUE(is_a_reason);
}

// As schedsim explain has it.
TEST(ReportCommand, ExplainsAsExplainDoes) {
  const TestFolder folder;
  const std::string path = folder.Write("cluster.yaml", kCluster);
  const Json data = DataOf(Page({"-f", path}));
  EXPECT_EQ(data["explanations"][0]["text"], RunProgram({"explain", "default/wide", "-f", path}).out);
}

TEST(ReportCommand, ExplainsNoMoreReasonsThanAskedFor) {
  EXPECT_EQ(DataOf(Page({"-f", kSnapshots + "mixed", "--explain", "2"}))["explanations"].size(), 2);
  EXPECT_EQ(DataOf(Page({"-f", kSnapshots + "mixed", "--explain", "0"}))["explanations"].size(), 0);
}

TEST(ReportCommand, ComparesTwoRunsAsDiffDoes) {
  const std::string cluster = kSnapshots + "mixed";
  const Json data = DataOf(Page({"-f", cluster, "--b-version", "1.35", "--seed", "3"}));
  ExpectTheReport(data["run"], {"-f", cluster, "--seed", "3"});
  ExpectTheReport(data["other"], {"-f", cluster, "--seed", "3", "--kubernetes-version", "1.35"});
  const ProgramResult diff =
      RunProgram({"diff", "-f", cluster, "--b-version", "1.35", "--seed", "3", "--output", "json"});
  EXPECT_EQ(data["diff"], Json::parse(diff.out));
}

TEST(ReportCommand, ComparesTwoScenarios) {
  const std::string scenarios = absl::StrCat(SCHEDSIM_SOURCE_DIR, "/scenarios/");
  const std::string a = scenarios + "rolling-drain/scenario.yaml";
  const std::string b = scenarios + "node-outage/scenario.yaml";
  const Json data = DataOf(Page({a, "--b-run", b}));
  ExpectTheReport(data["run"], {a});
  ExpectTheReport(data["other"], {b});
}

TEST(ReportCommand, SaysWhatAScenarioWaitedForInVain) {
  const TestFolder folder;
  folder.Write("cluster.yaml", kCluster);
  const std::string scenario = folder.Write("scenario.yaml", R"(
apiVersion: schedsim/v1
kind: Scenario
inputs: [cluster.yaml]
timeline:
- waitUntil: {pending: 0, timeout: 5s}
)");
  const ProgramResult result = RunProgram({"report", scenario, "-o", folder.Path("report.html")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(result.err, "schedsim report: ")) << result.err;
  EXPECT_FALSE(DataOf(FileContent(folder.Path("report.html")))["run"]["report"]["failures"].empty());
}

TEST(ReportCommand, RefusesWhatHasNoMeaning) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", kCluster);
  struct Row {
    std::vector<std::string> arguments;
    std::string message;
  };
  const std::vector<Row> rows = {
      {{"-f", cluster}, "schedsim report: expected --path; see schedsim report --help\n"},
      {{"-f", cluster, "-o", cluster},
       absl::StrCat("schedsim report: --path: ", cluster, " is the input ", cluster,
                    ", expected another file\n")},
      {{"-f", cluster, "-o", "x.html", "--explain", "-1"},
       "schedsim report: --explain: \"-1\" is not a count, expected a whole number from 0 on; see schedsim "
       "report --help\n"},
      {{"-f", cluster, "--b-run", "b.yaml", "-o", "x.html"},
       "schedsim report: --b-run: expected a scenario to compare with, SCENARIO\n"},
      {{"-f", "-", "--b-version", "1.36", "-o", "x.html"},
       "schedsim report: -: is read more than once here, expected a file\n"}};
  for (const Row& row : rows) {
    std::vector<std::string> arguments = {"report"};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.err, row.message);
    EXPECT_EQ(result.out, "");
  }
}

}  // namespace
}  // namespace schedsim
