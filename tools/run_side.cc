#include "tools/run_side.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/options.h"

namespace schedsim::tools {

bool IsEmpty(const RunSide& side) {
  return side.run.empty() && side.files.empty() && !side.scheduler.config.has_value() &&
         !side.scheduler.kubernetes_version.has_value() && !side.scheduler.feature_gates.has_value() &&
         side.scheduler.recorder.empty();
}

void AddRunSide(CLI::App& command, const std::string& name, RunSide& side) {
  const std::string prefix = absl::StrCat("--", name == "A" ? "a" : "b", "-");
  AddOption(command, prefix + "config", side.scheduler.config, "FILE",
            absl::StrCat("The configuration of ", name, " alone"), ParsePath);
  AddOption(command, prefix + "version", side.scheduler.kubernetes_version, "VERSION",
            absl::StrCat("The Kubernetes of ", name, " alone, such as 1.35"), ParseText);
  AddOption(command, prefix + "gates", side.scheduler.feature_gates, "GATES",
            absl::StrCat("The feature gates of ", name, " alone"), ParseText);
  AddRecorder(command, prefix + "recorder", side.scheduler.recorder);
  AddTexts(command, prefix + "file", side.files, "FILE",
           absl::StrCat("What ", name, " alone has beside --filename (-f); repeatable"), ParsePath);
}

sim::RunRequest RequestOf(const RunSide& side, sim::RunRequest shared) {
  shared.scenario = side.run;
  shared.files.insert(shared.files.end(), side.files.begin(), side.files.end());
  if (side.scheduler.config.has_value()) shared.scheduler.config = side.scheduler.config;
  if (side.scheduler.kubernetes_version.has_value())
    shared.scheduler.kubernetes_version = side.scheduler.kubernetes_version;
  if (side.scheduler.feature_gates.has_value()) shared.scheduler.feature_gates = side.scheduler.feature_gates;
  if (!side.scheduler.recorder.empty()) shared.scheduler.recorder = side.scheduler.recorder;
  return shared;
}

std::string LabelOf(const RunSide& side, const sim::RunRequest& request) {
  std::vector<std::string> parts;
  if (!side.run.empty()) parts.push_back(side.run);
  for (const std::string& file : side.files) parts.push_back(absl::StrCat("with ", file));
  const sim::SchedulerChoice& scheduler = request.scheduler;
  if (scheduler.kubernetes_version.has_value())
    parts.push_back(absl::StrCat("Kubernetes ", *scheduler.kubernetes_version));
  if (scheduler.config.has_value()) parts.push_back(absl::StrCat("configuration ", *scheduler.config));
  if (scheduler.feature_gates.has_value()) parts.push_back(*scheduler.feature_gates);
  if (!scheduler.recorder.empty()) parts.push_back(absl::StrCat("decided by ", scheduler.recorder));
  return parts.empty() ? "as it is" : absl::StrJoin(parts, ", ");
}

}  // namespace schedsim::tools
