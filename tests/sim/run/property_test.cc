// What must hold at each settled moment of any run, tried on random timelines: 1,000 of them, or those that
// SCHEDSIM_PROPERTY_SEED names.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/default_profile.h"
#include "core/api/feature_gates.h"
#include "core/api/kubernetes_version.h"
#include "core/api/node.h"
#include "core/api/pod.h"
#include "core/base/check.h"
#include "core/codec/config/scheduler_config.h"
#include "core/framework/node_info.h"
#include "gtest/gtest.h"
#include "sim/record/record_reader.h"
#include "sim/record/records.h"
#include "sim/run/simulation.h"
#include "tests/random_seeds.h"
#include "tests/sim/run/random_timeline.h"

namespace schedsim::sim {
namespace {

constexpr uint64_t kSeedCount = 1000;
constexpr uint64_t kShardCount = 20;

// cpu in thousandths, memory in bytes.
struct Sums {
  int64_t cpu = 0;
  int64_t memory = 0;
  int64_t pods = 0;
  std::multiset<int32_t> host_ports;

  friend bool operator==(const Sums&, const Sums&) = default;
};

std::string Describe(const Sums& sums) {
  return absl::StrCat("cpu ", sums.cpu, "m, memory ", sums.memory, ", pods ", sums.pods, ", host ports ",
                      sums.host_ports.size());
}

int64_t AmountOf(const api::ResourceList& list, absl::string_view name) {
  const api::Quantity* amount = list.Find(name);
  if (amount == nullptr) return 0;
  return name == "cpu" ? amount->MilliValue() : amount->Value();
}

// Straight from the API object; timelines have neither init containers nor overhead.
void AddPod(const api::Pod& pod, Sums& sums) {
  ++sums.pods;
  for (const api::Container& container : pod.spec->containers) {
    sums.cpu += AmountOf(container.resources.requests, "cpu");
    sums.memory += AmountOf(container.resources.requests, "memory");
    for (const api::ContainerPort& port : container.ports) {
      if (port.host_port != 0) sums.host_ports.insert(port.host_port);
    }
  }
}

// Looks at a run from outside: API server, queue and cache. Notes what is wrong.
class Checker {
 public:
  void set_simulation(Simulation* simulation) { simulation_ = simulation; }
  const std::vector<std::string>& problems() const { return problems_; }
  int64_t moment_count() const { return moment_count_; }

  void OnSettled() {
    ++moment_count_;
    on_nodes_.clear();
    waiting_.clear();
    for (const auto& [key, object] : simulation_->server().List(api::Kind::kPod)) {
      const auto& pod = static_cast<const api::Pod&>(*object);
      if (pod.node_name.empty()) {
        waiting_.insert(key);
      } else {
        on_nodes_[pod.node_name].push_back(&pod);
      }
      CheckNodeStays(pod);
    }
    CheckAllocatable();
    CheckQueues();
    CheckCache();
  }

  // A line of the trace: each pod is bound at most once.
  void OnRecord(absl::string_view line) {
    const std::optional<RecordGlance> glance = GlanceAt(line);
    CHECK(glance.has_value());
    if (glance->kind != record::Bind::kKind) return;
    const absl::string_view key = glance->pod;
    const size_t slash = key.find('/');
    const api::PodPtr pod = simulation_->server().FindPod(key.substr(0, slash), key.substr(slash + 1));
    if (pod == nullptr) return Report("bound, but gone: ", key);
    if (!bound_uids_.insert(pod->metadata.uid).second) Report("bound twice: ", key);
  }

 private:
  template <typename... Parts>
  void Report(const Parts&... parts) {
    if (problems_.size() < 5) {
      problems_.push_back(
          absl::StrCat(absl::FormatDuration(simulation_->now() - simulation_->zero()), ": ", parts...));
    }
  }

  void CheckNodeStays(const api::Pod& pod) {
    std::string& node = node_of_uid_[pod.metadata.uid];
    if (!node.empty() && node != pod.node_name) {
      Report("moved: ", pod.Key(), " from ", node, " to \"", pod.node_name, "\"");
    }
    node = pod.node_name;
  }

