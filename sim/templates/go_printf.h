// Go's fmt.Sprintf.
#ifndef SCHEDSIM_SIM_TEMPLATES_GO_PRINTF_H_
#define SCHEDSIM_SIM_TEMPLATES_GO_PRINTF_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/templates/go_value.h"

namespace schedsim::sim {

// `format` with the verbs v, s, q, d, f, e, g, t, x and X, the flags `-`, `+` and `0`, width and precision.
// InvalidArgument where Go writes of a bad verb or of a missing or extra argument into the text.
absl::StatusOr<GoValue> FormatGo(absl::string_view format, const std::vector<GoValue>& arguments);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_TEMPLATES_GO_PRINTF_H_
