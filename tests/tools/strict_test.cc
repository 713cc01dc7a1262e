// --strict: anything that the user should know makes the exit code 2, and stands on standard error, a line
// each.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Strings = std::vector<std::string>;

constexpr char kNode[] =
    "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 9}}}\n";
constexpr char kPod[] =
    "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}\n";

std::string Documents(const Strings& documents) {
  std::string text;
  for (const std::string& document : documents) absl::StrAppend(&text, document, "---\n");
  return text;
}

// Runs with and without --strict: the first says `want` and goes on, the second says it and ends with 2.
void ExpectCounted(const Strings& arguments, const std::string& input, const std::string& want,
                   bool before_the_run) {
  const ProgramResult lenient = RunProgram(arguments, input);
  EXPECT_EQ(lenient.exit_code, 0) << lenient.err;
  EXPECT_TRUE(absl::StrContains(lenient.err, want)) << want << "\n" << lenient.err;
  Strings with = arguments;
  with.emplace_back("--strict");
  const ProgramResult strict = RunProgram(with, input);
  EXPECT_EQ(strict.exit_code, 2) << strict.err;
  EXPECT_TRUE(absl::StrContains(strict.err, want)) << want << "\n" << strict.err;
  EXPECT_TRUE(absl::StrContains(strict.err, "schedsim run: --strict: expected no warnings and no notes"))
      << strict.err;
  // What was known before the run stops it.
  EXPECT_EQ(strict.out.empty(), before_the_run) << strict.out;
}

TEST(Strict, CountsNotesAboutTheVersion) {
  ExpectCounted({"run", "-f", "-", "--kubernetes-version", "1.36.1"}, Documents({kNode, kPod}),
                "note: ", true);
  ExpectCounted({"run", "-f", "-", "--kubernetes-version", "1.33"}, Documents({kNode, kPod}),
                "warning: ", true);
}

TEST(Strict, CountsARunThatTheEndOfTimeCutsOff) {
  const std::string last =
      "{apiVersion: v1, kind: Pod, metadata: {name: late, creationTimestamp: "
      "'9999-12-31T23:59:59Z'}, spec: {containers: [{name: c, image: i}]}}\n";
  const std::string want =
      "virtual time ended with the year 9999, before the run was over; --start gives another zero";
  ExpectCounted({"run", "-f", "-"}, Documents({kNode, last, kPod}), "warning: " + want, false);
  EXPECT_TRUE(absl::StrContains(
      RunProgram({"run", "-f", "-", "--output", "json"}, Documents({kNode, last, kPod})).out, want));
  // Nothing is left to do at the very end.
  const ProgramResult over =
      RunProgram({"run", "-f", "-", "--start", "9999-12-31T23:59:59Z", "--strict"}, kNode);
  EXPECT_EQ(over.exit_code, 0) << over.err;
}

TEST(Strict, CountsNotesAboutTheConfiguration) {
  const TestFolder folder;
  const std::string config = folder.Write("config.yaml",
                                          "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                          "kind: KubeSchedulerConfiguration\nenableProfiling: true\n");
  ExpectCounted({"run", "-f", "-", "--config", config}, Documents({kNode, kPod}), "config.yaml:3:", true);
  const std::string scenario = absl::StrCat("apiVersion: schedsim/v1\nkind: Scenario\nscheduler: ", config,
                                            "\nobjects: [", kNode, "]\n");
  ExpectCounted({"run", "-"}, scenario, "config.yaml:3:", true);
}

TEST(Strict, CountsEveryWarningAboutTheInput) {
  const std::string lost =
      "{apiVersion: v1, kind: Pod, metadata: {name: lost}, spec: {nodeName: ghost, containers: [{name: "
      "c, image: i}]}}\n";
  ExpectCounted({"run", "-f", "-"}, Documents({kNode, lost}), "on node ghost: no such node in the input",
                true);
}

// A pod of a workload that is drained, and that nobody makes anew.
std::string Drain(const std::string& more = "") {
  return absl::StrCat(
      "apiVersion: schedsim/v1\nkind: Scenario\nobjects:\n- ", kNode,
      "- {apiVersion: v1, kind: Pod, metadata: {name: web-1, ownerReferences: [{apiVersion: apps/v1, "
      "kind: ReplicaSet, name: web, uid: u, controller: true}]}, spec: {nodeName: n1, containers: "
      "[{name: c, image: i}]}}\ntimeline:\n- drain: n1\n",
      more);
}

TEST(Strict, CountsWarningsOfTheTimeline) {
  ExpectCounted({"run", "-"}, Drain(), "warning: stdin:7:10: timeline[0].drain: 1 evicted pods of workloads",
                false);
}

TEST(Strict, CountsInexactPods) {
  const std::string claim =
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {resourceClaims: [{name: r, resourceClaimName: "
      "r}], containers: [{name: c, image: i}]}}\n";
  const std::string rule =
      "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: r}, spec: {devices: {}}}\n---\n"
      "{apiVersion: resource.k8s.io/v1, kind: DeviceTaintRule, metadata: {name: r}, spec: {taint: {key: a, "
      "effect: NoSchedule}}}\n";
  ExpectCounted({"run", "-f", "-"}, Documents({kNode, rule, claim}),
                "warning: the result is inexact for 1 pods", false);
}

TEST(Strict, GoesBeforeTheVerdict) {
  const std::string scenario = Drain("- waitUntil: {bound: {name: web-1}, timeout: 1s}\n");
  EXPECT_EQ(RunProgram({"run", "-"}, scenario).exit_code, 1);
  EXPECT_EQ(RunProgram({"run", "-", "--strict"}, scenario).exit_code, 2);
}

TEST(Strict, ChangesNothingWhereThereIsNothingToSay) {
  const ProgramResult result = RunProgram({"run", "-f", "-", "--strict"}, Documents({kNode, kPod}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, RunProgram({"run", "-f", "-"}, Documents({kNode, kPod})).out);
}

}  // namespace
}  // namespace schedsim
