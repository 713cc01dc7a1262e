// Several schedulers in one cluster, as a user runs them: --other-scheduler and `otherSchedulers`.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/tools/json_schema.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Json = nlohmann::json;
using Strings = std::vector<std::string>;

constexpr char kFolder[] = "scenarios/two-schedulers/";

constexpr char kConfig[] = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

constexpr char kCluster[] =
    "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 9}}}\n---\n"
    "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}\n---\n"
    "{apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {schedulerName: other, containers: [{name: c, "
    "image: i}]}}\n";

std::string Folder(const std::string& name) { return absl::StrCat(kFolder, name); }

class OtherSchedulersTest : public testing::Test {
 protected:
  std::string Config(const std::string& name, const Strings& profiles, const std::string& more = "") const {
    std::string text = absl::StrCat(kConfig, "profiles:\n");
    for (const std::string& profile : profiles) absl::StrAppend(&text, "- schedulerName: ", profile, "\n");
    return folder_.Write(name, text + more);
  }
  std::string Cluster() const { return folder_.Write("cluster.yaml", kCluster); }

  // The program ends with 2 and says all of `want`.
  void ExpectRefused(const Strings& arguments, const Strings& want) const {
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 2) << absl::StrJoin(arguments, " ") << "\n" << result.out;
    EXPECT_EQ(result.out, "");
    for (const std::string& part : want)
      EXPECT_TRUE(absl::StrContains(result.err, part)) << part << "\n" << result.err;
  }

  const TestFolder folder_;
};

TEST_F(OtherSchedulersTest, OfTheCommandLineBindTheirPods) {
  const std::string other = Config("other.yaml", {"other"});
  const Strings alone = {"run", "-f", Cluster()};
  const ProgramResult without = RunProgram(alone);
  EXPECT_TRUE(absl::StrContains(without.out, "Ignored         1")) << without.out;
  EXPECT_FALSE(absl::StrContains(without.out, "Scheduler  ")) << without.out;
  const ProgramResult with = RunProgram({"run", "-f", Cluster(), "--other-scheduler", other});
  EXPECT_EQ(with.exit_code, 0) << with.err;
  EXPECT_FALSE(absl::StrContains(with.out, "Ignored")) << with.out;
  EXPECT_TRUE(absl::StrContains(with.out,
                                "Scheduler       default-scheduler: 1 attempt, 1 bound\n"
                                "Scheduler       other: 1 attempt, 1 bound\n"
                                "Conflicts       0\n"))
      << with.out;
  // It is a part of the input, and of what was run.
  EXPECT_TRUE(absl::StrContains(with.out, absl::StrCat("--other-scheduler ", other))) << with.out;
  EXPECT_TRUE(absl::StrContains(with.out, "(2 files)")) << with.out;
}

TEST_F(OtherSchedulersTest, MayBeSeveral) {
  const ProgramResult result =
      RunProgram({"run", "-f", Cluster(), "--other-scheduler", Config("x.yaml", {"x"}), "--other-scheduler",
                  Config("other.yaml", {"second", "other"})});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out,
                                "Scheduler       x: 0 attempts, 0 bound\n"
                                "Scheduler       second, other: 1 attempt, 1 bound\n"))
      << result.out;
}

TEST_F(OtherSchedulersTest, ConflictIsReported) {
  const ProgramResult text = RunProgram({"run", Folder("scenario.yaml")});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_TRUE(absl::StrContains(text.out, "Conflicts       1\n")) << text.out;
  EXPECT_TRUE(absl::StrContains(text.out,
                                " of underlay-scheduler on node-1: OutOfcpu: Node didn't have enough "
                                "resource: cpu, requested: 1000, used: 4000, capacity: 4000; not heard yet "
                                "of pods of default-scheduler\n"))
      << text.out;
  const ProgramResult result = RunProgram({"run", Folder("scenario.yaml"), "-o", "json"});
  const Json report = Json::parse(result.out);
  const Json schema = Json::parse(FileContent(SCHEDSIM_SOURCE_DIR "/docs/report.schema.json"));
  EXPECT_EQ(SchemaViolations(schema, report), Strings());
  ASSERT_EQ(report["conflicts"].size(), 1U);
  EXPECT_EQ(report["conflicts"][0]["reason"], "OutOfcpu");
  EXPECT_EQ(report["conflicts"][0]["notHeardOf"], Json::array({"default-scheduler"}));
  ASSERT_EQ(report["schedulers"].size(), 2U);
  EXPECT_EQ(report["schedulers"][0]["config"], "");
  EXPECT_EQ(report["schedulers"][1]["config"], Folder("underlay.yaml"));
  EXPECT_EQ(report["schedulers"][1]["bound"], 2);
  EXPECT_EQ(report["schedulers"][1]["refused"], 1);
  // Every file that was read is there once.
  EXPECT_EQ(report["run"]["inputs"].size(), 3U) << report["run"];
}

