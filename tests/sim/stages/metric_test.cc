// What kwok's Metric objects say.
#include "sim/stages/metric.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "sim/stages/metric_table.h"
#include "sim/stages/stage_reader.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

constexpr char kCluster[] = R"(
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: default}
spec: {nodeName: n1, containers: [{name: main, image: i}, {name: side, image: i}]}
)";

constexpr char kUsage[] = R"(
apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterResourceUsage
metadata: {name: all}
spec:
  usages:
  - containers: [main]
    usage: {cpu: {value: 500m}, memory: {value: 1Mi}}
  - usage: {cpu: {value: 100m}}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Metric
metadata: {name: m}
spec:
)";

// All of it after 40 s, noted every 15.
std::string TextOf(const std::string& spec, std::vector<std::string>* warnings = nullptr) {
  StageFile read;
  const absl::Status status = ReadStagesOfText(absl::StrCat(kUsage, spec), "m.yaml", read);
  if (!status.ok()) return std::string(status.message());
  SmallCluster cluster(kCluster);
  std::unique_ptr<UsageMeter> meter;
  std::unique_ptr<MetricTable> table;
  cluster.on_made = [&](Simulation& simulation) {
    meter = std::make_unique<UsageMeter>(read.usages, simulation.loop(), Rng(1), simulation.server());
    table = std::make_unique<MetricTable>(read.metrics, *meter, absl::Seconds(15), simulation.loop(),
                                          simulation.server(), Rng(1));
    simulation.loop().AtInBackground(cluster.options.zero + absl::Seconds(15), EventLoop::Phase::kStep,
                                     [&] { table->Start(); });
  };
  const std::unique_ptr<Simulation> simulation = cluster.Run(40);
  if (warnings != nullptr) *warnings = table->warnings();
  return table->Text();
}

TEST(MetricTest, GivesASampleForEachContainerPodAndNode) {
  EXPECT_EQ(TextOf(R"(  path: "/metrics/nodes/{nodeName}/metrics/resource"
  metrics:
  - name: container_cpu
    dimension: container
    help: "Of a container\n"
    kind: gauge
    labels: [{name: pod, value: pod.metadata.name}, {name: container, value: container.name}]
    value: pod.Usage("cpu", container.name)
  - {name: pod_cpu_seconds_total, dimension: pod, help: Of a pod, kind: counter, value: 'pod.CumulativeUsage("cpu")'}
  - {name: node_memory, help: Of a node, kind: gauge, value: 'node.Usage("memory")'}
  - {name: started, help: Seen, kind: counter, value: node.StartedContainersTotal()}
)"),
            R"(# HELP container_cpu Of a container
# TYPE container_cpu gauge
container_cpu{container="main",node="n1",pod="a"} 0.5 946684815000
container_cpu{container="side",node="n1",pod="a"} 0.1 946684815000
container_cpu{container="main",node="n1",pod="a"} 0.5 946684830000
container_cpu{container="side",node="n1",pod="a"} 0.1 946684830000
# HELP pod_cpu_seconds_total Of a pod
# TYPE pod_cpu_seconds_total counter
pod_cpu_seconds_total{node="n1"} 0 946684815000
pod_cpu_seconds_total{node="n1"} 9 946684830000
# HELP node_memory Of a node
# TYPE node_memory gauge
node_memory{node="n1"} 1048576 946684815000
node_memory{node="n2"} 0 946684815000
node_memory{node="n1"} 1048576 946684830000
node_memory{node="n2"} 0 946684830000
# HELP started Seen
# TYPE started counter
started{node="n1"} 2 946684815000
started{node="n2"} 0 946684815000
started{node="n1"} 2 946684830000
started{node="n2"} 0 946684830000
)");
}

TEST(MetricTest, SumsUpBucketsOfTheNodeThatItIsNamedAfter) {
  const std::string text = TextOf(R"(  path: /metrics/x
  metrics:
  - name: latency
    help: h
    kind: histogram
    buckets: [{le: 5, value: '3'}, {le: 1, value: '1', hidden: true}, {le: 2.5, value: '2'}]
)");
  // There is no node m.
  EXPECT_EQ(text, "");
  std::string named = kUsage;
  named.replace(named.find("name: m}"), 8, "name: n2}");
  StageFile read;
  ASSERT_TRUE(ReadStagesOfText(absl::StrCat(named, R"(  path: /metrics/x
  metrics:
  - name: latency
    help: h
    kind: histogram
    buckets: [{le: 5, value: '3'}, {le: 1, value: '1', hidden: true}, {le: 2.5, value: '2'}]
)"),
                               "m.yaml", read)
                  .ok());
  SmallCluster cluster(kCluster);
  const std::unique_ptr<Simulation> simulation = cluster.Run(1);
  UsageMeter meter(read.usages, simulation->loop(), Rng(1), simulation->server());
  MetricTable table(read.metrics, meter, absl::Seconds(15), simulation->loop(), simulation->server(), Rng(1));
  table.Start();
  EXPECT_EQ(table.Text(),
            "# HELP latency h\n# TYPE latency histogram\n"
            "latency_bucket{node=\"n2\",le=\"2.5\"} 3 946684801000\n"
            "latency_bucket{node=\"n2\",le=\"5\"} 6 946684801000\n"
            "latency_bucket{node=\"n2\",le=\"+Inf\"} 6 946684801000\n"
            "latency_sum{node=\"n2\"} 21 946684801000\n"
            "latency_count{node=\"n2\"} 6 946684801000\n");
}

