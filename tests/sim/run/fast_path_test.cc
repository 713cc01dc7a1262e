// Random clusters that are wide enough for the fast paths: what filters and scorers say of many nodes at
// once, and what is remembered of them, changes no decision and no message.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "core/api/effective_profile.h"
#include "core/api/extension_point.h"
#include "core/api/kubernetes_version.h"
#include "core/base/rng.h"
#include "core/base/shuffle.h"
#include "gtest/gtest.h"
#include "sim/run/simulation.h"
#include "tests/random_seeds.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

constexpr char kHost[] = "kubernetes.io/hostname";
constexpr char kZone[] = "topology.kubernetes.io/zone";

class RandomManifests {
 public:
  explicit RandomManifests(uint64_t seed) : rng_(seed), node_count_(OneIn(3) ? 30 : 110 + Below(150)) {}

  int64_t Below(int64_t bound) { return rng_.Below(bound); }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  int64_t node_count() const { return node_count_; }

  std::string Node(int64_t i) {
    std::string text =
        absl::StrCat("---\napiVersion: v1\nkind: Node\nmetadata: {name: node-", i, ", labels: {\"", kHost,
                     "\": node-", i, ", disk: ", OneIn(2) ? "ssd" : "hdd");
    if (!OneIn(20)) absl::StrAppend(&text, ", \"", kZone, "\": zone-", Below(4));
    absl::StrAppend(&text, "}}\nspec: {");
    if (OneIn(30)) absl::StrAppend(&text, "unschedulable: true, ");
    if (OneIn(8)) {
      absl::StrAppend(&text, "taints: [{key: dedicated, value: a, effect: ",
                      OneIn(2) ? "NoSchedule" : "PreferNoSchedule", "}]");
    }
    absl::StrAppend(&text, "}\nstatus: {allocatable: {cpu: '", 1 + Below(4), "', memory: ", 1 + Below(8),
                    "Gi, pods: '", OneIn(4) ? 2 : 20, "'");
    if (OneIn(6)) absl::StrAppend(&text, ", example.com/gpu: '2'");
    absl::StrAppend(&text, "}, images: [");
    for (int64_t image = Below(4); image > 0; --image) {
      absl::StrAppend(&text, "{names: ['app-", Below(10), ":v1'], sizeBytes: ", 1 + Below(900), "000000}, ");
    }
    absl::StrAppend(&text, "]}\n");
    return text;
  }

  // A pod of this name, in one of many sizes.
  std::string Pod(const std::string& name, const std::string& rules) {
    return absl::StrReplaceAll(
        rules,
        {{"NAME", name}, {"CPU", absl::StrCat(100 + 50 * Below(8))}, {"TOKEN", absl::StrCat(Below(1000))}});
  }

