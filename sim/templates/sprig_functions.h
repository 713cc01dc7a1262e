// The functions of sprig, a library that many programs give to their templates.
#ifndef SCHEDSIM_SIM_TEMPLATES_SPRIG_FUNCTIONS_H_
#define SCHEDSIM_SIM_TEMPLATES_SPRIG_FUNCTIONS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/rng.h"
#include "sim/templates/go_template_functions.h"

namespace schedsim::sim {

// Adds those for text, numbers, lists, dictionaries, types, times and regular expressions. What changes a
// dictionary in place (set, unset, merge), cryptography and the environment are left out. `now` is the time
// of `clock`, and what sprig leaves to chance is drawn from `rng`; both must outlive the functions.
// Source: sprig v3.3.0, functions.go.
void AddSprigFunctions(const Clock& clock, Rng& rng, GoTemplateFunctions& functions);

// `time` in UTC by a layout of Go's, "2006-01-02T15:04:05Z07:00".
std::string FormatGoTime(absl::string_view layout, absl::Time time);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_TEMPLATES_SPRIG_FUNCTIONS_H_
