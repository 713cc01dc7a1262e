// What runs have to do, against the bounds of benchmarks/thresholds.yaml: a regression shows without a clock.
// UPDATE_GOLDEN=1 writes the bounds anew.
#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Json = nlohmann::json;
using Counters = std::map<std::string, int64_t>;

constexpr char kThresholds[] = SCHEDSIM_SOURCE_DIR "/benchmarks/thresholds.yaml";
constexpr int kNodes = 250;
constexpr int kPods = 500;

// The counters that have bounds.
constexpr const char* kBounded[] = {"attempts",    "filteredNodes", "scoredNodes",
                                    "pluginCalls", "queueChanges",  "clusterChanges"};

std::string Node(int index) {
  return absl::StrCat("---\napiVersion: v1\nkind: Node\nmetadata:\n  name: node-", index,
                      "\n  labels: {topology.kubernetes.io/zone: zone-", index % 5,
                      ", kubernetes.io/hostname: node-", index,
                      "}\nstatus:\n  allocatable: {cpu: 4, memory: 32Gi, pods: 110}\n");
}

// A pod of one container; `spec` holds further fields, indented by two. As the API server hands out pods,
// each `real` one has a token volume of its own, and requests of 100 sizes.
std::string Pod(absl::string_view name, int cpu_milli, absl::string_view spec, bool real, int index) {
  std::string text = absl::StrCat("---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: ", name, "-", index,
                                  "\n  namespace: default\n  labels: {app: ", name, "}\nspec:\n", spec);
  absl::StrAppend(&text, "  containers:\n  - name: c\n    image: app\n    resources: {requests: {cpu: ",
                  real ? cpu_milli + index % 100 : cpu_milli, "m, memory: 100Mi}}\n");
  if (real) {
    absl::StrAppend(&text, "  volumes:\n  - name: kube-api-access-", index,
                    "\n    projected:\n      sources:\n      - serviceAccountToken: {path: token}\n");
  }
  return text;
}

std::string Pods(absl::string_view name, int count, int cpu_milli, absl::string_view spec, bool real) {
  std::string text;
  for (int i = 0; i < count; ++i) absl::StrAppend(&text, Pod(name, cpu_milli, spec, real, i));
  return text;
}

