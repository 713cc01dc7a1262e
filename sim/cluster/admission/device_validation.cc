#include "sim/cluster/admission/device_validation.h"

#include <cstddef>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/cel/device_expression.h"

namespace schedsim::sim {
namespace {

constexpr size_t kRequestsMax = 32;
constexpr size_t kAlternativesMax = 8;
constexpr size_t kSelectorsMax = 32;
constexpr absl::string_view kModes[] = {"All", "ExactCount"};

void CheckSelectors(const FieldAt& selectors, ValidationErrors& errors) {
  if (selectors.size() > kSelectorsMax) errors.TooMany(selectors.path, selectors.size(), kSelectorsMax);
  for (size_t i = 0; i < selectors.size(); ++i) {
    const FieldAt cel = selectors.Item(i).Child("cel");
    if (!cel.is_present()) {
      errors.Required(cel.path, "");
      continue;
    }
    const FieldAt expression = cel.Child("expression");
    const auto compiled = cel::DeviceExpression::Compile(expression.Text());
    // What our evaluator has not is no fault of the claim.
    if (compiled.ok() || absl::IsUnimplemented(compiled.status())) continue;
    errors.Invalid(expression.path, expression.Text(), compiled.status().message());
  }
}

// What requests and subrequests have in common.
void CheckRequestSpec(const FieldAt& spec, ValidationErrors& errors) {
  const FieldAt class_name = spec.Child("deviceClassName");
  if (class_name.Text().empty()) {
    errors.Required(class_name.path, "");
  } else {
    errors.DnsSubdomain(class_name.path, class_name.Text());
  }
  CheckSelectors(spec.Child("selectors"), errors);
  const FieldAt mode = spec.Child("allocationMode");
  const FieldAt count = spec.Child("count");
  // Both have defaults.
  const int64_t number = count.Number().value_or(mode.Text() == "All" ? 0 : 1);
  if (mode.Text() == "All") {
    if (number != 0) errors.Invalid(count.path, number, "must not be specified when allocationMode is 'All'");
  } else if (mode.Text().empty() || mode.Text() == "ExactCount") {
    if (number <= 0) errors.Invalid(count.path, number, "must be greater than zero");
  } else {
    errors.NotSupported(mode.path, mode.Text(), kModes);
  }
}

// The name of a request or subrequest, which is there once.
void CheckName(const FieldAt& owner, std::set<std::string>& names, ValidationErrors& errors) {
  const FieldAt name = owner.Child("name");
  if (name.Text().empty()) {
    errors.Required(name.path, "");
  } else {
    errors.DnsLabel(name.path, name.Text());
  }
  if (!names.insert(name.Text()).second) errors.Duplicate(name.path, name.Text());
}

void CheckRequest(const FieldAt& request, ValidationErrors& errors) {
  const FieldAt alternatives = request.Child("firstAvailable");
  const FieldAt exactly = request.Child("exactly");
  if (alternatives.size() > kAlternativesMax)
    errors.TooMany(alternatives.path, alternatives.size(), kAlternativesMax);
  std::set<std::string> names;
  for (size_t i = 0; i < alternatives.size(); ++i) {
    CheckName(alternatives.Item(i), names, errors);
    CheckRequestSpec(alternatives.Item(i), errors);
  }
  if (exactly.is_present()) CheckRequestSpec(exactly, errors);
  if (alternatives.size() == 0 && !exactly.is_present())
    errors.Required(request.path, "exactly one of `exactly` or `firstAvailable` is required");
  if (alternatives.size() > 0 && exactly.is_present()) {
    errors.InvalidJson(
        request.path, "null",
        "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set");
  }
}

void CheckClaimSpec(const FieldAt& spec, ValidationErrors& errors) {
  const FieldAt requests = spec.Child("devices").Child("requests");
  if (requests.size() > kRequestsMax) errors.TooMany(requests.path, requests.size(), kRequestsMax);
  std::set<std::string> names;
  for (size_t i = 0; i < requests.size(); ++i) {
    CheckName(requests.Item(i), names, errors);
    CheckRequest(requests.Item(i), errors);
  }
}

}  // namespace

void CheckResourceClaim(const codec::Value& root, ValidationErrors& errors) {
  CheckClaimSpec(RootOf(root).Child("spec"), errors);
}

void CheckResourceClaimTemplate(const codec::Value& root, ValidationErrors& errors) {
  CheckClaimSpec(RootOf(root).Child("spec").Child("spec"), errors);
}

void CheckDeviceClass(const codec::Value& root, ValidationErrors& errors) {
  CheckSelectors(RootOf(root).Child("spec").Child("selectors"), errors);
}

}  // namespace schedsim::sim
