// Which stage comes next for an object, and when.
#ifndef SCHEDSIM_SIM_STAGES_STAGE_CHOICE_H_
#define SCHEDSIM_SIM_STAGES_STAGE_CHOICE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/cel/cel_functions.h"
#include "sim/stages/stage.h"
#include "sim/stages/stage_object.h"

namespace schedsim::sim {

// What expressions need beside the object.
struct StageContext {
  const Clock& clock;
  const cel::CelFunctions& cel_functions;
};

// When a stage that was chosen is played: after `from`, or, where there is a `to`, after a time that is drawn
// from [from, to). Both may be negative, which is at once.
struct DelayRange {
  absl::Duration from;
  std::optional<absl::Duration> to;
};

// One of the stages that may be chosen.
struct StageCandidate {
  const Stage* stage = nullptr;
  // Absent: the expression for it gave none.
  std::optional<int64_t> weight;
};

// Whether the selector matches. InvalidArgument, `STAGE (FILE:LINE): path: what`, for an expression that
// fails.
absl::StatusOr<bool> StageMatches(const Stage& stage, const StageObject& object, const StageContext& context);

// The stages of `stages`, in their order, that are chosen with a chance above zero, of those that match.
// Those of other kinds don't match. Errors: as StageMatches. Source: kwok v0.8.0, pkg/utils/lifecycle.
absl::StatusOr<std::vector<StageCandidate>> PossibleStages(const std::vector<Stage>& stages,
                                                           const StageObject& object,
                                                           const StageContext& context);

// One of them, by weight, and without a draw where there is but one; nullptr: there is none.
const Stage* ChooseStage(const std::vector<StageCandidate>& candidates, Rng& rng);

// Absent: the stage has no delay. An expression that fails counts as zero.
std::optional<DelayRange> DelayOf(const Stage& stage, const StageObject& object, const StageContext& context);

// Zero or more.
absl::Duration DrawDelay(const DelayRange& range, Rng& rng);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_STAGES_STAGE_CHOICE_H_
