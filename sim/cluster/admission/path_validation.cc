#include "sim/cluster/admission/path_validation.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace schedsim::sim {

bool HasBackSteps(absl::string_view path) {
  const std::vector<absl::string_view> parts = absl::StrSplit(path, '/');
  return absl::c_linear_search(parts, "..");
}

void CheckNoBackSteps(const std::string& field, const std::string& text, ValidationErrors& errors) {
  if (HasBackSteps(text)) errors.Invalid(field, text, "must not contain '..'");
}

void CheckDescendingPath(const std::string& field, const std::string& text, ValidationErrors& errors) {
  if (absl::StartsWith(text, "/")) errors.Invalid(field, text, "must be a relative path");
  CheckNoBackSteps(field, text, errors);
}

void CheckNonReservedPath(const std::string& field, const std::string& text, ValidationErrors& errors) {
  CheckDescendingPath(field, text, errors);
  if (absl::StartsWith(text, "..") && !absl::StartsWith(text, "../"))
    errors.Invalid(field, text, "must not start with '..'");
}

}  // namespace schedsim::sim
