#include "sim/series/series_collector.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "sim/report/report.h"
#include "sim/run/simulation.h"
#include "tests/random_seeds.h"
#include "tests/sim/run/random_timeline.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

std::string Node(absl::string_view name, absl::string_view more = "") {
  return absl::StrCat("---\napiVersion: v1\nkind: Node\nmetadata: {name: ", name,
                      "}\nstatus: {allocatable: {cpu: 4, memory: 8Gi, pods: 10", more, "}}\n");
}

std::string Pod(absl::string_view name, int cpu, absl::string_view more = "") {
  return absl::StrCat(
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
      ", namespace: default}\nspec:\n  containers: [{name: c, image: i, resources: {requests: "
      "{cpu: ",
      cpu, "}}}]\n", more);
}

// Runs the cluster with the collector, to its end.
std::unique_ptr<Simulation> RunWith(SmallCluster& cluster, SeriesCollector& collector) {
  collector.AddTo(cluster.options);
  cluster.on_made = [&collector](Simulation& simulation) { collector.Attach(simulation); };
  std::unique_ptr<Simulation> simulation = cluster.Run(std::nullopt);
  collector.Finish();
  return simulation;
}

const TimeSeries::Resource& ResourceOf(const TimeSeries& series, absl::string_view name) {
  for (const TimeSeries::Resource& resource : series.resources) {
    if (resource.name == name) return resource;
  }
  ADD_FAILURE() << "no resource " << name;
  return series.resources.at(0);
}

// What the column has at this time.
int64_t At(const TimeSeries& series, const std::vector<int64_t>& column, absl::Duration time) {
  const auto after = std::upper_bound(series.times.begin(), series.times.end(), time);
  return column.at(static_cast<size_t>(after - series.times.begin()) - 1);
}

TEST(SeriesCollector, FollowsPodsQueuesAndNodes) {
  SmallCluster cluster(Node("a") + Pod("first", 3) + Pod("waits", 3) +
                       Pod("gated", 1, "  schedulingGates: [{name: later}]\n"));
  cluster.Create(20, Node("b").substr(4));
  cluster.DeletePod(40, "first");
  SeriesCollector collector(0);
  RunWith(cluster, collector);
  const TimeSeries& series = collector.series();
  const absl::Duration early = absl::Seconds(10);
  EXPECT_EQ(At(series, series.nodes, early), 1);
  EXPECT_EQ(At(series, series.bound, early), 1);
  EXPECT_EQ(At(series, series.pending, early), 2);
  EXPECT_EQ(At(series, series.unschedulable, early), 1);
  EXPECT_EQ(At(series, series.gated, early), 1);
  EXPECT_EQ(At(series, series.attempts, early), 2);
  const TimeSeries::Resource& cpu = ResourceOf(series, "cpu");
  EXPECT_EQ(At(series, cpu.requested, early), 3000);
  EXPECT_EQ(At(series, cpu.allocatable, early), 4000);
  const absl::Duration middle = absl::Seconds(30);
  EXPECT_EQ(At(series, series.nodes, middle), 2);
  EXPECT_EQ(At(series, series.bound, middle), 2);
  EXPECT_EQ(At(series, cpu.requested, middle), 6000);
  EXPECT_EQ(At(series, cpu.allocatable, middle), 8000);
  const absl::Duration late = absl::Seconds(50);
  EXPECT_EQ(At(series, series.bound, late), 1);
  EXPECT_EQ(At(series, cpu.requested, late), 3000);
  EXPECT_EQ(At(series, ResourceOf(series, "pods").requested, late), 1);
}

TEST(SeriesCollector, SeesPodsThatWaitInQueuesForAWhile) {
  SmallCluster cluster(Node("a") + Pod("one", 1) + Pod("two", 1) + Pod("three", 1));
  cluster.options.latency.scheduling_cycle = absl::Seconds(1);
  SeriesCollector collector(0);
  RunWith(cluster, collector);
  const TimeSeries& series = collector.series();
  EXPECT_EQ(At(series, series.active, absl::Milliseconds(500)), 2);
  EXPECT_EQ(At(series, series.active, absl::Milliseconds(1500)), 1);
  EXPECT_EQ(At(series, series.active, absl::Milliseconds(2500)), 0);
}

TEST(SeriesCollector, NotesNothingWhereNothingChanges) {
  SmallCluster cluster(Node("a") + Pod("one", 1));
  cluster.Create(3600, Pod("late", 1).substr(4));
  SeriesCollector collector(0);
  RunWith(cluster, collector);
  // The first pod and the second one are all that happens.
  EXPECT_LE(collector.series().size(), 4);
  EXPECT_EQ(collector.series().times.front(), absl::ZeroDuration());
}

