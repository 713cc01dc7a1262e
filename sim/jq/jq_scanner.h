// The words of a jq program.
#ifndef SCHEDSIM_SIM_JQ_JQ_SCANNER_H_
#define SCHEDSIM_SIM_JQ_JQ_SCANNER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace schedsim::sim {

// `program` as libjq understands it: gojq takes `.a.[0]` for `.a[0]`. InvalidArgument for what is not allowed
// here, see JqProgram::Parse: all words but those that look at nothing but the object and come to an end, `*`
// and `%`, long numbers as indices, and what would make much more of an object than it is.
absl::StatusOr<std::string> ForLibjq(absl::string_view program);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_JQ_JQ_SCANNER_H_
