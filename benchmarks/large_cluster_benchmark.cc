// Pods a second on large made-up clusters (cases.h). Only the run counts: objects are read and created
// before.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "benchmarks/cases.h"
#include "benchmarks/run_case.h"
#include "core/base/check.h"

namespace schedsim::benchmarks {
namespace {

// Read from a file, as other programs read it.
sim::Case MadeCase(absl::string_view kind, int32_t node_count) {
  const std::string path =
      (std::filesystem::temp_directory_path() / absl::StrCat("schedsim-", kind, "-", node_count, ".json"))
          .string();
  const absl::StatusOr<std::string> text = MakeCase(kind, node_count);
  CHECK(text.ok());
  std::ofstream(path, std::ios::binary) << *text;
  absl::StatusOr<sim::Case> read = ReadCase(path);
  std::filesystem::remove(path);
  CHECK(read.ok());
  return *std::move(read);
}

// Arguments: the number of nodes; whether the fast paths are off. Items are scheduling attempts.
void RunMadeCase(benchmark::State& state, absl::string_view kind) {
  const sim::Case made = MadeCase(kind, static_cast<int32_t>(state.range(0)));
  int64_t attempts = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto simulation = PrepareCase(made, state.range(1) != 0);
    CHECK(simulation.ok());
    state.ResumeTiming();
    (*simulation)->Run();
    attempts += (*simulation)->trace().attempt_count();
    state.PauseTiming();
    simulation->reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(attempts);
}

// 30,000 bound pods and 2,000 pending ones with spread constraints and inter-pod affinity in the mix.
void SpreadingAndAffinity(benchmark::State& state) { RunMadeCase(state, "spreading"); }
BENCHMARK(SpreadingAndAffinity)
    ->ArgNames({"nodes", "reference"})
    ->Args({5000, 0})
    ->Args({500, 0})
    ->Args({500, 1})
    ->Unit(benchmark::kMillisecond);

// 2,000 pending pods, each of which needs victims on one of 5,000 full nodes with 30,000 pods.
void Preemption(benchmark::State& state) { RunMadeCase(state, "preemption"); }
BENCHMARK(Preemption)
    ->ArgNames({"nodes", "reference"})
    ->Args({5000, 0})
    ->Args({500, 0})
    ->Args({500, 1})
    ->Unit(benchmark::kMillisecond);

// Twenty pending pods a node that do not fit, while two bound pods a node finish. 1,000 nodes take an hour of
// virtual time and 3.6 million attempts: for schedsim_benchmark_case.
void Saturated(benchmark::State& state) { RunMadeCase(state, "saturated"); }
BENCHMARK(Saturated)
    ->ArgNames({"nodes", "reference"})
    ->Args({100, 0})
    ->Args({50, 0})
    ->Args({50, 1})
    ->Unit(benchmark::kMillisecond);

// Twenty pending pods a node, and as many changes of nodes that help none of them.
void Waiting(benchmark::State& state) { RunMadeCase(state, "waiting"); }
BENCHMARK(Waiting)
    ->ArgNames({"nodes", "reference"})
    ->Args({1000, 0})
    ->Args({100, 0})
    ->Args({100, 1})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace schedsim::benchmarks
