// What is read of Jobs.
#ifndef SCHEDSIM_SIM_CONTROLLERS_JOB_FIELDS_H_
#define SCHEDSIM_SIM_CONTROLLERS_JOB_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/api/selectors.h"
#include "sim/controllers/job_policy.h"
#include "sim/controllers/workload_fields.h"

namespace schedsim::sim {

struct JobSpec {
  int64_t parallelism = 1;
  // Absent: the first pod that succeeds ends the job.
  std::optional<int64_t> completions;
  int64_t backoff_limit = 6;
  std::optional<int64_t> backoff_limit_per_index;
  std::optional<int64_t> max_failed_indexes;
  std::optional<int64_t> active_deadline_seconds;
  std::optional<int64_t> ttl_seconds_after_finished;
  bool is_indexed = false;
  bool is_suspended = false;
  // Whether pods that are being deleted keep their place until they are gone.
  bool replaces_failed_only = false;
  // Whether another controller looks after it.
  bool is_managed_elsewhere = false;
  // Absent: the API server gives it one by the uid.
  std::optional<api::LabelSelector> selector;
  PodFailurePolicy pod_failure_policy;
  SuccessPolicy success_policy;

  struct Status {
    int64_t active = 0;
    int64_t ready = 0;
    int64_t succeeded = 0;
    int64_t failed = 0;
    int64_t terminating = 0;
    std::optional<absl::Time> start_time;
    std::optional<absl::Time> completion_time;
    Indexes completed_indexes;
    Indexes failed_indexes;
    WorkloadConditions conditions;

    friend bool operator==(const Status&, const Status&) = default;
  };
  Status status;

  // Whether the job is Complete or Failed.
  bool IsFinished() const;
};

// InvalidArgument for what is malformed.
absl::Status ReadJob(const api::Object& object, JobSpec& spec);

// The status as the object's JSON.
std::string JobStatusJson(const JobSpec& spec, const JobSpec::Status& status);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_JOB_FIELDS_H_
