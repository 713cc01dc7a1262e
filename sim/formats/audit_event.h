// One event of a Kubernetes audit log, as far as scheduling is concerned.
#ifndef SCHEDSIM_SIM_FORMATS_AUDIT_EVENT_H_
#define SCHEDSIM_SIM_FORMATS_AUDIT_EVENT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

// A write. Text is "" where the log does not say it.
struct AuditEvent {
  // From receipt to answer.
  absl::Time start;
  absl::Time end;
  bool by_scheduler = false;
  // Whether the answer was 2xx.
  bool succeeded = false;
  std::string verb;  // create, update, patch, delete or deletecollection.
  // kOther: a kind that scheduling does not read; only of the scheduler's own calls.
  api::Kind kind = api::Kind::kOther;
  std::string api_version;
  std::string subresource;
  std::string name_space;
  std::string name;
  std::string uid;
  std::string generate_name;
  // Compact JSON: the body of the request; of a creation that of the answer, where the log has it.
  std::string body;
  bool is_answer = false;
  // Of a deletion: whether the grace period is 0, and whether selectors say what is deleted.
  bool at_once = false;
  bool has_selector = false;
  // Of a binding: the target. Of a pod's creation: the node that it is created on.
  std::string node;
  // What the body has: a deletionTimestamp, finalizers, spec.taints (also null).
  bool is_deleting = false;
  bool has_finalizers = false;
  bool sets_taints = false;
  // Of a pod's creation.
  int32_t priority = 0;
  bool is_gated = false;
  bool has_claims = false;
  std::string scheduler_name;
  // The only node that node affinity allows, by name, as for pods of a DaemonSet.
  std::string pinned_node;
  int32_t line = 0;
};

// Absent: another stage than ResponseComplete, a read, an event or lease, or a write that scheduling does not
// depend on. Calls whose user agent starts with `scheduler_agent` are the scheduler's.
// Errors: InvalidArgument, `file:line:column: what, and what was expected`, for what is no event of an audit
// log.
absl::StatusOr<std::optional<AuditEvent>> ParseAuditEvent(const codec::Value& event, absl::string_view file,
                                                          absl::string_view scheduler_agent);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_AUDIT_EVENT_H_
