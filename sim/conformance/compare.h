// Comparing a trace with the recorded one of the real scheduler.
#ifndef SCHEDSIM_SIM_CONFORMANCE_COMPARE_H_
#define SCHEDSIM_SIM_CONFORMANCE_COMPARE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace schedsim::sim {

// The first difference of a trace from what was expected, as text that names the record, the pod, the
// time, the field and both values; nothing when the two agree.
// Shape: one record an entry, a JSON object without line feeds, in the order of the run.
//
// Compared, in this order:
//   attempt: in order. Pod, attempt number, profile, start index, hint, PreFilter's status and nodes, each
//     node's status (code, plugin, set of reasons), scores of each node, best nodes in order, host, errors,
//     plugins, PostFilter's status and nomination, each node's dry run. Times may differ by 1.5 ms.
//   bind, status, delete, update, bindFailure, event: by time to 10 ms, within it in any order.
//   queue: in order, without times: the pods of each part and what is known of each.
//   final: what became of each pod.
// Ignored: a part of an attempt that `expected` does not have (except weighted scores), queue records
// beyond those of `expected`, and kinds not named here.
//
// Errors: InvalidArgument when a record is not JSON or lacks what all of its kind have.
absl::StatusOr<std::optional<std::string>> FirstDifference(absl::Span<const std::string> expected,
                                                           absl::Span<const std::string> actual);

// Up to when attempts and queue states are equal: the time of the first one that differs, infinity where
// none does. Unit: seconds since virtual zero. Errors: as above.
absl::StatusOr<double> AgreesUntil(absl::Span<const std::string> expected,
                                   absl::Span<const std::string> actual);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONFORMANCE_COMPARE_H_
