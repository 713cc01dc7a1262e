#include "core/plugins/normalize_score.h"

#include <algorithm>

#include "core/base/processors.h"
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

}  // namespace schedsim::plugins
