// Choices that a real cluster leaves to the order of its threads.
#ifndef SCHEDSIM_SIM_KERNEL_THREAD_CHOICE_H_
#define SCHEDSIM_SIM_KERNEL_THREAD_CHOICE_H_

#include <cstddef>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/api/pod.h"
#include "core/framework/free_choice.h"

namespace schedsim::sim {

// Beside the scheduler's own free choices, those of the threads around it. What is said of each is what
// happens where nobody chooses.
class ThreadChoice : public framework::FreeChoice {
 public:
  // Which of the pods whose termination times end at one instant is gone first: the first one, which was
  // deleted first.
  virtual size_t ChooseEnding(absl::Span<const api::PodPtr> pods) = 0;
  // With two handlers of pods (1.34): after how many more events of the instant a scheduler that is woken
  // now pops: -1, after all of them.
  virtual int ChooseWake(absl::Time now) = 0;
  // Whether the threads that a cycle starts come before what informers hear of its calls: `woken`, that is,
  // where the scheduler was woken for the cycle.
  virtual bool ChooseLate(absl::Time now, bool woken) = 0;
  // Whether informers hear of each call of such a thread before its next one: no, they hear of them in the
  // end.
  virtual bool ChooseInterrupted(absl::Time now) = 0;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_KERNEL_THREAD_CHOICE_H_
