// Work that is done later, in virtual time.
#ifndef SCHEDSIM_CORE_BASE_EXECUTOR_H_
#define SCHEDSIM_CORE_BASE_EXECUTOR_H_

#include <cstdint>
#include <functional>

#include "absl/time/time.h"

namespace schedsim {

// Runs work after a delay, never before Post returns. Work of one time runs in the order of posting.
class Executor {
 public:
  virtual ~Executor() = default;
  // `delay` must not be negative. Returns what Cancel takes.
  virtual uint64_t Post(absl::Duration delay, std::function<void()> work) = 0;
  // The same for a deadline that mostly is cancelled: by itself it is no reason for a run to go on.
  virtual uint64_t PostDeadline(absl::Duration delay, std::function<void()> work) = 0;
  // Takes work away; nothing happens when it was run already.
  virtual void Cancel(uint64_t id) = 0;
  // Runs work at this time as a thread of its own would: after its caller, and after the informers have
  // heard of what the caller changed.
  virtual void Spawn(std::function<void()> work) = 0;
};

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_EXECUTOR_H_
