// The scoring function of those plugins whose arguments have a shape.
#ifndef SCHEDSIM_CORE_PLUGINS_BROKEN_LINEAR_FUNCTION_H_
#define SCHEDSIM_CORE_PLUGINS_BROKEN_LINEAR_FUNCTION_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "core/api/scheduler_config.h"
#include "core/base/wrapping.h"
#include "core/framework/plugin.h"

namespace schedsim::plugins {

// Goes through the points of a shape by straight lines, and is flat before the first and after the last one.
// Source: kubernetes v1.37, plugins/helper/shape_score.go, BuildBrokenLinearFunction.
class BrokenLinearFunction {
 public:
  // 0 everywhere where the shape has no points.
  explicit BrokenLinearFunction(std::vector<api::UtilizationShapePoint> shape) : shape_(std::move(shape)) {}

  // The score, 0 to 100, for what a node has and what would be taken of it.
  int64_t ScoreOf(int64_t requested, int64_t capacity) const {
    constexpr int64_t kMaxUtilization = 100;
    if (capacity == 0 || requested > capacity) return At(kMaxUtilization);
    return At(WrappingDivide(WrappingMultiply(requested, kMaxUtilization), capacity));
  }

 private:
  // The points have scores of 0 to 10.
  static constexpr int64_t kScorePerPoint = framework::kMaxNodeScore / 10;

  int64_t At(int64_t utilization) const {
    for (size_t i = 0; i < shape_.size(); ++i) {
      if (utilization > shape_[i].utilization) continue;
      const int64_t score = shape_[i].score * kScorePerPoint;
      if (i == 0) return score;
      const api::UtilizationShapePoint& before = shape_[i - 1];
      const int64_t score_before = before.score * kScorePerPoint;
      return score_before + (score - score_before) * (utilization - before.utilization) /
                                (shape_[i].utilization - before.utilization);
    }
    return shape_.empty() ? 0 : shape_.back().score * kScorePerPoint;
  }

  std::vector<api::UtilizationShapePoint> shape_;
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_BROKEN_LINEAR_FUNCTION_H_
