// schedsim snapshot: the state of a cluster as a file, saved, converted, looked at and made fit to share.

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/api/go_text.h"
#include "core/base/status_macros.h"
#include "sim/formats/redact/redactor.h"
#include "sim/formats/snapshot_objects.h"
#include "sim/formats/snapshot_writer.h"
#include "sim/plan/inspection.h"
#include "sim/plan/plan.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/run_request.h"
#include "tools/snapshot_files.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

struct Target {
  std::string path;
  std::optional<sim::SnapshotFormat> format;  // Absent: the path says it.
};

absl::StatusOr<sim::SnapshotFormat> FormatOf(const Target& target) {
  if (target.format.has_value()) return *target.format;
  if (target.path != "-") return sim::SnapshotFormatOf(target.path);
  return absl::InvalidArgumentError("--format: expected k8s, json or etcd for standard output");
}

void AddFormat(CLI::App& command, std::optional<sim::SnapshotFormat>& format) {
  AddOption(
      command, "--format", format, "{k8s,json,etcd}",
      "k8s: YAML as kwokctl's; json: a List as kubectl's; etcd: a database. Default: by the name's ending, "
      ".yaml, .json or .db",
      sim::ParseSnapshotFormat);
}

struct SaveOptions {
  sim::RunRequest request;
  Target out;
};

absl::StatusOr<int> Save(const SaveOptions& options) {
  sim::SnapshotFormat format;
  ASSIGN_OR_RETURN(format, FormatOf(options.out));
  sim::Plan plan;
  ASSIGN_OR_RETURN(plan, sim::MakePlan(options.request));
  PrintNotices(plan.notices);
  RETURN_IF_ERROR(RefuseInputAsOutput("--path", options.out.path, plan.read_paths));
  SnapshotFiles entries;
  RETURN_IF_ERROR(entries.Attach(plan));
  const size_t warnings_before = plan.input.warnings.size();
  const absl::Time zero = plan.simulation.zero;
  std::vector<std::string> objects;
  absl::Time end;
  plan.on_objects = [&](std::vector<std::string> served, absl::Time now) {
    objects = std::move(served);
    end = now;
  };
  plan.pod_rows = sim::PodRows::kNone;
  plan.is_last = true;
  sim::Report report;
  ASSIGN_OR_RETURN(report, sim::RunPlan(std::move(plan)));
  PrintNotices(sim::LateNotices(report, warnings_before));
  RETURN_IF_ERROR(entries.Write());
  const size_t count = objects.size();
  RETURN_IF_ERROR(WriteSnapshotFile(options.out.path, format, std::move(objects)));
  PrintNotice(absl::StrCat(count, " objects saved as they are ", absl::FormatDuration(end - zero),
                           " after virtual zero, at ", api::FormatRfc3339(end)));
  for (const std::string& failure : report.failures)
    PrintMessage(absl::StrCat("schedsim snapshot save: ", failure));
  return report.failures.empty() ? kDone : kVerdict;
}

void AddSave(CLI::App& snapshot, int& exit_code) {
  auto options = std::make_shared<SaveOptions>();
  CLI::App* command = snapshot.add_subcommand("save", "Run, and write the cluster as it is then");
  AddQuiet(*command);
  AddRunRequest(*command, options->request, "--at");
  AddOption(*command, "--path", options->out.path, "FILE",
            "The file to write, also in .gz and .zst; - is standard output", ParsePath)
      ->required();
  AddFormat(*command, options->out.format);
  command->footer(
      "Exit codes: 0 saved; 1 saved, and a wait or an entry of the scenario failed; 2 bad usage, bad input, "
      "or\n"
      "output that cannot be written.\n\n"
      "Examples:\n"
      "  schedsim snapshot save -f snapshots/small --path end.db\n"
      "  schedsim snapshot save scenarios/rolling-drain/scenario.yaml --at 2m --path drain.yaml\n"
      "  etcdutl snapshot restore end.db --data-dir etcd-data");
  command->callback(
      [options, &exit_code] { exit_code = ExitCodeOf("schedsim snapshot save", Save(*options)); });
}

// What a command makes of a file: another one.
struct Conversion {
  std::string in;
  Target out;
};

void AddConversion(CLI::App& command, Conversion& conversion) {
  AddOption(command, "IN", conversion.in, "", "A file, a folder or an archive, as run -f takes it; -",
            ParsePath)
      ->required();
  AddOption(command, "OUT", conversion.out.path, "", "The file to write, also in .gz and .zst; -", ParsePath)
      ->required();
  AddFormat(command, conversion.out.format);
}

using Objects = std::vector<std::string>;

// Reads the file, and writes what `change` makes of its objects.
absl::Status Convert(const Conversion& conversion, absl::FunctionRef<Objects(Objects)> change) {
  sim::SnapshotFormat format;
  ASSIGN_OR_RETURN(format, FormatOf(conversion.out));
  RETURN_IF_ERROR(RefuseInputAsOutput("OUT", conversion.out.path, {conversion.in}));
  sim::SnapshotObjects content;
  ASSIGN_OR_RETURN(content, sim::ReadSnapshotObjects({conversion.in}));
  for (const std::string& warning : content.warnings) PrintNotice(absl::StrCat("warning: ", warning));
  return WriteSnapshotFile(conversion.out.path, format, change(std::move(content.objects)));
}

