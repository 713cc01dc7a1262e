// Latencies: what is drawn, that it is the same everywhere, and what becomes possible when things take time.
#include "sim/kernel/latency.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/api/default_profile.h"
#include "core/codec/objects/objects.h"
#include "gtest/gtest.h"
#include "sim/record/record_reader.h"
#include "sim/record/record_writer.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {
namespace {

// Shape: sorted.
std::vector<absl::Duration> Draws(const Latency& latency, int count) {
  Rng rng(7);
  std::vector<absl::Duration> draws;
  for (int i = 0; i < count; ++i) draws.push_back(latency.Draw(rng));
  std::sort(draws.begin(), draws.end());
  return draws;
}

double MillisecondsAt(const std::vector<absl::Duration>& draws, double quantile) {
  return absl::ToDoubleMilliseconds(draws[static_cast<size_t>(quantile * static_cast<double>(draws.size()))]);
}

constexpr int kDraws = 200'000;

TEST(LatencyTest, ConstantDrawsNothing) {
  Rng rng(1);
  EXPECT_EQ(Latency(absl::Milliseconds(3)).Draw(rng), absl::Milliseconds(3));
  EXPECT_EQ(rng.Next(), Rng(1).Next());
}

TEST(LatencyTest, UniformStaysBetweenItsEnds) {
  const auto draws = Draws(Latency::Uniform(absl::Milliseconds(2), absl::Milliseconds(6)), kDraws);
  EXPECT_GE(draws.front(), absl::Milliseconds(2));
  EXPECT_LE(draws.back(), absl::Milliseconds(6));
  EXPECT_NEAR(MillisecondsAt(draws, 0.5), 4, 0.02);
  EXPECT_NEAR(MillisecondsAt(draws, 0.99), 5.96, 0.01);
}

TEST(LatencyTest, ExponentialHasItsQuantiles) {
  const auto draws = Draws(Latency::Exponential(absl::Milliseconds(10)), kDraws);
  EXPECT_NEAR(MillisecondsAt(draws, 0.5), 6.931, 0.07);
  EXPECT_NEAR(MillisecondsAt(draws, 0.9), 23.026, 0.25);
  EXPECT_NEAR(MillisecondsAt(draws, 0.99), 46.052, 0.9);
}

TEST(LatencyTest, NormalIsCutAtZero) {
  const auto draws = Draws(Latency::Normal(absl::Milliseconds(10), absl::Milliseconds(10)), kDraws);
  EXPECT_EQ(draws.front(), absl::ZeroDuration());
  EXPECT_NEAR(MillisecondsAt(draws, 0.5), 10, 0.1);
  EXPECT_NEAR(MillisecondsAt(draws, 0.841), 20, 0.2);
  EXPECT_NEAR(MillisecondsAt(draws, 0.1), 0, 0.001);
}

TEST(LatencyTest, LogNormalHasItsMedianAndPercentile) {
  const auto draws = Draws(Latency::LogNormal(absl::Milliseconds(4), absl::Milliseconds(40)), kDraws);
  EXPECT_NEAR(MillisecondsAt(draws, 0.5), 4, 0.05);
  EXPECT_NEAR(MillisecondsAt(draws, 0.99), 40, 1.5);
  EXPECT_NEAR(MillisecondsAt(draws, 0.01), 0.4, 0.015);
}

TEST(LatencyTest, DrawsAreCutAtADay) {
  const auto draws = Draws(Latency::LogNormal(absl::Nanoseconds(1), Latency::kMax), 10'000);
  EXPECT_GE(draws.front(), absl::ZeroDuration());
  EXPECT_EQ(draws.back(), Latency::kMax);
}

// These are the numbers of every machine: whoever changes them changes the result of every seed.
TEST(LatencyTest, TheSameSeedGivesTheSameNanoseconds) {
  const auto first = [](const Latency& latency) {
    Rng rng = Rng(1).Fork("latency/api-call");
    std::vector<int64_t> draws;
    for (int i = 0; i < 3; ++i) draws.push_back(absl::ToInt64Nanoseconds(latency.Draw(rng)));
    return draws;
  };
  using Numbers = std::vector<int64_t>;
  const absl::Duration ms = absl::Milliseconds(1);
  EXPECT_EQ(first(Latency::Uniform(ms, 5 * ms)), (Numbers{4'275'319, 2'321'071, 4'210'137}));
  EXPECT_EQ(first(Latency::Exponential(4 * ms)), (Numbers{253'668, 7'889'930, 2'945'434}));
  EXPECT_EQ(first(Latency::Normal(4 * ms, ms)), (Numbers{1'867'369, 5'197'266, 4'044'522}));
  EXPECT_EQ(first(Latency::LogNormal(4 * ms, 40 * ms)), (Numbers{474'472, 13'238'384, 4'182'038}));
}

TEST(LatencyTest, SaysWhatItIs) {
  LatencyModel model;
  EXPECT_EQ(model.ToString(),
            "scheduling cycle 1ms, binding 0, informers 0, API calls 0, pod termination 0, no client limit");
  model.api_call = Latency::LogNormal(absl::Milliseconds(4), absl::Milliseconds(40));
  model.informer = Latency::Uniform(absl::ZeroDuration(), absl::Milliseconds(5));
  model.client = {.milli_qps = 50'000, .burst = 100};
  EXPECT_EQ(model.ToString(),
            "scheduling cycle 1ms, binding 0, informers uniform 0 to 5ms, API calls lognormal with median "
            "4ms and p99 "
            "40ms, pod termination 0, client limit 50 a second, burst 100");
  model.client.milli_qps = 2'500;
  EXPECT_TRUE(absl::EndsWith(model.ToString(), "client limit 2.500 a second, burst 100"));
}

TEST(TokenBucketTest, LetsABurstThroughAndThenOneAnInterval) {
  TokenBucket bucket({.milli_qps = 10'000, .burst = 3});
  const absl::Time start = absl::UnixEpoch();
  const absl::Duration interval = absl::Milliseconds(100);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bucket.Take(start), absl::ZeroDuration());
  EXPECT_EQ(bucket.Take(start), interval);
  EXPECT_EQ(bucket.Take(start), 2 * interval);
  // Those who wait are served first.
  EXPECT_EQ(bucket.Take(start + absl::Milliseconds(150)), absl::Milliseconds(150));
  // At 550 ms two and a half tokens are back.
  const absl::Time later = start + absl::Milliseconds(550);
  EXPECT_EQ(bucket.Take(later), absl::ZeroDuration());
  EXPECT_EQ(bucket.Take(later), absl::ZeroDuration());
  EXPECT_EQ(bucket.Take(later), absl::Milliseconds(50));
}

TEST(TokenBucketTest, WithoutALimitNobodyWaits) {
  TokenBucket bucket(ClientLimit{});
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(bucket.Take(absl::UnixEpoch()), absl::ZeroDuration());
}

// A small cluster with latencies; its trace.
class LatencyRun {
 public:
  LatencyRun(const LatencyModel& latency, api::KubernetesLine line = api::kDefaultKubernetesLine) {
    const api::FeatureGates gates(line);
    options_.line = api::LineBehaviorOf(gates);
    options_.config = *codec::DefaultSchedulerConfig(gates, api::InTreePlugins(line));
    options_.zero = absl::FromUnixSeconds(946'684'800);
    options_.latency = latency;
    options_.until = absl::Seconds(60);
    options_.trace_level = TraceLevel::kDecisions;
    options_.trace_sink = [this](absl::string_view line_text) { lines_.emplace_back(line_text); };
  }

  api::ObjectPtr Object(const std::string& yaml) {
    api::ObjectPtr found;
    const absl::Status status =
        reader_.ReadText("---\n" + yaml, "test.yaml", [&](api::ObjectPtr object, const codec::Location&) {
          found = std::move(object);
          return absl::OkStatus();
        });
    EXPECT_TRUE(status.ok()) << status;
    return found;
  }
  api::ObjectPtr Node(const std::string& name) {
    return Object(absl::StrCat("{apiVersion: v1, kind: Node, metadata: {name: ", name,
                               "}, status: {allocatable: {cpu: 2, memory: 4Gi, pods: 10}}}"));
  }
  api::ObjectPtr Pod(const std::string& name, const std::string& cpu, int priority = 0) {
    return Object(
        absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name, "}, spec: {priority: ", priority,
                     ", containers: [{name: c, image: i, resources: {requests: {cpu: ", cpu, "}}}]}}"));
  }

  std::vector<api::ObjectPtr> objects;
  std::vector<Step> steps;

  void CreateAt(absl::Duration at, api::ObjectPtr object) {
    Step step;
    step.at = at;
    step.create = std::move(object);
    steps.push_back(std::move(step));
  }
  void DeleteAt(absl::Duration at, api::Kind kind, const std::string& name) {
    Step step;
    step.at = at;
    step.remove = Step::Reference{.kind = kind,
                                  .kind_name = std::string(api::KindName(kind)),
                                  .name_space = kind == api::Kind::kPod ? "default" : "",
                                  .name = name};
    steps.push_back(std::move(step));
  }

  const Simulation& Run() {
    auto made = Simulation::Make(std::move(options_));
    EXPECT_TRUE(made.ok()) << made.status();
    simulation_ = *std::move(made);
    simulation_->CreateObjects(objects);
    simulation_->AddSteps(std::move(steps));
    simulation_->Run();
    return *simulation_;
  }

  // The records of a kind about a pod, each from its time to `until`.
  std::vector<std::string> Records(const std::string& kind, const std::string& pod) const {
    std::vector<std::string> found;
    for (const std::string& line : lines_) {
      const std::optional<RecordGlance> glance = GlanceAt(line);
      if (!glance.has_value() || glance->kind != kind) continue;
      if (glance->pod == absl::StrCat("default/", pod)) found.push_back(line);
    }
    return found;
  }
  // The times of these records, in seconds.
  std::vector<std::string> Times(const std::string& kind, const std::string& pod) const {
    std::vector<std::string> times;
    for (const std::string& line : Records(kind, pod)) {
      times.push_back(SecondsText(GlanceAt(line)->time));
    }
    return times;
  }
  std::string All() const {
    std::string all;
    for (const std::string& line : lines_) absl::StrAppend(&all, line, "\n");
    return all;
  }

 private:
  codec::ObjectReader reader_;
  SimulationOptions options_;
  std::vector<std::string> lines_;
  std::unique_ptr<Simulation> simulation_;
};

using Times = std::vector<std::string>;

const absl::Duration kMs = absl::Milliseconds(1);

TEST(LatencyRunTest, EachStepOfABindingTakesItsTime) {
  LatencyRun run({.scheduling_cycle = 5 * kMs, .binding = 20 * kMs, .api_call = 100 * kMs});
  run.objects = {run.Node("n1"), run.Pod("a", "100m"), run.Pod("b", "100m")};
  run.Run();
  EXPECT_EQ(run.Times("attempt", "a"), (Times{"0"}));
  EXPECT_EQ(run.Times("attempt", "b"), (Times{"0.005"}));
  EXPECT_EQ(run.Times("bind", "a"), (Times{"0.12"}));
  EXPECT_EQ(run.Times("bind", "b"), (Times{"0.125"}));
}

TEST(LatencyRunTest, AFailedCycleLastsUntilTheStatusIsWritten) {
  LatencyRun run({.api_call = 100 * kMs});
  run.objects = {run.Node("n1"), run.Pod("large", "3"), run.Pod("small", "1")};
  run.Run();
  EXPECT_EQ(run.Times("status", "large"), (Times{"0.1"}));
  EXPECT_EQ(run.Times("attempt", "small"), (Times{"0.101"}));
}

TEST(LatencyRunTest, TheClientLimitDelaysBindingsButNotCycles) {
  LatencyRun run({.client = {.milli_qps = 10'000, .burst = 1}});
  run.objects = {run.Node("n1"), run.Pod("a", "100m"), run.Pod("b", "100m"), run.Pod("c", "100m")};
  run.Run();
  EXPECT_EQ(run.Times("attempt", "c"), (Times{"0.002"}));
  EXPECT_EQ(run.Times("bind", "a"), (Times{"0"}));
  EXPECT_EQ(run.Times("bind", "b"), (Times{"0.1"}));
  EXPECT_EQ(run.Times("bind", "c"), (Times{"0.2"}));
}

TEST(LatencyRunTest, APodThatIsDeletedDuringItsBindingIsForgotten) {
  for (const api::KubernetesLine line : {api::KubernetesLine::k1_34, api::KubernetesLine::k1_37}) {
    LatencyRun run({.api_call = 100 * kMs}, line);
    run.objects = {run.Node("n1"), run.Pod("a", "2")};
    run.DeleteAt(50 * kMs, api::Kind::kPod, "a");
    run.CreateAt(absl::Seconds(1), run.Pod("b", "2"));
    run.Run();
    EXPECT_EQ(run.Times("bindFailure", "a"), (Times{"0.1"}));
    EXPECT_EQ(run.Times("attempt", "a"), (Times{"0"})) << "it does not come back";
    EXPECT_EQ(run.Times("bind", "b"), (Times{"1.1"})) << "its place on the node is free";
  }
}

TEST(LatencyRunTest, TheInformerMayLearnOfADeletionAfterTheBindingFailed) {
  LatencyRun run({.informer = 300 * kMs, .api_call = 100 * kMs});
  run.objects = {run.Node("n1"), run.Pod("a", "2")};
  run.DeleteAt(50 * kMs, api::Kind::kPod, "a");
  run.CreateAt(absl::Seconds(1), run.Pod("b", "2"));
  run.Run();
  EXPECT_EQ(run.Times("bindFailure", "a"), (Times{"0.1"}));
  EXPECT_EQ(run.Times("attempt", "a"), (Times{"0"}));
  EXPECT_EQ(run.Times("attempt", "b"), (Times{"1.3"}));
}

TEST(LatencyRunTest, APodCreatedAgainIsNotBoundByTheCallForTheFirstOne) {
  LatencyRun run({.api_call = 100 * kMs});
  run.objects = {run.Node("n1"), run.Pod("a", "2")};
  run.DeleteAt(50 * kMs, api::Kind::kPod, "a");
  run.CreateAt(50 * kMs, run.Pod("a", "1"));
  const Simulation& simulation = run.Run();
  ASSERT_EQ(run.Records("bindFailure", "a").size(), 1U);
  EXPECT_TRUE(
      absl::StrContains(run.Records("bindFailure", "a")[0], "Precondition failed: UID in precondition"))
      << run.All();
  EXPECT_EQ(run.Times("bind", "a").size(), 1U) << run.All();
  EXPECT_EQ(simulation.server().FindPod("default", "a")->node_name, "n1");
}

TEST(LatencyRunTest, APodIsBoundToANodeThatLeftDuringTheBinding) {
  LatencyRun run({.api_call = 100 * kMs});
  run.objects = {run.Node("n1"), run.Pod("a", "2")};
  run.DeleteAt(50 * kMs, api::Kind::kNode, "n1");
  run.CreateAt(absl::Seconds(1), run.Pod("b", "2"));
  run.CreateAt(absl::Seconds(2), run.Node("n1"));
  const Simulation& simulation = run.Run();
  // The API server does not ask whether there is such a node; the pod counts when it comes back.
  EXPECT_EQ(run.Times("bind", "a"), (Times{"0.1"}));
  EXPECT_EQ(simulation.server().FindPod("default", "b")->node_name, "");
}

TEST(LatencyRunTest, InformersKeepTheOrderOfEachKind) {
  LatencyRun run({.informer = Latency::Uniform(absl::ZeroDuration(), absl::Seconds(2))});
  run.objects = {run.Node("n1")};
  for (int i = 0; i < 20; ++i) run.CreateAt(i * 10 * kMs, run.Pod(absl::StrCat("pod-", i), "100m"));
  run.Run();
  double last = 0;
  for (int i = 0; i < 20; ++i) {
    const Times times = run.Times("attempt", absl::StrCat("pod-", i));
    ASSERT_EQ(times.size(), 1U) << i;
    EXPECT_GT(std::stod(times[0]), last) << "pods come to the queue in the order of their creation";
    last = std::stod(times[0]);
  }
}

TEST(LatencyRunTest, TheSameSeedGivesTheSameTrace) {
  const LatencyModel latency = {.scheduling_cycle = Latency::Exponential(kMs),
                                .informer = Latency::Uniform(kMs, 20 * kMs),
                                .api_call = Latency::LogNormal(4 * kMs, 40 * kMs),
                                .pod_termination = Latency::Normal(absl::Seconds(1), absl::Seconds(1))};
  std::string traces[2];
  for (std::string& trace : traces) {
    LatencyRun run(latency);
    run.objects = {run.Node("n1"), run.Node("n2")};
    for (int i = 0; i < 30; ++i) run.CreateAt(i * 7 * kMs, run.Pod(absl::StrCat("p", i), "700m", i % 5));
    run.Run();
    trace = run.All();
  }
  EXPECT_FALSE(traces[0].empty());
  EXPECT_EQ(traces[0], traces[1]);
}

TEST(LatencyRunTest, AVictimLeavesTheNodeAfterItsTermination) {
  LatencyRun run({.api_call = 100 * kMs, .pod_termination = absl::Seconds(3)});
  run.objects = {run.Node("n1"), run.Pod("low", "2")};
  run.CreateAt(absl::Seconds(1), run.Pod("high", "2", 10));
  run.Run();
  // Condition and deletion are a call each, one after the other.
  EXPECT_EQ(run.Times("delete", "low"), (Times{"1.2"})) << run.All();
  EXPECT_EQ(run.Times("gone", "low"), (Times{"4.2"}));
  EXPECT_EQ(run.Times("bind", "high").size(), 1U) << run.All();
}

}  // namespace
}  // namespace schedsim::sim
