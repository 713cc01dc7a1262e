// Runs of cases that follow a recorded trace in what the real scheduler leaves to chance.
#ifndef SCHEDSIM_SIM_CONFORMANCE_FOLLOW_H_
#define SCHEDSIM_SIM_CONFORMANCE_FOLLOW_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "sim/conformance/case.h"
#include "sim/record/recorded_trace.h"

namespace schedsim::sim {

struct FollowedRun {
  CaseRun run;
  // As FirstDifference says it.
  std::optional<std::string> difference;
  // With `difference`: the first free choice of the record that was none of ours; "": all were.
  std::string outside;
};

// Runs the case with the choices of the record, as far as they are among our own. When a woken scheduler pops
// (1.34, ChooseWake), and whether evictions start before the preemptor's own status is heard of (ChooseLate),
// can only be told by trying: the run that agrees with the record for longest counts. Errors: those of
// RunCase and of ReadRecords, with the trace's place.
absl::StatusOr<FollowedRun> RunFollowing(const Case& test_case, const RecordedTrace& trace, bool reference);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONFORMANCE_FOLLOW_H_
