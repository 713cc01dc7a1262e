// Whole runs over a recorded cluster of 1,213 nodes and 7,064 pods: loading alone, scheduling alone, both.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/objects/objects.h"
#include "sim/conformance/case.h"
#include "sim/run/simulation.h"

namespace schedsim {
namespace {

const sim::Case& Cluster() {
  static const sim::Case* const kCluster = [] {
    auto* cluster = new sim::Case();
    const absl::Status status =
        sim::ReadCases(SCHEDSIM_SOURCE_DIR "/tests/conformance/real/gcda-1200.jsonl.gz",
                       api::kDefaultKubernetesLine, [cluster](sim::Case read) {
                         *cluster = std::move(read);
                         return absl::OkStatus();
                       });
    CHECK(status.ok());
    return cluster;
  }();
  return *kCluster;
}

// The cluster's objects as the text of one file.
std::string Text(std::string (*write)(const api::Object&), absl::string_view separator) {
  std::string text;
  for (const api::ObjectPtr& object : Cluster().objects) {
    absl::StrAppend(&text, write(*object), separator);
  }
  return text;
}

int64_t Load(const std::string& text, absl::string_view name, std::vector<api::ObjectPtr>* objects) {
  codec::ObjectReader reader;
  int64_t count = 0;
  const absl::Status status = reader.ReadText(text, name, [&](api::ObjectPtr object, const codec::Location&) {
    ++count;
    if (objects != nullptr) objects->push_back(std::move(object));
    return absl::OkStatus();
  });
  CHECK(status.ok());
  return count;
}

// Returns the number of attempts.
int64_t Schedule(const std::vector<api::ObjectPtr>& objects, bool reference) {
  sim::SimulationOptions options;
  options.line = Cluster().line;
  options.config = Cluster().config;
  options.zero = absl::FromUnixSeconds(946'684'800);
  options.reference = reference;
  absl::StatusOr<std::unique_ptr<sim::Simulation>> simulation = sim::Simulation::Make(std::move(options));
  CHECK(simulation.ok());
  (*simulation)->CreateObjects(objects);
  (*simulation)->Run();
  return (*simulation)->trace().attempt_count();
}

void LoadYaml(benchmark::State& state) {
  const std::string text = Text(codec::ObjectYaml, "---\n");
  for (auto _ : state) benchmark::DoNotOptimize(Load(text, "cluster.yaml", nullptr));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}
BENCHMARK(LoadYaml)->Unit(benchmark::kMillisecond);

void LoadJson(benchmark::State& state) {
  const std::string text = Text(codec::ObjectJson, "\n");
  for (auto _ : state) benchmark::DoNotOptimize(Load(text, "cluster.jsonl", nullptr));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}
BENCHMARK(LoadJson)->Unit(benchmark::kMillisecond);

// Argument: whether the fast paths are off. Items are scheduling attempts.
void ScheduleCluster(benchmark::State& state) {
  int64_t attempts = 0;
  for (auto _ : state) attempts += Schedule(Cluster().objects, state.range(0) != 0);
  state.SetItemsProcessed(attempts);
}
BENCHMARK(ScheduleCluster)->Arg(0)->Arg(1)->ArgName("reference")->Unit(benchmark::kMillisecond);

void YamlToResult(benchmark::State& state) {
  const std::string text = Text(codec::ObjectYaml, "---\n");
  int64_t attempts = 0;
  for (auto _ : state) {
    std::vector<api::ObjectPtr> objects;
    Load(text, "cluster.yaml", &objects);
    attempts += Schedule(objects, false);
  }
  state.SetItemsProcessed(attempts);
}
BENCHMARK(YamlToResult)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace schedsim

BENCHMARK_MAIN();
