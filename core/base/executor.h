// Work that is done later, in virtual time.
#ifndef SCHEDSIM_CORE_BASE_EXECUTOR_H_
#define SCHEDSIM_CORE_BASE_EXECUTOR_H_

#include <functional>

#include "absl/time/time.h"

namespace schedsim {

// Runs work after a delay, never before Post returns. Work of one time runs in the order of posting.
class Executor {
 public:
  virtual ~Executor() = default;
  // `delay` must not be negative.
  virtual void Post(absl::Duration delay, std::function<void()> work) = 0;
  // Runs work at this time as a thread of its own would: after its caller, and after the informers have
  // heard of what the caller changed.
  virtual void Spawn(std::function<void()> work) = 0;
};

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_EXECUTOR_H_
