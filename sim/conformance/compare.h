// Comparing a trace with the recorded one of the real scheduler.
#ifndef SCHEDSIM_SIM_CONFORMANCE_COMPARE_H_
#define SCHEDSIM_SIM_CONFORMANCE_COMPARE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "sim/record/record_reader.h"

namespace schedsim::sim {

// The first difference of a trace from what was expected, as text that names the record, the pod, the
// time, the field and both values; nothing when the two agree.
//
// Compared, in this order:
//   attempt: in order. Pod, attempt number, profile, start index, hint, PreFilter's status and nodes, each
//     node's status (code, plugin, set of reasons), scores of each node, best nodes in order, host, errors,
//     plugins, PostFilter's status and nomination, each node's dry run. Times may differ by 1.5 ms.
//   bind, status, delete, update, claim, bindFailure, event, plugin, extender: by time to 10 ms, within it in
//     any order.
//   queue: in order, without times: the pods of each part and what is known of each.
//   final: what became of each pod and each claim of devices.
// Ignored: a part of an attempt that `expected` does not have (except weighted scores), queue records
// beyond those of `expected`, and kinds not named here.
std::optional<std::string> FirstDifference(const Records& expected, const Records& actual);

// The same for records as text. Errors: those of ReadRecords.
absl::StatusOr<std::optional<std::string>> FirstDifference(absl::Span<const std::string> expected,
                                                           absl::Span<const std::string> actual);

// Up to when attempts and queue states are equal: the time of the first one that differs since virtual zero,
// infinite where none does.
absl::Duration AgreesUntil(const Records& expected, const Records& actual);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONFORMANCE_COMPARE_H_
