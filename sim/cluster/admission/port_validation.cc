#include "sim/cluster/admission/port_validation.h"

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace schedsim::sim {

std::vector<std::string> PortNameErrors(absl::string_view name) {
  constexpr size_t kBytesMax = 15;
  std::vector<std::string> errors;
  if (name.size() > kBytesMax)
    errors.push_back(absl::StrCat("must be no more than ", kBytesMax, " characters"));
  const auto may_be = [](char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-'; };
  if (name.empty() || !absl::c_all_of(name, may_be))
    errors.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!absl::c_any_of(name, absl::ascii_islower))
    errors.emplace_back("must contain at least one letter (a-z)");
  if (absl::StrContains(name, "--")) errors.emplace_back("must not contain consecutive hyphens");
  if (absl::StartsWith(name, "-") || absl::EndsWith(name, "-"))
    errors.emplace_back("must not begin or end with a hyphen");
  return errors;
}

void CheckPortNumber(const std::string& field, int64_t port, ValidationErrors& errors) {
  constexpr int64_t kMax = 65535;
  if (port >= 1 && port <= kMax) return;
  errors.Invalid(field, port, absl::StrCat("must be between 1 and ", kMax, ", inclusive"));
}

void CheckPortNumberOrName(const FieldAt& port, ValidationErrors& errors) {
  if (!port.is_present() || !port.value->is_string())
    return CheckPortNumber(port.path, port.Number().value_or(0), errors);
  for (const std::string& why : PortNameErrors(port.Text())) errors.Invalid(port.path, port.Text(), why);
}

}  // namespace schedsim::sim
