// What is told of groups of pods: by the report, why, explain and diff, and of groups that cannot come about.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

// Of four pods three must come together, and two have room.
constexpr char kGang[] = SCHEDSIM_SOURCE_DIR "/docs/pod-groups/gang.yaml";
constexpr char kGates[] = "GenericWorkload=true";

std::string Changed(const std::string& from, const std::string& to) {
  const std::string gang = FileContent(kGang);
  EXPECT_TRUE(absl::StrContains(gang, from));
  return absl::StrReplaceAll(gang, {{from, to}});
}

// The same for Kubernetes 1.36.
std::string GangOf136() { return Changed("scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha2"); }

ProgramResult RunGang(const std::string& file, const Strings& more = {}) {
  Strings arguments = {"run", "-f", file, "--feature-gates", kGates, "--until", "3s"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return RunProgram(arguments);
}

Json OutputOf(Strings arguments, int exit_code) {
  arguments.insert(arguments.end(), {"--output", "json"});
  const ProgramResult result = RunProgram(arguments);
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  return Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
}

TEST(PodGroupsTest, WhyCountsWhoFitsAndNamesWhoDoesNot) {
  const TestFolder folder;
  const std::string trace = folder.Path("trace.jsonl");
  RunGang(kGang, {"--trace", trace, "--trace-level", "full"});
  const Json story = OutputOf({"why", "default/training-0", trace}, /*exit_code=*/0);
  Json group;
  for (const Json& entry : story["entries"]) {
    if (group.is_null() && entry["kind"] == "group") group = entry;
  }
  ASSERT_TRUE(group.is_object());
  EXPECT_EQ(group["group"], "default/training");
  EXPECT_EQ(group["minCount"], 3);
  EXPECT_EQ(group["tries"][0]["fit"], 2);
  EXPECT_EQ(group["tries"][0]["pods"][1]["host"], "worker-1");
  EXPECT_EQ(group["tries"][0]["pods"][2]["refusal"],
            "default/training-2: 2 nodes  Insufficient cpu (NodeResourcesFit)");
}

TEST(PodGroupsTest, ExplainCountsThePodsOfTheGroupThatWereTriedBefore) {
  const Json explanation = OutputOf({"explain", "training-2", "-f", kGang, "--feature-gates", kGates,
                                     "--until", "3s", "--attempt", "1", "--node", "worker-1"},
                                    /*exit_code=*/0);
  const std::string text = explanation.dump();
  EXPECT_TRUE(absl::StrContains(text, "default/training-0")) << text;
  EXPECT_TRUE(absl::StrContains(text, "groupFailure")) << text;
}

TEST(PodGroupsTest, DiffTellsOfPodsThatStayBehindWithTheirGroup) {
  const TestFolder folder;
  const std::string lower = folder.Write("lower.yaml", Changed("minCount: 3", "minCount: 2"));
  RunGang(kGang, {"--trace", folder.Path("a.jsonl")});
  RunGang(lower, {"--trace", folder.Path("b.jsonl")});
  const Json diff = OutputOf({"diff", folder.Path("a.jsonl"), folder.Path("b.jsonl")}, /*exit_code=*/1);
  const Json& first = diff["firstDifference"];
  EXPECT_EQ(first["a"]["attempt"], 1);
  EXPECT_EQ(first["a"]["node"], "worker-1");
  EXPECT_EQ(first["a"]["group"], "default/training");
  EXPECT_EQ(first["b"]["node"], "worker-1");
  EXPECT_FALSE(first["b"].contains("group"));
  EXPECT_EQ(first["cause"]["kind"], "group");
  ASSERT_EQ(diff["pods"].size(), 2u);
  EXPECT_EQ(diff["pods"][0]["pod"], "default/training-0");
  EXPECT_EQ(diff["pods"][0]["cause"]["kind"], "group");
}

TEST(PodGroupsTest, TheReportSaysWhatPodsThatAreNotTriedWaitFor) {
  const TestFolder folder;
  const std::string larger = folder.Write("larger.yaml", Changed("minCount: 3", "minCount: 9"));
  const std::string other =
      folder.Write("other.yaml", Changed("podGroupName: training", "podGroupName: gone"));
  const std::string few = RunGang(larger).out;
  EXPECT_TRUE(absl::StrContains(
      few, "4 x  waiting for minCount pods from a gang to appear in scheduling queue: 4 of 9 are there"))
      << few;
  const std::string none = RunGang(other).out;
  EXPECT_TRUE(
      absl::StrContains(none, "4 x  waiting for pods's pod group \"gone\" to appear in scheduling queue"))
      << none;
}

// In 1.36 such a gang is tried as fast as the scheduler can, for ever.
TEST(PodGroupsTest, AGangThatIsTriedForEverEndsTheRunWithAWarning) {
  const TestFolder folder;
  const std::string gang = folder.Write("gang.yaml", GangOf136());
  const ProgramResult result = RunProgram({"run", "-f", gang, "--kubernetes-version", "1.36",
                                           "--feature-gates", "GenericWorkload=true,GangScheduling=true"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "the run went round in circles")) << result.out;
  EXPECT_TRUE(
      absl::StrContains(result.out, "each of the 4 pending pods was tried again with the same outcome"))
      << result.out;
}

TEST(PodGroupsTest, AGroupThatNoServerTakesIsAnError) {
  for (const std::string count : {"-5", "0"}) {
    const TestFolder folder;
    const std::string file =
        folder.Write("gang.yaml", Changed("minCount: 3", absl::StrCat("minCount: ", count)));
    const ProgramResult result = RunGang(file);
    EXPECT_EQ(result.exit_code, 2) << result.out;
    EXPECT_TRUE(absl::StrContains(result.err, "spec.schedulingPolicy.gang.minCount")) << result.err;
    EXPECT_TRUE(absl::StrContains(result.err, "gang.yaml:")) << result.err;
  }
}

// What pods say of their groups is ignored where the line has no such field, or its gate is off.
TEST(PodGroupsTest, GroupsWithoutEffectAreWarnedOf) {
  const std::string ignored =
      "gang.yaml:25:1: Pod default/training-0: spec.schedulingGroup has no effect (and 3 more), so that pods "
      "of a "
      "group are scheduled one by one: ";
  const auto warning_of = [](const Strings& more, const std::string& file, const std::string& input = "") {
    Strings arguments = {"run", "-f", file, "--until", "3s"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments, input).err;
  };
  const auto has = [](const std::string& text, const std::string& want) {
    EXPECT_TRUE(absl::StrContains(text, want)) << want << "\n" << text;
  };
  has(warning_of({}, kGang),
      ignored +
          "the feature gate GenericWorkload is off; --feature-gates GenericWorkload=true turns it on\n");
  has(warning_of({"--kubernetes-version", "1.36"}, kGang),
      ignored +
          "the feature gate GenericWorkload is off; --feature-gates "
          "GenericWorkload=true,GangScheduling=true turns it on\n");
  has(warning_of({"--kubernetes-version", "1.35"}, kGang),
      ignored + "Kubernetes 1.35 has no such field, but spec.workloadRef\n");
  has(warning_of({"--kubernetes-version", "1.34"}, kGang), ignored + "Kubernetes 1.34 has no such field\n");
  EXPECT_EQ(RunProgram({"run", "-f", kGang, "--strict"}).exit_code, 2);
  const std::string none = "has no effect";
  EXPECT_FALSE(absl::StrContains(warning_of({"--feature-gates", kGates}, kGang), none));
  // A pod that has its node, and a cluster's workload, whose pods are there.
  constexpr char kNode[] =
      "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 9}}}\n---\n";
  const auto job = [](const std::string& metadata) {
    return absl::StrCat(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: j", metadata,
        "}, spec: {template: {spec: {restartPolicy: Never, schedulingGroup: {podGroupName: g}, "
        "containers: [{name: c, image: i}]}}}}\n---\n");
  };
  has(warning_of({}, "-", kNode + job("")),
      "stdin:3:1: Job default/j: spec of its template: schedulingGroup has no effect, so that");
  has(warning_of(
          {}, "-",
          absl::StrCat(kNode,
                       "{apiVersion: v1, kind: Pod, metadata: {generateName: g-}, spec: {schedulingGroup: "
                       "{podGroupName: g}, containers: [{name: c, image: i}]}}\n")),
      "stdin:3:1: Pod g-: spec.schedulingGroup has no effect, so that");
  EXPECT_FALSE(absl::StrContains(warning_of({}, "-", kNode + job(", uid: u")), none));
  EXPECT_FALSE(absl::StrContains(
      warning_of({}, "-",
                 absl::StrCat(kNode,
                              "{apiVersion: v1, kind: Pod, metadata: {name: p, uid: p}, spec: {nodeName: n1, "
                              "workloadRef: {name: w, podGroup: g}, containers: [{name: c, image: i}]}}\n")),
      none));
}

}  // namespace
}  // namespace schedsim
