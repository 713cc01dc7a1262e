#include "core/plugins/trimaran/beta_distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace schedsim::plugins {
namespace {

constexpr int kStepsMax = 100'000;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// Stands for a denominator of zero.
constexpr double kTiny = 1e-300;

double NotZero(double value) { return std::abs(value) < kTiny ? kTiny : value; }

// The continued fraction of the incomplete beta function, from the front: each step multiplies with the ratio
// of two approximants. It ends when that changes nothing any more.
double Fraction(double alpha, double beta, double x) {
  double upper = 1;
  double lower = 1 / NotZero(1 - (alpha + beta) * x / (alpha + 1));
  double value = lower;
  const auto step = [&](double coefficient) {
    lower = 1 / NotZero(1 + coefficient * lower);
    upper = NotZero(1 + coefficient / upper);
    const double factor = upper * lower;
    value *= factor;
    return std::abs(factor - 1) > kEpsilon;
  };
  for (int i = 1; i <= kStepsMax; ++i) {
    const double m = i;
    const double even = m * (beta - m) * x / ((alpha + 2 * m - 1) * (alpha + 2 * m));
    const double odd = -(alpha + m) * (alpha + beta + m) * x / ((alpha + 2 * m) * (alpha + 2 * m + 1));
    step(even);
    if (!step(odd)) break;
  }
  return value;
}

}  // namespace

double RegularizedIncompleteBeta(double alpha, double beta, double x) {
  // In logarithms, as both parts may be far from 1.
  const double front = std::exp(std::lgamma(alpha + beta) - std::lgamma(alpha) - std::lgamma(beta) +
                                alpha * std::log(x) + beta * std::log1p(-x));
  // The fraction converges fast on one side of the mean; the other side follows from symmetry.
  if (x < (alpha + 1) / (alpha + beta + 2)) return front * Fraction(alpha, beta, x) / alpha;
  return 1 - front * Fraction(beta, alpha, 1 - x) / beta;
}

double BetaDistribution::DistributionFunction(double x) const {
  if (alpha <= 0 || beta <= 0) return 0;
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double probability = RegularizedIncompleteBeta(alpha, beta, x);
  return probability >= 0 && probability <= 1 ? probability : 0;
}

std::optional<BetaDistribution> FitBeta(double mean, double deviation) {
  // By the second moment, as there: the variance may come back a little different.
  const double second = deviation * deviation + mean * mean;
  const double variance = second - mean * mean;
  if (mean < 0 || mean > 1 || variance < 0 || variance >= mean * (1 - mean)) return std::nullopt;
  const double scale = std::max(mean * (1 - mean) / variance - 1, std::numeric_limits<double>::denorm_min());
  return BetaDistribution{.alpha = mean * scale, .beta = (1 - mean) * scale};
}

}  // namespace schedsim::plugins
