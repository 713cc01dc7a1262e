// The choices of a recorded run that were free.
#ifndef SCHEDSIM_SIM_CONFORMANCE_RECORDED_CHOICE_H_
#define SCHEDSIM_SIM_CONFORMANCE_RECORDED_CHOICE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/api/pod.h"
#include "core/framework/free_choice.h"
#include "sim/conformance/recorded_trace.h"

namespace schedsim::sim {

// Follows a recorded trace: of equally good nodes, the one that the real scheduler took. A pod that was
// created again under its name has several records of one attempt number; any of them will do.
class RecordedChoice : public framework::FreeChoice {
 public:
  explicit RecordedChoice(const RecordedTrace& trace);

  std::optional<size_t> Choose(Kind kind, const framework::PodInfo& pod, int32_t attempts,
                               absl::Span<const absl::string_view> nodes) override;

  bool Binds(absl::string_view claim, absl::string_view volume) const override;

  // Which of the pods, whose termination times end at one instant, is gone first: the real one's timers of
  // one instant fire in random order. The first of `pods` where the record does not say.
  size_t ChooseEnding(absl::Span<const api::PodPtr> pods);

  // As SchedulerActor::Options::choose_wake. The record does not say, so what to try is given: `waits` for the
  // first times that the scheduler is woken, in order; all events for the others.
  void set_waits(std::vector<int> waits) { waits_ = std::move(waits); }
  int ChooseWake(absl::Time now);
  // As SchedulerActor::Options::choose_late and choose_interrupted. To try again: the cycles, by their time, that are
  // not as usual.
  enum class Unusual : uint8_t { kOtherLateness, kInterrupted };
  void set_unusual(std::map<absl::Time, Unusual> unusual) { unusual_ = std::move(unusual); }
  bool ChooseLate(absl::Time now, bool woken);
  bool ChooseInterrupted(absl::Time now) const { return IsUnusual(now, Unusual::kInterrupted); }
  // When scheduling cycles ran.
  const std::set<absl::Time>& cycles() const { return cycles_; }
  // When the scheduler was woken, in order.
  const std::vector<absl::Time>& wakes() const { return wakes_; }

 private:
  bool IsUnusual(absl::Time now, Unusual how) const;

  struct Attempt {
    std::string host;
    std::string nominated;
  };

  std::map<std::pair<std::string, int64_t>, std::vector<Attempt>> attempts_;  // By pod and number.
  std::set<std::pair<std::string, std::string>> bindings_;  // Claim and volume.
  std::vector<int> waits_;
  std::vector<absl::Time> wakes_;
  std::map<absl::Time, Unusual> unusual_;
  std::set<absl::Time> cycles_;
  std::vector<std::string> endings_;  // Pods in the order in which they are gone; what was used is "".
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONFORMANCE_RECORDED_CHOICE_H_
