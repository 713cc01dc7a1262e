// Runs every folder of snapshots/ and compares the report with the one in tests/sim/snapshots.
// UPDATE_GOLDEN=1 writes the reports anew.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "gtest/gtest.h"
#include "sim/formats/cluster_input.h"
#include "sim/plan/plan.h"
#include "sim/report/report.h"

namespace schedsim::sim {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::ordered_json;

// Where the test runs is the top of the repository, and reports name files as they were given.
constexpr char kSnapshots[] = "snapshots";
constexpr char kGoldens[] = SCHEDSIM_SOURCE_DIR "/tests/sim/report/snapshots";

std::vector<std::string> SnapshotNames() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kSnapshots)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The report of a run with default configuration, as `schedsim run --output json` prints it.
absl::StatusOr<std::string> RunSnapshot(const std::string& name, const std::string& bound, bool reference,
                                        TraceLevel trace_level) {
  RunRequest request = {.files = {absl::StrCat(kSnapshots, "/", name)}, .reference = reference};
  ASSIGN_OR_RETURN(request.bound, ParseBoundPods(bound));
  Plan plan;
  ASSIGN_OR_RETURN(plan, MakePlan(request));
  plan.simulation.trace_level = trace_level;
  plan.simulation.trace_sink = [](absl::string_view) {};
  Report report;
  ASSIGN_OR_RETURN(report, RunPlan(std::move(plan)));
  // The report is the same at every level but for the digest of the trace.
  report.trace_digest.clear();
  return ReportJson(report);
}

// The report without its long lists.
Json Summary(const std::string& report_text) {
  Json report = Json::parse(report_text);
  std::set<std::string> inexact;
  for (const Json& pod : report["inexactPods"]) inexact.insert(pod["pod"].get<std::string>());
  report["inexactPods"] = inexact.size();
  report["workloads"] = report["workloads"].size();
  report.erase("pods");
  return report;
}

std::string ReadText(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class SnapshotTest : public testing::TestWithParam<std::string> {};

TEST_P(SnapshotTest, GivesTheExpectedReport) {
  const std::string& name = GetParam();
  Json got = Json::object();
  for (const char* bound : {"keep", "reset"}) {
    const auto report = RunSnapshot(name, bound, /*reference=*/false, TraceLevel::kOff);
    ASSERT_TRUE(report.ok()) << report.status();
    got[bound] = Summary(*report);
  }
  const std::string text = got.dump(2) + "\n";
  const fs::path golden = fs::path(kGoldens) / (name + ".json");
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    fs::create_directories(kGoldens);
    std::ofstream(golden, std::ios::binary) << text;
  }
  EXPECT_EQ(ReadText(golden), text) << "if that is as it should be: UPDATE_GOLDEN=1 ctest -L golden";
}

TEST_P(SnapshotTest, GivesOneReportAtEveryTraceLevelAndWithoutFastPaths) {
  for (const char* bound : {"keep", "reset"}) {
    const auto report = RunSnapshot(GetParam(), bound, /*reference=*/false, TraceLevel::kOff);
    ASSERT_TRUE(report.ok()) << report.status();
    for (const bool reference : {false, true}) {
      for (const TraceLevel level : {TraceLevel::kOff, TraceLevel::kDecisions, TraceLevel::kFull}) {
        const auto again = RunSnapshot(GetParam(), bound, reference, level);
        ASSERT_TRUE(again.ok()) << again.status();
        EXPECT_EQ(*again, *report) << bound << " " << reference << " " << static_cast<int>(level);
      }
    }
  }
}

TEST_P(SnapshotTest, SaysWhereItComesFrom) {
  EXPECT_TRUE(fs::exists(fs::path(kSnapshots) / GetParam() / "README.md"));
}

INSTANTIATE_TEST_SUITE_P(Snapshots, SnapshotTest, testing::ValuesIn(SnapshotNames()),
                         [](const auto& run) { return run.param; });

// What the real scheduler made of a snapshot, from its README.md.
struct RealResult {
  const char* name;
  int bound;
  int pending;
  // Shape: number of pods to the message.
  std::vector<std::pair<int, std::string>> messages;
};

const RealResult kRealResults[] = {
    {"small",
     240,
     60,
     {{60,
       "0/15 nodes are available: 15 Insufficient cpu. preemption: 0/15 nodes are available: 15 No "
       "preemption "
       "victims found for incoming pod."}}},
    {"mixed",
     579,
     11,
     {{4,
       "0/100 nodes are available: 33 node(s) had untolerated taint(s), 67 Insufficient nvidia.com/gpu. "
       "preemption: "
       "0/100 nodes are available: 100 Preemption is not helpful for scheduling."},
      {3,
       "0/100 nodes are available: 33 node(s) had untolerated taint(s), 67 node(s) didn't match pod topology "
       "spread "
       "constraints. preemption: 0/100 nodes are available: 33 Preemption is not helpful for scheduling, 67 "
       "No "
       "preemption victims found for incoming pod."},
      {2,
       "0/100 nodes are available: 10 node(s) didn't have free ports for the requested pod ports, 23 node(s) "
       "had "
       "untolerated taint(s), 67 node(s) didn't match Pod's node affinity/selector. preemption: 0/100 nodes "
       "are "
       "available: 10 No preemption victims found for incoming pod, 90 Preemption is not helpful for "
       "scheduling."},
      {2,
       "0/100 nodes are available: 23 node(s) had untolerated taint(s), 77 node(s) didn't match pod "
       "anti-affinity "
       "rules. preemption: 0/100 nodes are available: 23 Preemption is not helpful for scheduling, 77 No "
       "preemption "
       "victims found for incoming pod."}}},
};

TEST(Snapshots, EndAsWithTheRealScheduler) {
  for (const RealResult& real : kRealResults) {
    for (const char* bound : {"keep", "reset"}) {
      SCOPED_TRACE(absl::StrCat(real.name, " ", bound));
      const auto text = RunSnapshot(real.name, bound, /*reference=*/false, TraceLevel::kOff);
      ASSERT_TRUE(text.ok()) << text.status();
      const Json report = Json::parse(*text);
      EXPECT_EQ(report["bound"], real.bound);
      EXPECT_EQ(report["pending"], real.pending);
      EXPECT_EQ(report["exact"], true);
      std::vector<std::pair<int, std::string>> messages;
      for (const Json& message : report["pendingByMessage"]) {
        messages.emplace_back(message["count"].get<int>(), message["message"].get<std::string>());
      }
      EXPECT_EQ(messages, real.messages);
    }
  }
}

TEST(Snapshots, EveryGoldenHasItsSnapshot) {
  const std::vector<std::string> names = SnapshotNames();
  for (const auto& entry : fs::directory_iterator(kGoldens)) {
    EXPECT_TRUE(std::binary_search(names.begin(), names.end(), entry.path().stem().string())) << entry.path();
  }
}

}  // namespace
}  // namespace schedsim::sim
