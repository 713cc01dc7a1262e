// schedsim stage and scale, and runs with stages.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::json;

constexpr char kPod[] = R"(apiVersion: v1
kind: Pod
metadata: {name: a, namespace: default}
spec: {nodeName: n1, containers: [{name: c, image: i}]}
status: {phase: Pending}
)";

TEST(StageTestTest, PrintsWhatStagesDo) {
  const ProgramResult result = RunProgram({"stage", "test", "--stage", "fast", "-"}, kPod);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StartsWith(result.out, "apiGroup: v1\nkind: Pod\nname: a\nnamespace: default\nstages:\n"))
      << result.out;
  for (const char* part : {"stage: pod-ready", "<0 of PodIPsWith(", "phase: Running", "weight: 0"}) {
    EXPECT_TRUE(absl::StrContains(result.out, part)) << part << "\n" << result.out;
  }
}

// tests/tools/stages/SET/NAME.input.yaml, each with what the set does to it in NAME.output.yaml.
// UPDATE_GOLDEN=1 writes these anew.
TEST(StageTestTest, SetsDoWhatIsExpected) {
  std::vector<fs::path> inputs;
  for (const auto& entry : fs::recursive_directory_iterator(SCHEDSIM_SOURCE_DIR "/tests/tools/stages")) {
    if (absl::EndsWith(entry.path().string(), ".input.yaml")) inputs.push_back(entry.path());
  }
  std::sort(inputs.begin(), inputs.end());
  EXPECT_GE(inputs.size(), 30u);
  for (const fs::path& input : inputs) {
    const std::string set = input.parent_path().filename().string();
    const std::string golden = absl::StrReplaceAll(input.string(), {{".input.yaml", ".output.yaml"}});
    const ProgramResult result = RunProgram({"stage", "test", "--stage", set, input.string()});
    EXPECT_EQ(result.exit_code, 0) << input << "\n" << result.err;
    if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(golden, std::ios::binary) << result.out;
    EXPECT_EQ(FileContent(golden), result.out) << "if that is as it should be: UPDATE_GOLDEN=1";
  }
}

// The one document of a text of YAML.
Json JsonOf(const std::string& yaml) {
  Json json;
  const absl::Status status =
      codec::ReadText(yaml, "stages.yaml", {}, [&json](const codec::Document& document) {
        json = Json::parse(codec::ToJson(document.root), nullptr, /*allow_exceptions=*/false);
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok()) << status << yaml;
  return json;
}

// Up to 0.6 a single delay was no list.
Json WithDelaysAsLists(Json preview) {
  for (Json& stage : preview["stages"]) {
    if (stage.contains("delay") && !stage["delay"].is_array()) stage["delay"] = Json::array({stage["delay"]});
  }
  return preview;
}

// SCHEDSIM_KWOK_SOURCE names a folder with kwok's repository, or with several releases of it: each object
// NAME.input.yaml in a folder testdata, with the stages beside that folder, does what NAME.output.yaml says.
TEST(StageTestTest, DoWhatKwokSaysOfItsOwn) {
  const char* const folder = std::getenv("SCHEDSIM_KWOK_SOURCE");
  if (folder == nullptr) GTEST_SKIP() << "SCHEDSIM_KWOK_SOURCE names no folder with kwok's repository";
  int checked = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string input = entry.path().string();
    if (!absl::EndsWith(input, ".input.yaml") || !absl::StrContains(input, "/testdata/")) continue;
    std::set<std::string> stages;
    for (const auto& beside : fs::directory_iterator(entry.path().parent_path().parent_path())) {
      const std::string path = beside.path().string();
      if (absl::EndsWith(path, ".yaml") && absl::StrContains(FileContent(path), "kind: Stage\n"))
        stages.insert(path);
    }
    std::vector<std::string> arguments = {"stage", "test"};
    for (const std::string& path : stages) arguments.insert(arguments.end(), {"--stage", path});
    arguments.push_back(input);
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 0) << input << result.err;
    const std::string expected = FileContent(absl::StrReplaceAll(input, {{".input.", ".output."}}));
    EXPECT_EQ(JsonOf(result.out), WithDelaysAsLists(JsonOf(expected))) << input;
    ++checked;
  }
  EXPECT_GT(checked, 10);
}

