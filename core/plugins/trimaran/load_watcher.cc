#include "core/plugins/trimaran/load_watcher.h"

#include <algorithm>
#include <string>

#include "absl/strings/strip.h"
#include "core/base/wrapping.h"

namespace schedsim::plugins {
namespace {

constexpr absl::Duration kUpdateInterval = absl::Seconds(30);

void AddList(const api::ResourceList& list, PodAmounts& sum) {
  if (const api::Quantity* cpu = list.Find("cpu")) {
    sum.milli_cpu = WrappingAdd(sum.milli_cpu, cpu->MilliValue());
  }
  if (const api::Quantity* memory = list.Find("memory")) {
    sum.memory_bytes = WrappingAdd(sum.memory_bytes, memory->Value());
  }
}

PodAmounts AmountsOf(const api::PodSpec& spec, api::ResourceList api::ResourceRequirements::*list) {
  PodAmounts sum;
  for (const api::Container& container : spec.containers) AddList(container.resources.*list, sum);
  for (const api::Container& container : spec.init_containers) {
    PodAmounts own;
    AddList(container.resources.*list, own);
    sum.SetMax(own);
  }
  AddList(spec.overhead, sum);
  return sum;
}

}  // namespace

void ReadTrimaranSpec(PlainArgs& args) {
  std::string text;
  std::string type = "KubernetesMetricsServer";
  bool skips_verification = true;
  args.ReadMap("metricProvider", [&](PlainArgs& provider) {
    provider.ReadOneOf("type", {"KubernetesMetricsServer", "Prometheus", "SignalFx"}, type);
    provider.Read("address", text);
    provider.Read("token", text);
    provider.Read("insecureSkipVerify", skips_verification);
  });
  args.Read("watcherAddress", text);
}

PolledNodeMetrics WatchLoads(framework::Handle& handle) {
  return PolledNodeMetrics(handle, kUpdateInterval, PolledNodeMetrics::Gone::kForgets);
}

std::optional<Load> LoadOf(const api::NodeMetrics& metrics, LoadType type) {
  std::optional<Load> load;
  bool has_average = false;
  for (const auto& [series, value] : metrics.usage) {
    absl::string_view what = series;
    if (!absl::ConsumePrefix(&what, type == LoadType::kCpu ? "CPU" : "Memory")) continue;
    if (!what.empty() && what[0] != '/') continue;
    if (!load.has_value()) load.emplace();
    if (what == "/AVG") {
      load->average_percent = AsDouble(value);
      has_average = true;
    } else if (what == "/STD") {
      load->deviation_percent = AsDouble(value);
    } else if ((what.empty() || what == "/Latest") && !has_average) {
      load->average_percent = AsDouble(value);
    }
  }
  return load;
}

LoadFractions FractionsOf(const Load& load, double request, double allocatable) {
  if (allocatable <= 0) return {};
  const double average = load.average_percent * allocatable / 100;
  const double deviation = load.deviation_percent * allocatable / 100;
  return {.mu = ClampToOne((average + request) / allocatable), .sigma = ClampToOne(deviation / allocatable)};
}

void PodAmounts::Add(const PodAmounts& other) {
  milli_cpu = WrappingAdd(milli_cpu, other.milli_cpu);
  memory_bytes = WrappingAdd(memory_bytes, other.memory_bytes);
}

void PodAmounts::SetMin(const PodAmounts& other) {
  milli_cpu = std::min(milli_cpu, other.milli_cpu);
  memory_bytes = std::min(memory_bytes, other.memory_bytes);
}

void PodAmounts::SetMax(const PodAmounts& other) {
  milli_cpu = std::max(milli_cpu, other.milli_cpu);
  memory_bytes = std::max(memory_bytes, other.memory_bytes);
}

PodAmounts RequestsOf(const api::PodSpec& spec) {
  return AmountsOf(spec, &api::ResourceRequirements::requests);
}

PodAmounts LimitsOf(const api::PodSpec& spec, const PodAmounts& requests) {
  PodAmounts limits = AmountsOf(spec, &api::ResourceRequirements::limits);
  limits.SetMax(requests);
  return limits;
}

PodAmounts AllocatableOf(const framework::NodeInfo& node) {
  return {.milli_cpu = node.allocatable.milli_cpu, .memory_bytes = node.allocatable.memory_bytes};
}

double ClampToOne(double value) { return std::max(std::min(value, 1.0), 0.0); }

}  // namespace schedsim::plugins
