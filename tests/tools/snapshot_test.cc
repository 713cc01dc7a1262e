// schedsim snapshot: saving, converting, inspecting and redacting the state of a cluster.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

constexpr char kSmall[] = SCHEDSIM_SOURCE_DIR "/snapshots/small";
constexpr char kMixed[] = SCHEDSIM_SOURCE_DIR "/snapshots/mixed";
constexpr char kReal[] = SCHEDSIM_SOURCE_DIR "/tests/tools/kwok-real/";
constexpr char kReal2[] = SCHEDSIM_SOURCE_DIR "/tests/tools/kwok-real2/";

Json ItemsOf(const std::string& path) {
  const ProgramResult result = RunProgram({"snapshot", "convert", path, "-", "--format", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Json::parse(result.out, nullptr, /*allow_exceptions=*/false)["items"];
}

// By kind, namespace and name.
std::map<std::string, Json> ByName(const Json& items) {
  std::map<std::string, Json> found;
  for (const Json& item : items) {
    const Json& meta = item["metadata"];
    found[absl::StrCat(item["kind"].get<std::string>(), " ", meta.value("namespace", ""), "/",
                       meta.value("name", ""))] = item;
  }
  return found;
}

TEST(SnapshotTest, SavesWhatARunLeadsTo) {
  const TestFolder folder;
  for (const char* name : {"end.yaml", "end.json", "end.db", "end.db.gz"}) {
    const std::string path = folder.Path(name);
    const ProgramResult saved = RunProgram({"snapshot", "save", "-f", kMixed, "--path", path});
    ASSERT_EQ(saved.exit_code, 0) << saved.err;
    EXPECT_TRUE(absl::StrContains(saved.err, "objects saved as they are")) << saved.err;
    EXPECT_FALSE(absl::StrContains(saved.err, "warning")) << saved.err;
    int64_t bound = 0;
    for (const auto& [key, object] : ByName(ItemsOf(path))) {
      if (object["kind"] == "Pod" && object["spec"].contains("nodeName")) ++bound;
    }
    EXPECT_EQ(bound, 579) << name;
  }
}

TEST(SnapshotTest, SaysWhereARunIsInexact) {
  const TestFolder folder;
  const std::string scenario =
      folder.Write("scenario.yaml",
                   Cluster(1) +
                       "- {apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: r}, spec: "
                       "{devices: {}}}\n"
                       "- {apiVersion: resource.k8s.io/v1, kind: DeviceTaintRule, metadata: {name: r}, spec: "
                       "{taint: {key: a, effect: NoSchedule}}}\n"
                       "- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {resourceClaims: [{name: r, "
                       "resourceClaimName: r}], containers: [{name: c, image: i}]}}\nend: 3s\n");
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"snapshot", "save", scenario, "--path", folder.Path("end.json")},
           {"record", scenario, "-o", folder.Path("recording.yaml")}}) {
    const ProgramResult result = RunProgram(command);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(absl::StrContains(result.err, "warning: the result is inexact for 1 pods")) << result.err;
  }
}

TEST(SnapshotTest, SavesAtATime) {
  const TestFolder folder;
  const std::string path = folder.Path("half.json");
  // A cycle takes a millisecond.
  const ProgramResult saved = RunProgram({"snapshot", "save", "-f", kMixed, "--at", "100ms", "--path", path});
  ASSERT_EQ(saved.exit_code, 0) << saved.err;
  int64_t bound = 0;
  for (const Json& object : ItemsOf(path))
    if (object["kind"] == "Pod" && object["spec"].contains("nodeName")) ++bound;
  EXPECT_EQ(bound, 100);
}

