// What is drawn, and what fails: reading and writing it, and how often it strikes.
#include "sim/kernel/variation.h"

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "core/base/rng.h"
#include "gtest/gtest.h"

namespace schedsim::sim {
namespace {

TEST(VariationTest, IsReadAndWritten) {
  for (const char* text : {"none", "start", "workers,ties", "start,workers,ties"}) {
    const absl::StatusOr<Variation> variation = ParseVariation(text);
    ASSERT_TRUE(variation.ok()) << variation.status();
    EXPECT_EQ(VariationText(*variation), text);
  }
  for (const char* text : {"", "start,", "Start", "start, ties", "none,start"}) {
    const absl::Status status = ParseVariation(text).status();
    EXPECT_TRUE(absl::StrContains(status.message(), "expected some of start, workers and ties, or none"))
        << text << ": " << status;
  }
}

TEST(FaultRatesTest, AreReadAndWritten) {
  for (const char* text : {"none", "bind=0.05", "bind=1,answer=0.5,watch=0.000001"}) {
    const absl::StatusOr<FaultRates> rates = ParseFaults(text);
    ASSERT_TRUE(rates.ok()) << rates.status();
    EXPECT_EQ(FaultsText(*rates), text);
  }
  EXPECT_EQ(FaultsText(*ParseFaults("watch=0.10,bind=0")), "watch=0.1");
  const struct {
    const char* text;
    const char* message;
  } rows[] = {
      {"bnd=0.1", "\"bnd=0.1\" is no fault, expected some of bind, answer, status, evict, conflict, watch"},
      {"", "\"\" is no fault"},
      {"bind", "bind: \"\" is no rate, expected a decimal from 0 to 1"},
      {"bind=2", "bind: \"2\" is no rate"},
      {"bind=1.000001", "is no rate"},
      {"bind=-0.1", "is no rate"},
      {"bind=0.0000001", "is no rate"},
      {"bind=.5", "is no rate"},
      {"bind=5%", "is no rate"},
  };
  for (const auto& row : rows) {
    const absl::Status status = ParseFaults(row.text).status();
    EXPECT_TRUE(absl::StrContains(status.message(), row.message)) << row.text << ": " << status;
  }
}

TEST(FaultsTest, StrikeAsOftenAsTheirRateSays) {
  Faults faults(*ParseFaults("bind=0.05,watch=1"), Rng(1));
  int64_t watches = 0;
  for (int i = 0; i < 10'000; ++i) {
    faults.Strikes(Fault::kBind);
    if (faults.Strikes(Fault::kWatch)) ++watches;
    EXPECT_FALSE(faults.Strikes(Fault::kAnswer));
  }
  // Within five standard deviations.
  EXPECT_NEAR(static_cast<double>(faults.count(Fault::kBind)), 500.0, 109.0);
  EXPECT_EQ(watches, 10'000);
}

TEST(FaultsTest, ARateDoesNotShiftWhatOthersDraw) {
  Faults alone(*ParseFaults("bind=0.5"), Rng(1));
  Faults beside(*ParseFaults("bind=0.5,status=0.5"), Rng(1));
  for (int i = 0; i < 100; ++i) {
    beside.Strikes(Fault::kStatus);
    EXPECT_EQ(alone.Strikes(Fault::kBind), beside.Strikes(Fault::kBind));
  }
}

TEST(FaultsTest, ConflictsAreForUpdatesOfALook) {
  Faults faults(*ParseFaults("conflict=1"), Rng(1));
  EXPECT_FALSE(faults.MeetsConflict());
  faults.BeginLook();
  EXPECT_TRUE(faults.MeetsConflict());
  EXPECT_TRUE(faults.EndLook());
  faults.BeginLook();
  EXPECT_FALSE(faults.EndLook());
}

}  // namespace
}  // namespace schedsim::sim