TEST(StageTestTest, RefusesWhatIsNoStage) {
  const TestFolder folder;
  const std::string pod = folder.Write("pod.yaml", kPod);
  const ProgramResult none = RunProgram({"stage", "test", "--stage", pod, pod});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.err, absl::StrCat("schedsim stage test: ", pod, ": expected a Stage, got none\n"));
  const std::string bad =
      folder.Write("bad.yaml", "kind: Stage\nmetadata: {name: s}\nspec: {resourceRef: {}}\n");
  const ProgramResult result = RunProgram({"stage", "test", "--stage", bad, pod});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            absl::StrCat("schedsim stage test: ", bad, ":3:7: spec.resourceRef.kind: expected a kind\n"));
  EXPECT_EQ(RunProgram({"stage", "test", pod}).exit_code, 2);
}

TEST(StagesOfTheInputTest, AreNotPlayedWithoutAWord) {
  const TestFolder folder;
  const std::string stage = folder.Write("stage.yaml",
                                         "apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {name: "
                                         "s}\nspec: {resourceRef: {apiGroup: v1, "
                                         "kind: Pod}, next: {statusTemplate: 'phase: Running'}}\n");
  const std::string node = folder.Write(
      "node.yaml", "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {pods: 9}}}\n");
  const ProgramResult kept = RunProgram({"run", "-f", node, "-f", stage});
  EXPECT_EQ(kept.exit_code, 0) << kept.err;
  EXPECT_TRUE(absl::StrContains(kept.err, "warning: the input has 1 Stage objects, which are not played"))
      << kept.err;
  const ProgramResult played = RunProgram({"run", "-f", node, "-f", stage, "--stage", stage});
  EXPECT_FALSE(absl::StrContains(played.err, "not played")) << played.err;
}

TEST(ScaleTest, PrintsObjectsThatARunTakes) {
  const TestFolder folder;
  const ProgramResult nodes =
      RunProgram({"scale", "node", "pool", "--replicas", "3", "--param", ".allocatable.cpu=2"});
  ASSERT_EQ(nodes.exit_code, 0) << nodes.err;
  const std::string file = folder.Write("nodes.yaml", nodes.out);
  const ProgramResult pods = RunProgram(
      {"scale", "pod", "web", "--replicas", "4", "--param", ".containers[0].resources.requests.cpu=\"1\""});
  ASSERT_EQ(pods.exit_code, 0) << pods.err;
  const ProgramResult run =
      RunProgram({"run", "-f", file, "-f", "-", "--stage", "fast", "--strict", "--output", "csv"}, pods.out);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  for (const char* pod : {"web-000000,Bound", "web-000003,Bound"}) {
    EXPECT_TRUE(absl::StrContains(run.out, pod)) << run.out;
  }
}

TEST(ScaleTest, TakesResourcesOfAFile) {
  const TestFolder folder;
  const std::string file = folder.Write("config.yaml", R"(apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokctlResource
metadata: {name: map}
parameters: {zones: [a, b]}
template: |
  apiVersion: v1
  kind: ConfigMap
  metadata: {name: {{ Name }}}
  data: {zone: {{ index .zones (mod Index 2) }}, net: {{ AddCIDR "10.1.0.0/24" Index }}}
)");
  const ProgramResult result = RunProgram({"scale", "map", "--replicas", "2", "-n", "x", "--config", file});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* part :
       {"name: map-000000", "net: 10.1.0.0/24", "zone: a", "---", "name: map-000001", "net: 10.1.1.0/24",
        "zone: b", "namespace: x", "kwok.x-k8s.io/kwokctl-scale: map"}) {
    EXPECT_TRUE(absl::StrContains(result.out, part)) << part << "\n" << result.out;
  }
}

TEST(RunWithStagesTest, AScenarioPlaysThemAndScalesSets) {
  const Played played = Play(absl::StrCat(Cluster(1), R"(stages: [fast]
timeline:
- at: 5s
  kwokctlScale: {resource: pod, name: more, namespace: default, replicas: 3}
- waitUntil: {bound: {selector: kwok.x-k8s.io/kwokctl-scale=more, count: 3}}
- at: 20s
  kwokctlScale: {resource: pod, name: more, namespace: default, replicas: 1}
- waitUntil: {gone: {names: [more-000001, more-000002]}}
)"));
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.Pod("web-0")["status"], "Bound");
}

