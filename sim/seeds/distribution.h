// What runs with many seeds came to, together.
#ifndef SCHEDSIM_SIM_SEEDS_DISTRIBUTION_H_
#define SCHEDSIM_SIM_SEEDS_DISTRIBUTION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/kernel/variation.h"
#include "sim/report/run_header.h"
#include "sim/seeds/seed_run.h"

namespace schedsim::sim {

struct SeedReport {
  // What was run; its seed is that of the reference.
  RunHeader header;
  std::string kubernetes_version;
  Variation variation;
  FaultRates faults;
  // The run without variation and faults, with the plan's own seed.
  SeedRun reference;
  std::vector<SeedRun> runs;  // In the order of their seeds.
  // What the user should know of the runs' input, each with `note: ` or `warning: ` in front.
  std::vector<std::string> notices;
};

// The run with the smallest seed that failed; nullptr: none did.
const SeedRun* FirstFailed(const SeedReport& report);

// `command`: what repeats a run, with its seed behind it: `schedsim run -f x.yaml --vary start --seeds `.
std::string SeedReportText(const SeedReport& report, const std::string& command);
std::string SeedReportJson(const SeedReport& report);
// One line a seed, below a line of column names.
std::string SeedReportCsv(const SeedReport& report);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SEEDS_DISTRIBUTION_H_