TEST_F(OtherSchedulersTest, DoNotConflictWithoutLatency) {
  const ProgramResult result = RunProgram({"run", Folder("no-latency.yaml")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "Conflicts       0\n")) << result.out;
}

// Neither its timers nor its informers change what the first one does, nor when the run is over.
TEST_F(OtherSchedulersTest, ThatHaveNoPodsChangeNothing) {
  for (const std::string name :
       {"full-cluster", "node-outage", "open-system", "preemption-burst", "rolling-drain", "slow-api"}) {
    const auto ends_of = [&name](const Strings& more) {
      Strings arguments = {"run", absl::StrCat("scenarios/", name, "/scenario.yaml"), "-o", "json"};
      arguments.insert(arguments.end(), more.begin(), more.end());
      const Json report = Json::parse(RunProgram(arguments).out);
      return Json::array({report["digest"], report["placementDigest"], report["virtualTimeMicroseconds"]});
    };
    EXPECT_EQ(ends_of({"--other-scheduler", Folder("underlay.yaml")}), ends_of({})) << name;
  }
}

TEST_F(OtherSchedulersTest, EventOfTheKubeletIsAmongTheEvents) {
  const std::string events = folder_.Path("events.txt");
  EXPECT_EQ(RunProgram({"run", Folder("scenario.yaml"), "--events", events}).exit_code, 0);
  EXPECT_TRUE(absl::StrContains(FileContent(events), "OutOfcpu")) << FileContent(events);
  const std::string json = folder_.Path("events.json");
  EXPECT_EQ(RunProgram({"run", Folder("scenario.yaml"), "--events", json}).exit_code, 0);
  EXPECT_TRUE(absl::StrContains(FileContent(json), "kubelet")) << FileContent(json);
}