  // What pods of one workload have in common.
  std::string Workload() {
    const int64_t app = Below(4);
    std::string text = absl::StrCat(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: NAME, namespace: default, labels: {app: app-", app,
        "}}\nspec:\n  volumes: [{name: kube-api-access-TOKEN, projected: {}}]\n  containers:\n  - name: c\n  "
        "  image: 'app-",
        Below(10), ":v1'\n    resources: {requests: {cpu: ", OneIn(2) ? "CPU" : "200",
        "m, memory: ", 64 + 64 * Below(8), "Mi", OneIn(8) ? ", example.com/gpu: '1'" : "", "}}\n");
    if (OneIn(8)) absl::StrAppend(&text, "    ports: [{containerPort: 80, hostPort: 8080}]\n");
    if (OneIn(3)) absl::StrAppend(&text, "  tolerations: [{key: dedicated, operator: Exists}]\n");
    if (OneIn(4)) absl::StrAppend(&text, "  priority: ", 100 * Below(3), "\n");
    if (OneIn(3)) absl::StrAppend(&text, Spreading(app));
    const std::vector<std::string> affinity = Affinity();
    if (!affinity.empty()) absl::StrAppend(&text, "  affinity: {", absl::StrJoin(affinity, ", "), "}\n");
    return text;
  }

 private:
  std::string Selector(int64_t app) {
    return absl::StrCat("labelSelector: {matchLabels: {app: app-", app, "}}");
  }
  std::string Key() { return OneIn(2) ? kHost : kZone; }

  std::string Spreading(int64_t app) {
    return absl::StrCat("  topologySpreadConstraints: [{maxSkew: ", 1 + Below(3), ", topologyKey: ", Key(),
                        ", whenUnsatisfiable: ", OneIn(2) ? "DoNotSchedule" : "ScheduleAnyway", ", ",
                        Selector(app), "}]\n");
  }

  std::vector<std::string> Affinity() {
    std::vector<std::string> parts;
    const std::string kind = OneIn(2) ? "podAffinity" : "podAntiAffinity";
    const std::string term = absl::StrCat("{topologyKey: ", Key(), ", ", Selector(Below(4)), "}");
    switch (Below(6)) {
      case 0:
        parts.push_back(
            absl::StrCat(kind, ": {requiredDuringSchedulingIgnoredDuringExecution: [", term, "]}"));
        break;
      case 1:
        parts.push_back(absl::StrCat(kind,
                                     ": {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, "
                                     "podAffinityTerm: ",
                                     term, "}]}"));
        break;
      default:
        break;
    }
    switch (Below(6)) {
      case 0:
        parts.push_back(
            "nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 5, preference: "
            "{matchExpressions: [{key: disk, operator: In, values: [ssd]}]}}]}");
        break;
      case 1:
        parts.push_back(absl::StrCat(
            "nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [",
            NamedNodes(), "]}}"));
        break;
      default:
        break;
    }
    return parts;
  }

  // Terms that name nodes, which are then looked at in a drawn order.
  std::string NamedNodes() {
    std::vector<std::string> terms;
    for (int64_t i = 2 + Below(4); i > 0; --i) {
      terms.push_back(absl::StrCat("{matchFields: [{key: metadata.name, operator: In, values: [node-",
                                   Below(12), "]}]}"));
    }
    return absl::StrJoin(terms, ", ");
  }

  Rng rng_;
  const int64_t node_count_;
};

// The decisions of a run of this seed, with messages.
std::vector<std::string> Decisions(uint64_t seed, bool reference) {
  RandomManifests manifests(seed);
  const int64_t node_count = manifests.node_count();
  std::string objects;
  for (int64_t i = 0; i < node_count; ++i) absl::StrAppend(&objects, manifests.Node(i));
  const api::KubernetesLine line = seed % 2 == 0 ? api::KubernetesLine::k1_37 : api::KubernetesLine::k1_34;
  SmallCluster cluster(objects, line);
  cluster.options.reference = reference;
  cluster.options.seed = seed;
  // What one filter says of a node counts before what another one says.
  if (seed % 3 == 0) {
    Rng rng(seed);
    api::EffectiveProfile& profile = cluster.options.config.profiles[0];
    Shuffle(rng, profile.plugins[static_cast<size_t>(api::ExtensionPoint::kFilter)]);
  }
  // Attempts that are recorded in full take another way.
  cluster.options.trace_level = TraceLevel::kDecisions;
  std::vector<std::string> workloads;
  for (int64_t i = 1 + manifests.Below(8); i > 0; --i) workloads.push_back(manifests.Workload());
  int64_t next_node = node_count;
  for (int64_t i = 0; i < 60; ++i) {
    const double at = 0.01 * static_cast<double>(i) + (i > 30 ? 3 : 0);
    switch (manifests.Below(8)) {
      case 0:
        cluster.Update(at, manifests.Node(manifests.Below(node_count)));
        break;
      case 1:
        cluster.Create(at, manifests.Node(next_node++));
        break;
      case 2:
        cluster.DeletePod(at, absl::StrCat("pod-", manifests.Below(i + 1), "-0"));
        break;
      default: {
        const size_t workload = static_cast<size_t>(manifests.Below(static_cast<int64_t>(workloads.size())));
        for (int64_t copy = 0; copy < 4; ++copy) {
          cluster.Create(at, manifests.Pod(absl::StrCat("pod-", i, "-", copy), workloads[workload]));
        }
      }
    }
  }
  cluster.Run(30);
  return cluster.records;
}

class FastPathTest : public testing::TestWithParam<uint64_t> {};

TEST_P(FastPathTest, DecidesAsThePlainImplementation) {
  const std::vector<std::string> plain = Decisions(GetParam(), /*reference=*/true);
  const std::vector<std::string> fast = Decisions(GetParam(), /*reference=*/false);
  for (size_t i = 0; i < std::min(plain.size(), fast.size()); ++i) ASSERT_EQ(plain[i], fast[i]);
  EXPECT_EQ(plain.size(), fast.size());
}

// A pod with this label that keeps away from the zone of pods with the other one. `node` "": it waits.
std::string Hermit(const std::string& name, const std::string& app, const std::string& other,
                   const std::string& node, const std::string& cpu) {
  const std::string affinity = absl::StrCat(
      "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: \"", kZone,
      "\", labelSelector: {matchLabels: {app: ", other, "}}}]}}, ");
  return absl::StrCat("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
                      ", namespace: default, labels: {app: ", app, "}}\nspec: {",
                      node.empty() ? "" : absl::StrCat("nodeName: ", node, ", "),
                      other.empty() ? "" : affinity,
                      "containers: [{name: c, image: i, resources: {requests: {cpu: '", cpu, "'}}}]}\n");
}

// Two zones of nodes that have so many CPUs, enough nodes for what is known of them to be used.
// InterPodAffinity is asked first: it looks at more than the node, and what it says counts before what
// NodeResourcesFit says.
class TwoZones : public SmallCluster {
 public:
  TwoZones(const std::string& cpus_of_a, const std::string& cpus_of_b, bool reference)
      : SmallCluster(absl::StrCat(Nodes("a", cpus_of_a), Nodes("b", cpus_of_b))) {
    options.reference = reference;
    options.trace_level = TraceLevel::kDecisions;
    // With it a pod is first tried on the node that its twin would have got.
    options.line.opportunistic_batching = false;
    std::vector<std::string>& filters =
        options.config.profiles[0].plugins[static_cast<size_t>(api::ExtensionPoint::kFilter)];
    std::rotate(filters.begin(), std::find(filters.begin(), filters.end(), "InterPodAffinity"),
                filters.end());
  }

