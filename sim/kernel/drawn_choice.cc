#include "sim/kernel/drawn_choice.h"

#include <numeric>

#include "core/base/shuffle.h"

namespace schedsim::sim {

DrawnChoice::DrawnChoice(const Rng& rng)
    : order_(rng.Fork("ties/order")),
      ending_(rng.Fork("ties/ending")),
      wake_(rng.Fork("ties/wake")),
      late_(rng.Fork("ties/late")),
      interrupted_(rng.Fork("ties/interrupted")) {}

std::optional<size_t> DrawnChoice::Choose(Kind /*kind*/, const framework::PodInfo& /*pod*/,
                                          int32_t /*attempts*/,
                                          absl::Span<const absl::string_view> /*nodes*/) {
  return std::nullopt;
}

std::vector<size_t> DrawnChoice::Order(const framework::PodInfo& /*pod*/, int32_t /*attempts*/,
                                       absl::Span<const absl::string_view> nodes) {
  std::vector<size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Shuffle(order_, order);
  return order;
}

bool DrawnChoice::Binds(absl::string_view /*claim*/, absl::string_view /*volume*/) const { return false; }

size_t DrawnChoice::ChooseEnding(absl::Span<const api::PodPtr> pods) {
  return static_cast<size_t>(ending_.Below(static_cast<int64_t>(pods.size())));
}

// After all other events of the instant, or after none to three of them.
int DrawnChoice::ChooseWake(absl::Time /*now*/) {
  constexpr int64_t kWakes = 5;
  return static_cast<int>(wake_.Below(kWakes)) - 1;
}

bool DrawnChoice::ChooseLate(absl::Time /*now*/, bool /*woken*/) { return late_.Below(2) == 0; }

bool DrawnChoice::ChooseInterrupted(absl::Time /*now*/) { return interrupted_.Below(2) == 0; }

}  // namespace schedsim::sim
