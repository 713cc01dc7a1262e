// What the API server refuses in Jobs and CronJobs.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_JOB_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_JOB_VALIDATION_H_

#include "core/codec/text/value.h"
#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// Each adds what is wrong with the spec of one kind, in the order of the API server.
// Source: kubernetes v1.37, pkg/apis/batch/validation/validation.go, ValidateJobCreate and
// ValidateCronJobCreate.
void CheckJob(const codec::Value& root, ValidationErrors& errors);
void CheckCronJob(const codec::Value& root, ValidationErrors& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_JOB_VALIDATION_H_
