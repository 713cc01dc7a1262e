// Schedules of CronJobs.
#ifndef SCHEDSIM_SIM_CONTROLLERS_CRON_SCHEDULE_H_
#define SCHEDSIM_SIM_CONTROLLERS_CRON_SCHEDULE_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace schedsim::sim {

// When something is due: five fields (minute, hour, day of month, month, day of week), `@hourly` and the
// like, or `@every 90m`. Times are UTC. Source: robfig/cron v3, parser.go and spec.go.
class CronSchedule {
 public:
  // InvalidArgument for what the API server would refuse.
  static absl::StatusOr<CronSchedule> Parse(absl::string_view text);

  // The first time after `time`; the infinite future where there is none within five years.
  absl::Time Next(absl::Time time) const;
  // The last time that is after `after` and not after `now`; absent: there is none.
  std::optional<absl::Time> LastUntil(absl::Time after, absl::Time now) const;

 private:
  bool IsDay(absl::CivilDay day) const;

  // A bit for each value.
  uint64_t minutes_ = 0;
  uint64_t hours_ = 0;
  uint64_t days_of_month_ = 0;
  uint64_t months_ = 0;
  uint64_t days_of_week_ = 0;
  // Whether a field is `*`: then the other one of the two kinds of days decides alone.
  bool any_day_of_month_ = false;
  bool any_day_of_week_ = false;
  // Of `@every`; zero: the fields count.
  absl::Duration period_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_CRON_SCHEDULE_H_
