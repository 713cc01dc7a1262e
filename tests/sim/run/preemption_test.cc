// Preemption on random clusters: what is remembered of one attempt for the next one changes no decision.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/api/kubernetes_version.h"
#include "core/base/rng.h"
#include "gtest/gtest.h"
#include "sim/run/simulation.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

constexpr char kHost[] = "kubernetes.io/hostname";
constexpr char kZone[] = "topology.kubernetes.io/zone";

// Manifests with pods of few different specs, many of them of equal importance.
class RandomManifests {
 public:
  explicit RandomManifests(uint64_t seed) : rng_(seed) {}

  int64_t Below(int64_t bound) { return rng_.Below(bound); }

  std::string Node(int64_t i) {
    return absl::StrCat(
        "---\napiVersion: v1\nkind: Node\nmetadata: {name: node-", i, ", labels: {\"", kHost, "\": node-", i,
        ", \"", kZone, "\": zone-", i % 3,
        "}}\nstatus: {allocatable: {cpu: '4', memory: 16Gi, pods: '9', example.com/gpu: '2'}}\n");
  }

  // `node` "": a pod that waits.
  std::string Pod(const std::string& name, const std::string& node) {
    const int64_t app = Below(4);
    const int64_t priority = node.empty() ? 100 * (1 + Below(4)) : 100 * Below(3);
    std::string text = absl::StrCat("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
                                    ", namespace: default, labels: {app: app-", app,
                                    "}}\nspec:\n  priority: ", priority, "\n");
    if (!node.empty()) absl::StrAppend(&text, "  nodeName: ", node, "\n");
    if (Below(8) == 0) absl::StrAppend(&text, "  preemptionPolicy: Never\n");
    if (Below(5) == 0) {
      absl::StrAppend(&text, "  topologySpreadConstraints: [{maxSkew: ", 1 + Below(3), ", topologyKey: \"",
                      Below(2) == 0 ? kZone : kHost,
                      "\", whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: app-", app,
                      "}}}]\n");
    }
    if (Below(6) == 0) {
      absl::StrAppend(&text,
                      "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                      "[{topologyKey: \"",
                      kHost, "\", labelSelector: {matchLabels: {app: app-", Below(4), "}}}]}}\n");
    }
    absl::StrAppend(&text,
                    "  containers:\n  - name: c\n    resources: {requests: {cpu: ", 400 + 400 * Below(6),
                    "m, memory: ", 1 + Below(3), "Gi", Below(6) == 0 ? ", example.com/gpu: '1'" : "", "}}\n");
    if (Below(7) == 0) {
      absl::StrAppend(&text, "    ports: [{containerPort: 80, hostPort: ", 8000 + Below(2), "}]\n");
    }
    if (!node.empty() && Below(3) > 0) {
      absl::StrAppend(&text, "status: {startTime: '2000-01-01T00:00:0", Below(8), "Z'}\n");
    }
    return text;
  }

  std::string Budget(int64_t app) {
    return absl::StrCat("---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: budget-",
                        app, ", namespace: default}\nspec: {selector: {matchLabels: {app: app-", app,
                        "}}}\nstatus: {disruptionsAllowed: ", Below(4), "}\n");
  }

 private:
  Rng rng_;
};

// The decisions of a run with everything that happens to the cluster of this seed.
std::vector<std::string> Decisions(uint64_t seed, bool reference) {
  RandomManifests manifests(seed);
  // More than are looked at in one attempt, in every other cluster.
  const int64_t node_count = seed % 2 == 0 ? 20 : 130;
  std::string objects;
  for (int64_t i = 0; i < node_count; ++i) absl::StrAppend(&objects, manifests.Node(i));
  for (int64_t i = 0; i < 4 * node_count; ++i) {
    absl::StrAppend(&objects,
                    manifests.Pod(absl::StrCat("bound-", i), absl::StrCat("node-", i % node_count)));
  }
  for (int64_t app = 0; app < 2; ++app) absl::StrAppend(&objects, manifests.Budget(app));
  const api::KubernetesLine line = seed % 4 < 2 ? api::KubernetesLine::k1_37 : api::KubernetesLine::k1_34;
  SmallCluster cluster(objects, line);
  cluster.options.reference = reference;
  cluster.options.seed = seed;
  cluster.options.trace_level = TraceLevel::kDecisions;
  std::vector<std::string> specs;
  for (int64_t i = 0; i < 8; ++i) specs.push_back(manifests.Pod("NAME", ""));
  for (int64_t i = 0; i < 60; ++i) {
    // Now and then several pods at once, and pauses in which nominated pods get onto their nodes.
    const double at = 0.05 * static_cast<double>(i) + (i > 30 ? 4 : 0);
    const int64_t kind = manifests.Below(12);
    if (kind == 0) {
      cluster.Update(at, manifests.Budget(manifests.Below(2)));
    } else if (kind == 1) {
      cluster.DeletePod(at, absl::StrCat("bound-", manifests.Below(4 * node_count)));
    } else {
      const std::string& spec = specs[static_cast<size_t>(manifests.Below(8))];
      for (int64_t copy = 0; copy < 3; ++copy) {
        cluster.Create(at, absl::StrReplaceAll(spec, {{"NAME", absl::StrCat("pod-", i, "-", copy)}}));
      }
    }
  }
  cluster.Run(60);
  return cluster.records;
}

TEST(PreemptionTest, DecidesAsWithoutWhatItRemembers) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const std::vector<std::string> plain = Decisions(seed, /*reference=*/true);
    const std::vector<std::string> fast = Decisions(seed, /*reference=*/false);
    ASSERT_EQ(plain.size(), fast.size()) << "seed " << seed;
    for (size_t i = 0; i < plain.size(); ++i) ASSERT_EQ(plain[i], fast[i]) << "seed " << seed;
  }
}

}  // namespace
}  // namespace schedsim::sim
