#include "tools/run_files.h"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/status_macros.h"
#include "core/codec/text/table.h"
#include "sim/measure/history_tables.h"
#include "tools/options.h"
#include "tools/output.h"

namespace schedsim::tools {
namespace {

// Archives may have an ending of their own.
bool IsJson(absl::string_view path) {
  return absl::EndsWith(path, ".json") || absl::EndsWith(path, ".json.gz") ||
         absl::EndsWith(path, ".json.zst");
}

std::string TextOf(const codec::Table& table, absl::string_view path) {
  return IsJson(path) ? table.Json() : table.Csv();
}

}  // namespace

void AddRunFileOptions(CLI::App& command, RunFileOptions& options) {
  AddOption(command, "--pods", options.pods, "FILE",
            "Write a row for each pod that there was: when it was created, tried first, bound and gone, its "
            "attempts, requests and node; CSV, or JSON where the name ends in .json",
            ParsePath);
  AddOption(command, "--nodes", options.nodes, "FILE",
            "The same for nodes: how many pods they had, and how much of them was requested on average",
            ParsePath);
  AddOption(command, "--series", options.series, "FILE",
            "The same for times: a row whenever something is other than before, with the amounts that are "
            "requested, pods, nodes and the parts of the queue",
            ParsePath);
  CLI::Option* const metrics =
      AddOption(command, "--metrics", options.metrics, "FILE",
                "Write the metrics of kube-scheduler, as of virtual time, in OpenMetrics' text format, or as "
                "CSV where the name ends in .csv",
                ParsePath);
  AddOption(command, "--metrics-interval", options.metrics_interval, "DURATION",
            "How often metrics are sampled, 100ms at least; default: once, at the end", ParseInterval)
      ->needs(metrics);
  AddOption(
      command, "--events", options.events, "FILE",
      "Write the events as kubectl get events prints them, or as JSON where the name ends in .json; - is "
      "standard output",
      ParsePath);
  AddOption(command, "--extender-record", options.extender_calls, "FILE",
            "Write all calls of extenders to this file, for --extender-replay", ParsePath)
      ->needs(command.get_option("--extender-live"));
}

OptionPaths RunFiles::Paths() const {
  OptionPaths paths;
  for (const auto& [option, path] :
       {std::pair("--pods", options_.pods), std::pair("--nodes", options_.nodes),
        std::pair("--series", options_.series), std::pair("--metrics", options_.metrics),
        std::pair("--events", options_.events), std::pair("--extender-record", options_.extender_calls)}) {
    if (path.has_value()) paths.emplace_back(option, *path);
  }
  return paths;
}

bool RunFiles::any() const { return !Paths().empty(); }

void RunFiles::Ask(sim::RunRequest& request) {
  if (!options_.extender_calls.has_value()) return;
  extender_calls_ = std::make_shared<std::string>();
  request.scheduler.extenders.calls = extender_calls_;
  request.scheduler.extenders.record = *options_.extender_calls;
}

absl::Status RunFiles::CheckMetrics() const {
  if (!options_.metrics_interval.has_value()) return absl::OkStatus();
  // Each scrape is kept until the run is over.
  constexpr absl::Duration kIntervalMin = absl::Milliseconds(100);
  if (*options_.metrics_interval >= kIntervalMin) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--metrics-interval: expected ",
                                                 absl::FormatDuration(kIntervalMin), " at least, got ",
                                                 absl::FormatDuration(*options_.metrics_interval)));
}

absl::Status RunFiles::Attach(OptionPaths others, sim::Plan& plan) {
  RETURN_IF_ERROR(CheckMetrics());
  OptionPaths paths = Paths();
  paths.insert(paths.begin(), others.begin(), others.end());
  std::map<std::string, std::string> options_by_path;
  for (const auto& [option, path] : paths) {
    RETURN_IF_ERROR(RefuseInputAsOutput(option, path, plan.read_paths));
    const auto [other, is_new] = options_by_path.emplace(path, option);
    if (!is_new) {
      return absl::InvalidArgumentError(
          absl::StrCat(option, " ", path, ": expected another file than that of ", other->second));
    }
  }
  // Of all points.
  if (options_.series.has_value()) plan.series = &series_.emplace(0);
  if (options_.metrics.has_value()) plan.scheduler_metrics = &metrics_.emplace(options_.metrics_interval);
  if (options_.events.has_value()) plan.cluster_events = &events_.emplace();
  if (!options_.pods.has_value() && !options_.nodes.has_value()) return absl::OkStatus();
  plan.on_history = [this](const sim::RunHistory& history) {
    if (options_.pods.has_value())
      contents_.emplace_back(*options_.pods, TextOf(PodTable(history), *options_.pods));
    if (options_.nodes.has_value())
      contents_.emplace_back(*options_.nodes, TextOf(NodeTable(history), *options_.nodes));
  };
  return absl::OkStatus();
}

absl::Status RunFiles::Write(absl::Time zero) {
  if (series_.has_value()) {
    contents_.emplace_back(*options_.series, TextOf(SeriesTable(series_->series()), *options_.series));
  }
  if (metrics_.has_value()) {
    const sim::MetricRegistry& registry = metrics_->registry();
    const bool is_csv =
        absl::EndsWith(*options_.metrics, ".csv") || absl::EndsWith(*options_.metrics, ".csv.gz");
    contents_.emplace_back(*options_.metrics, is_csv ? registry.Csv(zero) : registry.OpenMetrics());
  }
  if (events_.has_value()) {
    contents_.emplace_back(*options_.events,
                           IsJson(*options_.events) ? EventsJson(*events_, zero) : EventsText(*events_));
  }
  if (extender_calls_ != nullptr)
    contents_.emplace_back(*options_.extender_calls, *std::move(extender_calls_));
  for (const auto& [path, content] : contents_) {
    std::unique_ptr<ResultFile> file;
    ASSIGN_OR_RETURN(file, ResultFile::Create(path));
    file->Write(content);
    RETURN_IF_ERROR(file->Commit());
  }
  return absl::OkStatus();
}

}  // namespace schedsim::tools