TEST(RunWithStagesTest, AKindThatNobodyHasIsSaid) {
  const TestFolder folder;
  const auto stage = [](const std::string& kind) {
    return absl::StrCat(
        "{apiVersion: kwok.x-k8s.io/v1alpha1, kind: Stage, metadata: {name: s}, spec: "
        "{resourceRef: {apiGroup: v1, kind: ",
        kind, "}, selector: {matchLabels: {a: b}}, next: {delete: true}}}\n");
  };
  const std::string pods = folder.Write(
      "pods.yaml",
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}\n");
  const ProgramResult wrong =
      RunProgram({"run", "-f", pods, "--stage", folder.Write("wrong.yaml", stage("Pdo")), "--strict"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(
      absl::StrContains(wrong.err,
                        ": Stage s: resourceRef: there is no kind Pdo in v1 and none in the input, so it "
                        "is never played; did you mean Pod?"))
      << wrong.err;
  const ProgramResult right =
      RunProgram({"run", "-f", pods, "--stage", folder.Write("right.yaml", stage("Pod"))});
  EXPECT_FALSE(absl::StrContains(right.err, "never played")) << right.err;
}

TEST(RunWithStagesTest, AMissingSelectorIsSaid) {
  const TestFolder folder;
  const auto stage = [](const std::string& selector) {
    return absl::StrCat(
        "{apiVersion: kwok.x-k8s.io/v1alpha1, kind: Stage, metadata: {name: s}, spec: "
        "{resourceRef: {apiGroup: v1, kind: Node}, ",
        selector, "next: {delete: true}}}\n");
  };
  const std::string none = folder.Write("none.yaml", stage(""));
  const std::string any = folder.Write("any.yaml", stage("selector: {}, "));
  const std::string pods = folder.Write(
      "pods.yaml",
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}\n");
  constexpr char kWarning[] = ": Stage s: spec has no selector, so it is never played\n";
  const ProgramResult said = RunProgram({"run", "-f", pods, "--stage", none});
  EXPECT_EQ(said.exit_code, 0) << said.err;
  EXPECT_TRUE(absl::StrContains(said.err, absl::StrCat("warning: ", none, kWarning))) << said.err;
  EXPECT_EQ(RunProgram({"run", "-f", pods, "--stage", none, "--strict"}).exit_code, 2);
  const std::string scenario = folder.Write(
      "scenario.yaml", "apiVersion: schedsim/v1\nkind: Scenario\nstages: [fast, none.yaml]\nobjects: []\n");
  const ProgramResult of_scenario = RunProgram({"run", scenario});
  EXPECT_TRUE(absl::StrContains(of_scenario.err, kWarning)) << of_scenario.err;
  // One that selects all, and one that is merely there.
  for (const ProgramResult& quiet :
       {RunProgram({"run", "-f", pods, "--stage", any}), RunProgram({"run", "-f", pods, "-f", none})})
    EXPECT_FALSE(absl::StrContains(quiet.err, "no selector")) << quiet.err;
}

// Claims, and a pod that waits for them, with nobody but the stages to make volumes.
TEST(RunWithStagesTest, VolumesAreMadeAndGo) {
  const TestFolder folder;
  const std::string scenario = folder.Write("scenario.yaml", R"(apiVersion: schedsim/v1
kind: Scenario
provisioners: []
stages: [fast, volume-fast]
objects:
- {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "2", pods: "9"}}}
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: kwok-volume, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}, provisioner: kwok.x-k8s.io/volume}
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {name: data}
  spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {name: old}
  spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
- apiVersion: v1
  kind: Pod
  metadata: {name: a}
  spec: {containers: [{name: c, image: x}], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}
timeline:
- {at: 10s, delete: {kind: PersistentVolumeClaim, name: old}}
)");
  const ProgramResult result = RunProgram({"run", scenario, "--output", "objects"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<std::string> seen;
  const Json objects = JsonOf(result.out);
  for (const Json& object : objects["items"]) {
    const std::string kind = object["kind"];
    if (absl::StartsWith(kind, "PersistentVolume"))
      seen.push_back(absl::StrCat(kind, " ", object["status"].value("phase", "none")));
    if (kind == "Pod") seen.push_back(absl::StrCat(kind, " ", object["spec"].value("nodeName", "none")));
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen,
            (std::vector<std::string>{"PersistentVolume Bound", "PersistentVolumeClaim Bound", "Pod n1"}))
      << result.err;
}

TEST(RunWithStagesTest, SaysWhereAScenarioNamesNoStages) {
  const Played played = Play(absl::StrCat(Cluster(1), "stages: [nowhere.yaml]\n"));
  EXPECT_EQ(played.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(played.err, "stages[0]: ")) << played.err;
  const Played scale = Play(absl::StrCat(Cluster(1), "timeline: [{kwokctlScale: {resource: nodes}}]\n"));
  EXPECT_EQ(scale.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(
      scale.err,
      "timeline[0].kwokctlScale.resource: no KwokctlResource \"nodes\", expected one of node, pod"))
      << scale.err;
}

}  // namespace
}  // namespace schedsim
