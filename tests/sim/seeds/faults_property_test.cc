// Five scenarios with API calls and watches that fail: nothing is lost, and no pod is bound twice. A few
// seeds of each, or those that SCHEDSIM_PROPERTY_SEED names.
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "sim/plan/plan.h"
#include "sim/seeds/seed_run.h"
#include "tests/random_seeds.h"

namespace schedsim::sim {
namespace {

constexpr uint64_t kSeedCount = 10;
constexpr char kFaults[] = "bind=0.1,answer=0.05,status=0.05,evict=0.1,conflict=0.1,watch=0.05";

class FaultsPropertyTest : public testing::TestWithParam<const char*> {
 protected:
  static absl::StatusOr<Plan> MakePlanOf(const std::string& path) {
    RunRequest request;
    request.scenario = absl::StrCat(SCHEDSIM_SOURCE_DIR "/", path);
    request.variation = Variation{.start = true, .workers = true, .ties = true};
    const absl::StatusOr<FaultRates> rates = ParseFaults(kFaults);
    if (!rates.ok()) return rates.status();
    request.faults = *rates;
    return MakePlan(request);
  }
};

TEST_P(FaultsPropertyTest, LosesNothingAndBindsNothingTwice) {
  const absl::StatusOr<Plan> plan = MakePlanOf(GetParam());
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::array<int64_t, kFaultCount> struck = {};
  const std::vector<uint64_t> seeds = SeedsToRun(kSeedCount);
  for (const uint64_t seed : seeds) {
    SCOPED_TRACE(RepeatCommand(seed, "*FaultsPropertyTest*"));
    const absl::StatusOr<SeedRun> run = RunSeed(*plan, seed);
    ASSERT_TRUE(run.ok()) << run.status();
    for (const std::string& problem : run->problems) ADD_FAILURE() << problem;
    EXPECT_TRUE(run->had_settled);
    for (size_t i = 0; i < kFaultCount; ++i) struck[i] += run->faults[i];
    const absl::StatusOr<SeedRun> again = RunSeed(*plan, seed);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(run->digest, again->digest);
  }
  // Runs in which nothing failed would show nothing.
  if (seeds.size() < kSeedCount) return;
  for (const Fault fault : {Fault::kBind, Fault::kAnswer, Fault::kConflict, Fault::kWatch})
    EXPECT_GT(struck[static_cast<size_t>(fault)], 0) << FaultName(fault);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, FaultsPropertyTest,
                         testing::Values("scenarios/preemption-burst/scenario.yaml",
                                         "scenarios/rolling-drain/scenario.yaml",
                                         "scenarios/recorded-outage/scenario.yaml",
                                         "scenarios/full-cluster/scenario.yaml",
                                         "tests/sim/seeds/volumes/scenario.yaml"),
                         [](const auto& scenario) {
                           return absl::StrReplaceAll(scenario.param, {{"/", "_"}, {"-", "_"}, {".", "_"}});
                         });

}  // namespace
}  // namespace schedsim::sim