  void CheckAllocatable() {
    for (const auto& [name, object] : simulation_->server().List(api::Kind::kNode)) {
      const auto& node = static_cast<const api::Node&>(*object);
      const Sums sums = Recount(node.metadata.name);
      const api::ResourceList& allocatable = node.status.allocatable;
      const std::set<int32_t> different(sums.host_ports.begin(), sums.host_ports.end());
      const bool fits =
          sums.cpu <= AmountOf(allocatable, "cpu") && sums.memory <= AmountOf(allocatable, "memory") &&
          sums.pods <= AmountOf(allocatable, "pods") && different.size() == sums.host_ports.size();
      if (!fits) Report("too much on ", name, ": ", Describe(sums));
    }
  }

  Sums Recount(const std::string& node) {
    Sums sums;
    for (const api::Pod* pod : on_nodes_[node]) AddPod(*pod, sums);
    return sums;
  }

  // Each pod without a node waits in exactly one queue, and nothing else does.
  void CheckQueues() {
    const queue::SchedulingQueue::State state = simulation_->scheduler().queue().GetState();
    std::multiset<std::string> queued;
    for (const auto* pods : {&state.active, &state.backoff, &state.unschedulable}) {
      for (const framework::QueuedPodInfo* pod : *pods) queued.insert(pod->key);
    }
    for (const std::string& key : waiting_) {
      if (queued.count(key) != 1) Report("in ", queued.count(key), " queues: ", key);
    }
    for (const std::string& key : queued) {
      if (waiting_.count(key) == 0) Report("queued, but not waiting: ", key);
    }
  }

  // The scheduler's nodes have the pods that the API server has there, and the sums over them.
  void CheckCache() {
    size_t pod_count = 0;
    for (const std::unique_ptr<framework::NodeInfo>& node : simulation_->scheduler().cache().nodes()) {
      const std::string name(simulation_->scheduler().symbols().Text(node->name));
      std::set<std::string> expected;
      for (const api::Pod* pod : on_nodes_[name]) expected.insert(pod->metadata.uid);
      std::set<std::string> found;
      for (const framework::PodInfoPtr& pod : node->pods) found.insert(pod->pod->metadata.uid);
      if (found != expected || found.size() != node->pods.size()) {
        Report("pods in the cache on ", name, ": ", node->pods.size(),
               ", in the API server: ", expected.size());
      }
      Sums sums = {.cpu = node->requested.milli_cpu,
                   .memory = node->requested.memory_bytes,
                   .pods = static_cast<int64_t>(node->pods.size()),
                   .host_ports = {}};
      for (const framework::HostPort& port : node->used_ports) sums.host_ports.insert(port.port);
      const Sums recount = Recount(name);
      if (!(sums == recount))
        Report("sums of ", name, ": ", Describe(sums), "; recount: ", Describe(recount));
      pod_count += node->pods.size();
    }
    size_t bound_count = 0;
    for (const auto& [name, pods] : on_nodes_) bound_count += pods.size();
    if (pod_count != bound_count) Report("pods in the cache: ", pod_count, ", on nodes: ", bound_count);
  }

  Simulation* simulation_ = nullptr;
  std::vector<std::string> problems_;
  int64_t moment_count_ = 0;
  std::set<std::string> bound_uids_;
  std::map<std::string, std::string> node_of_uid_;
  // Of the moment that is looked at.
  std::map<std::string, std::vector<const api::Pod*>> on_nodes_;
  std::set<std::string> waiting_;
};

struct Outcome {
  std::vector<std::string> records;
  std::string decision_digest;
  std::vector<std::string> problems;
  int64_t moment_count = 0;
};

Outcome RunTimeline(uint64_t seed, bool reference, TraceLevel level = TraceLevel::kFull) {
  const RandomTimeline timeline = MakeRandomTimeline(seed);
  const auto line = static_cast<api::KubernetesLine>(seed % api::kKubernetesLineCount);
  const api::FeatureGates gates(line);
  const std::vector<api::PluginInfo> known = api::InTreePlugins(line);
  absl::StatusOr<codec::LoadedSchedulerConfig> config = codec::DefaultSchedulerConfig(gates, known);
  CHECK(config.ok());
  Outcome outcome;
  Checker checker;
  SimulationOptions options;
  options.line = api::LineBehaviorOf(gates);
  options.config = *std::move(config);
  options.zero = absl::FromUnixSeconds(946'684'800);
  options.until = timeline.end;
  options.latency.pod_termination = timeline.pod_termination;
  options.complete_admission = false;
  options.deletes_terminal_pods = true;
  options.reference = reference;
  options.seed = seed;
  options.trace_level = level;
  options.trace_sink = [&](absl::string_view record) {
    outcome.records.emplace_back(record);
    checker.OnRecord(record);
  };
  options.on_settled = [&checker] { checker.OnSettled(); };
  absl::StatusOr<std::unique_ptr<Simulation>> simulation = Simulation::Make(std::move(options));
  CHECK(simulation.ok());
  checker.set_simulation(simulation->get());
  (*simulation)->CreateObjects(timeline.objects);
  (*simulation)->AddSteps(timeline.steps);
  (*simulation)->Run();
  outcome.decision_digest = (*simulation)->trace().DecisionDigest();
  outcome.problems = checker.problems();
  outcome.moment_count = checker.moment_count();
  return outcome;
}

// "" where both are the same.
std::string FirstDifference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string left = i < a.size() ? a[i] : "(end)";
    const std::string right = i < b.size() ? b[i] : "(end)";
    if (left != right) return absl::StrCat("record ", i, "\n  ", left, "\n  ", right);
  }
  return "";
}

