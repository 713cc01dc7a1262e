// What the API server refuses in numbers and names of ports.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_PORT_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_PORT_VALIDATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// What is wrong with the name of a port; empty: nothing.
// Source: apimachinery v0.37, pkg/util/validation/validation.go, IsValidPortName.
std::vector<std::string> PortNameErrors(absl::string_view name);

// Adds what is wrong with a number, and with what is either; one that is absent is 0.
// Source: as above, IsValidPortNum; kubernetes v1.37, pkg/apis/core/validation/validation.go,
// ValidatePortNumOrName.
void CheckPortNumber(const std::string& field, int64_t port, ValidationErrors& errors);
void CheckPortNumberOrName(const FieldAt& port, ValidationErrors& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_PORT_VALIDATION_H_
