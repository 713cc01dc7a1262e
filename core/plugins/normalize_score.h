// The normalisation that several scoring plugins share.
#ifndef SCHEDSIM_CORE_PLUGINS_NORMALIZE_SCORE_H_
#define SCHEDSIM_CORE_PLUGINS_NORMALIZE_SCORE_H_

#include <cstdint>

#include "absl/types/span.h"

namespace schedsim::plugins {

// Scales scores to 0 to 100 by their maximum; `reverse` turns them around. All zero: all stay zero, or
// become 100 when reversed.
// Source: kubernetes v1.37, plugins/helper/normalize_score.go, DefaultNormalizeScore.
void DefaultNormalizeScore(bool reverse, absl::Span<int64_t> scores);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_NORMALIZE_SCORE_H_
