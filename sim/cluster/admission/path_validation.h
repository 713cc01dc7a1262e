// What the API server refuses in paths of files.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_PATH_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_PATH_VALIDATION_H_

#include <string>

#include "absl/strings/string_view.h"
#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// Whether `..` is a part of the path.
bool HasBackSteps(absl::string_view path);

// Each adds what is wrong with `text` at `field`: a path with back steps; also an absolute one; also one
// whose first part begins with `..`. Source: kubernetes v1.37, pkg/apis/core/validation/validation.go,
// validatePathNoBacksteps, validateLocalDescendingPath, ValidateLocalNonReservedPath.
void CheckNoBackSteps(const std::string& field, const std::string& text, ValidationErrors& errors);
void CheckDescendingPath(const std::string& field, const std::string& text, ValidationErrors& errors);
void CheckNonReservedPath(const std::string& field, const std::string& text, ValidationErrors& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_PATH_VALIDATION_H_
