// The functions that templates of workloads may call.
#ifndef SCHEDSIM_SIM_TEMPLATES_GO_TEMPLATE_FUNCTIONS_H_
#define SCHEDSIM_SIM_TEMPLATES_GO_TEMPLATE_FUNCTIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/templates/go_value.h"

namespace schedsim::sim {

// Whether there is a function of that name: those that scheduler_perf adds (AddInt, DivideInt, Mod, JSON and
// so on), and of Go's own all but call, html, js, printf, println, slice and urlquery.
// Source: kubernetes v1.37, test/integration/scheduler_perf/operations.go, getTemplateFuncs, and go1.26,
// text/template/funcs.go.
bool IsGoTemplateFunction(absl::string_view name);

// All of them, sorted, for messages.
std::vector<std::string> GoTemplateFunctionNames();

// InvalidArgument, without a place, for what makes the real one fail: a wrong number of arguments, text that
// is no number, types that cannot be compared, a division by zero.
absl::StatusOr<GoValue> CallGoTemplateFunction(absl::string_view name, const std::vector<GoValue>& arguments);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_TEMPLATES_GO_TEMPLATE_FUNCTIONS_H_
