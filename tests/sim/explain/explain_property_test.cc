// Attempts that found no node, of the conformance cases, of real clusters and of random ones: what is
// proposed is tried, without what finds it.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/kubernetes_version.h"
#include "core/base/check.h"
#include "gtest/gtest.h"
#include "sim/conformance/case.h"
#include "sim/explain/attempt_watch.h"
#include "sim/explain/change.h"
#include "sim/explain/explanation.h"
#include "sim/explain/trial_cluster.h"
#include "sim/plan/plan.h"
#include "sim/run/simulation.h"
#include "tests/random_seeds.h"
#include "tests/sim/explain/random_cluster.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

constexpr char kFolder[] = SCHEDSIM_SOURCE_DIR "/tests/conformance/cases/";

// The families of the conformance cases. Those where no pod is refused by a node are left out.
const char* const kFamilies[] = {"batch",      "config",       "defaultspread", "gates",
                                 "mixed",      "nodeaffinity", "podaffinity",   "ports",
                                 "preemption", "preemptwide",  "queue",         "resources",
                                 "sampling",   "spreading",    "taints",        "volumes"};

struct Counts {
  int64_t attempts = 0;
  int64_t nodes = 0;
  int64_t misses = 0;
  int64_t parts = 0;
  int64_t unrepeatable = 0;
};

framework::Status Try(TrialCluster& trial, const CapturedAttempt& attempt, const std::string& node,
                      const std::vector<Change>& changes) {
  ApplyTo(trial, node, changes);
  const framework::Status status = trial.FitOn(PodWith(attempt.pod, changes), node);
  trial.Revert();
  return status;
}

// One unit less of what a change gives; absent: it gives no amount.
std::optional<Change> OneLess(Change change) {
  if (change.type == Change::Type::kMaxSkew) {
    int64_t skew = 0;
    CHECK(absl::SimpleAtoi(*change.value, &skew));
    change.value = absl::StrCat(skew - 1);
    return change;
  }
  if (change.amount.IsZero()) return std::nullopt;
  change.amount -= change.name == "cpu" ? api::Quantity::FromMilli(1) : api::Quantity::FromValue(1);
  return change;
}

void CheckMiss(TrialCluster& trial, const CapturedAttempt& attempt, const RefusedNode& refused,
               const std::string& place, Counts& counts) {
  const std::vector<Change>& changes = refused.miss->changes;
  EXPECT_NE(Try(trial, attempt, refused.node, {}).code(), framework::Code::kSuccess) << place;
  const framework::Status status = Try(trial, attempt, refused.node, changes);
  EXPECT_TRUE(status.IsSuccess()) << place << status.Message();
  for (size_t i = 0; i < changes.size(); ++i) {
    std::vector<Change> fewer = changes;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(Try(trial, attempt, refused.node, fewer).IsSuccess())
        << place << "needless: " << ChangeText(changes[i]);
    ++counts.parts;
    const std::optional<Change> less = OneLess(changes[i]);
    if (!less.has_value()) continue;
    fewer = changes;
    fewer[i] = *less;
    EXPECT_FALSE(Try(trial, attempt, refused.node, fewer).IsSuccess())
        << place << "too much: " << ChangeText(changes[i]);
  }
}

// `refused_count`: so many nodes refuse the pod.
void CheckAttempt(const SimulationOptions& options, const CapturedAttempt& attempt, const std::string& name,
                  size_t refused_count, Counts& counts) {
  const absl::StatusOr<Explanation> explanation = ExplainAttempt(options, attempt, "");
  ASSERT_TRUE(explanation.ok()) << explanation.status();
  EXPECT_EQ(explanation->refused.size(), refused_count) << name;
  const auto trial = TrialCluster::Make(options, attempt.cluster);
  ASSERT_TRUE(trial.ok()) << trial.status();
  ++counts.attempts;
  for (const RefusedNode& refused : explanation->refused) {
    const std::string place =
        absl::StrCat(name, " ", attempt.pod->Key(), " attempt ", attempt.number, " ", refused.node, ": ");
    ASSERT_TRUE(refused.miss.has_value()) << place;
    ++counts.nodes;
    EXPECT_NE(refused.miss->changes.empty(), refused.miss->why_not.empty()) << place;
    if (refused.miss->why_not == "the attempt cannot be repeated there") ++counts.unrepeatable;
    EXPECT_TRUE(!refused.facts.empty() || refused.miss->changes.empty()) << place << "no fact";
    if (refused.miss->changes.empty()) continue;
    ++counts.misses;
    CheckMiss(**trial, attempt, refused, place, counts);
  }
}

// Runs the case, with someone who looks on or without, and returns the digest over its decisions.
std::string Run(const Case& test_case, const SimulationOptions& options, AttemptWatch* watch) {
  auto simulation = Simulation::Make(options);
  EXPECT_TRUE(simulation.ok()) << simulation.status();
  if (!simulation.ok()) return "";
  if (watch != nullptr) watch->Attach(**simulation);
  (*simulation)->CreateObjects(test_case.objects);
  (*simulation)->AddSteps(test_case.steps);
  (*simulation)->Run();
  return (*simulation)->trace().DecisionDigest();
}