TEST(SeriesCollector, LeavesOutAmountsOfNodesThatAreGone) {
  SmallCluster cluster(Node("a", ", example.com/gpu: 2") + Pod("one", 1));
  cluster.Create(10, Node("b").substr(4));
  SeriesCollector collector(0);
  collector.AddTo(cluster.options);
  cluster.on_made = [&collector](Simulation& simulation) {
    collector.Attach(simulation);
    simulation.loop().At(simulation.zero() + absl::Seconds(20), EventLoop::Phase::kStep, [&simulation] {
      ASSERT_TRUE(simulation.server().Delete(api::Kind::kNode, "Node", "", "a").ok());
    });
  };
  const auto simulation = cluster.Run(30);
  collector.Finish();
  const TimeSeries& series = collector.series();
  const TimeSeries::Resource& gpu = ResourceOf(series, "example.com/gpu");
  EXPECT_EQ(At(series, gpu.allocatable, absl::Seconds(15)), 2);
  EXPECT_EQ(gpu.allocatable.back(), 0);
  EXPECT_EQ(ResourceOf(series, "cpu").allocatable.back(), 4000);
  EXPECT_EQ(ResourceOf(series, "cpu").requested.back(), 0);
  EXPECT_EQ(series.nodes.back(), 1);
  EXPECT_EQ(series.times.back(), absl::Seconds(30));
}

TEST(SeriesCollector, SaturatesSumsThatAreTooLarge) {
  SmallCluster cluster(Node("a", ", example.com/x: 9000000000000000000") +
                       Node("b", ", example.com/x: 9000000000000000000"));
  SeriesCollector collector(0);
  RunWith(cluster, collector);
  EXPECT_EQ(ResourceOf(collector.series(), "example.com/x").allocatable.back(), INT64_MAX);
}

// ---- Random timelines, against sums that are made anew at each moment ----

class Naive {
 public:
  explicit Naive(Simulation& simulation) : simulation_(simulation) {}

  // The counts by name of column, and the amounts by name of resource.
  std::map<std::string, int64_t> Look() {
    std::map<std::string, int64_t> found;
    for (const CountColumn& column : kCountColumns) found[column.name] = 0;
    found["nodes"] = static_cast<int64_t>(simulation_.server().List(api::Kind::kNode).size());
    for (const auto& [key, object] : simulation_.server().List(api::Kind::kPod)) {
      const auto& pod = static_cast<const api::Pod&>(*object);
      if (pod.IsTerminal()) continue;
      if (!pod.node_name.empty()) ++found["bound"];
      if (pod.node_name.empty() && simulation_.ResponsibleFor(pod)) ++found["pending"];
    }
    const queue::SchedulingQueue::State state = simulation_.scheduler().queue().GetState();
    found["active"] = static_cast<int64_t>(state.active.size());
    found["backoff"] = static_cast<int64_t>(state.backoff.size());
    for (const framework::QueuedPodInfo* pod : state.unschedulable)
      ++found[pod->Gated() ? "gated" : "unschedulable"];
    found["attempts"] = simulation_.trace().attempt_count();
    found.erase("evicted");
    return found;
  }

 private:
  Simulation& simulation_;
};

std::map<std::string, int64_t> LastCounts(const TimeSeries& series) {
  std::map<std::string, int64_t> last;
  for (const CountColumn& column : kCountColumns) last[column.name] = (series.*column.values).back();
  last.erase("evicted");
  return last;
}