void AddConvert(CLI::App& snapshot, int& exit_code) {
  auto conversion = std::make_shared<Conversion>();
  CLI::App* command = snapshot.add_subcommand("convert", "Write the objects of a file in another format");
  AddQuiet(*command);
  AddConversion(*command, *conversion);
  command->footer(
      "Nothing is added to an object or taken from it, but k8s has no resourceVersion, and etcd makes it "
      "the\n"
      "revision and puts objects that say no namespace, though their kind has one, into `default`.\n"
      "Exit codes: 0 written, 2 bad usage, bad input, or output that cannot be written.\n\n"
      "Examples:\n"
      "  schedsim snapshot convert etcd.db cluster.yaml\n"
      "  schedsim snapshot convert support-bundle.tar.gz cluster.json.gz\n"
      "  kubectl get nodes,pods -A -o yaml | schedsim snapshot convert - cluster.db");
  command->callback([conversion, &exit_code] {
    exit_code = ExitCodeOf("schedsim snapshot convert",
                           Convert(*conversion, [](Objects objects) { return objects; }));
  });
}

struct InspectOptions {
  sim::RunRequest request;
  std::string output;
};

absl::Status InspectFiles(const InspectOptions& options) {
  sim::Inspection inspection;
  ASSIGN_OR_RETURN(inspection, sim::Inspect(options.request));
  return WriteOutput(options.output == "json" ? InspectionJson(inspection)
                                              : ForTerminal(InspectionText(inspection)));
}

void AddInspect(CLI::App& snapshot, int& exit_code) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* command = snapshot.add_subcommand("inspect", "Print what is in a snapshot, and what it lacks");
  AddTexts(*command, "FILE", options->request.files, "",
           "Files, folders and archives, as run -f takes them; -", ParsePath)
      ->required();
  AddChoice(*command, "-o,--output", options->output, {"text", "json"}, "json: one object");
  command->footer(
      "Counts objects by kind and namespace, says how full the nodes are, and what is missing for a right "
      "answer.\n"
      "Exit codes: 0 printed, 2 bad usage, bad input, or output that cannot be written.\n\n"
      "Examples:\n"
      "  schedsim snapshot inspect etcd.db\n"
      "  schedsim snapshot inspect cluster.yaml --output json | jq .kinds");
  command->callback(
      [options, &exit_code] { exit_code = ExitCodeOf("schedsim snapshot inspect", InspectFiles(*options)); });
}

struct RedactCommandOptions {
  Conversion conversion;
  sim::RedactOptions redact;
};

absl::Status RedactFile(const RedactCommandOptions& options) {
  return Convert(options.conversion, [&options](const Objects& objects) {
    sim::RedactedObjects redacted = sim::Redact(objects, options.redact);
    for (const std::string& note : redacted.notes) PrintNotice(absl::StrCat("note: ", note));
    return std::move(redacted.objects);
  });
}

void AddRedact(CLI::App& snapshot, int& exit_code) {
  auto options = std::make_shared<RedactCommandOptions>();
  CLI::App* command = snapshot.add_subcommand("redact", "Write a cluster with pseudonyms, fit to share");
  AddQuiet(*command);
  AddConversion(*command, options->conversion);
  AddOption(*command, "--key", options->redact.key, "TEXT",
            "A secret: pseudonyms get letters that are the same for the same name in another file",
            ParseText);
  AddTexts(*command, "--keep", options->redact.keep, "NAME",
           "A name, label or value that stays as it is, such as a scheduler's; repeatable", ParseText);
  command->footer(
      "Names, namespaces, labels, images and the like become pseudonyms, the same ones everywhere; "
      "annotations,\n"
      "environment, commands, addresses, messages and data go. Labels and taints that Kubernetes itself "
      "reads\n"
      "stay. Pseudonyms are in the order of the names, so that the scheduler decides the same.\n"
      "Exit codes: 0 written, 2 bad usage, bad input, or output that cannot be written.\n\n"
      "Examples:\n"
      "  schedsim snapshot redact cluster.yaml shared.yaml.gz\n"
      "  schedsim snapshot redact etcd.db shared.json --keep batch-scheduler");
  command->callback(
      [options, &exit_code] { exit_code = ExitCodeOf("schedsim snapshot redact", RedactFile(*options)); });
}

}  // namespace

void AddSnapshot(CLI::App& app, int& exit_code) {
  CLI::App* snapshot =
      app.add_subcommand("snapshot", "Save, convert, inspect and redact the state of a cluster");
  snapshot->require_subcommand(1);
  snapshot->footer("`schedsim snapshot save --help` has examples.");
  AddSave(*snapshot, exit_code);
  AddConvert(*snapshot, exit_code);
  AddInspect(*snapshot, exit_code);
  AddRedact(*snapshot, exit_code);
}

}  // namespace schedsim::tools
