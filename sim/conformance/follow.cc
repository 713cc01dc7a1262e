#include "sim/conformance/follow.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/base/status_macros.h"
#include "sim/conformance/compare.h"
#include "sim/conformance/recorded_choice.h"

namespace schedsim::sim {
namespace {

// More events than this are not at one instant in a case.
constexpr int kMaxWait = 16;
// Times of a trace are whole microseconds, and ours may be shorter.
constexpr double kSameInstantSeconds = 2e-6;

struct Attempted {
  CaseRun run;
  std::vector<absl::Time> wakes;
  double agrees_until_seconds = 0;
};

absl::StatusOr<Attempted> Attempt(const Case& test_case, const RecordedTrace& record, bool reference,
                                  std::vector<int> waits) {
  RecordedChoice choice(record);
  choice.set_waits(std::move(waits));
  Attempted attempted;
  ASSIGN_OR_RETURN(attempted.run, RunCase(test_case, reference, &choice));
  attempted.wakes = choice.wakes();
  return attempted;
}

// Goes through the times that the scheduler was woken, and where the run differs from the record at that
// instant, tries after how many events it popped.
absl::StatusOr<CaseRun> TryWaits(const Case& test_case, const RecordedTrace& record, bool reference, Attempted best) {
  ASSIGN_OR_RETURN(best.agrees_until_seconds, AgreesUntil(record.records, best.run.records));
  std::vector<int> waits;
  while (std::isfinite(best.agrees_until_seconds) && waits.size() < best.wakes.size()) {
    const double woken_seconds = absl::ToDoubleSeconds(best.wakes[waits.size()] - best.run.zero);
    waits.push_back(-1);
    if (best.agrees_until_seconds < woken_seconds - kSameInstantSeconds) break;
    if (best.agrees_until_seconds > woken_seconds + kSameInstantSeconds) continue;
    const std::vector<std::string> all_first = best.run.records;
    std::vector<int> tried = waits;
    for (tried.back() = 0; tried.back() < kMaxWait; ++tried.back()) {
      Attempted other;
      ASSIGN_OR_RETURN(other, Attempt(test_case, record, reference, tried));
      if (other.run.records == all_first) break;
      ASSIGN_OR_RETURN(other.agrees_until_seconds, AgreesUntil(record.records, other.run.records));
      if (other.agrees_until_seconds <= best.agrees_until_seconds) continue;
      best = std::move(other);
      waits = tried;
    }
  }
  return std::move(best.run);
}

}  // namespace

absl::StatusOr<FollowedRun> RunFollowing(const Case& test_case, const RecordedTrace& record, bool reference) {
  Attempted attempted;
  ASSIGN_OR_RETURN(attempted, Attempt(test_case, record, reference, {}));
  FollowedRun followed;
  ASSIGN_OR_RETURN(followed.difference, FirstDifference(record.records, attempted.run.records));
  if (followed.difference.has_value() && !attempted.wakes.empty()) {
    ASSIGN_OR_RETURN(followed.run, TryWaits(test_case, record, reference, std::move(attempted)));
    ASSIGN_OR_RETURN(followed.difference, FirstDifference(record.records, followed.run.records));
  } else {
    followed.run = std::move(attempted.run);
  }
  return followed;
}

}  // namespace schedsim::sim
