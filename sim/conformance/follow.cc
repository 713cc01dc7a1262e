#include "sim/conformance/follow.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/status_macros.h"
#include "sim/conformance/compare.h"
#include "sim/conformance/recorded_choice.h"
#include "sim/record/records.h"

namespace schedsim::sim {
namespace {

// More events than this are not at one instant in a case.
constexpr int kMaxWait = 16;
// Times of a trace are whole microseconds, and ours may be shorter.
constexpr absl::Duration kSameInstant = absl::Microseconds(2);

// What a record does not tell: as in RecordedChoice.
struct Choices {
  std::vector<int> waits;
  std::map<absl::Time, RecordedChoice::Unusual> unusual;
};

struct Attempt {
  Choices choices;
  CaseRun run;
  Records records;      // Of the run.
  std::string outside;  // As in FollowedRun.
  std::vector<absl::Time> wakes;
  std::set<absl::Time> cycles;
  // When it first differs from the record; InfiniteFuture: never, as far as attempts and queues go.
  absl::Time agrees_until;
};

class Follower {
 public:
  Follower(const Case& test_case, const Records& record, const RecordedExtenders& extenders, bool reference)
      : case_(test_case), record_(record), extenders_(extenders), reference_(reference) {}

  absl::StatusOr<Attempt> Run(Choices choices) const {
    RecordedChoice choice(record_);
    choice.set_waits(choices.waits);
    choice.set_unusual(choices.unusual);
    Attempt attempt;
    attempt.choices = std::move(choices);
    absl::StatusOr<CaseRun> run = RunCase(case_, reference_, &choice, &extenders_);
    if (!run.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(case_.place, ": case ", case_.name, ": ", run.status().message()));
    }
    attempt.run = *std::move(run);
    ASSIGN_OR_RETURN(attempt.records, ReadRecords(attempt.run.records, "our own trace"));
    if (!choice.outside().empty()) attempt.outside = choice.outside().front();
    attempt.wakes = choice.wakes();
    attempt.cycles = choice.cycles();
    return attempt;
  }

  void Measure(Attempt& attempt) const {
    // An infinite duration makes an infinite time.
    attempt.agrees_until = attempt.run.zero + AgreesUntil(record_, attempt.records);
  }

  // Goes through the times that the scheduler was woken, and where the run differs from the record at that
  // instant, tries after how many events it popped.
  absl::Status TryWaits(Attempt& best) const {
    for (size_t i = 0; i < best.wakes.size(); ++i) {
      const absl::Time woken = best.wakes[i];
      best.choices.waits.resize(i + 1, -1);
      if (best.agrees_until < woken - kSameInstant) return absl::OkStatus();
      if (best.agrees_until > woken + kSameInstant) continue;
      const std::vector<std::string> all_first = best.run.records;
      Choices tried = best.choices;
      for (tried.waits[i] = 0; tried.waits[i] < kMaxWait; ++tried.waits[i]) {
        Attempt other;
        ASSIGN_OR_RETURN(other, Run(tried));
        if (other.run.records == all_first) break;
        Measure(other);
        if (other.agrees_until > best.agrees_until) best = std::move(other);
      }
    }
    return absl::OkStatus();
  }

  // Tries whether the cycle at the first difference had its evictions at other moments than usual.
  absl::Status TryUnusual(Attempt& best) const {
    while (best.agrees_until != absl::InfiniteFuture()) {
      const absl::Time before = best.agrees_until;
      const auto cycle = best.cycles.lower_bound(before - kSameInstant);
      if (cycle == best.cycles.end() || *cycle > before + kSameInstant) return absl::OkStatus();
      Choices tried = best.choices;
      const absl::Time time = *cycle;
      for (const auto how :
           {RecordedChoice::Unusual::kOtherLateness, RecordedChoice::Unusual::kInterrupted}) {
        tried.unusual[time] = how;
        Attempt other;
        ASSIGN_OR_RETURN(other, Run(tried));
        Measure(other);
        if (other.agrees_until > best.agrees_until) best = std::move(other);
      }
      if (best.agrees_until == before) return absl::OkStatus();
    }
    return absl::OkStatus();
  }

 private:
  const Case& case_;
  const Records& record_;
  const RecordedExtenders& extenders_;
  const bool reference_;
};

// The case with its steps when the recorder took them. Some recorders cut the times off where others round
// them: then a number such as 4.0055 becomes a nanosecond less, which is too little for a pod that is popped
// a millisecond after it to be popped with the step at 4.0065. The record says so by a whole microsecond.
Case AsRecorded(Case test_case, const Records& record) {
  for (const record::Record& one : record.list) {
    const auto* step = one.As<record::Step>();
    if (step == nullptr || step->index < 0 || step->index >= std::ssize(test_case.steps)) continue;
    absl::Duration& at = test_case.steps[static_cast<size_t>(step->index)].at;
    const absl::Duration less = at - one.time;
    if (less > absl::Nanoseconds(500) && less <= absl::Microseconds(1)) at -= absl::Nanoseconds(1);
  }
  return test_case;
}

}  // namespace

absl::StatusOr<FollowedRun> RunFollowing(const Case& given_case, const RecordedTrace& trace, bool reference) {
  ASSIGN_OR_RETURN(const Records record, ReadRecords(trace.records, trace.place));
  const Case test_case = AsRecorded(given_case, record);
  RecordedExtenders extenders;
  ASSIGN_OR_RETURN(extenders, RecordedExtenders::Read(trace.records, trace.place));
  const Follower follower(test_case, record, extenders, reference);
  Attempt best;
  ASSIGN_OR_RETURN(best, follower.Run({}));
  FollowedRun followed;
  followed.difference = FirstDifference(record, best.records);
  if (!followed.difference.has_value()) {
    followed.run = std::move(best.run);
    return followed;
  }
  follower.Measure(best);
  absl::Time before = absl::InfinitePast();
  while (best.agrees_until != absl::InfiniteFuture() && best.agrees_until > before) {
    before = best.agrees_until;
    RETURN_IF_ERROR(follower.TryWaits(best));
    RETURN_IF_ERROR(follower.TryUnusual(best));
  }
  followed.difference = FirstDifference(record, best.records);
  followed.run = std::move(best.run);
  if (followed.difference.has_value()) followed.outside = std::move(best.outside);
  return followed;
}

}  // namespace schedsim::sim
