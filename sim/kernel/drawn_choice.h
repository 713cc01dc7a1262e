// Takes by the seed what a real cluster leaves to the order of its threads at one instant.
#ifndef SCHEDSIM_SIM_KERNEL_DRAWN_CHOICE_H_
#define SCHEDSIM_SIM_KERNEL_DRAWN_CHOICE_H_

#include "core/base/rng.h"
#include "sim/kernel/interleaving.h"

namespace schedsim::sim {

// Every outcome that is possible is about as likely as any other. Which of equally good nodes is taken stays
// with the scheduler's own streams.
class DrawnChoice final : public InterleavingChoice {
 public:
  explicit DrawnChoice(const Rng& rng);

  std::optional<size_t> Choose(Kind kind, const framework::PodInfo& pod, int32_t attempts,
                               absl::Span<const absl::string_view> nodes) override;
  std::vector<size_t> Order(const framework::PodInfo& pod, int32_t attempts,
                            absl::Span<const absl::string_view> nodes) override;
  bool Binds(absl::string_view claim, absl::string_view volume) const override;
  size_t ChooseEnding(absl::Span<const api::PodPtr> pods) override;
  int ChooseWake(absl::Time now) override;
  bool ChooseLate(absl::Time now, bool woken) override;
  bool ChooseInterrupted(absl::Time now) override;

 private:
  Rng order_;
  Rng ending_;
  Rng wake_;
  Rng late_;
  Rng interrupted_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_KERNEL_DRAWN_CHOICE_H_
