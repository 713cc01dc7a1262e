// schedsim why: tells from a trace what happened to one pod.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "sim/record/trace_reader.h"
#include "sim/report/pod_story.h"
#include "sim/report/pod_story_text.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

struct WhyOptions {
  std::string pod;
  std::string name_space;
  std::string trace;
  std::string test_case;
  std::string output;
};

absl::Status Why(const WhyOptions& options) {
  std::string pod;
  ASSIGN_OR_RETURN(pod, PodIn(options.name_space, options.pod));
  sim::StoryTeller teller(pod);
  RETURN_IF_ERROR(
      sim::ReadTrace(options.trace, options.test_case, [&](absl::string_view record, int64_t line_number) {
        return teller.Add(record, absl::StrCat(options.trace, ":", line_number));
      }));
  absl::StatusOr<sim::PodStory> story = teller.Finish();
  if (!story.ok()) {
    const absl::Status error = WithPodForm(story.status(), options.pod);
    return absl::NotFoundError(absl::StrCat(options.trace, ": ", error.message()));
  }
  return WriteOutput(options.output == "json" ? sim::StoryJson(*story) : ForTerminal(sim::StoryText(*story)));
}

}  // namespace

void AddWhy(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<WhyOptions>();
  CLI::App* command = app.add_subcommand("why", "Tell what happened to one pod, and why it waited");
  AddOption(*command, "POD", options->pod, "", "namespace/name, or a name that only one namespace has",
            ParseText)
      ->required();
  AddOption(*command, "TRACE", options->trace, "",
            "What schedsim run --trace wrote, also .gz, .xz and .zst, or - for standard input; or recorded "
            "traces of the real scheduler",
            ParsePath)
      ->required();
  AddNamespace(*command, options->name_space);
  AddOption(*command, "--case", options->test_case, "NAME", "Which one of a file of recorded traces",
            ParseText);
  AddChoice(*command, "-o,--output", options->output, {"text", "json"}, "The format");
  command->footer(
      "Prints attempts with the reasons by count of nodes, moves in the queue with their causes,\n"
      "nominations, victims and the binding, in order of virtual time; then where the pod stands and what\n"
      "could wake it. One attempt node by node, and what would help: schedsim explain.\n"
      "Exit codes: 0 printed, 2 bad usage, bad input, no such pod, or output that cannot be written.\n\n"
      "Examples:\n"
      "  schedsim run -f cluster.yaml --trace out.jsonl --trace-level full\n"
      "  schedsim why default/web-0 out.jsonl\n"
      "  schedsim why web-0 out.jsonl.gz --output json\n"
      "  schedsim why default/pod-12 tests/conformance/traces-1.37/queue.jsonl.gz --case queue-3");
  command->callback([options, &exit_code] { exit_code = ExitCodeOf("schedsim why", Why(*options)); });
}

}  // namespace schedsim::tools
