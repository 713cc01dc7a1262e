// The report: sums of any size, and a place for every pod.
#include "sim/report/report.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/codec/objects/objects.h"
#include "gtest/gtest.h"
#include "sim/plan/plan.h"

namespace schedsim::sim {
namespace {

using Json = nlohmann::json;

// The report of a cluster in YAML.
Report ReportOf(const std::string& objects) {
  Plan plan;
  absl::StatusOr<ChosenScheduler> scheduler = ChooseScheduler({});
  EXPECT_TRUE(scheduler.ok()) << scheduler.status();
  plan.simulation.line = scheduler->behavior;
  plan.simulation.config = std::move(scheduler->config);
  codec::ObjectReader reader;
  const absl::Status read =
      reader.ReadText(objects, "objects.yaml", [&](api::ObjectPtr object, const codec::Location&) {
        plan.input.objects.push_back(std::move(object));
        return absl::OkStatus();
      });
  EXPECT_TRUE(read.ok()) << read;
  absl::StatusOr<Report> report = RunPlan(std::move(plan));
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : Report();
}

std::string Node(const std::string& name, const std::string& allocatable) {
  return absl::StrCat("{apiVersion: v1, kind: Node, metadata: {name: ", name, "}, status: {allocatable: {",
                      allocatable, "}}}\n---\n");
}

std::string Pod(const std::string& name, const std::string& spec, const std::string& requests = "",
                const std::string& more = "") {
  return absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name, more, "}, spec: {", spec,
                      "containers: [{name: c, image: app, resources: {requests: {", requests,
                      "}}}]}}\n---\n");
}

// "name requested allocatable percent" of each total.
std::vector<std::string> Totals(const Report& report) {
  const Json json = Json::parse(ReportJson(report));
  std::vector<std::string> totals;
  for (const Json& resource : json["resources"]) {
    std::string line;
    for (const char* field : {"name", "requested", "allocatable", "percent"})
      absl::StrAppend(&line, line.empty() ? "" : " ", resource[field].get<std::string>());
    totals.push_back(line);
  }
  return totals;
}

TEST(Report, SumsOf64BitAmountsDoNotWrapAround) {
  // 2^62 bytes each, on one node and on two.
  std::string objects =
      absl::StrCat(Node("a", "cpu: 1, memory: 9223372036854775807, pods: 10"),
                   Node("b", "cpu: 9223372036854775, memory: 9223372036854775807, pods: 10"));
  for (const char* name : {"p", "q", "r", "s"})
    objects += Pod(name, "nodeName: a, ", "memory: 4611686018427387904, cpu: 9223372036854775");
  objects += Pod("t", "nodeName: b, ", "memory: 4611686018427387904");
  const Report report = ReportOf(objects);
  EXPECT_EQ(Totals(report),
            (std::vector<std::string>{"cpu 36893488147419100 9223372036854776 399.99",
                                      "memory 23058430092136939520 18446744073709551614 125.00",
                                      "pods 5 20 25.00"}));
  EXPECT_TRUE(absl::StrContains(ReportText(report), "23058430092136939520")) << ReportText(report);
  EXPECT_TRUE(absl::StrContains(ReportText(report), "memory 200.00%")) << ReportText(report);
}

TEST(Report, ResourcesThatNoNodeHasAreThereWithoutAShare) {
  const Report report =
      ReportOf(absl::StrCat(Node("a", "cpu: 1, pods: 10"),
                            Pod("p", "nodeName: a, ", "cpu: 1500m, example.com/gpu: 2", ", uid: u")));
  EXPECT_EQ(Totals(report),
            (std::vector<std::string>{"cpu 1.500 1 150.00", "example.com/gpu 2 0 -", "pods 1 10 10.00"}));
}

TEST(Report, EveryPodIsSomewhere) {
  const std::string objects = absl::StrCat(
      Node("a", "cpu: 1, pods: 10"), Pod("bound", "nodeName: a, "), Pod("placed", ""),
      Pod("foreign", "schedulerName: my-scheduler, "),
      Pod("foreign-bound", "schedulerName: my-scheduler, nodeName: a, "),
      Pod("gated", "schedulingGates: [{name: example.com/wait}], "), Pod("large", "", "cpu: 2"),
      Pod("ending", "", "", ", deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [example.com/f]"),
      "{apiVersion: v1, kind: Pod, metadata: {name: over}, spec: {containers: [{name: c, image: app}]}, "
      "status: {phase: Succeeded}}\n");
  const Report report = ReportOf(objects);
  std::map<std::string, std::string> statuses;
  std::map<std::string, std::string> reasons;
  for (const Report::Pod& pod : report.pods) {
    statuses[pod.name] = pod.status;
    reasons[pod.name] = pod.reason;
  }
  EXPECT_EQ(statuses, (std::map<std::string, std::string>{{"bound", "Bound"},
                                                          {"placed", "Bound"},
                                                          {"foreign", "Ignored"},
                                                          {"foreign-bound", "Bound"},
                                                          {"gated", "Pending"},
                                                          {"large", "Pending"},
                                                          {"ending", "Pending"},
                                                          {"over", "Finished"}}));
  EXPECT_EQ(reasons["foreign"], "OtherScheduler");
  EXPECT_EQ(reasons["gated"], "SchedulingGated");
  EXPECT_EQ(reasons["large"], "Unschedulable");
  EXPECT_EQ(reasons["ending"], "Terminating");
  const std::string text = ReportText(report);
  EXPECT_TRUE(absl::StrContains(text, "Pending         3\n")) << text;
  EXPECT_TRUE(absl::StrContains(text,
                                "Ignored         1 of schedulers that no profile names\n"
                                "      1 x  my-scheduler\n           default/foreign\n"))
      << text;
  EXPECT_TRUE(absl::StrContains(text, "Finished        1\n")) << text;
  EXPECT_TRUE(
      absl::StrContains(ReportCsv(report),
                        "default,foreign,Ignored,,OtherScheduler,\"of scheduler my-scheduler, which no "
                        "profile names\",,false\n"))
      << ReportCsv(report);
  const Json json = Json::parse(ReportJson(report));
  EXPECT_EQ(json["ignored"], 1);
  EXPECT_EQ(json["ignoredByScheduler"], Json::parse(R"([{"schedulerName":"my-scheduler","count":1}])"));
}

// Names are not always as an API server would have them.
TEST(Report, ATerminalGetsNoControlCharacters) {
  Report report;
  report.pending_by_message.push_back(
      {.message = "\x1b[2J\nPending 0", .count = 1, .pods = {"default/\x1b[1m"}});
  report.warnings = {"a\x1b]0;title\x07"};
  const std::string text = ReportText(report);
  EXPECT_FALSE(absl::StrContains(text, "\x1b")) << text;
  EXPECT_TRUE(absl::StrContains(text, "\\x1b[2J\\nPending 0\n")) << text;
  report.pods.push_back({.name_space = "default", .name = "a\x1b[1m", .status = "Pending"});
  report.pods.back().message = "two\nlines, \"quoted\"";
  EXPECT_TRUE(
      absl::StrContains(ReportCsv(report), "\ndefault,a\\x1b[1m,Pending,,,\"two\\nlines, \"\"quoted\"\"\","))
      << ReportCsv(report);
}

}  // namespace
}  // namespace schedsim::sim
