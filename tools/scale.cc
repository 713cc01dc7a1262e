// schedsim scale: prints the objects that `kwokctl scale` would make.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "core/base/status_macros.h"
#include "core/codec/text/writer.h"
#include "sim/kernel/event_loop.h"
#include "sim/stages/scale.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

// What templates take for now: virtual zero of a run whose input has no times, 2000-01-01T00:00:00Z.
constexpr int64_t kNow = 946'684'800;

struct ScaleOptions {
  std::string kind;
  std::string file;
  sim::ScaleRequest request;
};

absl::Status Scale(const ScaleOptions& options) {
  absl::StatusOr<sim::ScaleResource> resource = sim::FindScaleResource(options.kind, options.file);
  if (!resource.ok()) return resource.status();
  const absl::StatusOr<sim::Scaler> scaler = sim::Scaler::Make(*std::move(resource), options.request);
  if (!scaler.ok()) return scaler.status();
  const sim::EventLoop clock(absl::FromUnixSeconds(kNow));
  std::string out;
  for (int64_t serial = 0; serial < options.request.replicas; ++serial) {
    std::shared_ptr<codec::Document> document;
    ASSIGN_OR_RETURN(document, scaler->Object(serial, clock));
    if (serial > 0) out += "---\n";
    codec::AppendYaml(document->root, out);
  }
  return WriteOutput(out);
}

}  // namespace

void AddScale(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ScaleOptions>();
  CLI::App* command = app.add_subcommand("scale", "Print the objects that kwokctl scale makes");
  AddOption(*command, "KIND", options->kind, "",
            "The name of a KwokctlResource: node and pod are built in, others come from --config", ParseText)
      ->required();
  AddOption(*command, "NAME", options->request.name, "", "The name of the set; default: that of the resource",
            ParseText);
  AddOption(*command, "--replicas", options->request.replicas, "NUMBER", "How many objects", ParseCount)
      ->default_str("1");
  AddOption(*command, "--serial-length", options->request.serial_length, "NUMBER",
            "Digits of the number in an object's name; 0: none, for a single object", ParseCount)
      ->default_str("6");
  AddOption(*command, "-n,--namespace", options->request.name_space, "NAME",
            "Where the objects are; default: what the template says", ParseText);
  AddTexts(*command, "--param", options->request.params, "JQ",
           "Changes the parameters, as '.allocatable.cpu=64'; repeatable", ParseText);
  AddOption(*command, "-c,--config", options->file, "FILE", "A file with KwokctlResources", ParsePath);
  command->footer(
      "Prints YAML documents for `schedsim run -f -`.\n"
      "Exit codes: 0 printed, 2 bad usage, bad input, or output that cannot be written.\n\n"
      "Examples:\n"
      "  schedsim scale node --replicas 100 --param '.allocatable.cpu=64' > nodes.yaml\n"
      "  schedsim scale pod web --replicas 20 --param '.containers[0].resources.requests.cpu=\"500m\"'");
  command->callback([options, &exit_code] { exit_code = ExitCodeOf("schedsim scale", Scale(*options)); });
}

}  // namespace schedsim::tools
