// When objects arrive in a cluster that is open: by chance, in bursts, by the time of day, or as recorded.
#ifndef SCHEDSIM_SIM_SCENARIO_ARRIVAL_PROCESS_H_
#define SCHEDSIM_SIM_SCENARIO_ARRIVAL_PROCESS_H_

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/rng.h"
#include "sim/kernel/latency.h"
#include "sim/templates/go_value.h"

namespace schedsim::sim {

// How many arrive in a time, exactly: thousandths of an arrival a day.
class ArrivalRate {
 public:
  ArrivalRate() = default;

  // Reads `2/s`, `0.5/m`, `10/h` or `3/d`: up to three digits behind the point, at most 1000000/s.
  // InvalidArgument, naming the text and what was expected.
  static absl::StatusOr<ArrivalRate> Parse(absl::string_view text);

  // Unit: thousandths a day.
  int64_t milli_per_day() const { return milli_per_day_; }
  // From one arrival to the next on average, cut to whole nanoseconds; the rate is not zero.
  absl::Duration MeanGap() const;

 private:
  int64_t milli_per_day_ = 0;
};

// One object after the other, with gaps that are drawn: a Poisson process, where these are exponential.
struct Renewals {
  Latency gap;
};
// Several at once; the first ones come at the beginning.
struct Bursts {
  Latency gap;
  // How many come with a burst: all numbers from min to max are equally likely.
  int64_t size_min = 1;
  int64_t size_max = 1;
};
// A Poisson process whose rate follows the time: linear between the points, and around the end of the period.
struct Diurnal {
  struct Point {
    absl::Duration at;  // Since the begin of a period, the first of which begins at virtual zero.
    ArrivalRate rate;
  };
  absl::Duration period = absl::Hours(24);
  std::vector<Point> points;  // In order; at least one rate is not zero.

  // Unit: thousandths a day, cut to whole ones. `since_zero` is not negative.
  int64_t RateAt(absl::Duration since_zero) const;
  ArrivalRate MaxRate() const;
};
// Rows of a file, in order of time.
struct RecordedArrivals {
  struct Row {
    absl::Duration at;  // Since the begin.
    std::optional<absl::Duration> lifetime;
    GoValue::Map fields;  // The other columns.
  };
  std::vector<Row> rows;
};

using ArrivalProcess = std::variant<Renewals, Bursts, Diurnal, RecordedArrivals>;

// The next time at which something arrives.
struct NextArrival {
  absl::Duration at;  // Since virtual zero.
  int64_t count = 1;
  const RecordedArrivals::Row* row = nullptr;  // Of the process; nullptr: it has none.
};

// Draws the arrivals of a process one after the other, in whole numbers: the same ones on every machine.
class ArrivalSequence {
 public:
  // `process` must outlive it. `begin`: since virtual zero.
  ArrivalSequence(const ArrivalProcess& process, absl::Duration begin, Rng rng)
      : process_(process), begin_(begin), last_(begin), rng_(rng) {}

  // absent: there are no more. None comes less than a microsecond after the one before, other than rows.
  std::optional<NextArrival> Next();

 private:
  std::optional<NextArrival> Next(const Renewals& process);
  std::optional<NextArrival> Next(const Bursts& process);
  std::optional<NextArrival> Next(const Diurnal& process);
  std::optional<NextArrival> Next(const RecordedArrivals& process);
  void Advance(absl::Duration gap);

  const ArrivalProcess& process_;
  const absl::Duration begin_;
  absl::Duration last_;
  int64_t drawn_ = 0;
  Rng rng_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCENARIO_ARRIVAL_PROCESS_H_
