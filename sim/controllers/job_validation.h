// What the API server refuses of a Job.
#ifndef SCHEDSIM_SIM_CONTROLLERS_JOB_VALIDATION_H_
#define SCHEDSIM_SIM_CONTROLLERS_JOB_VALIDATION_H_

#include <cstddef>

#include "absl/status/status.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// How much of a Job's text its errors show.
inline constexpr size_t kShownJobTextBytesMax = 40;

// InvalidArgument, with the field in front, for the first of the fields of `root`, a Job, that no Job has:
// modes and policies, limits of Indexed jobs, the restart policy of its pods. The rules of podFailurePolicy
// and successPolicy are read, and checked, in job_policy.h. Source: kubernetes v1.37,
// pkg/apis/batch/validation/validation.go, validateJobSpec.
absl::Status CheckJob(const codec::Value& root);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_JOB_VALIDATION_H_
