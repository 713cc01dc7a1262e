// An audit log as a recording: what there was after each write.
#ifndef SCHEDSIM_SIM_REPLAY_AUDIT_RECORDING_H_
#define SCHEDSIM_SIM_REPLAY_AUDIT_RECORDING_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/formats/cluster_input.h"
#include "sim/formats/recording.h"

namespace schedsim::sim {

// Whether the text is an audit log, by its first event.
bool IsAuditLog(absl::string_view text);

// Carries out the writes of the log, those of the scheduler among them, on a cluster that begins with the
// objects of `input`, and records what they make of it. The kinds that scheduling reads are in it. Namespaces
// that neither has are made first. What cannot be carried out is left out, with a warning. Errors: those of
// ParseAuditLog; InvalidArgument where the log has no writes, or not the bodies of pods, or pods are bound to
// nodes that neither it nor `input` have, or an object of `input` is refused.
absl::StatusOr<Recording> RecordAuditLog(std::string text, absl::string_view file, const ClusterInput& input);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPLAY_AUDIT_RECORDING_H_
