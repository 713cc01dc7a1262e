// The beta distribution, as far as LowRiskOverCommitment needs it.
#ifndef SCHEDSIM_CORE_PLUGINS_TRIMARAN_BETA_DISTRIBUTION_H_
#define SCHEDSIM_CORE_PLUGINS_TRIMARAN_BETA_DISTRIBUTION_H_

#include <optional>

namespace schedsim::plugins {

struct BetaDistribution {
  double alpha = 1;
  double beta = 1;

  // The probability of a value up to `x`, which is 0 to 1.
  double DistributionFunction(double x) const;
};

// The one of this mean and standard deviation, both 0 to 1; absent: there is none.
// Source: scheduler-plugins (903da7d), pkg/trimaran/lowriskovercommitment/beta.go, MatchMoments.
std::optional<BetaDistribution> FitBeta(double mean, double deviation);

// The incomplete beta function of alpha and beta up to `x`, divided by the complete one; by its continued
// fraction, with a relative error of some 10^-14. alpha and beta are above 0, `x` is between 0 and 1.
double RegularizedIncompleteBeta(double alpha, double beta, double x);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_TRIMARAN_BETA_DISTRIBUTION_H_
