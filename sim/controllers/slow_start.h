// How controllers make many pods at once.
#ifndef SCHEDSIM_SIM_CONTROLLERS_SLOW_START_H_
#define SCHEDSIM_SIM_CONTROLLERS_SLOW_START_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/rng.h"
#include "sim/kernel/latency.h"

namespace schedsim::sim {

// Calls of the API server in batches of 1, 2, 4 and so on, each of which begins when all calls of the one
// before have answered. The batch in which a call fails is the last one, so that few calls fail in vain.
// Source: kubernetes v1.37, pkg/controller/replicaset/replica_set.go, slowStartBatch.
class SlowStart {
 public:
  // Begins with a batch of one.
  void Restart() { *this = SlowStart(); }

  // Takes the outcome of a call. How long after it the next one is made; absent: none is made, since one of
  // the batch has failed. `latency`: what a call takes until it has answered, drawn from `rng` for each
  // batch.
  std::optional<absl::Duration> Next(const absl::Status& status, const Latency& latency, Rng& rng) {
    error_.Update(status);
    if (--left_ > 0) return kCallInterval;
    if (!error_.ok()) return std::nullopt;
    size_ *= 2;
    left_ = size_;
    return std::max(kCallInterval, latency.Draw(rng));
  }

  // Of the first call of the batch that has failed.
  const absl::Status& error() const { return error_; }

 private:
  // Calls of a batch are under way together, and the API server takes them one after the other.
  static constexpr absl::Duration kCallInterval = absl::Milliseconds(1);

  int64_t size_ = 1;
  int64_t left_ = 1;
  absl::Status error_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_SLOW_START_H_
