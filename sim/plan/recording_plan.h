// Plans for recordings and audit logs, which are followed or rescheduled.
#ifndef SCHEDSIM_SIM_PLAN_RECORDING_PLAN_H_
#define SCHEDSIM_SIM_PLAN_RECORDING_PLAN_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/plan/plan.h"

namespace schedsim::sim {

// Whether the text, the first argument of a run, is a recording of kwok or an audit log. It is as it was
// afterwards.
bool IsRecordedRun(std::string& text, absl::string_view file);

// The plan for one of both, with its objects. What the request has of options that mean nothing here is
// refused with InvalidArgument; other errors are those of reading.
absl::StatusOr<Plan> MakeRecordingPlan(const RunRequest& request, std::string text, absl::string_view file);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_PLAN_RECORDING_PLAN_H_
