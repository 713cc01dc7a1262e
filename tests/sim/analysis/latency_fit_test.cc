// Each part of the latency model, from logs that show it alone.
#include "sim/analysis/latency_fit.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "gtest/gtest.h"
#include "sim/formats/audit_log.h"
#include "tests/sim/formats/audit_log_text.h"

namespace schedsim::sim {
namespace {

LatencyFit FitOf(const AuditLogText& text) {
  const absl::StatusOr<AuditLog> log = ParseAuditLog(text.text(), "audit.log", "kube-scheduler/");
  CHECK(log.ok());
  return FitLatencies(*log);
}

const FittedPart& PartOf(const LatencyFit& fit, const std::string& name) {
  for (const FittedPart& part : fit.parts) {
    if (part.name == name) return part;
  }
  CHECK(false);
}

std::string Name(int i) { return absl::StrCat("pod-", i); }

// Pods that are created at once, and calls so many milliseconds apart, in turn.
AuditLogText Backlog(int count, double first_gap, double second_gap) {
  AuditLogText log;
  for (int i = 0; i < count; ++i) log.Pod(10, Name(i));
  double at = 20;
  for (int i = 0; i < count; ++i) {
    log.Bind(at, at + 1, Name(i));
    at += i % 2 == 0 ? first_gap : second_gap;
  }
  return log;
}

TEST(LatencyFitTest, SchedulingCycleIsTheMeanGapOfABacklog) {
  const LatencyFit fit = FitOf(Backlog(21, 1, 5));
  EXPECT_EQ(PartOf(fit, "schedulingCycle").value, "3ms");
  EXPECT_EQ(PartOf(fit, "schedulingCycle").sample_count, 20);
  EXPECT_EQ(fit.model.scheduling_cycle.ToString(), "3ms");
}

TEST(LatencyFitTest, SchedulingCycleNeedsTenGaps) {
  EXPECT_EQ(PartOf(FitOf(Backlog(11, 3, 3)), "schedulingCycle").value, "3ms");
  const LatencyFit fit = FitOf(Backlog(10, 3, 3));
  EXPECT_EQ(PartOf(fit, "schedulingCycle").value, "1ms");
  EXPECT_FALSE(PartOf(fit, "schedulingCycle").fitted);
  EXPECT_TRUE(absl::StartsWith(PartOf(fit, "schedulingCycle").reason, "default: 9 samples ("));
}

TEST(LatencyFitTest, PodsThatDoNotWaitSayNothingOfTheCycle) {
  AuditLogText log;
  for (int i = 0; i < 30; ++i) log.Pod(10 * i, Name(i)).Bind(10 * i + 2, 10 * i + 3, Name(i));
  EXPECT_EQ(PartOf(FitOf(log), "schedulingCycle").sample_count, 0);
}

// The cycle of a pod that does not fit waits for its status to be written.
TEST(LatencyFitTest, GapsBehindFailuresAndClaimsDoNotCount) {
  AuditLogText log;
  for (int i = 0; i < 44; ++i) {
    const bool has_claim = i % 4 == 3;
    log.Pod(10, Name(i), "1m",
            has_claim ? R"(,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}])" : "");
  }
  double at = 20;
  for (int i = 0; i < 44; i += 4) {
    log.Bind(at, at + 1, Name(i));
    at += 2;
    log.Fail(at, at + 1, Name(i + 1));
    at += 50;
    log.Bind(at, at + 1, Name(i + 2));
    at += 60;
    log.Bind(at, at + 1, Name(i + 3));
    at += 70;
  }
  const LatencyFit fit = FitOf(log);
  EXPECT_EQ(PartOf(fit, "schedulingCycle").value, "2ms");
  EXPECT_EQ(PartOf(fit, "schedulingCycle").sample_count, 11);
}

TEST(LatencyFitTest, InformerIsTheDelayOfPodsThatComeAlone) {
  AuditLogText log;
  for (int i = 0; i < 20; ++i) {
    const double at = 1000 * (i + 1);
    log.Pod(at, Name(i)).Pod(at, absl::StrCat("second-", i));
    log.Bind(at + 5, at + 7, Name(i)).Bind(at + 90, at + 92, absl::StrCat("second-", i));
  }
  const LatencyFit fit = FitOf(log);
  EXPECT_EQ(PartOf(fit, "informer").sample_count, 20);
  EXPECT_EQ(PartOf(fit, "informer").value, "5ms");
}

double Milliseconds(const std::string& value, const std::string& key) {
  const size_t at = value.find(key);
  absl::Duration duration;
  CHECK(at != std::string::npos);
  const size_t start = at + key.size();
  CHECK(absl::ParseDuration(value.substr(start, value.find_first_of(",}", start) - start), &duration));
  return absl::ToDoubleMilliseconds(duration);
}

// Delays of 1 ms to 40 ms: the median is 20 ms, the 90th percentile 36 ms. A second later each, so that no
// write waits for another.
TEST(LatencyFitTest, InformerHasMedianAndNinetiethPercentileOfTheLog) {
  AuditLogText log;
  for (int i = 0; i < 40; ++i) {
    const double at = 1000 * (i + 1);
    const double delay = (i * 7) % 40 + 1;
    log.Pod(at, Name(i)).Bind(at + delay, at + delay + 1, Name(i));
  }
  const std::string value = PartOf(FitOf(log), "informer").value;
  EXPECT_NEAR(Milliseconds(value, "median: "), 20, 1) << value;
  // 20 ms * (36 / 20) ^ (2.303 / 1.289).
  EXPECT_NEAR(Milliseconds(value, "p99: "), 57.2, 4) << value;
}

// The same delays, but with a write each millisecond before: many of them wait for stragglers, so that
// latencies that are much shorter explain what is seen.
TEST(LatencyFitTest, InformerKnowsThatWritesDoNotOvertake) {
  AuditLogText log;
  for (int i = 0; i < 40; ++i) {
    const double at = 1000 * (i + 1);
    const double delay = (i * 7) % 40 + 1;
    for (int k = 1; k <= 50; ++k) {
      log.Add({.start = at - k - 1,
               .end = at - k,
               .agent = "kwok/v1",
               .verb = "patch",
               .sub = "status",
               .name = "busy",
               .body = R"({"status":{"phase":"Running"}})"});
    }
    log.Pod(at, Name(i)).Bind(at + delay, at + delay + 1, Name(i));
  }
  const std::string value = PartOf(FitOf(log), "informer").value;
  EXPECT_LT(Milliseconds(value, "median: "), 15) << value;
  EXPECT_LT(Milliseconds(value, "p99: "), 50) << value;
}

TEST(LatencyFitTest, ApiCallIsTheTimeOfTheSchedulersCalls) {
  AuditLogText log;
  for (int i = 0; i < 40; ++i) {
    const double at = 1000 * (i + 1);
    log.Pod(at, Name(i)).Bind(at + 3, at + 3 + (i * 7) % 40 + 1, Name(i));
    // Of others.
    log.Delete(at + 500, Name(i));
  }
  const std::string value = PartOf(FitOf(log), "apiCall").value;
  EXPECT_EQ(PartOf(FitOf(log), "apiCall").sample_count, 40);
  EXPECT_EQ(Milliseconds(value, "median: "), 20) << value;
  EXPECT_NEAR(Milliseconds(value, "p99: "), 57.2, 0.1) << value;
}

TEST(LatencyFitTest, TerminationIsFromDeletionToTheDeletionAtOnce) {
  AuditLogText log;
  for (int i = 0; i < 12; ++i) {
    const double at = 1000 * (i + 1);
    log.Pod(at, Name(i)).Bind(at + 3, at + 4, Name(i));
    log.Delete(at + 100, Name(i), -1, i % 2 == 0 ? AuditLogText::kScheduler : "kubectl/v1");
    log.Delete(at + 107, Name(i), 0, "kwok/v1");
    // Pods that were not bound go at once.
    log.Pod(at + 200, absl::StrCat("unbound-", i)).Delete(at + 300, absl::StrCat("unbound-", i));
  }
  const LatencyFit fit = FitOf(log);
  EXPECT_EQ(PartOf(fit, "podTermination").sample_count, 12);
  EXPECT_EQ(PartOf(fit, "podTermination").value, "7ms");
}

// 100 calls a millisecond apart, then 50 a second.
AuditLogText LimitedBacklog(int count, int fast_count) {
  AuditLogText log;
  for (int i = 0; i < count; ++i) log.Pod(10, Name(i));
  double at = 20;
  for (int i = 0; i < count; ++i) {
    log.Bind(at, at + 1, Name(i));
    at += i < fast_count ? 1 : 20;
  }
  return log;
}

TEST(LatencyFitTest, ClientLimitIsTheRateThatABacklogSlowsDownTo) {
  const LatencyFit fit = FitOf(LimitedBacklog(400, 99));
  EXPECT_EQ(fit.model.client.milli_qps, 50'000);
  // In the 99 ms of the first 100 calls, 4 tokens came back.
  EXPECT_EQ(fit.model.client.burst, 96);
  EXPECT_EQ(PartOf(fit, "client").value, "{qps: 50, burst: 96}");
  // What the client waits for tokens is no part of the cycle.
  EXPECT_EQ(PartOf(fit, "schedulingCycle").value, "1ms");
  EXPECT_TRUE(PartOf(fit, "schedulingCycle").fitted);
}

TEST(LatencyFitTest, SlowOrShortBacklogsShowNoLimit) {
  EXPECT_EQ(PartOf(FitOf(LimitedBacklog(400, 0)), "client").value, "{qps: 0}");
  EXPECT_EQ(PartOf(FitOf(LimitedBacklog(250, 99)), "client").value, "{qps: 0}");
}

}  // namespace
}  // namespace schedsim::sim
