#include "sim/plan/other_scheduler_limits.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "sim/run/other_schedulers.h"
#include "sim/stages/stage.h"

namespace schedsim::sim {
namespace {

bool HasPodStages(const SimulationOptions& options) {
  return options.stages != nullptr &&
         std::any_of(options.stages->begin(), options.stages->end(),
                     [](const Stage& stage) { return stage.kind == "Pod" && stage.api_version == "v1"; });
}

}  // namespace

absl::Status CheckOtherSchedulers(const RunRequest& request, const Plan& plan) {
  const SimulationOptions& options = plan.simulation;
  if (options.other_schedulers.empty()) return absl::OkStatus();
  const std::string& place = options.other_schedulers.front().place;
  const auto refuse = [&place](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(place, ": ", what));
  };
  if (!request.takes_other_schedulers)
    return refuse("expected none here: only schedsim run and schedsim test take several schedulers");
  const std::pair<bool, absl::string_view> limits[] = {
      {plan.recording != nullptr, "a recording, or an audit log, has its schedulers' decisions already"},
      {!request.scheduler.recorder.empty(), "--recorder: is one scheduler"},
      {options.autoscaler != nullptr, "an autoscaler, which knows one scheduler only"},
      {request.check_wakeups, "--check-wakeups: looks into one scheduler only"},
      {request.counters, "--counters: counts what one scheduler does"},
      {HasPodStages(options),
       "stages of pods, which stand for kubelets: here kubelets refuse pods that nodes have no room for"},
  };
  for (const auto& [is_there, what] : limits)
    if (is_there) return refuse(absl::StrCat("does not go with ", what));
  RETURN_IF_ERROR(CheckSchedulerNames(options.config_file, options.config, options.other_schedulers));
  const auto refuse_extenders = [&place](const std::string& file,
                                         const codec::LoadedSchedulerConfig& config) {
    return RefuseExtenders(absl::StrCat(place, ": ", file.empty() ? "" : absl::StrCat(file, ": ")),
                           config.config);
  };
  RETURN_IF_ERROR(refuse_extenders(options.config_file, options.config));
  for (const OtherScheduler& other : options.other_schedulers)
    RETURN_IF_ERROR(refuse_extenders(other.file, other.config));
  return absl::OkStatus();
}

}  // namespace schedsim::sim
