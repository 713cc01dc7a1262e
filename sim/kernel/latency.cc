#include "sim/kernel/latency.h"

#include <algorithm>
#include <array>

#include "absl/numeric/bits.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/check.h"

// Draws use whole numbers only. Logarithms and powers of the C library differ between machines in the last
// bit, which is enough to turn the order of two events around. Fixed-point numbers have 32 bits behind the
// point here ("Q32"), unless said otherwise.
namespace schedsim::sim {
namespace {

using Wide = unsigned __int128;

constexpr int kFractionBits = 32;
constexpr int64_t kOne = int64_t{1} << kFractionBits;
constexpr int64_t kLn2 = 2'977'044'472;  // ln 2.
constexpr int64_t kP90 = 5'536'202'543;  // The 90th percentile of StandardNormal, 1.2890.
constexpr int64_t kP99 = 9'893'165'000;  // The 99th percentile of StandardNormal, 2.3034.
constexpr int kPowerBits = 62;           // Behind the point in the table of powers.

// floor(sqrt(value)).
constexpr uint64_t SquareRoot(Wide value) {
  uint64_t root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const uint64_t candidate = root | (uint64_t{1} << bit);
    if (Wide{candidate} * candidate <= value) root = candidate;
  }
  return root;
}

// Entry i: 2 to the power of 2^-(i + 1), with kPowerBits behind the point.
constexpr std::array<uint64_t, kFractionBits> MakePowers() {
  std::array<uint64_t, kFractionBits> powers = {};
  uint64_t power = uint64_t{2} << kPowerBits;
  for (uint64_t& entry : powers) {
    power = SquareRoot(Wide{power} << kPowerBits);
    entry = power;
  }
  return powers;
}

constexpr std::array<uint64_t, kFractionBits> kPowers = MakePowers();

// log2(value) in Q32; `value` is not 0. Squaring the mantissa gives one bit of the logarithm after the other.
int64_t Log2(uint64_t value) {
  const int leading = absl::countl_zero(value);
  uint64_t mantissa = value << leading;  // From 1 to 2, with 63 bits behind the point.
  int64_t result = int64_t{63 - leading} << kFractionBits;
  for (int bit = kFractionBits - 1; bit >= 0; --bit) {
    Wide square = (Wide{mantissa} * mantissa) >> 63;
    if (square >> 64 != 0) {
      square >>= 1;
      result |= int64_t{1} << bit;
    }
    mantissa = static_cast<uint64_t>(square);
  }
  return result;
}

constexpr int64_t kNanosecondsMax = int64_t{24} * 3600 * 1'000'000'000;  // Latency::kMax.

// value * 2^exponent, cut at kNanosecondsMax; the exponent is in Q32.
int64_t TimesPowerOfTwo(int64_t value, int64_t exponent) {
  const int64_t whole = exponent >> kFractionBits;
  if (whole < -62 || value == 0) return 0;
  if (whole > 62) return kNanosecondsMax;
  Wide result = static_cast<Wide>(value);
  for (int i = 0; i < kFractionBits; ++i) {
    const bool is_set = ((exponent >> (kFractionBits - 1 - i)) & 1) != 0;
    if (is_set) result = (result * kPowers[static_cast<size_t>(i)]) >> kPowerBits;
  }
  result = whole >= 0 ? result << whole : result >> -whole;
  return result > static_cast<Wide>(kNanosecondsMax) ? kNanosecondsMax : static_cast<int64_t>(result);
}

// Mean 0, variance 1, in Q32: the sum of twelve numbers that are uniform from 0 to 1, less 6. Close to
// normal up to three standard deviations; never beyond six.
int64_t StandardNormal(Rng& rng) {
  int64_t sum = -6 * kOne;
  for (int i = 0; i < 6; ++i) {
    const uint64_t bits = rng.Next();
    sum += static_cast<int64_t>(bits >> kFractionBits) + static_cast<int64_t>(bits & 0xffff'ffffU);
  }
  return sum;
}

int64_t Multiply(int64_t a, int64_t b_q32) {
  return static_cast<int64_t>((static_cast<__int128>(a) * b_q32) >> kFractionBits);
}

int64_t DrawExponential(int64_t mean, Rng& rng) {
  // -ln(u) for u from 2^-64 to 1.
  const uint64_t uniform = std::max<uint64_t>(rng.Next(), 1);
  const int64_t minus_log2 = (int64_t{64} << kFractionBits) - Log2(uniform);
  return Multiply(mean, Multiply(minus_log2, kLn2));
}

int64_t DrawLogNormal(int64_t median, int64_t p99, Rng& rng) {
  const int64_t spread = Log2(static_cast<uint64_t>(p99)) - Log2(static_cast<uint64_t>(median));
  const auto sigma = static_cast<int64_t>((static_cast<__int128>(spread) << kFractionBits) / kP99);
  return TimesPowerOfTwo(median, Multiply(sigma, StandardNormal(rng)));
}

bool IsValid(absl::Duration duration) {
  return duration >= absl::ZeroDuration() && duration <= Latency::kMax;
}

}  // namespace

Latency Latency::Uniform(absl::Duration min, absl::Duration max) {
  CHECK(IsValid(min) && IsValid(max) && min <= max);
  return {Distribution::kUniform, min, max};
}

Latency Latency::Exponential(absl::Duration mean) {
  CHECK(IsValid(mean));
  return {Distribution::kExponential, mean, absl::ZeroDuration()};
}

Latency Latency::Normal(absl::Duration mean, absl::Duration stddev) {
  CHECK(IsValid(mean) && IsValid(stddev));
  return {Distribution::kNormal, mean, stddev};
}

Latency Latency::LogNormal(absl::Duration median, absl::Duration p99) {
  CHECK(IsValid(median) && IsValid(p99) && absl::ZeroDuration() < median && median <= p99);
  return {Distribution::kLogNormal, median, p99};
}

absl::Duration Latency::LogNormalP99(absl::Duration median, absl::Duration p90) {
  CHECK(IsValid(median) && IsValid(p90) && absl::ZeroDuration() < median && median <= p90);
  const int64_t first = absl::ToInt64Nanoseconds(median);
  const int64_t spread =
      Log2(static_cast<uint64_t>(absl::ToInt64Nanoseconds(p90))) - Log2(static_cast<uint64_t>(first));
  const auto exponent = static_cast<int64_t>(static_cast<__int128>(spread) * kP99 / kP90);
  return absl::Nanoseconds(TimesPowerOfTwo(first, exponent));
}

absl::Duration Latency::Draw(Rng& rng) const {
  if (distribution_ == Distribution::kConstant) return first_;
  const int64_t first = absl::ToInt64Nanoseconds(first_);
  const int64_t second = absl::ToInt64Nanoseconds(second_);
  int64_t drawn = 0;
  switch (distribution_) {
    case Distribution::kConstant:
      break;
    case Distribution::kUniform:
      drawn = first + rng.Below(second - first + 1);
      break;
    case Distribution::kExponential:
      drawn = DrawExponential(first, rng);
      break;
    case Distribution::kNormal:
      drawn = first + Multiply(second, StandardNormal(rng));
      break;
    case Distribution::kLogNormal:
      drawn = DrawLogNormal(first, second, rng);
      break;
  }
  return absl::Nanoseconds(std::clamp<int64_t>(drawn, 0, kNanosecondsMax));
}

std::string Latency::ToString() const {
  const std::string first = absl::FormatDuration(first_);
  const std::string second = absl::FormatDuration(second_);
  switch (distribution_) {
    case Distribution::kConstant:
      return first;
    case Distribution::kUniform:
      return absl::StrCat("uniform ", first, " to ", second);
    case Distribution::kExponential:
      return absl::StrCat("exponential with mean ", first);
    case Distribution::kNormal:
      return absl::StrCat("normal with mean ", first, " and stddev ", second);
    case Distribution::kLogNormal:
      break;
  }
  return absl::StrCat("lognormal with median ", first, " and p99 ", second);
}

TokenBucket::TokenBucket(const ClientLimit& limit) : limited_(limit.milli_qps > 0) {
  if (!limited_) return;
  CHECK(limit.burst >= 1);
  interval_ = absl::Seconds(1000) / limit.milli_qps;
  burst_ = interval_ * limit.burst;
}

absl::Duration TokenBucket::Take(absl::Time now) {
  if (!limited_) return absl::ZeroDuration();
  full_ = std::max(full_, now) + interval_;
  return std::max(full_ - burst_ - now, absl::ZeroDuration());
}

std::string LatencyModel::ToString() const {
  std::string limit = "no client limit";
  if (client.milli_qps > 0) {
    const std::string qps = client.milli_qps % 1000 == 0 ? absl::StrCat(client.milli_qps / 1000)
                                                         : absl::StrFormat("%d.%03d", client.milli_qps / 1000,
                                                                           client.milli_qps % 1000);
    limit = absl::StrCat("client limit ", qps, " a second, burst ", client.burst);
  }
  return absl::StrCat("scheduling cycle ", scheduling_cycle.ToString(), ", binding ", binding.ToString(),
                      ", informers ", informer.ToString(), ", API calls ", api_call.ToString(),
                      ", pod termination ", pod_termination.ToString(), ", ", limit);
}

}  // namespace schedsim::sim
