// The words of a jq program.
#ifndef SCHEDSIM_SIM_JQ_JQ_SCANNER_H_
#define SCHEDSIM_SIM_JQ_JQ_SCANNER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace schedsim::sim {

// `program` as libjq understands it: gojq takes `.a.[0]` for `.a[0]`. InvalidArgument for words that are not
// allowed here, see JqProgram::Parse.
absl::StatusOr<std::string> ForLibjq(absl::string_view program);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_JQ_JQ_SCANNER_H_
