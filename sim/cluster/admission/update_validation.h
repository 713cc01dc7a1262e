// What the API server lets nobody change of objects that are there.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_UPDATE_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_UPDATE_VALIDATION_H_

#include "absl/strings/string_view.h"
#include "core/codec/text/value.h"
#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// Adds what `after`, an object of this group and kind, changes of `before` though it is fixed. Pods have
// rules of their own, see ValidatePodUpdate. What Go would print of two specs and what differs between them
// is left out. Source: kubernetes v1.37,
// pkg/apis/{apps,batch,core,node,scheduling,storage}/validation/validation.go, the functions whose names end
// in Update.
void CheckUpdate(absl::string_view group, absl::string_view kind, const codec::Value& before,
                 const codec::Value& after, ValidationErrors& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_UPDATE_VALIDATION_H_
