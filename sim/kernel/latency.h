// How long things take in virtual time.
#ifndef SCHEDSIM_SIM_KERNEL_LATENCY_H_
#define SCHEDSIM_SIM_KERNEL_LATENCY_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "core/base/rng.h"

namespace schedsim::sim {

// A duration that is always the same, or drawn each time anew from a distribution. Parameters are whole
// nanoseconds from 0 to kMax; draws are cut to that range, too.
class Latency {
 public:
  enum class Distribution : uint8_t { kConstant, kUniform, kExponential, kNormal, kLogNormal };
  static constexpr absl::Duration kMax = absl::Hours(24);

  Latency() = default;
  // Implicit, since a plain duration is a constant latency.
  Latency(absl::Duration value) : first_(value) {}  // NOLINT(google-explicit-constructor)
  // Every nanosecond from `min` to `max` is equally likely; `max` is not below `min`.
  static Latency Uniform(absl::Duration min, absl::Duration max);
  static Latency Exponential(absl::Duration mean);
  // Cut at zero.
  static Latency Normal(absl::Duration mean, absl::Duration stddev);
  // Half of all draws are below `median`, 99 in a hundred below `p99`; 0 < median <= p99.
  static Latency LogNormal(absl::Duration median, absl::Duration p99);

  // The p99 of the lognormal that has this median and this 90th percentile, at most kMax; 0 < median <= p90.
  static absl::Duration LogNormalP99(absl::Duration median, absl::Duration p90);

  Distribution distribution() const { return distribution_; }
  bool IsZero() const { return distribution_ == Distribution::kConstant && first_ == absl::ZeroDuration(); }
  // The same draws from the same stream on every machine. Draws nothing where the latency is constant.
  absl::Duration Draw(Rng& rng) const;

  // "1ms", "uniform 1ms to 5ms", "exponential with mean 4ms", "normal with mean 4ms and stddev 1ms",
  // "lognormal with median 4ms and p99 40ms".
  std::string ToString() const;

 private:
  Latency(Distribution distribution, absl::Duration first, absl::Duration second)
      : distribution_(distribution), first_(first), second_(second) {}

  Distribution distribution_ = Distribution::kConstant;
  // The parameters of the distribution, in the order of its factory.
  absl::Duration first_;
  absl::Duration second_;
};

// How fast a client may call. Source: client-go v0.37, util/flowcontrol/throttle.go, over
// golang.org/x/time/rate: tokens come back continuously, up to `burst`; a call takes one, in order.
struct ClientLimit {
  // Thousandths of a call a second; 0: no limit.
  int64_t milli_qps = 0;
  // At least 1 where there is a limit.
  int64_t burst = 0;
};

// The bucket is full at the start.
class TokenBucket {
 public:
  explicit TokenBucket(const ClientLimit& limit);

  // Takes a token. Returns how long the caller waits for it; `now` never goes back.
  absl::Duration Take(absl::Time now);

 private:
  const bool limited_;
  absl::Duration interval_;                 // From one token to the next.
  absl::Duration burst_;                    // How long an empty bucket takes to fill.
  absl::Time full_ = absl::InfinitePast();  // When the bucket is full again.
};

// All zero but the scheduling cycle, as in the recorded runs of the real scheduler.
struct LatencyModel {
  // From one pop to the next, at least: how long the scheduler is busy with a pod. What the cycle does
  // takes effect when the pod is popped.
  Latency scheduling_cycle = absl::Milliseconds(1);
  // From the end of a scheduling cycle to the start of its binding cycle.
  Latency binding;
  // From a change in the API server to the scheduler's informers. A later event never comes before an
  // earlier one of the same kind.
  Latency informer;
  // From a call of the scheduler's client to its effect and answer, once it has its token.
  Latency api_call;
  // How long a deleted pod that is bound stays, with a deletionTimestamp; zero: it goes at once.
  Latency pod_termination;
  // Of the scheduler's client. Events have a client of their own, and cost nothing.
  ClientLimit client;

  // For reports: "scheduling cycle 1ms, binding 0, informers 0, API calls 0, pod termination 0, no
  // client limit".
  std::string ToString() const;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_KERNEL_LATENCY_H_