TEST(SnapshotTest, ATimelineSaves) {
  const TestFolder folder;
  const std::string scenario = folder.Write(
      "scenario.yaml",
      Cluster(1) +
          "timeline:\n- at: 1s\n  snapshot: one.yaml\n- create: {apiVersion: v1, kind: Pod, metadata: "
          "{name: later}, spec: {containers: [{name: c, image: i}]}}\n- at: 2s\n  snapshot: {path: "
          "two, format: etcd}\nend: 3s\n");
  const ProgramResult result = RunProgram({"run", scenario});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto one = ByName(ItemsOf(folder.Path("one.yaml")));
  const auto two = ByName(ItemsOf(folder.Path("two")));
  EXPECT_EQ(one.count("Pod default/web-0"), 1u);
  EXPECT_EQ(one.count("Pod default/later"), 0u);
  EXPECT_EQ(two.at("Pod default/later")["spec"]["nodeName"], "n2");
  EXPECT_EQ(two.at("Pod default/later")["status"]["phase"], "Running");
}

TEST(SnapshotTest, TheLastOneOfAPathIsWritten) {
  const TestFolder folder;
  const std::string scenario = folder.Write(
      "scenario.yaml",
      Cluster(1) +
          "- {apiVersion: acme.com/v1, kind: Till, metadata: {name: t, namespace: default}}\n"
          "timeline:\n- at: 1s\n  snapshot: one.db\n- create: {apiVersion: v1, kind: Pod, metadata: "
          "{name: later}, spec: {containers: [{name: c, image: i}]}}\n- at: 2s\n  snapshot: one.db\nend: "
          "3s\n");
  const ProgramResult result = RunProgram({"run", scenario});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(ByName(ItemsOf(folder.Path("one.db"))).count("Pod default/later"), 1u);
  // What is to be said of it is said once.
  const std::vector<std::string> parts = absl::StrSplit(result.err, "no CustomResourceDefinition");
  EXPECT_EQ(parts.size(), 2u) << result.err;
}

