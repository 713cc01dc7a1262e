// Schedules of CronJobs.
#ifndef SCHEDSIM_SIM_CLUSTER_CRON_SCHEDULE_H_
#define SCHEDSIM_SIM_CLUSTER_CRON_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace schedsim::sim {

// The time zone of this name in the IANA's database, as the machine has it (tzdata). InvalidArgument, in the
// words of the API server, where there is none. Source: kubernetes v1.37, pkg/apis/batch/validation,
// validateTimeZone.
absl::StatusOr<absl::TimeZone> FindTimeZone(const std::string& name);

// When something is due: five fields (minute, hour, day of month, month, day of week), `@hourly` and the
// like, or `@every 90m`. Source: robfig/cron v3, parser.go and spec.go.
class CronSchedule {
 public:
  // The fields are those of clocks in `zone`. InvalidArgument for what the API server would refuse.
  static absl::StatusOr<CronSchedule> Parse(absl::string_view text,
                                            absl::TimeZone zone = absl::UTCTimeZone());

  // The first time after `time`; the infinite future where there is none within five years. Where clocks are
  // put forward, what is due in the hour that is left out is not due on that day; where they are put back,
  // what is due in the hour that comes twice is due twice.
  absl::Time Next(absl::Time time) const;
  // The last time that is after `after` and not after `now`; absent: there is none.
  std::optional<absl::Time> LastUntil(absl::Time after, absl::Time now) const;

 private:
  bool IsDay(absl::CivilDay day) const;
  // These go on to the next time whose month, day, hour or minute fits, and return whether that is in the
  // next larger unit, so that all has to be looked at again. `begun`: whether the smaller units are at their
  // begin.
  bool FindMonth(absl::Time& time, bool& begun) const;
  bool FindDay(absl::Time& time, bool& begun) const;
  bool FindHour(absl::Time& time, bool& begun) const;
  bool FindMinute(absl::Time& time) const;
  absl::CivilSecond ClockAt(absl::Time time) const { return absl::ToCivilSecond(time, zone_); }
  absl::Time TimeOf(absl::CivilSecond clock) const;

  // A bit for each value.
  uint64_t minutes_ = 0;
  uint64_t hours_ = 0;
  uint64_t days_of_month_ = 0;
  uint64_t months_ = 0;
  uint64_t days_of_week_ = 0;
  // Whether a field is `*`: then the other one of the two kinds of days decides alone.
  bool any_day_of_month_ = false;
  bool any_day_of_week_ = false;
  absl::TimeZone zone_;
  // Of `@every`; zero: the fields count.
  absl::Duration period_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_CRON_SCHEDULE_H_