TEST(MetricTest, SaysWhatIsWrong) {
  EXPECT_EQ(TextOf("  path: /x\n  metrics: [{name: a, kind: gauge, value: '1'}]\n"),
            "m.yaml:15:3: spec.path: expected a path that begins with /metrics, got \"/x\"");
  EXPECT_EQ(TextOf("  path: /metrics\n  metrics: [{name: a, kind: summary, value: '1'}]\n"),
            "m.yaml:16:13: spec.metrics[0].kind: expected counter, gauge or histogram, got \"summary\"");
  EXPECT_TRUE(absl::StrContains(
      TextOf("  path: /metrics\n  metrics: [{name: a, kind: gauge, value: 'pod.metadata.name'}]\n"),
      "spec.metrics[0].value: column 1: variable pod is not known, expected one of node"));
  EXPECT_EQ(
      TextOf("  path: /metrics\n  metrics: [{name: 1a, kind: gauge, value: '1'}]\n"),
      "m.yaml:16:13: spec.metrics[0].name: expected letters, digits, _ and :, without a digit in front, got "
      "\"1a\"");
  EXPECT_EQ(
      TextOf("  path: /metrics\n  metrics: [{name: '', kind: gauge, value: '1'}]\n"),
      "m.yaml:16:13: spec.metrics[0].name: expected letters, digits, _ and :, without a digit in front, got "
      "\"\"");
  EXPECT_EQ(
      TextOf("  path: /metrics\n  metrics: [{name: a, kind: gauge, value: '1'}, {name: a, kind: counter, "
             "value: '1'}]\n"),
      "m.yaml:16:49: spec.metrics[1].name: expected a name that no other metric has, got \"a\"");
  EXPECT_EQ(
      TextOf("  path: /metrics\n  metrics: [{name: a, kind: gauge, value: '1', labels: [{name: a.b, value: "
             "'\"x\"'}]}]\n"),
      "m.yaml:16:57: spec.metrics[0].labels[0].name: expected letters, digits and _, without a digit or __ "
      "in front, and of a histogram no le, got \"a.b\"");
  EXPECT_EQ(
      TextOf("  path: /metrics\n  metrics: [{name: a, kind: gauge, value: '1', labels: [{name: b, value: "
             "'\"x\"'}, {name: b, value: '\"y\"'}]}]\n"),
      "m.yaml:16:82: spec.metrics[0].labels[1].name: expected a name that no other label has, got \"b\"");
  const auto second = [](const std::string& name, const std::string& kind) {
    return absl::StrCat(
        "  path: /metrics\n  metrics: [{name: a, kind: gauge, value: '1'}]\n---\napiVersion: "
        "kwok.x-k8s.io/v1alpha1\nkind: Metric\nmetadata: {name: ",
        name, "}\nspec:\n  path: /metrics\n  metrics: [{name: a, kind: ", kind, ", value: '1'}]\n");
  };
  EXPECT_EQ(TextOf(second("m", "gauge")),
            "m.yaml:18:1: metadata.name: expected a name that no other Metric has, got \"m\"");
  EXPECT_EQ(TextOf(second("o", "counter")),
            "m.yaml:23:13: spec.metrics[0].kind: expected that of the metric of this name in Metric m");
  EXPECT_EQ(TextOf(second("o", "gauge")), "") << "there is neither node";
  std::vector<std::string> warnings;
  EXPECT_EQ(
      TextOf(
          "  path: '/metrics/{nodeName}'\n  metrics: [{name: a, kind: gauge, value: node.metadata.name}]\n",
          &warnings),
      "");
  EXPECT_EQ(warnings, (std::vector<std::string>{"metric a: expected a number, got string"}));
}

}  // namespace
}  // namespace schedsim::sim