void CheckCase(const Case& test_case, Counts& counts) {
  SimulationOptions options = OptionsOf(test_case, /*reference=*/false);
  options.trace_level = TraceLevel::kOff;
  AttemptWatch watch("", std::nullopt);
  watch.set_sink([&](const CapturedAttempt& attempt) {
    if (attempt.is_fit_error && attempt.host.empty())
      CheckAttempt(options, attempt, test_case.name, attempt.cluster.nodes.size(), counts);
  });
  EXPECT_EQ(Run(test_case, options, &watch), Run(test_case, options, nullptr))
      << test_case.name << ": looking on changed the run";
}

void ReportCounts(const Counts& counts) {
  EXPECT_EQ(counts.unrepeatable, 0);
  EXPECT_GT(counts.misses, 0);
  testing::Test::RecordProperty("attempts", std::to_string(counts.attempts));
  testing::Test::RecordProperty("nodes", std::to_string(counts.nodes));
  testing::Test::RecordProperty("misses", std::to_string(counts.misses));
  testing::Test::RecordProperty("parts", std::to_string(counts.parts));
}

class ExplainPropertyTest : public testing::TestWithParam<const char*> {};

TEST_P(ExplainPropertyTest, EachMissFitsAndIsMinimal) {
  Counts counts;
  const absl::Status status = ReadCases(absl::StrCat(kFolder, GetParam(), ".jsonl.gz"),
                                        api::kDefaultKubernetesLine, [&counts](const Case& test_case) {
                                          if (test_case.config_error.empty()) CheckCase(test_case, counts);
                                          return absl::OkStatus();
                                        });
  EXPECT_TRUE(status.ok()) << status;
  ReportCounts(counts);
}

INSTANTIATE_TEST_SUITE_P(Families, ExplainPropertyTest, testing::ValuesIn(kFamilies),
                         [](const auto& family) { return std::string(family.param); });

// Schedules the cluster as `schedsim run -f` does. Of attempts with one message, of pods of one owner, the
// first one is looked at.
void CheckCluster(const std::string& path, BoundPods bound, Counts& counts) {
  RunRequest request;
  request.files = {path};
  request.bound = bound;
  request.allow_empty = true;
  absl::StatusOr<Plan> plan = MakePlan(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  plan->simulation.trace_level = TraceLevel::kOff;
  const SimulationOptions options = plan->simulation;
  std::set<std::string> known;
  AttemptWatch watch("", std::nullopt);
  watch.set_sink([&](const CapturedAttempt& attempt) {
    const auto& owners = attempt.pod->metadata.owner_references;
    const std::string owner = owners.empty() ? attempt.pod->metadata.name : owners[0].uid;
    if (!attempt.is_fit_error || !attempt.host.empty()) return;
    if (!known.insert(absl::StrCat(owner, " ", attempt.message)).second) return;
    CheckAttempt(options, attempt, path, attempt.cluster.nodes.size(), counts);
  });
  plan->on_made = [&watch](Simulation& simulation) { watch.Attach(simulation); };
  const absl::StatusOr<Report> report = RunPlan(*std::move(plan));
  EXPECT_TRUE(report.ok()) << report.status();
}

// With DaemonSets, sidecars, volumes, spreading, preemption, ports and taints.
TEST(ExplainRealClusterTest, EachMissFitsAndIsMinimal) {
  std::vector<std::string> paths;
  for (const char* folder : {"snapshots", "tests/tools/kwok-real", "tests/tools/kwok-real2"}) {
    const std::string root = absl::StrCat(SCHEDSIM_SOURCE_DIR "/", folder);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (absl::StartsWith(entry.path().filename().string(), "get.json"))
        paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  EXPECT_GE(paths.size(), 60);
  Counts counts;
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    CheckCluster(path, {.reset = false}, counts);
    CheckCluster(path, {.reset = true}, counts);
  }
  ReportCounts(counts);
}

TEST(ExplainRandomClusterTest, EachMissFitsAndIsMinimal) {
  const SimulationOptions options = SmallCluster("").options;
  Counts counts;
  for (const uint64_t seed : SeedsToRun(300)) {
    SCOPED_TRACE(RepeatCommand(seed, "ExplainRandomClusterTest.*"));
    const RandomCluster random = MakeRandomCluster(seed);
    const auto trial = TrialCluster::Make(options, random.cluster);
    ASSERT_TRUE(trial.ok()) << trial.status();
    for (const api::PodPtr& pod : random.pending) {
      CapturedAttempt attempt;
      attempt.pod = pod;
      attempt.is_fit_error = true;
      attempt.profile = "default-scheduler";
      attempt.cluster = random.cluster;
      for (const std::string& node : random.cluster.nodes) {
        framework::Status status = (*trial)->FitOn(pod, node);
        if (!status.IsSuccess()) attempt.answers.push_back({.node = node, .status = std::move(status)});
      }
      CheckAttempt(options, attempt, absl::StrCat("seed ", seed), attempt.answers.size(), counts);
    }
  }
  ReportCounts(counts);
}

}  // namespace
}  // namespace schedsim::sim
