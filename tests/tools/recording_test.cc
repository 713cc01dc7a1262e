// schedsim run on recordings, and schedsim record: recordings of real clusters from tests/tools/recordings.
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/tools/json_schema.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Json = nlohmann::json;

constexpr char kRecordings[] = SCHEDSIM_SOURCE_DIR "/tests/tools/recordings";
constexpr char kClusters[] = SCHEDSIM_SOURCE_DIR "/tests/tools/kwok-real";
constexpr char kScenarios[] = SCHEDSIM_SOURCE_DIR "/scenarios";

std::string RecordingOf(const std::string& name) { return absl::StrCat(kRecordings, "/", name, ".yaml.xz"); }

Json Follow(const std::string& path, const std::string& output = "json") {
  const ProgramResult result = RunProgram({"run", path, "--follow", "--output", output});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.exit_code == 0 ? Json::parse(result.out) : Json();
}

// Where the pods are, and in which phase: by namespace and name.
std::set<std::string> PodsOf(const Json& list) {
  std::set<std::string> pods;
  for (const Json& item : list["items"]) {
    if (item["kind"] != "Pod") continue;
    const Json& metadata = item["metadata"];
    pods.insert(absl::StrCat(metadata["namespace"].get<std::string>(), "/",
                             metadata["name"].get<std::string>(), " ", metadata.value("uid", ""), " ",
                             item["spec"].value("nodeName", ""), " ", item["status"].value("phase", "")));
  }
  return pods;
}

// As kubectl saw the cluster in the end.
Json Snapshot(const std::string& path) {
  const ProgramResult result = RunShell(absl::StrCat("gzip -dc ", kClusters, "/", path));
  return Json::parse(result.out);
}

TEST(RecordingTest, ReachesTheEndsOfRealClusters) {
  EXPECT_EQ(PodsOf(Follow(RecordingOf("nofit/record.export"), "objects")),
            PodsOf(Snapshot("nofit/2-one-node-more/get.json.gz")));
  EXPECT_EQ(PodsOf(Follow(RecordingOf("nofit/record.etcd"), "objects")),
            PodsOf(Snapshot("nofit/2-one-node-more/get.json.gz")));
  EXPECT_EQ(PodsOf(Follow(RecordingOf("pending/record.export"), "objects")),
            PodsOf(Snapshot("pending/3-some-freed/get.json.gz")));
  EXPECT_EQ(PodsOf(Follow(RecordingOf("preempt/record.export"), "objects")),
            PodsOf(Snapshot("preempt/4-critical/get.json.gz")));
}

// Pods and claims of one name were mixed up by the recorder: without the repair 15 of 45 pods are there.
TEST(RecordingTest, RepairsWhatTheRecorderMixedUp) {
  const std::string path = RecordingOf("storage/record.etcd");
  EXPECT_EQ(PodsOf(Follow(path, "objects")), PodsOf(Snapshot("storage/3-changed/get.json.gz")));
  const ProgramResult result = RunProgram({"run", path, "--follow"});
  EXPECT_TRUE(absl::StrContains(result.err, "patches are differences between objects of two kinds"))
      << result.err;
}

TEST(RecordingTest, SaysThatStatusesAndPodsDisagree) {
  const Json report = Follow(RecordingOf("mixed/record.export"));
  EXPECT_GT(report["contradictions"].size(), 5);
  EXPECT_TRUE(absl::StrContains(report["contradictions"].back().get<std::string>(),
                                "the stream of pods seems to end too early"));
  EXPECT_EQ(Follow(RecordingOf("nofit/record.export"))["contradictions"].size(), 0);
}