void TrySeed(uint64_t seed) {
  SCOPED_TRACE(RepeatCommand(seed, "SeriesCollectorModel.*"));
  const RandomTimeline timeline = MakeRandomTimeline(seed);
  SmallCluster cluster("", static_cast<api::KubernetesLine>(seed % api::kKubernetesLineCount));
  SimulationOptions& options = cluster.options;
  options.trace_level = TraceLevel::kOff;
  options.until = timeline.end;
  options.latency.pod_termination = timeline.pod_termination;
  options.complete_admission = false;
  options.deletes_terminal_pods = true;
  options.seed = seed;
  SeriesCollector collector(0);
  std::unique_ptr<Naive> naive;
  // Behind the collector, which calls whoever was there before it.
  options.on_settled = [&] { ASSERT_EQ(LastCounts(collector.series()), naive->Look()); };
  collector.AddTo(options);
  absl::StatusOr<std::unique_ptr<Simulation>> simulation = Simulation::Make(options);
  ASSERT_TRUE(simulation.ok()) << simulation.status();
  collector.Attach(**simulation);
  naive = std::make_unique<Naive>(**simulation);
  (*simulation)->CreateObjects(timeline.objects);
  (*simulation)->AddSteps(timeline.steps);
  (*simulation)->Run();
  collector.Finish();
  // Pods whose binding is under way are on their node for the scheduler only.
  if ((*simulation)->scheduler().AnyInPreBind()) return;
  const Report report = MakeReport(**simulation, ClusterInput());
  std::map<std::string, std::pair<absl::int128, absl::int128>> expected;
  for (const Report::Resource& total : report.totals)
    expected[total.name] = {total.requested, total.allocatable};
  std::map<std::string, std::pair<absl::int128, absl::int128>> found;
  std::map<std::string, std::pair<absl::int128, absl::int128>> of_nodes;
  for (const TimeSeries::Resource& resource : collector.series().resources) {
    if (resource.requested.back() == 0 && resource.allocatable.back() == 0) continue;
    found[resource.name] = {resource.requested.back(), resource.allocatable.back()};
  }
  for (const auto& [key, node] : (*simulation)->server().List(api::Kind::kNode)) {
    for (const SeriesCollector::Amount& amount : collector.AmountsOf(node->metadata.name)) {
      of_nodes[amount.name].first += amount.requested;
      of_nodes[amount.name].second += amount.allocatable;
    }
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(of_nodes, expected);
  EXPECT_EQ(collector.series().nodes.back(), report.node_count);
  EXPECT_EQ(collector.series().bound.back(), report.bound_count);
  EXPECT_EQ(collector.series().pending.back(), report.pending_count);
}

TEST(SeriesCollectorModel, IsWhatTheClusterHasAtEachMoment) {
  for (const uint64_t seed : SeedsToRun(60)) {
    TrySeed(seed);
    if (HasFailure()) return;
  }
}

// A collector with a limit has, at each of its points, what one without has there.
TEST(SeriesCollectorModel, WithALimitHasPointsOfTheWholeSeries) {
  const RandomTimeline timeline = MakeRandomTimeline(3);
  const auto run = [&timeline](SeriesCollector& collector) {
    SmallCluster cluster("");
    cluster.options.until = timeline.end;
    cluster.options.complete_admission = false;
    cluster.options.trace_level = TraceLevel::kOff;
    collector.AddTo(cluster.options);
    absl::StatusOr<std::unique_ptr<Simulation>> simulation = Simulation::Make(cluster.options);
    ASSERT_TRUE(simulation.ok()) << simulation.status();
    collector.Attach(**simulation);
    (*simulation)->CreateObjects(timeline.objects);
    (*simulation)->AddSteps(timeline.steps);
    (*simulation)->Run();
    collector.Finish();
  };
  SeriesCollector whole(0);
  run(whole);
  SeriesCollector limited(1);
  run(limited);
  const TimeSeries& all = whole.series();
  const TimeSeries& some = limited.series();
  EXPECT_LE(some.size(), 2 * kPartPointsMax);
  for (size_t i = 0; i < some.size(); ++i) {
    for (const CountColumn& column : kCountColumns)
      EXPECT_EQ((some.*column.values)[i], At(all, all.*column.values, some.times[i])) << column.name;
  }
  EXPECT_EQ(some.times.back(), all.times.back());
}

// However often points are left out, early times keep as many as late ones.
TEST(SeriesCollector, ThinsOutEvenly) {
  std::string objects = Node("a", ", example.com/x: 1");
  for (int i = 0; i < 2000; ++i) objects += Pod(absl::StrCat("waits-", i), 5);
  SmallCluster cluster(objects);
  cluster.options.trace_level = TraceLevel::kOff;
  SeriesCollector collector(4 * 2 * kPartPointsMax);
  RunWith(cluster, collector);
  const TimeSeries& series = collector.series();
  EXPECT_LE(series.size(), 4 * 2 * kPartPointsMax);
  // An attempt each millisecond.
  int early = 0;
  int late = 0;
  for (const absl::Duration time : series.times) {
    if (time < absl::Seconds(1)) ++early;
    if (time >= absl::Seconds(1) && time < absl::Seconds(2)) ++late;
  }
  EXPECT_GE(early, 3);
  EXPECT_LE(late, 4 * early);
}

}  // namespace
}  // namespace schedsim::sim
