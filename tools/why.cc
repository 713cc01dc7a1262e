// schedsim why: tells from a trace what happened to one pod.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "sim/record/trace_reader.h"
#include "sim/report/pod_story.h"
#include "sim/report/pod_story_text.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

struct WhyOptions {
  std::string pod;
  std::string trace;
  std::string test_case;
  std::string output = "text";
};

absl::Status Why(const WhyOptions& options) {
  sim::StoryTeller teller(options.pod);
  RETURN_IF_ERROR(
      sim::ReadTrace(options.trace, options.test_case, [&](absl::string_view record, int64_t line_number) {
        return teller.Add(record, absl::StrCat(options.trace, ":", line_number));
      }));
  absl::StatusOr<sim::PodStory> story = teller.Finish();
  if (!story.ok()) return absl::NotFoundError(absl::StrCat(options.trace, ": ", story.status().message()));
  const std::string text = options.output == "json" ? sim::StoryJson(*story) : sim::StoryText(*story);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return absl::OkStatus();
}

}  // namespace

void AddWhy(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<WhyOptions>();
  CLI::App* command = app.add_subcommand("why", "Tell what happened to one pod, and why it waited");
  command->add_option("POD", options->pod, "namespace/name, or a name that only one namespace has")
      ->required();
  command
      ->add_option(
          "TRACE", options->trace,
          "What schedsim run --trace wrote, also .gz and .xz, or - for standard input; or recorded traces of "
          "the real scheduler")
      ->required();
  command->add_option("--case", options->test_case, "Which one of a file of recorded traces");
  command->add_option("--output", options->output, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->footer(
      "Prints attempts with the reasons by count of nodes, moves in the queue with their causes, "
      "nominations,\n"
      "victims and the binding, in order of virtual time; then where the pod stands and what could wake "
      "it.\n\n"
      "Examples:\n"
      "  schedsim run -f cluster.yaml --trace out.jsonl; schedsim why default/web-0 out.jsonl\n"
      "  schedsim why web-0 out.jsonl.gz --output json\n"
      "  schedsim why default/pod-12 tests/conformance/traces-1.37/queue.jsonl.gz --case queue-3");
  command->callback([options, &exit_code] {
    const absl::Status status = Why(*options);
    if (!status.ok()) std::fprintf(stderr, "schedsim why: %s\n", std::string(status.message()).c_str());
    exit_code = status.ok() ? kDone : kBadInput;
  });
}

}  // namespace schedsim::tools
