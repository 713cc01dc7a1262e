// Pods that are ending when a run begins: they are gone when their grace period is over, whatever else
// happens.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

// `victim` fills the only node and is gone 20 s after virtual zero; `urgent` waits for it, nominated.
std::string Dump() {
  return FileContent(SCHEDSIM_SOURCE_DIR "/tests/tools/cases/terminating-in-dump/dump.yaml");
}

Json RunDump(const std::string& dump, const Strings& more = {}) {
  Strings arguments = {"run", "-f", "-", "--output", "json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProgramResult result = RunProgram(arguments, dump);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
}

Json PodOf(const Json& report, const std::string& name) {
  for (const Json& pod : report["pods"]) {
    if (pod["name"] == name) return pod;
  }
  return nullptr;
}

TEST(TerminatingPods, EndWithTheirGracePeriodAndMakeRoomForThePreemptor) {
  const Json report = RunDump(Dump());
  EXPECT_EQ(PodOf(report, "urgent")["node"], "n1");
  EXPECT_EQ(PodOf(report, "small")["status"], "Pending");
  EXPECT_TRUE(PodOf(report, "victim").is_null() || PodOf(report, "victim")["status"] != "Bound");
}

TEST(TerminatingPods, AreNotScheduledAnew) {
  const Json report = RunDump(Dump(), {"--bound", "reset"});
  EXPECT_EQ(PodOf(report, "urgent")["node"], "n1");
  EXPECT_TRUE(PodOf(report, "victim").is_null() || PodOf(report, "victim")["status"] != "Pending");
}

TEST(TerminatingPods, OfASilentNodeStay) {
  const Json report = RunDump(absl::StrReplaceAll(Dump(), {{"status: \"True\"", "status: Unknown"}}));
  EXPECT_EQ(PodOf(report, "urgent")["status"], "Pending");
}

TEST(TerminatingPods, ThatAFinalizerHoldsFailAndLeaveTheirRoom) {
  const std::string held =
      absl::StrReplaceAll(Dump(), {{"{name: victim, ", "{name: victim, finalizers: [example.com/wait], "}});
  const Json report = RunDump(held);
  EXPECT_EQ(PodOf(report, "urgent")["node"], "n1");
}

TEST(TerminatingPods, EndInAScenarioAtTheEndOfTheirGracePeriod) {
  const TestFolder folder;
  const std::string dump = folder.Write("dump.yaml", Dump());
  const Played played = Play(absl::StrCat("apiVersion: schedsim/v1\nkind: Scenario\ninputs: [", dump, "]\n"));
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.Times("gone", "victim"), Times{20});
  EXPECT_EQ(played.NodeOf("urgent"), "n1");
}

}  // namespace
}  // namespace schedsim
