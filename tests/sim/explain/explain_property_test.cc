// Attempts of the conformance cases that found no node: what is proposed is tried, without what finds it.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/api/kubernetes_version.h"
#include "gtest/gtest.h"
#include "sim/conformance/case.h"
#include "sim/explain/attempt_watch.h"
#include "sim/explain/change.h"
#include "sim/explain/explanation.h"
#include "sim/explain/trial_cluster.h"
#include "sim/run/simulation.h"

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

// One unit less of what a change gives.
Change OneLess(Change change) {
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
    if (changes[i].amount.IsZero()) continue;
    fewer = changes;
    fewer[i] = OneLess(changes[i]);
    EXPECT_FALSE(Try(trial, attempt, refused.node, fewer).IsSuccess())
        << place << "too much: " << ChangeText(changes[i]);
  }
}

void CheckAttempt(const SimulationOptions& options, const CapturedAttempt& attempt, const std::string& name,
                  Counts& counts) {
  const absl::StatusOr<Explanation> explanation = ExplainAttempt(options, attempt);
  ASSERT_TRUE(explanation.ok()) << explanation.status();
  // Each node is refused, and none twice.
  EXPECT_EQ(explanation->refused.size(), attempt.cluster.nodes.size()) << name;
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
    if (attempt.is_fit_error && attempt.host.empty()) CheckAttempt(options, attempt, test_case.name, counts);
  });
  EXPECT_EQ(Run(test_case, options, &watch), Run(test_case, options, nullptr))
      << test_case.name << ": looking on changed the run";
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
  EXPECT_EQ(counts.unrepeatable, 0);
  EXPECT_GT(counts.misses, 0);
  RecordProperty("attempts", std::to_string(counts.attempts));
  RecordProperty("nodes", std::to_string(counts.nodes));
  RecordProperty("misses", std::to_string(counts.misses));
  RecordProperty("parts", std::to_string(counts.parts));
}

INSTANTIATE_TEST_SUITE_P(Families, ExplainPropertyTest, testing::ValuesIn(kFamilies),
                         [](const auto& family) { return std::string(family.param); });

}  // namespace
}  // namespace schedsim::sim
