#include "core/plugins/normalize_score.h"

#include <algorithm>

#include "core/base/processors.h"
#include "core/base/whole_numbers.h"
#include "core/base/wrapping.h"
#include "core/framework/plugin.h"

namespace schedsim::plugins {

SCHEDSIM_FOR_EACH_PROCESSOR void DefaultNormalizeScore(bool reverse, absl::Span<int64_t> scores) {
  // Most often all are 0, which all bits together show at once.
  int64_t bits = 0;
  for (int64_t score : scores) bits |= score;
  // Negative scores do not raise the maximum, as upstream takes all scores for non-negative.
  int64_t max = 0;
  if (bits != 0) {
    for (int64_t score : scores) max = std::max(max, score);
  }
  if (max == 0) {
    if (reverse) std::fill(scores.begin(), scores.end(), framework::kMaxNodeScore);
    return;
  }
  for (int64_t& score : scores) {
    score = WrappingMultiply(framework::kMaxNodeScore, score) / max;
    if (reverse) score = WrappingSubtract(framework::kMaxNodeScore, score);
  }
}

SCHEDSIM_FOR_EACH_PROCESSOR ScoreRange RangeOf(absl::Span<const int64_t> scores) {
  int64_t least = scores[0];
  int64_t most = scores[0];
  for (const int64_t score : scores) least = std::min(least, score);
  for (const int64_t score : scores) most = std::max(most, score);
  return {.least = least, .most = most};
}

void SpreadScores(bool reverse, absl::Span<int64_t> scores) {
  const ScoreRange range = RangeOf(scores);
  const int64_t width = WrappingSubtract(range.most, range.least);
  if (width == 0) {
    std::fill(scores.begin(), scores.end(), framework::kMinNodeScore);
    return;
  }
  for (int64_t& score : scores) {
    const int64_t above = WrappingMultiply(WrappingSubtract(score, range.least), framework::kMaxNodeScore);
    score = WrappingDivide(above, width);
    if (reverse) score = framework::kMaxNodeScore - score;
  }
}

SCHEDSIM_FOR_EACH_PROCESSOR void ScaleBetween(const ScoreRange& range, absl::Span<int64_t> scores) {
  const int64_t least = range.least;
  const double width = static_cast<double>(range.most - least);
  for (int64_t& score : scores) {
    const double share = ToDouble(score - least) / width;
    score = ToInteger(Truncate(static_cast<double>(framework::kMaxNodeScore) * share));
  }
}

// A multiplication gives what a division would: see Share in resource_columns.cc, with the same bounds,
// since no score is below the least.
SCHEDSIM_FOR_EACH_PROCESSOR void ScaleFewerIsBetter(const ScoreRange& range, absl::Span<int64_t> scores) {
  const int64_t ends = range.most + range.least;
  const double inverse = 1 / static_cast<double>(range.most);
  for (int64_t& score : scores) {
    const double share = ToDouble(ends - score) * static_cast<double>(framework::kMaxNodeScore);
    score = ToInteger(Truncate((share + 0.5) * inverse));
  }
}

SCHEDSIM_FOR_EACH_PROCESSOR bool RoundScores(absl::Span<const double> sums, absl::Span<int64_t> scores) {
  uint64_t outside = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    const double sum = sums[i];
    // Not a number is outside, too.
    outside |= sum >= 0 && sum <= static_cast<double>(kFastScoreMax) ? 0 : 1;
    scores[i] = ToInteger(RoundHalfUp(sum));
  }
  return outside == 0;
}

}  // namespace schedsim::plugins
