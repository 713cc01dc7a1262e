// What stages may do to an object, as kwok's own tests of stages write it.
#ifndef SCHEDSIM_SIM_STAGES_STAGE_PREVIEW_H_
#define SCHEDSIM_SIM_STAGES_STAGE_PREVIEW_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/codec/text/value.h"
#include "sim/stages/stage.h"

namespace schedsim::sim {

// A YAML document with the stages that may be chosen for `object`, with weight and delay in nanoseconds, and
// what each does. It is always 2006-01-02T15:04:05Z, and what differs from cluster to cluster is a mark:
// `<Now>`, `<0 of PodIPsWith("node", false, "", "a", "b")>`. Patches are those of objects without a type.
// Errors: as PossibleStages and StageActions have them.
// Source: kwok v0.8.0, kustomize/stage/stage_test.go and pkg/tools/stage.
absl::StatusOr<std::string> PreviewStages(const std::vector<Stage>& stages, const codec::Value& object);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_STAGES_STAGE_PREVIEW_H_
