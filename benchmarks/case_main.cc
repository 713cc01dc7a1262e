// schedsim_benchmark_case: writes a case of the benchmarks, or runs one once and says what it took.
//
//   schedsim_benchmark_case write KIND NODES > case.json      (spreading, saturated, preemption, waiting)
//   schedsim_benchmark_case run case.json [--reference]

#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "benchmarks/cases.h"
#include "benchmarks/run_case.h"
#include "core/base/status_macros.h"

namespace schedsim::benchmarks {
namespace {

constexpr char kUsage[] =
    "expected `write KIND NODES` (KIND: spreading, saturated, preemption, waiting; NODES: 50 to 100000) or "
    "`run CASE.json [--reference]`";

absl::Status Write(const std::vector<std::string>& arguments) {
  int32_t node_count = 0;
  const bool valid = arguments.size() == 3 && absl::SimpleAtoi(arguments[2], &node_count) &&
                     node_count >= 50 && node_count <= 100'000;
  if (!valid) return absl::InvalidArgumentError(kUsage);
  std::string text;
  ASSIGN_OR_RETURN(text, MakeCase(arguments[1], node_count));
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fputc('\n', stdout);
  return absl::OkStatus();
}

double CpuSeconds(const struct rusage& usage) {
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

absl::Status Run(const std::vector<std::string>& arguments) {
  const bool reference = arguments.size() == 3 && arguments[2] == "--reference";
  if (arguments.size() != 2 && !reference) return absl::InvalidArgumentError(kUsage);
  sim::Case test_case;
  ASSIGN_OR_RETURN(test_case, ReadCase(arguments[1]));
  std::unique_ptr<sim::Simulation> simulation;
  ASSIGN_OR_RETURN(simulation, PrepareCase(test_case, reference));
  struct rusage before = {};
  getrusage(RUSAGE_SELF, &before);
  const auto start = std::chrono::steady_clock::now();
  simulation->Run();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const double cpu_seconds = CpuSeconds(usage) - CpuSeconds(before);
  const double attempts = static_cast<double>(simulation->trace().attempt_count());
  std::printf("%s",
              absl::StrFormat("%s: %.0f attempts in %.3f s (%.3f s of CPU), %.2f us each, %.0f a second\n"
                              "%.1f MB at most, digest %s\n",
                              test_case.name, attempts, seconds, cpu_seconds, seconds * 1e6 / attempts,
                              attempts / seconds, static_cast<double>(usage.ru_maxrss) / 1024.0,
                              simulation->trace().DecisionDigest())
                  .c_str());
  return absl::OkStatus();
}

int Main(const std::vector<std::string>& arguments) {
  absl::Status status = absl::InvalidArgumentError(kUsage);
  if (!arguments.empty() && arguments[0] == "write") status = Write(arguments);
  if (!arguments.empty() && arguments[0] == "run") status = Run(arguments);
  if (status.ok()) return 0;
  std::fprintf(stderr, "schedsim_benchmark_case: %s\n", std::string(status.message()).c_str());
  return 2;
}

}  // namespace
}  // namespace schedsim::benchmarks

int main(int argc, char** argv) {
  return schedsim::benchmarks::Main(std::vector<std::string>(argv + 1, argv + argc));
}
