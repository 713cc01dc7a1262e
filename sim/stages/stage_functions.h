// What templates and expressions of stages may call.
#ifndef SCHEDSIM_SIM_STAGES_STAGE_FUNCTIONS_H_
#define SCHEDSIM_SIM_STAGES_STAGE_FUNCTIONS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/cel/cel_functions.h"
#include "sim/templates/go_template_functions.h"

namespace schedsim::sim {

// Answers what templates ask of the cluster: Now, StartTime, Version, NodeIP, NodeName, NodePort, NodeIPWith,
// NodeIPsWith, PodIP, PodIPWith and PodIPsWith.
class StageEnvironment {
 public:
  virtual ~StageEnvironment() = default;
  // `function` is one of these. InvalidArgument: arguments of a wrong type.
  virtual GoResult Call(absl::string_view function, const GoArguments& arguments) = 0;
};

// Go's functions, sprig's, kwok's own (Quote, YAML, NodeConditions) and those of `environment`. All arguments
// must outlive the functions. Source: kwok v0.8.0, pkg/utils/gotpl and pkg/kwok/controllers.
GoTemplateFunctions StageFunctions(StageEnvironment& environment, const Clock& clock, Rng& rng);

// The same for reading templates, whose functions are not called then.
const GoTemplateFunctions& KnownStageFunctions();

// What CEL in stages may call: the standard functions, Now, Rand, SinceSecond and UnixSecond. The arguments
// must outlive the functions. Source: kwok v0.8.0, pkg/utils/cel.
cel::CelFunctions StageCelFunctions(const Clock& clock, Rng& rng);
const cel::CelFunctions& KnownStageCelFunctions();

// The five conditions of a node that kwok reports, with `type`, `status`, `reason` and `message`.
GoValue NodeConditions();

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_STAGES_STAGE_FUNCTIONS_H_