// Six bound pods a node leave no room; the pending ones need two of them to make way.
std::string Preemption(bool real) {
  std::string text;
  for (int i = 0; i < kNodes; ++i) {
    for (int k = 0; k < 6; ++k) {
      absl::StrAppend(&text,
                      Pod(absl::StrCat("low-", k), 560, absl::StrCat("  nodeName: node-", i, "\n"), real, i));
    }
  }
  return text + Pods("high", 50, 1'000, "  priority: 10\n", real);
}

constexpr char kNodeAffinity[] =
    "  affinity:\n    nodeAffinity:\n      requiredDuringSchedulingIgnoredDuringExecution:\n"
    "        nodeSelectorTerms:\n        - matchExpressions:\n"
    "          - {key: topology.kubernetes.io/zone, operator: In, values: [zone-0, zone-1]}\n";
constexpr char kSpreading[] =
    "  topologySpreadConstraints:\n  - maxSkew: 5\n    topologyKey: topology.kubernetes.io/zone\n"
    "    whenUnsatisfiable: DoNotSchedule\n    labelSelector: {matchLabels: {app: spread}}\n";
constexpr char kAffinity[] =
    "  affinity:\n    podAffinity:\n      requiredDuringSchedulingIgnoredDuringExecution:\n"
    "      - topologyKey: topology.kubernetes.io/zone\n"
    "        labelSelector: {matchLabels: {app: affinity}}\n";
constexpr char kAntiAffinity[] =
    "  affinity:\n    podAntiAffinity:\n      requiredDuringSchedulingIgnoredDuringExecution:\n"
    "      - topologyKey: kubernetes.io/hostname\n"
    "        labelSelector: {matchLabels: {app: antiaffinity}}\n";

// By name: the pods of each workload.
const std::map<std::string, std::function<std::string(bool real)>>& Workloads() {
  static const auto& workloads = *new std::map<std::string, std::function<std::string(bool)>>{
      {"basic", [](bool real) { return Pods("basic", kPods, 100, "", real); }},
      {"node-affinity", [](bool real) { return Pods("nodeaffinity", kPods, 100, kNodeAffinity, real); }},
      {"spreading", [](bool real) { return Pods("spread", kPods, 100, kSpreading, real); }},
      {"pod-affinity", [](bool real) { return Pods("affinity", kPods, 100, kAffinity, real); }},
      {"pod-anti-affinity", [](bool real) { return Pods("antiaffinity", 200, 100, kAntiAffinity, real); }},
      {"preemption", Preemption},
      {"unschedulable", [](bool real) {
         return Pods("large", kPods / 2, 9'000, "", real) + Pods("small", kPods / 2, 100, "", real);
       }}};
  return workloads;
}

// The report of a run with its counters.
Json RunCounted(const std::string& cluster, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"run", "-f", "-", "--counters", "--output", "json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProgramResult result = RunProgram(arguments, cluster);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
}

std::string ClusterOf(const std::string& workload, bool real) {
  std::string text;
  for (int i = 0; i < kNodes; ++i) absl::StrAppend(&text, Node(i));
  return text + Workloads().at(workload)(real);
}

std::map<std::string, Counters> Measure() {
  std::map<std::string, Counters> measured;
  for (const auto& [workload, pods] : Workloads()) {
    for (const bool real : {false, true}) {
      const Json report = RunCounted(ClusterOf(workload, real));
      if (!report.is_object()) continue;
      Counters& counters = measured[real ? workload + "-real" : workload];
      for (const char* name : kBounded) counters[name] = report["counters"][name].get<int64_t>();
      for (const auto& [kind, bytes] : report["counters"]["bytes"].items()) {
        counters["bytes of " + kind] = bytes.get<int64_t>();
      }
    }
  }
  return measured;
}

// A tenth above what was measured, so that only what matters is a regression.
void WriteThresholds(const std::map<std::string, Counters>& measured) {
  std::ofstream file(kThresholds, std::ios::binary);
  file << "# What the workloads of tests/tools/counters_test.cc may have to do at most; see README.md.\n";
  for (const auto& [workload, counters] : measured) {
    file << workload << ":\n";
    for (const auto& [name, count] : counters) file << "  " << name << ": " << count + count / 10 << "\n";
  }
}

TEST(CountersTest, WorkloadsStayWithinTheirThresholds) {
  const std::map<std::string, Counters> measured = Measure();
  if (std::getenv("UPDATE_GOLDEN") != nullptr) WriteThresholds(measured);
  const YAML::Node thresholds = YAML::LoadFile(kThresholds);
  ASSERT_EQ(thresholds.size(), measured.size());
  for (const auto& [workload, counters] : measured) {
    for (const auto& [name, count] : counters) {
      ASSERT_TRUE(thresholds[workload][name]) << workload << " " << name;
      EXPECT_LE(count, thresholds[workload][name].as<int64_t>())
          << workload << " " << name << ": if that is as it should be: UPDATE_GOLDEN=1 ctest -L golden";
    }
  }
}

TEST(CountersTest, EqualInputGivesEqualCounters) {
  const std::string cluster = ClusterOf("preemption", /*real=*/true);
  EXPECT_EQ(RunCounted(cluster), RunCounted(cluster));
}

TEST(CountersTest, BytesAreThoseOfWhatIsKept) {
  const Json few = RunCounted(ClusterOf("basic", /*real=*/false))["counters"]["bytes"];
  EXPECT_EQ(few["nodeColumns"], kNodes * 171);
  EXPECT_GT(few["answers"].get<int64_t>(), 0);
  const Json own = RunCounted(ClusterOf("basic", /*real=*/true))["counters"]["bytes"];
  EXPECT_EQ(own["Node"], few["Node"]);
  // What differs from pod to pod is kept for each, and no more than that.
  EXPECT_GT(own["Pod"].get<int64_t>(), few["Pod"].get<int64_t>());
  EXPECT_LT(own["Pod"].get<int64_t>(), kPods * 100);
}

TEST(CountersTest, TheSumOfCallsIsThatOfAllPlugins) {
  const Json counters = RunCounted(ClusterOf("spreading", /*real=*/false))["counters"];
  int64_t sum = 0;
  for (const auto& [plugin, points] : counters["calls"].items()) {
    for (const auto& [point, count] : points.items()) sum += count.get<int64_t>();
  }
  EXPECT_EQ(sum, counters["pluginCalls"].get<int64_t>());
  EXPECT_EQ(counters["calls"]["DefaultBinder"]["Bind"], kPods);
  EXPECT_EQ(counters["calls"]["PodTopologySpread"]["PreFilter"], kPods);
}

TEST(CountersTest, TheFastPathsAskLessOften) {
  const std::string cluster = ClusterOf("basic", /*real=*/false);
  const Json fast = RunCounted(cluster)["counters"];
  const Json reference = RunCounted(cluster, {"--reference"})["counters"];
  EXPECT_EQ(fast["attempts"], reference["attempts"]);
  EXPECT_EQ(reference["knownPasses"].get<int64_t>() + reference["knownSums"].get<int64_t>(), 0);
  EXPECT_GT(fast["knownPasses"].get<int64_t>() + fast["knownSums"].get<int64_t>(), 0);
  EXPECT_LT(fast["pluginCalls"].get<int64_t>() * 4, reference["pluginCalls"].get<int64_t>());
}

TEST(CountersTest, StandBelowTheTextReportAndChangeNothingElse) {
  const std::string cluster = ClusterOf("basic", /*real=*/false);
  const std::string plain = RunProgram({"run", "-f", "-"}, cluster).out;
  const std::string counted = RunProgram({"run", "-f", "-", "--counters"}, cluster).out;
  ASSERT_TRUE(absl::StartsWith(counted, plain)) << counted;
  EXPECT_TRUE(absl::StartsWith(counted.substr(plain.size()), "Counters\n  attempts  ")) << counted;
}

}  // namespace
}  // namespace schedsim