TEST_F(OtherSchedulersTest, WhyTellsOfARefusedPod) {
  const std::string trace = folder_.Path("trace.jsonl");
  const ProgramResult run =
      RunProgram({"run", Folder("scenario.yaml"), "--trace", trace, "--trace-level", "full", "-o", "json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::string pod = Json::parse(run.out)["conflicts"][0]["pod"];
  const ProgramResult why = RunProgram({"why", pod, trace});
  EXPECT_EQ(why.exit_code, 0) << why.err;
  EXPECT_TRUE(absl::StrContains(why.out, "which is Failed: OutOfcpu")) << why.out;
}

// Whoever repeats the run of a trace takes one scheduler only.
TEST_F(OtherSchedulersTest, RunOfATraceIsNotExplained) {
  const std::string trace = folder_.Path("trace.jsonl");
  const ProgramResult run = RunProgram(
      {"run", "-f", Cluster(), "--other-scheduler", Config("other.yaml", {"other"}), "--trace", trace});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ExpectRefused({"explain", "default/b", "--trace", trace},
                {"--other-scheduler", "only schedsim run and schedsim test take several schedulers"});
}

// A pod that waits in another queue counts as one in the first.
TEST_F(OtherSchedulersTest, HaveTheirQueuesInTheSeries) {
  const std::string full = folder_.Write(
      "full.yaml",
      "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 1, pods: 9}}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {schedulerName: other, containers: [{name: c, "
      "image: i, resources: {requests: {cpu: 2}}}]}}\n");
  const std::string series = folder_.Path("series.csv");
  const ProgramResult run = RunProgram(
      {"run", "-f", full, "--other-scheduler", Config("other.yaml", {"other"}), "--series", series});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::string table = FileContent(series);
  const Strings lines = absl::StrSplit(absl::StripAsciiWhitespace(table), '\n');
  const Strings names = absl::StrSplit(lines.front(), ',');
  const Strings last = absl::StrSplit(lines.back(), ',');
  const auto column = std::find(names.begin(), names.end(), "unschedulable");
  ASSERT_NE(column, names.end()) << table;
  EXPECT_EQ(last[static_cast<size_t>(column - names.begin())], "1") << table;
}

TEST_F(OtherSchedulersTest, AreRunWithManySeeds) {
  const ProgramResult result = RunProgram({"run", Folder("scenario.yaml"), "--seeds", "1..6", "--vary",
                                           "start,workers,ties", "--faults", "bind=0.2,watch=0.1"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST_F(OtherSchedulersTest, AreRunInTests) {
  const std::string other = Config("other.yaml", {"other"});
  Cluster();
  const std::string test = folder_.Write(
      "a.test.yaml",
      "apiVersion: schedsim/v1\nkind: Test\nrun: {files: [cluster.yaml], otherSchedulers: [other.yaml]}\n"
      "expect:\n- {name: b, pods: {name: b}, bound: true}\n");
  EXPECT_EQ(RunProgram({"test", test}).exit_code, 0) << RunProgram({"test", test}).out;
  const std::string without =
      folder_.Write("b.test.yaml",
                    "apiVersion: schedsim/v1\nkind: Test\nrun: {files: [cluster.yaml]}\n"
                    "expect:\n- {name: b, pods: {name: b}, bound: true}\n");
  EXPECT_EQ(RunProgram({"test", without}).exit_code, 1);
  // What fails beside several schedulers is not explained, and does not end the program.
  const std::string fails = folder_.Write(
      "c.test.yaml",
      "apiVersion: schedsim/v1\nkind: Test\nrun: {files: [cluster.yaml], otherSchedulers: [other.yaml]}\n"
      "expect:\n- {name: b, pods: {name: b}, bound: false}\n");
  EXPECT_EQ(RunProgram({"test", fails}).exit_code, 1);
}

TEST_F(OtherSchedulersTest, WithANameOfAnotherAreRefused) {
  const std::string other = Config("other.yaml", {"x", "default-scheduler"});
  ExpectRefused({"run", "-f", Cluster(), "--other-scheduler", other},
                {absl::StrCat("--other-scheduler: ", other,
                              ": schedulerName default-scheduler is also that of the first scheduler")});
  const std::string first = Config("first.yaml", {"x"});
  ExpectRefused({"run", "-f", Cluster(), "--config", first, "--other-scheduler", other},
                {absl::StrCat("--other-scheduler: ", other, ": schedulerName x is also that of ", first)});
  ExpectRefused({"run", Folder("scenario.yaml"), "--other-scheduler", Folder("underlay.yaml")},
                {"schedulerName underlay-scheduler is also that of scenarios/two-schedulers/underlay.yaml"});
}

TEST_F(OtherSchedulersTest, ThatCannotBeReadAreRefused) {
  ExpectRefused({"run", "-f", Cluster(), "--other-scheduler", folder_.Path("none.yaml")},
                {folder_.Path("none.yaml")});
  ExpectRefused({"run", "-f", Cluster(), "--other-scheduler", Cluster()}, {"KubeSchedulerConfiguration"});
  ExpectRefused({"run", "-f", "-", "--other-scheduler", "-"}, {"standard input (-) is given twice"});
  const std::string scenario = folder_.Write(
      "scenario.yaml", "apiVersion: schedsim/v1\nkind: Scenario\notherSchedulers: [none.yaml, 3]\n");
  ExpectRefused({"run", scenario}, {"scenario.yaml:3:19: otherSchedulers[0]"});
  ExpectRefused({"run", folder_.Write("number.yaml",
                                      "apiVersion: schedsim/v1\nkind: Scenario\notherSchedulers: [3]\n")},
                {"number.yaml:3:19: otherSchedulers[0]: expected a string, got a number"});
}

// Their files are no place for results.
TEST_F(OtherSchedulersTest, AreNotOverwritten) {
  const std::string other = Config("other.yaml", {"other"});
  ExpectRefused({"run", "-f", Cluster(), "--other-scheduler", other, "--trace", other}, {other});
  ExpectRefused({"run", Folder("scenario.yaml"), "--pods", Folder("underlay.yaml")}, {"underlay.yaml"});
}

TEST_F(OtherSchedulersTest, AreRefusedWhereOneIsMeant) {
  const std::string place = "scenario.yaml:6:19: otherSchedulers[0]";
  const std::string scenario = Folder("scenario.yaml");
  for (const Strings& arguments :
       {Strings{"explain", "default/game", scenario}, Strings{"diff", scenario, scenario},
        Strings{"record", scenario, "-o", folder_.Path("recording.yaml")},
        Strings{"report", scenario, "-o", folder_.Path("page.html")}}) {
    ExpectRefused(arguments, {place, "only schedsim run and schedsim test take several schedulers"});
  }
  const std::string other = Config("other.yaml", {"other"});
  const Strings run = {"run", "-f", Cluster(), "--other-scheduler", other};
  const auto with = [&run](Strings more) {
    more.insert(more.begin(), run.begin(), run.end());
    return more;
  };
  ExpectRefused(with({"--check-wakeups"}), {"--other-scheduler", "--check-wakeups"});
  ExpectRefused(with({"--counters"}), {"--other-scheduler", "--counters"});
  ExpectRefused(with({"--metrics", folder_.Path("m.txt")}), {"--other-scheduler", "--metrics"});
  ExpectRefused(with({"--stage", "pod-fast"}), {"--other-scheduler", "stages of pods"});
  ExpectRefused({"run", scenario, "--counters"}, {place, "--counters"});
  const std::string autoscaler = folder_.Write(
      "autoscaler.yaml",
      "apiVersion: schedsim/v1\nkind: Autoscaler\nnodePools:\n- {name: pool, min: 0, max: 1, template: "
      "{apiVersion: v1, kind: Node, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 9}}}}\n");
  ExpectRefused(with({"--autoscaler", autoscaler}), {"--other-scheduler", "autoscaler"});
  const std::string extended = Config(
      "extended.yaml", {"x"}, "extenders: [{urlPrefix: \"http://localhost:1\", filterVerb: filter}]\n");
  ExpectRefused({"run", "-f", Cluster(), "--other-scheduler", extended}, {extended, "extenders"});
}

}  // namespace
}  // namespace schedsim
