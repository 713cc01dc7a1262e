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

// The least and the highest of some scores.
struct ScoreRange {
  int64_t least = 0;
  int64_t most = 0;
};
// There must be a score.
ScoreRange RangeOf(absl::Span<const int64_t> scores);

// From the place of a score between the least and the highest to 0 to 100, in whole numbers that wrap around;
// `reverse` turns them around. All become 0 where they are alike. There must be a score.
void SpreadScores(bool reverse, absl::Span<int64_t> scores);

// The following are fast forms of what plugins do with each score, for numbers up to this.
inline constexpr int64_t kFastScoreMax = int64_t{1} << 43;

// From the place of a score between least and most to 0 to 100: 100 * ((score - least) / (most - least)), in
// this order in floating point, cut to a whole number. `most` is above `least`, by kFastScoreMax at most.
void ScaleBetween(const ScoreRange& range, absl::Span<int64_t> scores);
// 100 * (most + least - score) / most, cut to a whole number. All are in 0 to kFastScoreMax; `most` is not 0.
void ScaleFewerIsBetter(const ScoreRange& range, absl::Span<int64_t> scores);
// As std::round. Returns false, and `scores` means nothing, unless all sums are in 0 to kFastScoreMax.
// Shape: `scores[i]` belongs to `sums[i]`.
bool RoundScores(absl::Span<const double> sums, absl::Span<int64_t> scores);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_NORMALIZE_SCORE_H_
