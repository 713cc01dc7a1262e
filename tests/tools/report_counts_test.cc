// Whom the report counts, and that it adds up.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

constexpr char kNode[] =
    "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: "
    "9}}}\n---\n";

std::string Pod(const std::string& name, const std::string& spec, const std::string& metadata = "",
                const std::string& cpu = "1") {
  return absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name, metadata, "}, spec: {", spec,
                      spec.empty() ? "" : ", ",
                      "containers: [{name: c, image: x, resources: {requests: {cpu: ", cpu, "}}}]}}\n---\n");
}

std::string Text(const std::string& objects) { return RunProgram({"run", "-f", "-"}, objects).out; }

Json ReportOf(const std::string& objects) {
  return Json::parse(RunProgram({"run", "-f", "-", "--output", "json"}, objects).out, nullptr, false);
}

TEST(ReportCountsTest, PodsThatWereBoundBeforeAddUp) {
  const std::string objects = kNode + Pod("old-1", "nodeName: n1") + Pod("old-2", "nodeName: n1") +
                              Pod("old-3", "nodeName: n1") + Pod("high", "priority: 10", "", "3");
  const Json report = ReportOf(objects);
  EXPECT_EQ(report["boundBefore"], 3);
  EXPECT_EQ(report["boundBeforeNow"],
            Json::parse(R"({"bound":1,"evicted":2,"deleted":0,"finished":0,"replaced":0})"));
  EXPECT_EQ(report["bound"], 2);
  EXPECT_EQ(report["evicted"], 2);
  const std::string text = Text(objects);
  EXPECT_TRUE(absl::StrContains(
      text, "Bound           2 (1 of them before)\nBound before    3: 1 still are, 2 evicted\n"))
      << text;
}

TEST(ReportCountsTest, NothingMoreIsSaidWhereAllAreStillThere) {
  const std::string text = Text(kNode + Pod("old", "nodeName: n1") + Pod("new", ""));
  EXPECT_TRUE(absl::StrContains(text, "Bound           2 (1 of them before)\nPending         0\n")) << text;
}

TEST(ReportCountsTest, PodsOfAnotherSchedulerAreCountedAndNamed) {
  const std::string text = Text(kNode + Pod("custom", "schedulerName: my-scheduler"));
  EXPECT_TRUE(
      absl::StrContains(text,
                        "Ignored         1 of schedulers that no profile names\n      1 x  my-scheduler\n"
                        "           default/custom\n"))
      << text;
}

TEST(ReportCountsTest, GatedPodsAreNamedWithTheirGates) {
  const std::string text =
      Text(kNode + Pod("a", "schedulingGates: [{name: example.com/quota}, {name: example.com/b}]") +
           Pod("b", "schedulingGates: [{name: example.com/quota}]"));
  EXPECT_TRUE(absl::StrContains(
      text, "Scheduling is blocked due to non-empty scheduling gates: example.com/quota, example.com/b\n"))
      << text;
  EXPECT_TRUE(
      absl::StrContains(text, "Scheduling is blocked due to non-empty scheduling gates: example.com/quota\n"))
      << text;
}

TEST(ReportCountsTest, PodsThatAreBeingDeletedAreCounted) {
  const Played played = Play(Cluster(2) + R"(latency: {podTermination: 1m}
timeline:
- at: 10s
  delete: {name: web-0}
)",
                             {"--until", "11s"});
  EXPECT_EQ(played.report["terminating"], 1) << played.report;
  EXPECT_EQ(played.Pod("web-0")["status"], "Bound");
  EXPECT_EQ(played.Pod("web-0")["reason"], "Terminating");
}

TEST(ReportCountsTest, LatenciesCountPodsThatAreGoneSince) {
  const Played played = Play(Cluster(2) + R"(timeline:
- at: 10s
  delete: {selector: app=web}
)",
                             {"--until", "100s"});
  EXPECT_EQ(played.Pod("web-0")["status"], "Gone");
  EXPECT_EQ(played.Pod("web-0")["reason"], "Deleted");
  EXPECT_EQ(played.report["bound"], 0);
  EXPECT_EQ(played.report["queueLatencyMicroseconds"]["max"], 1000) << played.report;
}

}  // namespace
}  // namespace schedsim