 private:
  static std::string Nodes(const std::string& zone, const std::string& cpus) {
    std::string nodes;
    for (size_t i = 0; i < cpus.size(); ++i) {
      absl::StrAppend(&nodes, "---\napiVersion: v1\nkind: Node\nmetadata: {name: ", zone, "-", i,
                      ", labels: {\"", kZone, "\": ", zone, "}}\nstatus: {allocatable: {cpu: '",
                      cpus.substr(i, 1), "', pods: '20'}}\n");
    }
    return nodes;
  }
};

TEST(FastPath, ANodeFailsNoLongerThanThePodInItsZoneIsThere) {
  for (const bool reference : {true, false}) {
    TwoZones cluster("0" + std::string(19, '9'), std::string(20, '9'), reference);
    cluster.Create(0, Hermit("blocker", "blocker", "", "a-0", "0"));
    for (int64_t i = 0; i < 7; ++i) {
      if (i == 4) cluster.DeletePod(1, "blocker");
      cluster.Create((i < 4 ? 0.1 : 2) + 0.01 * static_cast<double>(i),
                     Hermit(absl::StrCat("replica-", i), "replica", "blocker", "", "1"));
    }
    const std::unique_ptr<Simulation> simulation = cluster.Run(10);
    for (int64_t i = 0; i < 7; ++i) {
      const api::PodPtr pod = simulation->server().FindPod("default", absl::StrCat("replica-", i));
      EXPECT_EQ(pod->node_name.substr(0, 1), i < 4 ? "b" : "a") << i << " reference " << reference;
    }
  }
}

TEST(FastPath, TheFirstFilterGivesTheReasonAlsoWhereALaterOneIsKnownToFail) {
  for (const bool reference : {true, false}) {
    TwoZones cluster("9" + std::string(18, '0') + "9", std::string(20, '1'), reference);
    for (int64_t i = 0; i < 4; ++i) {
      cluster.Create(0.01 * static_cast<double>(i),
                     Hermit(absl::StrCat("replica-", i), "replica", "", "", "1"));
    }
    // From now on InterPodAffinity has something to say of replicas.
    for (const char* node : {"a-0", "b-0"})
      cluster.Create(1, Hermit(absl::StrCat("blocker-", node), "blocker", "replica", node, "0"));
    cluster.Create(2, Hermit("replica-4", "replica", "", "", "1"));
    const std::unique_ptr<Simulation> simulation = cluster.Run(10);
    const api::PodPtr last = simulation->server().FindPod("default", "replica-4");
    ASSERT_FALSE(last->status.conditions.empty());
    EXPECT_EQ(last->status.conditions[0].message,
              "0/40 nodes are available: 40 node(s) didn't satisfy existing pods anti-affinity rules. "
              "preemption: 0/40 nodes are available: 40 No preemption victims found for incoming pod.")
        << "reference " << reference;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, FastPathTest, testing::ValuesIn(SeedsToRun(40)));

}  // namespace
}  // namespace schedsim::sim
