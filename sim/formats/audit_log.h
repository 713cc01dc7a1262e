// What a Kubernetes audit log says of pods, of the scheduler's calls, and of all that happened beside it.
#ifndef SCHEDSIM_SIM_FORMATS_AUDIT_LOG_H_
#define SCHEDSIM_SIM_FORMATS_AUDIT_LOG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/object.h"

namespace schedsim::sim {

// A pod that the log creates. Times are ends of calls (stageTimestamp), where nothing else is said.
struct AuditPod {
  std::string name_space;
  // Where nothing in the log says it: made up of generateName and a number.
  std::string name;
  std::string uid;             // "": not known.
  std::string scheduler_name;  // "": not known, or the default.
  int32_t priority = 0;
  // Whether it was created with scheduling gates, on a node, with claims as volumes.
  bool gated = false;
  bool created_on_node = false;
  bool has_claims = false;
  bool has_body = false;
  // Whether the log does not say the name that the API server gave it, and creation and name were brought
  // together by generateName and order.
  bool paired_by_order = false;
  // The end of the creation, or when somebody else first writes to the pod, whichever comes first.
  absl::Time created;
  // The scheduler's first call for it (start): a binding or a status.
  std::optional<absl::Time> first_call;
  bool first_attempt_failed = false;
  std::optional<absl::Time> binding_started;
  std::optional<absl::Time> bound;
  std::string node;  // That it was bound to; "": not known.
  bool bound_by_other = false;
  std::optional<absl::Time> deleted;
  bool deleted_by_scheduler = false;
  // The deletion with grace period 0 that follows.
  std::optional<absl::Time> gone;
};

// A write of the scheduler, but not of events and leases.
struct SchedulerCall {
  absl::Time start;
  absl::Time end;
  // Index into AuditLog::pods, for the first binding or status of a pod; -1: something else.
  int64_t pod = -1;
  bool is_binding = false;
};

// A write of anyone but the scheduler that scheduling may depend on.
struct AuditChange {
  enum class Verb : uint8_t { kCreate, kUpdate, kPatch, kDelete, kDeleteAll, kBind };
  Verb verb = Verb::kCreate;
  absl::Time at;
  api::Kind kind = api::Kind::kOther;
  std::string api_version;
  std::string name_space;
  std::string name;  // "" for kDeleteAll.
  // kCreate: "" where the log never says it.
  std::string uid;
  // Index into AuditLog::pods; -1: no pod, or none that the log creates.
  int64_t pod = -1;
  // As in AuditEvent. kBind: none.
  std::string body;
  bool is_answer = false;
  // Of the subresource status.
  bool is_status = false;
  // kDelete: with grace period 0; or of an object that stays until a later update takes its finalizers.
  bool at_once = false;
  bool lingers = false;
  // kUpdate: the object goes with it.
  bool ends = false;
  // kCreate: a node whose taints a later write changes.
  bool taints_change = false;
  // kDeleteAll: nobody knows what was deleted.
  bool has_selector = false;
  std::string node;  // kBind.
  int32_t line = 0;  // In the log, from 1.
};

// A time in which the scheduler does not run: from the creation of a pod to the scheduler's next call, which
// comes kSilence later or more. An attempt that ends without a call is repeated after a backoff of one
// second; where two go by, nobody tries.
struct Silence {
  absl::Time from;
  absl::Time to;
};
inline constexpr absl::Duration kSilence = absl::Seconds(2);

struct AuditLog {
  int64_t event_count = 0;
  // By `created`.
  std::vector<AuditPod> pods;
  // By `start`.
  std::vector<SchedulerCall> calls;
  // By `at`.
  std::vector<AuditChange> changes;
  // In order, apart from one another.
  std::vector<Silence> silences;
  // A change of a pod, by anyone, when it is there for informers to hear of.
  struct PodWrite {
    absl::Time at;
    int64_t created_pod = -1;  // Index into `pods`, of a creation.
  };
  // By `at`.
  std::vector<PodWrite> pod_writes;
  // Pods with a binding whose creation is not in the log.
  int64_t bound_without_creation = 0;
  // Why what happened cannot be replayed; "": it can.
  std::string no_replay;

  // How many calls start before `time`.
  size_t CallsBefore(absl::Time time) const;
  // `time`, or the end of the silence that it is in.
  absl::Time AfterSilence(absl::Time time) const;
};

// Reads JSON lines of audit.k8s.io, also .gz, .xz and .zst, or - for standard input; events of stages other
// than ResponseComplete are skipped. Calls whose user agent starts with `scheduler_agent` are the
// scheduler's. Errors: NotFound for a missing file; InvalidArgument, `file:line:column: what, and what was
// expected`, for anything that is no audit log.
absl::StatusOr<AuditLog> ReadAuditLog(absl::string_view path, absl::string_view scheduler_agent);

// The same for text; `file` is for messages.
absl::StatusOr<AuditLog> ParseAuditLog(std::string text, absl::string_view file,
                                       absl::string_view scheduler_agent);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_AUDIT_LOG_H_