// Nodes and pods on nodes of a manifest are created before the pods of the snapshot that wait.
TEST(SnapshotTest, ManifestsBesideItGetUidsOfTheirOwn) {
  const TestFolder folder;
  const std::string scenario =
      folder.Write("scenario.yaml", Cluster(6) + "timeline:\n- snapshot: saved.json\nend: 1s\n");
  ASSERT_EQ(RunProgram({"run", scenario}).exit_code, 0);
  std::string more;
  for (int i = 0; i < 12; ++i) {
    absl::StrAppend(&more, "---\n{apiVersion: v1, kind: Pod, metadata: {name: more-", i,
                    "}, spec: {nodeName: n1, containers: [{name: c, image: i}]}}\n");
  }
  const ProgramResult result =
      RunProgram({"snapshot", "save", "-f", folder.Path("saved.json"), "-f", folder.Write("more.yaml", more),
                  "--path", folder.Path("all.json")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::set<std::string> uids;
  size_t count = 0;
  for (const Json& object : ItemsOf(folder.Path("all.json"))) {
    if (!object["metadata"].contains("uid")) continue;
    uids.insert(object["metadata"]["uid"].get<std::string>());
    ++count;
  }
  EXPECT_GT(count, 18u);
  EXPECT_EQ(uids.size(), count);
}

TEST(SnapshotTest, ATimelineSaysWhatIsWrong) {
  const std::pair<const char*, const char*> rows[] = {
      {"snapshot: 5", "timeline[0].snapshot"},
      {"snapshot: ''", "timeline[0].snapshot: expected the path of a file"},
      {"snapshot: end.txt", "timeline[0].snapshot: end.txt: the name does not say the format"},
      {"snapshot: {path: a.yaml, format: xml}", "timeline[0].snapshot.format: \"xml\" is not known"},
      {"snapshot: {path: a.yaml, at: 1s}", "timeline[0].snapshot.at"},
      {"snapshot: scenario.yaml", "snapshot: "},
  };
  for (const auto& [entry, want] : rows) {
    const TestFolder folder;
    const std::string path =
        folder.Write("scenario.yaml", absl::StrCat(Cluster(1), "timeline:\n- ", entry, "\n"));
    const ProgramResult result = RunProgram({"run", path});
    EXPECT_EQ(result.exit_code, 2) << entry;
    EXPECT_TRUE(absl::StrContains(result.err, want)) << entry << "\n" << result.err;
  }
}

TEST(SnapshotTest, SaysWhatIsWrongWithACommandLine) {
  const TestFolder folder;
  const std::string input = folder.Write("in.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n");
  const std::pair<Strings, const char*> rows[] = {
      {{"snapshot"}, "schedsim snapshot: expected a command: save, convert, inspect, redact"},
      {{"snapshot", "save", "-f", input}, "schedsim snapshot save: expected --path"},
      {{"snapshot", "save", "-f", input, "--path", "x.txt"},
       "schedsim snapshot save: x.txt: the name does not say"},
      {{"snapshot", "save", "-f", input, "--path", input}, "schedsim snapshot save: --path: "},
      {{"snapshot", "save", "-f", input, "--path", "-"}, "schedsim snapshot save: --format: expected k8s"},
      {{"snapshot", "convert", input}, "schedsim snapshot convert: expected OUT"},
      {{"snapshot", "convert", input, input}, "schedsim snapshot convert: OUT: "},
      {{"snapshot", "convert", input, "-", "--format", "xml"},
       "schedsim snapshot convert: --format: \"xml\" is not known, expected k8s, json or etcd"},
      {{"snapshot", "convert", "missing.yaml", "out.json"}, "schedsim snapshot convert: missing.yaml: "},
      {{"snapshot", "inspect"}, "schedsim snapshot inspect: expected FILE"},
      {{"snapshot", "redact", input}, "schedsim snapshot redact: expected OUT"},
  };
  for (const auto& [arguments, want] : rows) {
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 2) << want;
    EXPECT_TRUE(absl::StartsWith(result.err, want)) << result.err;
  }
}

TEST(SnapshotTest, ConvertKeepsAllObjects) {
  const TestFolder folder;
  const std::string database = absl::StrCat(kReal, "formats/1-history/etcd.db.gz");
  const auto before = ByName(ItemsOf(database));
  for (const char* name : {"c.db", "c.json"}) {
    const std::string path = folder.Path(name);
    ASSERT_EQ(RunProgram({"snapshot", "convert", database, path}).exit_code, 0);
    EXPECT_EQ(ByName(ItemsOf(path)), before) << name;
  }
}

// What kwok saved as text, and what is made of the database that it saved at that time.
TEST(SnapshotTest, ConvertsADatabaseToWhatKwokSaves) {
  for (const char* name : {"formats/1-history", "formats-json/1-history"}) {
    const std::string folder = absl::StrCat(kReal, name, "/");
    auto converted = ByName(ItemsOf(folder + "etcd.db.gz"));
    const auto saved = ByName(ItemsOf(folder + "k8s.yaml.gz"));
    EXPECT_GT(saved.size(), 180u);
    for (const auto& [key, object] : saved) {
      ASSERT_EQ(converted.count(key), 1u) << key;
      converted[key]["metadata"].erase("resourceVersion");
      EXPECT_EQ(converted[key], object) << key;
    }
  }
}

TEST(SnapshotTest, InspectCounts) {
  const ProgramResult result = RunProgram(
      {"snapshot", "inspect", absl::StrCat(kReal, "storage/2-after/k8s.yaml.gz"), "--output", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json found = Json::parse(result.out);
  EXPECT_EQ(found["kinds"]["Pod"], found["pods"]["bound"].get<int>() + found["pods"]["pending"].get<int>() +
                                       found["pods"]["finished"].get<int>());
  EXPECT_EQ(found["kinds"]["Node"], found["nodes"]["total"]);
  EXPECT_GT(found["namespaces"]["default"]["Pod"], 0);
  EXPECT_EQ(found["kubelets"].size(), 1u);
  bool lacks_classes = false;
  for (const Json& notice : found["notices"]) {
    lacks_classes |= absl::StrContains(notice.get<std::string>(), "csinodes");
  }
  EXPECT_TRUE(lacks_classes) << result.out;
}

// The pods of a run, as the places of pods and nodes in the order of their names.
Strings PlacesOf(const std::string& path, const Strings& more) {
  Strings arguments = {"run", "-f", path, "--output", "json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProgramResult result = RunProgram(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Json report = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  std::map<std::string, size_t> nodes;
  for (const Json& item : ItemsOf(path))
    if (item["kind"] == "Node") nodes[item["metadata"]["name"]] = 0;
  size_t place = 0;
  for (auto& [name, number] : nodes) number = place++;
  Strings places;
  for (const Json& pod : report["pods"]) {
    const std::string node = pod["node"];
    places.push_back(absl::StrCat(pod["status"].get<std::string>(), " ",
                                  nodes.count(node) ? nodes[node] : 999'999, " ",
                                  pod["queueLatencyMicroseconds"].dump()));
  }
  return places;
}

TEST(SnapshotTest, ARedactedClusterIsScheduledInTheSameWay) {
  const std::string inputs[] = {
      absl::StrCat(kMixed, "/get.json.xz"),
      absl::StrCat(kSmall, "/get.json.gz"),
      absl::StrCat(kReal, "storage/1-before/get.json.gz"),
      absl::StrCat(kReal, "preempt/2-before-preemption/get.json.gz"),
      absl::StrCat(kReal, "workloads/1-running/get.json.gz"),
      absl::StrCat(kReal, "outage/3-evicting/get.json.gz"),
  };
  for (const std::string& input : inputs) {
    const TestFolder folder;
    const std::string redacted = folder.Path("redacted.json");
    const ProgramResult result = RunProgram({"snapshot", "redact", input, redacted});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_FALSE(absl::StrContains(result.err, "order of names")) << result.err;
    for (const char* bound : {"keep", "reset"}) {
      const Strings alone = {"--bound", bound, "--controllers", "none"};
      EXPECT_EQ(PlacesOf(redacted, alone), PlacesOf(input, alone)) << input << " " << bound;
      // Names that controllers make up stand elsewhere in the order of names.
      Strings before = PlacesOf(input, {"--bound", bound});
      Strings after = PlacesOf(redacted, {"--bound", bound});
      std::sort(before.begin(), before.end());
      std::sort(after.begin(), after.end());
      EXPECT_EQ(after, before) << input << " " << bound;
    }
  }
}

TEST(SnapshotTest, RedactSaysWhereNamesDecide) {
  const TestFolder folder;
  const std::string input =
      folder.Write("in.yaml",
                   "apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-a}\n---\napiVersion: "
                   "v1\nkind: Namespace\nmetadata: {name: kube-public}\n");
  const ProgramResult result = RunProgram({"snapshot", "redact", input, folder.Path("out.yaml")});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(absl::StrContains(result.err, "note: the order of names changed at 1 of 2 Namespace objects"))
      << result.err;
}

// A line that starts with `$ ` is a command; what follows is what it prints, for `snapshot` with its
// messages.
struct Shown {
  std::string command;
  std::string output;
};

std::vector<Shown> CommandsIn(const std::string& page) {
  std::vector<Shown> commands;
  bool is_console = false;
  for (const absl::string_view line : absl::StrSplit(FileContent(page), '\n')) {
    if (absl::StartsWith(line, "```")) {
      is_console = line == "```console";
    } else if (is_console && absl::StartsWith(line, "$ ")) {
      commands.push_back({.command = std::string(line.substr(2)), .output = ""});
    } else if (is_console) {
      absl::StrAppend(&commands.back().output, line, "\n");
    }
  }
  return commands;
}

TEST(SnapshotTest, ThePageShowsWhatIsPrinted) {
  const std::string source = SCHEDSIM_SOURCE_DIR;
  const std::vector<Shown> commands = CommandsIn(source + "/docs/snapshots.md");
  EXPECT_GT(commands.size(), 5u);
  const TestFolder folder;
  for (const Shown& shown : commands) {
    const bool has_messages = absl::StartsWith(shown.command, "schedsim snapshot");
    const ProgramResult result =
        RunShell(absl::StrCat("schedsim() { \"$SCHEDSIM\" \"$@\"; }; cd '", folder.Path("."),
                              "' && ln -sfn '", source, "/snapshots' snapshots && ln -sfn '", source,
                              "/tests' tests && { ", shown.command, "; }", has_messages ? " 2>&1" : ""));
    EXPECT_EQ(result.exit_code, 0) << shown.command << "\n" << result.err;
    EXPECT_EQ(result.out, shown.output) << shown.command;
  }
}

}  // namespace
}  // namespace schedsim
