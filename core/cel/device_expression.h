// Expressions that select devices.
#ifndef SCHEDSIM_CORE_CEL_DEVICE_EXPRESSION_H_
#define SCHEDSIM_CORE_CEL_DEVICE_EXPRESSION_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/devices.h"
#include "core/cel/cel_program.h"
#include "core/cel/cel_value.h"

namespace schedsim::cel {

// Source of this file: dynamic-resource-allocation v0.37, cel/compile.go.

// The domain and the identifier of a qualified name; one without a domain belongs to the driver's.
std::pair<absl::string_view, absl::string_view> ParseQualifiedName(absl::string_view name,
                                                                   absl::string_view driver);

// What expressions see as `device`. InvalidArgument: an attribute has no value, or one that is no version.
CelResult DeviceValue(absl::string_view driver, const api::Device& device);

// A compiled selector. Copies share the tree.
class DeviceExpression {
 public:
  // InvalidArgument: what the real library says is wrong with it. Unimplemented: it needs what we don't have,
  // which the message names.
  static absl::StatusOr<DeviceExpression> Compile(absl::string_view text);

  // `device`: as DeviceValue makes it. Errors: those of CelProgram::Evaluate, and a result that is no bool.
  absl::StatusOr<bool> Matches(const CelValue& device) const;

 private:
  explicit DeviceExpression(CelProgram program) : program_(std::move(program)) {}

  CelProgram program_;
};

}  // namespace schedsim::cel

#endif  // SCHEDSIM_CORE_CEL_DEVICE_EXPRESSION_H_