TEST(RecordingTest, IsRescheduledByDefault) {
  const ProgramResult result = RunProgram({"run", RecordingOf("nofit/record.export"), "--output", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json report = Json::parse(result.out);
  const Json& recording = report["recording"];
  EXPECT_EQ(recording["pods"], 53);
  const int both = recording["sameNode"].get<int>() + recording["otherNode"].get<int>();
  EXPECT_EQ(both + recording["boundInRecordingOnly"].get<int>(), 6);
  EXPECT_EQ(both + recording["boundHereOnly"].get<int>(), report["bound"]);
  EXPECT_EQ(report["bound"].get<int>() + report["pending"].get<int>(), 53);
  EXPECT_EQ(recording["changes"]["notPossible"], 0);
  // It is the default; only what the report says of its arguments differs.
  Json asked_for = Json::parse(
      RunProgram({"run", RecordingOf("nofit/record.export"), "--reschedule", "--output", "json"}).out);
  asked_for["run"] = report["run"];
  EXPECT_EQ(asked_for, report);
}

TEST(RecordingTest, ReportsFitTheirSchema) {
  const ProgramResult result = RunProgram({"run", RecordingOf("pending/record.export"), "--output", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json schema = Json::parse(FileContent(SCHEDSIM_SOURCE_DIR "/docs/report.schema.json"));
  EXPECT_EQ(SchemaViolations(schema, Json::parse(result.out)), std::vector<std::string>());
}

TEST(RecordingTest, RefusesOptionsThatMeanNothing) {
  const std::string path = RecordingOf("nofit/record.export");
  for (const auto& [option, value] : {std::pair("--bound", "reset"), std::pair("--stage", "fast"),
                                      std::pair("--case", "a"), std::pair("--controllers", "none")}) {
    const ProgramResult result = RunProgram({"run", path, option, value});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(absl::StrContains(result.err, absl::StrCat("schedsim run: ", option, ": "))) << result.err;
  }
  EXPECT_EQ(RunProgram({"run", path, "--follow", "--trace", "-"}).exit_code, 2);
  EXPECT_EQ(RunProgram({"run", path, "--follow", "--reschedule"}).exit_code, 2);
  for (const auto& [option, value] :
       {std::pair("--seed", "3"), {"--vary", "start"}, {"--faults", "bind=0.1"}}) {
    const ProgramResult drawn = RunProgram({"run", path, "--follow", option, value});
    EXPECT_EQ(drawn.exit_code, 2) << option;
    EXPECT_TRUE(absl::StrContains(drawn.err, absl::StrCat("expected no ", option, " for it"))) << drawn.err;
  }
  const ProgramResult scenario =
      RunProgram({"run", absl::StrCat(kScenarios, "/rolling-drain/scenario.yaml"), "--follow"});
  EXPECT_EQ(scenario.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(scenario.err, "is no recording of kwok and no audit log, expected one"));
}

TEST(RecordingTest, FollowsAnAuditLogOfARealCluster) {
  const Json report = Follow(absl::StrCat(kClusters, "/pending/audit.log.gz"));
  EXPECT_EQ(report["bindings"]["all"], 62);
  EXPECT_EQ(report["bindings"]["unknown"], 0);
  EXPECT_EQ(report["end"]["pods"], 86);
}

// Where pods are in the end of a run, with names alone.
std::set<std::string> PlacesOf(const Json& list) {
  std::set<std::string> places;
  for (const Json& item : list["items"]) {
    if (item["kind"] == "Pod") {
      places.insert(absl::StrCat(item["metadata"]["name"].get<std::string>(), " ",
                                 item["spec"].value("nodeName", ""), " ",
                                 item["metadata"].contains("deletionTimestamp")));
    }
  }
  return places;
}

TEST(RecordTest, WhatIsRecordedEndsAsTheRun) {
  const TestFolder folder;
  for (const char* const name : {"rolling-drain", "node-outage"}) {
    const std::string scenario = absl::StrCat(kScenarios, "/", name, "/scenario.yaml");
    const std::string path = folder.Path(absl::StrCat(name, ".yaml.gz"));
    const ProgramResult recorded = RunProgram({"record", scenario, "-o", path});
    ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
    const ProgramResult run = RunProgram({"run", scenario, "--output", "objects"});
    EXPECT_EQ(PlacesOf(Follow(path, "objects")), PlacesOf(Json::parse(run.out))) << name;
    const Json bindings = Follow(path)["bindings"];
    EXPECT_GT(bindings["all"], 0) << name;
    EXPECT_EQ(bindings["all"], bindings["best"].get<int>() + bindings["onlyNode"].get<int>())
        << name << bindings;
  }
}

TEST(RecordTest, WritesTheSameBytesAgain) {
  const std::string scenario = absl::StrCat(kScenarios, "/rolling-drain/scenario.yaml");
  const ProgramResult first = RunProgram({"record", scenario, "-o", "-"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_TRUE(absl::StrContains(first.out, "kind: ResourcePatch"));
  EXPECT_EQ(RunProgram({"record", scenario, "-o", "-"}).out, first.out);
}

constexpr char kCluster[] =
    "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: \"4\", memory: 8Gi, pods: "
    "\"10\"}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default}\nspec: {containers: "
    "[{name: c, image: i}]}\n";

TEST(RecordTest, SavesTheSnapshotsOfATimeline) {
  const TestFolder folder;
  folder.Write("cluster.yaml", kCluster);
  const std::string scenario = folder.Write(
      "scenario.yaml",
      "apiVersion: schedsim/v1\nkind: Scenario\nmetadata: {name: s}\ninputs: [cluster.yaml]\ntimeline:\n- "
      "at: 5s\n  snapshot: saved.json\n");
  const std::string path = folder.Path("recording.yaml");
  const ProgramResult result = RunProgram({"record", scenario, "-o", path});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  // Both have the pod as it runs.
  const std::set<std::string> pods = PlacesOf(Json::parse(FileContent(folder.Path("saved.json"))));
  EXPECT_EQ(pods, PlacesOf(Follow(path, "objects")));
  EXPECT_TRUE(absl::StrContains(FileContent(path), "phase: Running"));
  const ProgramResult same = RunProgram({"record", scenario, "-o", folder.Path("saved.json")});
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(same.err, "--output: the scenario saves a snapshot to ")) << same.err;
}

// As for --output objects.
TEST(RecordTest, PodsRun) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", kCluster);
  const ProgramResult result = RunProgram({"record", "-f", cluster, "-o", "-"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "phase: Running"));
}

// A scenario that speaks of kwok's patches is run.
TEST(RecordingTest, AScenarioIsNoRecording) {
  const TestFolder folder;
  folder.Write("cluster.yaml", kCluster);
  const std::string scenario = folder.Write(
      "scenario.yaml",
      "# Needs the definition of action.kwok.x-k8s.io.\napiVersion: schedsim/v1\nkind: Scenario\nmetadata: "
      "{name: s}\ninputs: [cluster.yaml]\n");
  const ProgramResult result = RunProgram({"run", scenario, "--output", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["bound"], 1);
}

TEST(RecordingTest, RefusesAConfigurationOfKwokctl) {
  const TestFolder folder;
  const std::string config =
      folder.Write("kwokctl.yaml", "apiVersion: config.kwok.x-k8s.io/v1alpha1\nkind: KwokctlConfiguration\n");
  const ProgramResult result = RunProgram({"run", RecordingOf("nofit/record.export"), "--config", config});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err,
                                "--config: expected no configuration of kwokctl beside a recording, but one "
                                "of the scheduler"))
      << result.err;
}

}  // namespace
}  // namespace schedsim
