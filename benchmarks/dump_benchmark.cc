// Reading a dump of 3,400 nodes and 20,060 running pods, each with a token volume of its own, and scheduling
// all its pods anew.

#include <benchmark/benchmark.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/dump.h"
#include "core/base/check.h"
#include "core/codec/objects/objects.h"
#include "sim/formats/cluster_input.h"
#include "sim/run/simulation.h"

namespace schedsim::benchmarks {
namespace {

constexpr int32_t kCopies = 34;

const std::string& Dump(DumpFormat format) {
  static const auto* const kJson = new std::string(MakeDump(kCopies, DumpFormat::kJson));
  static const auto* const kYaml = new std::string(MakeDump(kCopies, DumpFormat::kYaml));
  return format == DumpFormat::kJson ? *kJson : *kYaml;
}

std::vector<api::ObjectPtr> Objects(const std::string& text, absl::string_view name) {
  std::vector<api::ObjectPtr> objects;
  codec::ObjectReader reader;
  const absl::Status status = reader.ReadText(text, name, [&](api::ObjectPtr object, const codec::Location&) {
    objects.push_back(std::move(object));
    return absl::OkStatus();
  });
  CHECK(status.ok());
  return objects;
}

// What the floor is: the text once from memory to memory.
void CopyDump(benchmark::State& state) {
  const std::string& text = Dump(DumpFormat::kJson);
  std::string copy(text.size(), '\0');
  for (auto _ : state) {
    std::memcpy(copy.data(), text.data(), text.size());
    benchmark::DoNotOptimize(copy);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}
BENCHMARK(CopyDump)->Unit(benchmark::kMillisecond);

// `bytes_a_pod` is the memory that the objects take when they have been read, nodes included.
void ReadDump(benchmark::State& state, DumpFormat format) {
  const std::string& text = Dump(format);
  double kept_bytes = 0;
  for (auto _ : state) {
    const size_t before = mallinfo2().uordblks;
    const std::vector<api::ObjectPtr> objects =
        Objects(text, format == DumpFormat::kJson ? "dump.json" : "dump.yaml");
    kept_bytes = static_cast<double>(mallinfo2().uordblks - before);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
  state.counters["bytes_a_pod"] = kept_bytes / static_cast<double>(kCopies * kDumpPodsPerCopy);
}
BENCHMARK_CAPTURE(ReadDump, json, DumpFormat::kJson)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ReadDump, yaml, DumpFormat::kYaml)->Unit(benchmark::kMillisecond);

// `schedsim run -f dump.json --bound reset`. Items are scheduling attempts.
void ScheduleDump(benchmark::State& state) {
  const std::string path =
      (std::filesystem::temp_directory_path() / absl::StrCat("schedsim-dump-", getpid(), ".json")).string();
  std::ofstream(path) << Dump(DumpFormat::kJson);
  int64_t attempts = 0;
  for (auto _ : state) {
    sim::ClusterInputOptions options;
    options.paths = {{.path = path}};
    options.bound.reset = true;
    const absl::StatusOr<sim::ClusterInput> input = sim::ReadClusterInput(options);
    CHECK(input.ok());
    sim::SimulationOptions simulation_options;
    simulation_options.zero = absl::FromUnixSeconds(1'800'000'000);
    absl::StatusOr<std::unique_ptr<sim::Simulation>> simulation =
        sim::Simulation::Make(std::move(simulation_options));
    CHECK(simulation.ok());
    (*simulation)->CreateObjects(input->objects);
    (*simulation)->Run();
    attempts += (*simulation)->trace().attempt_count();
  }
  std::remove(path.c_str());
  state.SetItemsProcessed(attempts);
}
BENCHMARK(ScheduleDump)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace schedsim::benchmarks
