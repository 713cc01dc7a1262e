// The files that a run leaves behind for programs: tables of pods and nodes, metrics, events, calls of
// extenders.
#ifndef SCHEDSIM_TOOLS_RUN_FILES_H_
#define SCHEDSIM_TOOLS_RUN_FILES_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "sim/measure/cluster_events.h"
#include "sim/measure/scheduler_metrics.h"
#include "sim/plan/plan.h"
#include "sim/series/series_collector.h"

namespace CLI {
class App;
}

namespace schedsim::tools {

// Options with the paths that they were given.
using OptionPaths = std::vector<std::pair<const char*, std::string>>;

// Where they go; absent: nowhere.
struct RunFileOptions {
  std::optional<std::string> pods;
  std::optional<std::string> nodes;
  std::optional<std::string> series;
  std::optional<std::string> metrics;
  std::optional<absl::Duration> metrics_interval;
  std::optional<std::string> events;
  std::optional<std::string> extender_calls;
};

// `options` must outlive the command, which has --extender-live already.
void AddRunFileOptions(CLI::App& command, RunFileOptions& options);

// Fills the files while a run goes on, and writes them when it is over.
class RunFiles {
 public:
  explicit RunFiles(const RunFileOptions& options) : options_(options) {}
  RunFiles(const RunFiles&) = delete;
  RunFiles& operator=(const RunFiles&) = delete;

  // Whether any is asked for.
  bool any() const;
  // Asks for what the run has to keep, before it is planned.
  void Ask(sim::RunRequest& request);
  // Looks on at the run of `plan`, and must outlive it. `others`: options that write files as well, with
  // their paths. InvalidArgument where a file is one that the run reads, or that another option writes.
  absl::Status Attach(OptionPaths others, sim::Plan& plan);
  // One after the other. Errors: those of ResultFile. `zero`: when virtual time begins.
  absl::Status Write(absl::Time zero);

 private:
  // The options that are given, with their paths.
  OptionPaths Paths() const;

  absl::Status CheckMetrics() const;

  const RunFileOptions& options_;
  std::optional<sim::SeriesCollector> series_;
  std::optional<sim::SchedulerMetrics> metrics_;
  std::optional<sim::ClusterEvents> events_;
  std::shared_ptr<std::string> extender_calls_;
  // By path: what is to be written.
  std::vector<std::pair<std::string, std::string>> contents_;
};

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_RUN_FILES_H_
