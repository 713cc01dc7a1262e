#include "sim/html/run_watch.h"

#include <algorithm>
#include <utility>

#include "core/api/node.h"
#include "core/codec/config/scheduler_config_printer.h"
#include "core/codec/text/json_reader.h"
#include "core/codec/text/writer.h"

namespace schedsim::sim {
namespace {

// Of the series while the run goes on, and when it is over: a screen shows no more.
constexpr size_t kPointsMax = 100'000;
constexpr size_t kPartsMax = 200;
constexpr size_t kPreemptionsMax = 1'000;

// What says in which pool a node is: labels that clouds and autoscalers set, then those that every node of a
// cloud has.
constexpr const char* kPoolLabels[] = {"cloud.google.com/gke-nodepool",
                                       "eks.amazonaws.com/nodegroup",
                                       "karpenter.sh/nodepool",
                                       "kubernetes.azure.com/agentpool",
                                       "agentpool",
                                       "node.kubernetes.io/instance-type",
                                       "beta.kubernetes.io/instance-type"};
constexpr const char* kZoneLabels[] = {"topology.kubernetes.io/zone",
                                       "failure-domain.beta.kubernetes.io/zone"};

template <size_t N>
std::string FirstLabel(const api::Node& node, const char* const (&keys)[N]) {
  for (const char* key : keys) {
    const std::string* const value = node.metadata.labels.Find(key);
    if (value != nullptr && !value->empty()) return *value;
  }
  return "";
}

// Everything that takes effect; of a document that another scheduler judges, all that it has.
std::string ConfigurationYaml(const codec::LoadedSchedulerConfig& config) {
  if (config.json.empty())
    return codec::PrintSchedulerConfig(config.config, config.profiles, codec::ConfigFormat::kYaml);
  std::string yaml;
  codec::ReadJsonText(config.json, "configuration", {}, [&yaml](const codec::Document& document) {
    yaml = codec::ToYaml(document.root);
    return absl::OkStatus();
  }).IgnoreError();
  return yaml;
}

}  // namespace

std::vector<LatencyRow> LatencyRows(const std::vector<absl::Duration>& latencies) {
  std::vector<LatencyRow> rows;
  if (latencies.empty()) return rows;
  std::vector<absl::Duration> sorted = latencies;
  std::sort(sorted.begin(), sorted.end());
  absl::Duration limit;
  absl::Duration power = absl::Milliseconds(1);
  size_t done = 0;
  for (int step = 0; done < sorted.size(); ++step) {
    const auto end = std::upper_bound(sorted.begin(), sorted.end(), limit) - sorted.begin();
    const auto count = static_cast<int64_t>(static_cast<size_t>(end) - done);
    if (count > 0 || !rows.empty()) rows.push_back({.limit = limit, .count = count});
    done = static_cast<size_t>(end);
    constexpr int kFactors[] = {1, 2, 5};
    limit = power * kFactors[step % 3];
    if (step % 3 == 2) power *= 10;
  }
  return rows;
}

RunWatch::RunWatch() : series_(kPointsMax) {}

void RunWatch::AddTo(Plan& plan) {
  run_.setup = {.inputs = plan.read_paths,
                .seed = plan.simulation.seed,
                .has_controllers = plan.simulation.controllers.workloads,
                .config_yaml = ConfigurationYaml(plan.simulation.config)};
  plan.series = &series_;
  plan.on_made = [this](Simulation& simulation) {
    simulation_ = &simulation;
    PageRun anew;
    anew.setup = std::move(run_.setup);
    run_ = std::move(anew);
    simulation.trace().add_listener(this);
  };
  plan.on_end = [this](const Simulation& simulation) { OnEnd(simulation); };
}

void RunWatch::OnAttempt(const scheduler::Attempt& attempt) {
  run_.attempts[attempt.pod->pod->Key()] = attempt.attempts;
  const std::string& node = attempt.post_filter.nominated_node_name.value_or("");
  if (!attempt.ran_post_filter || !attempt.post_filter.status.IsSuccess() || node.empty()) return;
  ++run_.preemption_count;
  if (run_.preemptions.size() >= kPreemptionsMax) return;
  run_.preemptions.push_back({.time = simulation_->now() - simulation_->zero(),
                              .pod = attempt.pod->pod->Key(),
                              .attempt = attempt.attempts,
                              .node = node});
}

void RunWatch::OnEnd(const Simulation& simulation) {
  run_.latencies = LatencyRows(simulation.queue_latencies());
  for (const auto& [name, object] : simulation.server().List(api::Kind::kNode)) {
    const auto& node = static_cast<const api::Node&>(*object);
    run_.nodes.push_back({.name = name,
                          .zone = FirstLabel(node, kZoneLabels),
                          .pool = FirstLabel(node, kPoolLabels),
                          .is_unschedulable = node.spec.unschedulable,
                          .amounts = series_.AmountsOf(name)});
  }
}

PageRun RunWatch::Take(Report report) {
  run_.report = std::move(report);
  run_.series = series_.series();
  Simplify(kPartsMax, run_.series);
  return std::move(run_);
}

}  // namespace schedsim::sim
