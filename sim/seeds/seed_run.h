// A run with one of many seeds, as far as runs are compared.
#ifndef SCHEDSIM_SIM_SEEDS_SEED_RUN_H_
#define SCHEDSIM_SIM_SEEDS_SEED_RUN_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/codec/text/json_writer.h"
#include "sim/kernel/variation.h"
#include "sim/plan/plan.h"

namespace schedsim::sim {

// Where pods are in the end: nodes by "namespace/name", "" for pods that wait. Pods that a controller made
// are left out, since their names are drawn.
using Placements = std::map<std::string, std::string>;

struct SeedRun {
  uint64_t seed = 0;
  // Why it did not come to an end: it was not run, or the process broke off. "": it did.
  std::string error;
  int64_t nodes = 0;
  int64_t bound = 0;
  int64_t pending = 0;
  int64_t evicted = 0;
  int64_t attempts = 0;
  int64_t virtual_time_ms = 0;
  // By resource, in the order of the report: hundredths of a percent of what the nodes have.
  std::vector<std::pair<std::string, int64_t>> utilization;
  // "namespace/name", or where the name is drawn `pods of KIND namespace/name`; with how many there are.
  std::map<std::string, int64_t> pending_pods;
  // How near it is to the reference, and to the run before it; absent: there is none. See Compare.
  struct Nearness {
    int64_t same_node = 0;     // Pods that are on the same node in both.
    int64_t same_pending = 0;  // Pods that wait in both.
  };
  std::optional<Nearness> to_reference;
  std::optional<Nearness> to_run_before;
  // Shape: by fault; how often it struck.
  std::array<int64_t, kFaultCount> faults = {};
  // What must hold and does not (see Invariants), and what the scenario waited for in vain.
  std::vector<std::string> problems;
  // False: it ended while something was on its way, so that queue and cache were not looked at.
  bool had_settled = true;
  std::string digest;
  Placements placements;

  bool Passed() const { return error.empty() && problems.empty(); }
};

// Runs the plan with this seed in the place of its own. Errors: those of RunPlan.
absl::StatusOr<SeedRun> RunSeed(Plan plan, uint64_t seed);

// One that did not come to an end, and why.
SeedRun BrokenRun(uint64_t seed, const absl::Status& status);

SeedRun::Nearness Compare(const Placements& one, const Placements& other);

// The value, an object, without the placements.
void WriteSeedRun(const SeedRun& run, codec::JsonWriter& json);
// From one process to another: text with the placements, and the run from it, without its nearness.
// InvalidArgument for anything else.
std::string SeedRunToText(const SeedRun& run);
absl::StatusOr<SeedRun> SeedRunFromText(const std::string& text);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SEEDS_SEED_RUN_H_
