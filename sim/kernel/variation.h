// What a run leaves to chance beyond what it always does: what a real cluster draws at each start, and calls
// and watches that fail. docs/seeds.md explains it.
#ifndef SCHEDSIM_SIM_KERNEL_VARIATION_H_
#define SCHEDSIM_SIM_KERNEL_VARIATION_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/rng.h"

namespace schedsim::sim {

// Dimensions that are drawn by the seed. Without them a run goes as it always does.
struct Variation {
  // The order in which the scheduler's informers list what is there when it starts.
  bool start = false;
  // How the workers that filter nodes side by side overtake each other.
  bool workers = false;
  // Which of several threads goes first at one instant.
  bool ties = false;

  bool any() const { return start || workers || ties; }
  friend bool operator==(const Variation&, const Variation&) = default;
};

// "start,workers,ties", in this order; "none" where there are none.
std::string VariationText(const Variation& variation);
// Reads names with commas between them, or "none". InvalidArgument for anything else.
absl::StatusOr<Variation> ParseVariation(absl::string_view text);

// What goes wrong between the API server and those who use it.
enum class Fault : uint8_t {
  kBind,      // A binding runs into a timeout, and nothing is stored.
  kAnswer,    // A binding is stored, but its answer is lost: the scheduler is told of a timeout.
  kStatus,    // The scheduler's patch of a pod's status runs into a timeout.
  kEvict,     // The scheduler's deletion of a victim runs into a timeout.
  kConflict,  // An update, of a controller or of the scheduler's volumes, meets another version than it read.
  kWatch,     // A watch of the scheduler breaks, and what it selects is listed anew some time later.
};
inline constexpr size_t kFaultCount = 6;

// "bind", "answer" and so on.
absl::string_view FaultName(Fault fault);

// How often each of them strikes: once in so many calls, or of a watch, in so many of its events.
struct FaultRates {
  // Shape: by fault. Unit: millionths, from 0 (never) to 1'000'000 (always).
  std::array<int64_t, kFaultCount> millionths = {};

  bool any() const;
  friend bool operator==(const FaultRates&, const FaultRates&) = default;
};

// "bind=0.05,conflict=0.02"; "none" where there are none.
std::string FaultsText(const FaultRates& rates);
// Reads the same. A rate is a decimal from 0 to 1 with at most six digits behind the point. InvalidArgument
// for anything else.
absl::StatusOr<FaultRates> ParseFaults(absl::string_view text);

// Draws the faults of a run.
class Faults {
 public:
  Faults(const FaultRates& rates, const Rng& rng);

  // Whether it strikes this time. Draws where its rate is above zero.
  bool Strikes(Fault fault);
  // How often it struck.
  int64_t count(Fault fault) const { return streams_[static_cast<size_t>(fault)].count; }

  // A controller looks at an object between these two. EndLook returns whether one of its updates met a
  // conflict.
  void BeginLook();
  bool EndLook();
  // Whether an update meets a conflict: those of a look alone may.
  bool MeetsConflict();

 private:
  // A stream for each, so that one rate does not shift what the others draw.
  struct Stream {
    int64_t millionths = 0;
    Rng rng;
    int64_t count = 0;
  };
  std::array<Stream, kFaultCount> streams_;
  bool in_look_ = false;
  bool met_conflict_ = false;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_KERNEL_VARIATION_H_
