// schedsim stage: what kwok's stages do.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codec/text/reader.h"
#include "sim/stages/default_stages.h"
#include "sim/stages/stage_preview.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

struct TestOptions {
  std::vector<std::string> stages;
  std::vector<std::string> objects;
};

absl::Status Test(const TestOptions& options) {
  sim::StageFile read;
  for (const std::string& stages : options.stages) RETURN_IF_ERROR(sim::ReadStagesOrSet(stages, read));
  if (read.stages.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(options.stages[0], ": expected a Stage, got none"));
  }
  std::string out;
  codec::ReadOptions reading;
  reading.split_lists = true;
  for (const std::string& path : options.objects) {
    RETURN_IF_ERROR(codec::ReadPath(
        path, reading, [&](const codec::Document& document, absl::string_view file) -> absl::Status {
          if (document.root.is_null()) return absl::OkStatus();
          if (!document.root.is_object()) {
            return codec::ErrorAt({.file = file, .position = document.root.position}, "expected an object");
          }
          std::string text;
          ASSIGN_OR_RETURN(text, sim::PreviewStages(read.stages, document.root));
          absl::StrAppend(&out, out.empty() ? "" : "---\n", text);
          return absl::OkStatus();
        }));
  }
  return WriteOutput(out);
}

void AddStageTest(CLI::App& stage, int& exit_code) {
  auto options = std::make_shared<TestOptions>();
  CLI::App* command = stage.add_subcommand("test", "Print what stages may do to objects");
  AddTexts(
      *command, "--stage", options->stages, "SET|FILE",
      "kwok's stages: fast, general, node-fast, pod-fast or pod-general, or a file or folder of them, - for "
      "standard input; repeatable",
      ParsePath)
      ->required();
  AddTexts(*command, "OBJECT", options->objects, "PATH", "Files or folders with objects", ParsePath)
      ->required();
  command->footer(
      "Prints a YAML document for each object, as kwok's own tests of stages have it: the stages that may "
      "be\n"
      "chosen, with weight, delay in nanoseconds (one number, or from and to of what is drawn), and what "
      "each\n"
      "does. What differs from cluster to cluster is a mark, as <Now>.\n"
      "Exit codes: 0 printed, 2 bad usage, bad input, or output that cannot be written.\n\n"
      "Examples:\n"
      "  schedsim stage test --stage fast pod.yaml\n"
      "  kubectl get pod web-0 -o yaml | schedsim stage test --stage stages/ -");
  command->callback([options, &exit_code] { exit_code = ExitCodeOf("schedsim stage test", Test(*options)); });
}

}  // namespace

void AddStage(CLI::App& app, int& exit_code) {
  CLI::App* stage = app.add_subcommand("stage", "Show what kwok's stages do to objects");
  stage->require_subcommand(1);
  stage->footer("`schedsim stage test --help` has examples.");
  AddStageTest(*stage, exit_code);
}

}  // namespace schedsim::tools
