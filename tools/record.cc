// schedsim record: runs a scenario or a cluster, and writes what happens as a recording that kwok replays.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/base/status_macros.h"
#include "sim/formats/recording_writer.h"
#include "sim/plan/plan.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/run_request.h"
#include "tools/snapshot_files.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

struct RecordOptions {
  sim::RunRequest request;
  std::string path;
};

// Writes the objects that there are, and then each change, as they come.
void StartRecording(sim::Simulation& simulation, ResultFile& file,
                    std::optional<sim::RecordingWriter>& writer) {
  writer.emplace(simulation.zero(), [&file](absl::string_view text) { file.Write(text); });
  for (int kind = 0; kind < api::kKindCount; ++kind) {
    for (const auto& [key, object] : simulation.server().List(static_cast<api::Kind>(kind)))
      writer->AddObject(*object);
  }
  simulation.server().Watch([&simulation, &writer](const sim::WatchEvent& event) {
    writer->AddChange(simulation.now(), event.old_object, event.new_object);
  });
}

absl::StatusOr<int> Record(const RecordOptions& options) {
  sim::Plan plan;
  ASSIGN_OR_RETURN(plan, sim::MakePlan(options.request));
  PrintNotices(plan.notices);
  RETURN_IF_ERROR(RefuseInputAsOutput("--output", options.path, plan.read_paths));
  const std::vector<std::string> paths = sim::SnapshotPaths(plan);
  if (std::find(paths.begin(), paths.end(), options.path) != paths.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--output: the scenario saves a snapshot to ", options.path, ", expected another file"));
  }
  SnapshotFiles snapshots;
  RETURN_IF_ERROR(snapshots.Attach(plan));
  std::unique_ptr<ResultFile> file;
  ASSIGN_OR_RETURN(file, ResultFile::Create(options.path));
  std::optional<sim::RecordingWriter> writer;
  plan.on_start = [&](sim::Simulation& simulation) { StartRecording(simulation, *file, writer); };
  plan.pod_rows = sim::PodRows::kNone;
  const size_t warnings_before = plan.input.warnings.size();
  sim::Report report;
  ASSIGN_OR_RETURN(report, sim::RunPlan(std::move(plan)));
  RETURN_IF_ERROR(file->Commit());
  RETURN_IF_ERROR(snapshots.Write());
  PrintNotices(sim::LateNotices(report, warnings_before));
  PrintNotice(absl::StrCat("recorded ", writer->object_count(), " objects and ", writer->change_count(),
                           " changes in ", absl::FormatDuration(report.virtual_time),
                           " of virtual time from ", api::FormatRfc3339(report.virtual_zero)));
  for (const std::string& failure : report.failures) PrintMessage(absl::StrCat("schedsim record: ", failure));
  return report.failures.empty() ? kDone : kVerdict;
}

}  // namespace

void AddRecord(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RecordOptions>();
  CLI::App* command =
      app.add_subcommand("record", "Run a scenario or a cluster, and write a recording that kwok replays");
  AddRunRequest(*command, options->request, "--until");
  AddQuiet(*command);
  AddOption(*command, "-o,--output", options->path, "FILE",
            "The recording; a name in .gz or .zst makes it an archive; - is standard output", ParsePath)
      ->required();
  command->footer(
      "Writes what `kwokctl snapshot record` of kwokctl 0.7.0 writes: the objects at virtual zero, then a\n"
      "ResourcePatch for each change, with times as offsets. `kwokctl snapshot replay --path FILE` (0.7.0) "
      "and\n"
      "`kwokctl kectl snapshot replay --path FILE` replay it, and so does `schedsim run FILE --follow`.\n"
      "Exit codes:\n"
      "  0  written\n"
      "  1  written, but a wait or an entry of the scenario failed, or the run went round in circles\n"
      "  2  bad usage, bad input, output that cannot be written\n"
      "  3  a plugin of --plugin crashed, or answered what is no answer\n"
      "  4  a plugin or an extender gave no answer in time, or --extender-replay lacks a call\n\n"
      "Examples:\n"
      "  schedsim record scenarios/rolling-drain/scenario.yaml -o drain.yaml\n"
      "  schedsim record -f snapshots/small --bound reset -o recording.yaml.gz\n"
      "  schedsim record recording.yaml --config scheduler.yaml -o other.yaml\n"
      "  schedsim record scenario.yaml -o - | grep -c ResourcePatch");
  command->callback([options, &exit_code] { exit_code = ExitCodeOf("schedsim record", Record(*options)); });
}

}  // namespace schedsim::tools
