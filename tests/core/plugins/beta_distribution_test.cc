#include "core/plugins/trimaran/beta_distribution.h"

#include <cmath>

#include "gtest/gtest.h"

namespace schedsim::plugins {
namespace {

// Of whole parameters: the probability of at least `alpha` successes in alpha + beta - 1 trials.
double ByBinomials(int alpha, int beta, double x) {
  const int trials = alpha + beta - 1;
  double sum = 0;
  for (int i = alpha; i <= trials; ++i) {
    double term = 1;
    for (int j = 1; j <= i; ++j) term = term * (trials - i + j) / j;
    sum += term * std::pow(x, i) * std::pow(1 - x, trials - i);
  }
  return sum;
}

TEST(BetaDistributionTest, WholeParametersAgreeWithBinomials) {
  for (const int alpha : {1, 2, 3, 12, 20, 50}) {
    for (const int beta : {1, 2, 7, 12, 50}) {
      for (const double x : {0.001, 0.01, 0.25, 0.5, 0.75, 0.9, 0.999}) {
        const double expected = ByBinomials(alpha, beta, x);
        EXPECT_NEAR(RegularizedIncompleteBeta(alpha, beta, x), expected, 1e-12 + 1e-11 * expected)
            << alpha << " " << beta << " " << x;
      }
    }
  }
}

TEST(BetaDistributionTest, OtherParametersAgreeWithClosedForms) {
  // I_x(1/2, 1/2) = 2 / pi * asin(sqrt(x)); I_x(a, 1) = x^a; I_x(1, b) = 1 - (1 - x)^b.
  for (const double x : {0.02, 0.3, 0.5, 0.8, 0.98}) {
    EXPECT_NEAR(RegularizedIncompleteBeta(0.5, 0.5, x), 2 / M_PI * std::asin(std::sqrt(x)), 1e-13);
    EXPECT_NEAR(RegularizedIncompleteBeta(0.3, 1, x), std::pow(x, 0.3), 1e-13);
    EXPECT_NEAR(RegularizedIncompleteBeta(1, 2.7, x), 1 - std::pow(1 - x, 2.7), 1e-13);
  }
}

TEST(BetaDistributionTest, TheEndsAreCertain) {
  const BetaDistribution distribution = {.alpha = 2, .beta = 3};
  EXPECT_EQ(distribution.DistributionFunction(0), 0);
  EXPECT_EQ(distribution.DistributionFunction(1), 1);
}

TEST(BetaDistributionTest, IsFittedByItsMoments) {
  // k = 0.25 / 0.05 - 1 = 4.
  const auto fit = FitBeta(0.5, std::sqrt(0.05));
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->alpha, 2, 1e-12);
  EXPECT_NEAR(fit->beta, 2, 1e-12);
  EXPECT_FALSE(FitBeta(0.5, 0.5).has_value());
  EXPECT_FALSE(FitBeta(1, 0.1).has_value());
}

}  // namespace
}  // namespace schedsim::plugins
