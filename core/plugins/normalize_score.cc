#include "core/plugins/normalize_score.h"

#include <algorithm>

#include "core/base/wrapping.h"
#include "core/framework/plugin.h"

namespace schedsim::plugins {

void DefaultNormalizeScore(bool reverse, absl::Span<int64_t> scores) {
  // Negative scores do not raise the maximum, as upstream takes all scores for non-negative.
  int64_t max = 0;
  for (int64_t score : scores) max = std::max(max, score);
  for (int64_t& score : scores) {
    if (max > 0) score = WrappingMultiply(framework::kMaxNodeScore, score) / max;
    if (reverse)
      score = max > 0 ? WrappingSubtract(framework::kMaxNodeScore, score) : framework::kMaxNodeScore;
  }
}

}  // namespace schedsim::plugins
