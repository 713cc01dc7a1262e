// The only source of time.
#ifndef SCHEDSIM_CORE_BASE_CLOCK_H_
#define SCHEDSIM_CORE_BASE_CLOCK_H_

#include "absl/time/time.h"

namespace schedsim {

// A clock that its owner advances; in a simulation that is the event loop and nobody else.
class Clock {
 public:
  virtual ~Clock() = default;

  // The virtual time. It never goes back.
  virtual absl::Time Now() const = 0;
};

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_CLOCK_H_
