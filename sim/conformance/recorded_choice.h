// The choices of a recorded run that were free.
#ifndef SCHEDSIM_SIM_CONFORMANCE_RECORDED_CHOICE_H_
#define SCHEDSIM_SIM_CONFORMANCE_RECORDED_CHOICE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/api/pod.h"
#include "sim/kernel/interleaving.h"
#include "sim/record/record_reader.h"

namespace schedsim::sim {

// Follows a recorded trace: of equally good nodes, the one that the real scheduler took. A pod that was
// created again under its name has several records of one attempt number; any of them will do.
class RecordedChoice : public InterleavingChoice {
 public:
  explicit RecordedChoice(const Records& trace);

  std::optional<size_t> Choose(Kind kind, const framework::PodInfo& pod, int32_t attempts,
                               absl::Span<const absl::string_view> nodes) override;

  // Where the record has all statuses, their order; otherwise the node that was taken comes first.
  std::vector<size_t> Order(const framework::PodInfo& pod, int32_t attempts,
                            absl::Span<const absl::string_view> nodes) override;
  // The one whose attempt comes first in the record. Of pods that join their group, one that the record has
  // held back for want of others: it was not the last.
  size_t ChoosePop(absl::Span<const framework::QueuedPodInfo* const> pods) override;
  // The one whose failure comes first in the record.
  size_t ChooseRejected(absl::Span<const framework::PodInfo* const> pods) override;
  bool Binds(absl::string_view claim, absl::string_view volume) const override;

  // The real one's timers of one instant fire in random order.
  size_t ChooseEnding(absl::Span<const api::PodPtr> pods) override;
  // The record does not say, so what to try is given: `waits` for the first times that the scheduler is
  // woken, in order; all events for the others.
  void set_waits(std::vector<int> waits) { waits_ = std::move(waits); }
  int ChooseWake(absl::Time now) override;
  // To try again: the cycles, by their time, that are not as usual.
  enum class Unusual : uint8_t { kOtherLateness, kInterrupted };
  void set_unusual(std::map<absl::Time, Unusual> unusual) { unusual_ = std::move(unusual); }
  bool ChooseLate(absl::Time now, bool woken) override;
  bool ChooseInterrupted(absl::Time now) override { return IsUnusual(now, Unusual::kInterrupted); }

  // Free choices of the record that were none of ours, as text that names pod, attempt and nodes, in the
  // order of the run. From the first difference on, they mean little.
  const std::vector<std::string>& outside() const { return outside_; }
  // When scheduling cycles ran.
  const std::set<absl::Time>& cycles() const { return cycles_; }
  // When the scheduler was woken, in order.
  const std::vector<absl::Time>& wakes() const { return wakes_; }

 private:
  bool IsUnusual(absl::Time now, Unusual how) const;
  size_t ChooseJoining(absl::Span<const framework::QueuedPodInfo* const> pods);

  struct Attempt {
    std::string host;
    std::string nominated;
    std::vector<std::string> looked_at;  // Only where PreFilter narrowed the search to several nodes.
  };
  const std::vector<Attempt>* AttemptsOf(const framework::PodInfo& pod, int32_t attempts) const;

  std::map<std::pair<std::string, int64_t>, std::vector<Attempt>> attempts_;  // By pod and number.
  std::map<std::pair<std::string, int64_t>, size_t> places_;  // By pod and number: where the first is.
  // By pod: whether it was held back, each time that it joined its group. What was used is gone.
  std::map<std::string, std::deque<bool>> joins_;
  std::set<std::pair<std::string, std::string>> bindings_;  // Claim and volume.
  std::vector<std::string> outside_;
  std::vector<int> waits_;
  std::vector<absl::Time> wakes_;
  std::map<absl::Time, Unusual> unusual_;
  std::set<absl::Time> cycles_;
  std::vector<std::string> failures_;  // Pods whose bindings fail, in that order; what was used is "".
  std::vector<std::string> endings_;   // Pods in the order in which they are gone; what was used is "".
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONFORMANCE_RECORDED_CHOICE_H_