void TrySeed(uint64_t seed) {
  SCOPED_TRACE(RepeatCommand(seed, "*PropertyTest*"));
  const Outcome first = RunTimeline(seed, /*reference=*/false);
  EXPECT_GT(first.moment_count, 0);
  for (const std::string& problem : first.problems) ADD_FAILURE() << problem;
  EXPECT_EQ(FirstDifference(first.records, RunTimeline(seed, /*reference=*/false).records), "")
      << "on a second run";
  EXPECT_EQ(FirstDifference(first.records, RunTimeline(seed, /*reference=*/true).records), "")
      << "without fast paths";
  // Some fast paths are taken only where no one wants details.
  const Outcome untraced = RunTimeline(seed, /*reference=*/false, TraceLevel::kOff);
  for (const std::string& problem : untraced.problems) ADD_FAILURE() << "untraced: " << problem;
  EXPECT_EQ(untraced.decision_digest, first.decision_digest) << "untraced";
}

// Shape: the seeds of each shard. Seeds that the environment names are one shard, so that no shard is empty.
std::vector<std::vector<uint64_t>> Shards() {
  const std::vector<uint64_t> seeds = SeedsToRun(kSeedCount);
  std::vector<std::vector<uint64_t>> shards(seeds.size() < kSeedCount ? 1 : kShardCount);
  for (size_t i = 0; i < seeds.size(); ++i) shards[i % shards.size()].push_back(seeds[i]);
  return shards;
}

class PropertyTest : public testing::TestWithParam<std::vector<uint64_t>> {};

TEST_P(PropertyTest, HoldsAtEachSettledMoment) {
  for (const uint64_t seed : GetParam()) {
    TrySeed(seed);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, PropertyTest, testing::ValuesIn(Shards()),
                         [](const auto& shard) { return absl::StrCat("From", shard.param.front()); });

// The timelines are worth nothing unless they set off what can go wrong.
TEST(RandomTimelineTest, SetsOffEverything) {
  constexpr absl::string_view kReasons[] = {"anti-affinity", "topology spread", "free ports",
                                            "Insufficient cpu"};
  std::map<std::string, int> found;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const auto records = ReadRecords(RunTimeline(seed, /*reference=*/false).records, "trace");
    ASSERT_TRUE(records.ok()) << records.status();
    for (const record::Record& record : records->list) {
      ++found[std::string(record.kind)];
      if (const auto* move = record.As<record::Move>()) found["gated"] += move->gated_by.empty() ? 0 : 1;
      const auto* attempt = record.As<record::Attempt>();
      if (attempt == nullptr) continue;
      found["nominated before"] += attempt->nominated_before.empty() ? 0 : 1;
      found["third attempt"] += attempt->attempts == 3 ? 1 : 0;
      for (absl::string_view reason : kReasons) {
        found[std::string(reason)] += absl::StrContains(attempt->error, reason) ? 1 : 0;
      }
    }
  }
  for (absl::string_view what :
       {record::Bind::kKind, record::Delete::kKind, record::Gone::kKind, record::ApiError::kKind,
        absl::string_view("gated"), absl::string_view("nominated before"), absl::string_view("third attempt"),
        kReasons[0], kReasons[1], kReasons[2], kReasons[3]}) {
    EXPECT_GE(found[std::string(what)], 5) << what;
  }
}

}  // namespace
}  // namespace schedsim::sim
