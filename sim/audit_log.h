// What a Kubernetes audit log says of pods and of the scheduler's calls.
#ifndef SCHEDSIM_SIM_AUDIT_LOG_H_
#define SCHEDSIM_SIM_AUDIT_LOG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace schedsim::sim {

// A pod that the log creates. Times are ends of calls (stageTimestamp), where nothing else is said.
struct AuditPod {
  std::string name_space;
  std::string name;  // "": nothing in the log says it.
  int32_t priority = 0;
  // Whether it was created with scheduling gates.
  bool gated = false;
  // Whether the log does not say the name that the API server gave it, and creation and name were brought
  // together by generateName and order.
  bool paired_by_order = false;
  absl::Time created;
  // The scheduler's first call for it (start): a binding or a status.
  std::optional<absl::Time> first_call;
  bool first_attempt_failed = false;
  std::optional<absl::Time> binding_started;
  std::optional<absl::Time> bound;
  std::optional<absl::Time> deleted;
  // The deletion with grace period 0 that follows.
  std::optional<absl::Time> gone;
};

// A write of the scheduler, but not of events and leases.
struct SchedulerCall {
  absl::Time start;
  absl::Time end;
  // Index into AuditLog::pods, for the first binding or status of a pod; -1: something else.
  int64_t pod = -1;
};

struct AuditLog {
  int64_t event_count = 0;
  // By `created`.
  std::vector<AuditPod> pods;
  // By `start`.
  std::vector<SchedulerCall> calls;
  // Pods with a binding whose creation is not in the log.
  int64_t bound_without_creation = 0;
};

// Reads JSON lines of audit.k8s.io, also .gz and .xz, or - for standard input; events of stages other than
// ResponseComplete are skipped. Calls whose user agent starts with `scheduler_agent` are the scheduler's.
// Errors: NotFound for a missing file; InvalidArgument, `file:line:column: what, and what was expected`, for
// anything that is no audit log.
absl::StatusOr<AuditLog> ReadAuditLog(absl::string_view path, absl::string_view scheduler_agent);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_AUDIT_LOG_H_
