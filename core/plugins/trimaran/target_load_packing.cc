// TargetLoadPacking: prefers the node whose predicted cpu load is nearest to a target, from below.
// Source: scheduler-plugins (903da7d), pkg/trimaran/targetloadpacking, handler.go.
// Extension points: Score (not normalised), and the informer of pods: those bound lately are not in what was
// measured yet. Arguments: targetUtilization (40, in percent; what is not above 0 stands for it),
// defaultRequests (cpu 1000m: what a container is taken for that says nothing), defaultRequestsMultiplier
// ("1.5": how much more than its request a container takes), and those of ReadTrimaranSpec.

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "core/api/quantity.h"
#include "core/base/json_member.h"
#include "core/base/lookup_map.h"
#include "core/base/status_macros.h"
#include "core/base/wrapping.h"
#include "core/framework/informer_cache.h"
#include "core/framework/plugin.h"
#include "core/plugins/registry.h"
#include "core/plugins/trimaran/load_watcher.h"

namespace schedsim::plugins {
namespace {

using framework::Status;

// How long what was measured lags behind.
constexpr absl::Duration kReportingInterval = absl::Seconds(60);
constexpr int64_t kReportingIntervalSeconds = 60;
// How often pods that are bound for longer are forgotten.
constexpr absl::Duration kCleanupInterval = absl::Minutes(5);

struct TargetLoadPackingArgs {
  int64_t target_percent = 40;
  int64_t default_milli_cpu = 1000;
  double multiplier = 1.5;
};

// The object has its capacity in its text alone. 0: it says nothing of cpu.
int64_t CpuCapacityOf(const api::Node& node) {
  if (node.json == nullptr) return 0;
  const std::string text = node.json->ToString();
  absl::string_view cpu = FindJsonMember(FindJsonMember(FindJsonMember(text, "status"), "capacity"), "cpu");
  if (absl::ConsumePrefix(&cpu, "\"")) cpu.remove_suffix(1);
  const absl::StatusOr<api::Quantity> quantity = api::Quantity::Parse(cpu);
  return quantity.ok() ? quantity->MilliValue() : 0;
}

class TargetLoadPacking final : public framework::Plugin,
                                public framework::ScorePlugin,
                                public framework::InformerHandler {
 public:
  TargetLoadPacking(TargetLoadPackingArgs args, framework::Handle& handle)
      : args_(args), handle_(handle), metrics_(WatchLoads(handle)) {
    handle.AddInformerHandler(*this);
  }

  absl::string_view Name() const override { return "TargetLoadPacking"; }

  Status Score(const framework::CycleState&, const framework::PodInfo& pod, const framework::NodeInfo& node,
               int64_t& score) override {
    score = framework::kMinNodeScore;
    const std::string& name = node.node->metadata.name;
    const api::NodeMetrics* const metrics = metrics_.Find(name);
    if (metrics == nullptr) return Status();
    const std::optional<double> used = CpuPercentOf(*metrics);
    if (!used.has_value()) return Status();
    const auto capacity = static_cast<double>(CapacityOf(node));
    const double milli = *used / 100 * capacity + static_cast<double>(PredictionOf(*pod.pod->spec)) +
                         static_cast<double>(MissingOn(name));
    const double predicted = capacity == 0 ? 0 : 100 * milli / capacity;
    const auto target = static_cast<double>(args_.target_percent);
    if (predicted > target && predicted > 100) return Status();
    score = TruncateToInt64(std::round(predicted > target ? target * (100 - predicted) / (100 - target)
                                                          : (100 - target) * predicted / target + target));
    return Status();
  }

  void OnChange(const api::Object* old_object, const api::Object* new_object) override {
    const api::Object& object = new_object == nullptr ? *old_object : *new_object;
    if (object.kind != api::Kind::kPod) return;
    const auto& pod = static_cast<const api::Pod&>(object);
    const auto* const old_pod = static_cast<const api::Pod*>(old_object);
    if (pod.node_name.empty()) return;
    if (new_object == nullptr) {
      std::vector<BoundPod>* const bound = bound_.Find(pod.node_name);
      if (bound == nullptr) return;
      std::erase_if(*bound, [&pod](const BoundPod& other) { return other.uid == pod.metadata.uid; });
    } else if (old_pod == nullptr || old_pod->node_name != pod.node_name) {
      bound_[pod.node_name].push_back(
          {.time = handle_.clock().Now(), .uid = pod.metadata.uid, .milli_cpu = PredictionOf(*pod.spec)});
    }
  }

 private:
  struct BoundPod {
    absl::Time time;  // When the informer saw it on the node.
    std::string uid;
    int64_t milli_cpu = 0;
  };
  struct Capacity {
    api::NodePtr node;
    int64_t milli_cpu = 0;
  };

  // The last of what was measured; absent: nothing was.
  static std::optional<double> CpuPercentOf(const api::NodeMetrics& metrics) {
    const std::optional<double> latest = SeriesOf(metrics, "CPU/Latest");
    return latest.has_value() ? latest : SeriesOf(metrics, "CPU/AVG");
  }

  int64_t PredictionOf(const api::PodSpec& spec) const {
    int64_t sum = 0;
    for (const api::Container& container : spec.containers) {
      const api::Quantity* const limit = container.resources.limits.Find("cpu");
      const api::Quantity* const request = container.resources.requests.Find("cpu");
      int64_t milli_cpu = args_.default_milli_cpu;
      if (limit != nullptr) {
        milli_cpu = limit->MilliValue();
      } else if (request != nullptr) {
        milli_cpu =
            TruncateToInt64(std::round(static_cast<double>(request->MilliValue()) * args_.multiplier));
      }
      sum = WrappingAdd(sum, milli_cpu);
    }
    const api::Quantity* const overhead = spec.overhead.Find("cpu");
    return overhead == nullptr ? sum : WrappingAdd(sum, overhead->MilliValue());
  }

  // What pods take that came after what was measured, or shortly before its end.
  int64_t MissingOn(const std::string& node) {
    std::vector<BoundPod>* const bound = bound_.Find(node);
    if (bound == nullptr) return 0;
    const absl::Time cleanup =
        absl::UnixEpoch() + absl::Floor(handle_.clock().Now() - absl::UnixEpoch(), kCleanupInterval);
    std::erase_if(*bound,
                  [cleanup](const BoundPod& pod) { return pod.time + kReportingInterval <= cleanup; });
    const int64_t end = absl::ToUnixSeconds(metrics_.LastPoll());
    int64_t sum = 0;
    for (const BoundPod& pod : *bound) {
      const int64_t time = absl::ToUnixSeconds(pod.time);
      if (time > end || end - time < kReportingIntervalSeconds) sum = WrappingAdd(sum, pod.milli_cpu);
    }
    return sum;
  }

  int64_t CapacityOf(const framework::NodeInfo& node) {
    Capacity& known = capacities_[node.node->metadata.name];
    if (known.node != node.node) known = {.node = node.node, .milli_cpu = CpuCapacityOf(*node.node)};
    return known.milli_cpu;
  }

  const TargetLoadPackingArgs args_;
  framework::Handle& handle_;
  PolledNodeMetrics metrics_;
  LookupMap<std::string, std::vector<BoundPod>> bound_;  // By node, in order of time.
  LookupMap<std::string, Capacity> capacities_;
};

}  // namespace

PluginOr NewTargetLoadPacking(const api::PluginArgs& args, framework::Handle& handle) {
  TargetLoadPackingArgs own;
  std::string multiplier = "1.5";
  PlainArgs reader(args);
  reader.Read("targetUtilization", own.target_percent);
  reader.ReadMap("defaultRequests", [&own](PlainArgs& requests) {
    api::Quantity cpu;
    api::Quantity memory;
    requests.Read("cpu", cpu);
    requests.Read("memory", memory);
    own.default_milli_cpu = cpu.MilliValue();
  });
  reader.Read("defaultRequestsMultiplier", multiplier);
  ReadTrimaranSpec(reader);
  if (!absl::SimpleAtod(multiplier, &own.multiplier) || !std::isfinite(own.multiplier)) {
    reader.Error("defaultRequestsMultiplier", "a number in quotes");
  }
  RETURN_IF_ERROR(reader.Finish());
  if (own.target_percent <= 0) own.target_percent = 40;
  return std::make_unique<TargetLoadPacking>(own, handle);
}

}  // namespace schedsim::plugins
