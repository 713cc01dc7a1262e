// Writing what an audit log says happened to a cluster to a simulated API server.
#ifndef SCHEDSIM_SIM_REPLAY_AUDIT_REPLAYER_H_
#define SCHEDSIM_SIM_REPLAY_AUDIT_REPLAYER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/codec/objects/objects.h"
#include "sim/cluster/api_server.h"
#include "sim/formats/audit_log.h"

namespace schedsim::sim {

// What became of the pods of a log.
struct ReplayResult {
  // Shape: as AuditLog::pods. When the pod was bound, if it was.
  std::vector<std::optional<absl::Time>> bound;
  // How many changes of the log took effect, and how many could not or do not matter here: objects that are
  // gone already, bodies that are missing or cannot be read.
  int64_t applied = 0;
  int64_t ignored = 0;
  std::string first_ignored;  // "line 12: why"; "": none.
};

// Writes the changes of a log to an API server, one after the other. Where the simulation went another way
// than the real cluster, they follow the simulation: what a kubelet says of a pod waits until the pod is
// bound; node, nomination and condition PodScheduled of a pod stay the scheduler's; an object that is gone is
// left alone.
class AuditReplayer {
 public:
  // Who says where pods go: a simulated scheduler, or the log, in which the scheduler's writes are among the
  // others then. Then nothing waits for anything.
  enum class Decisions : uint8_t { kSimulated, kOfLog };

  // `log` and `result` must outlive it.
  AuditReplayer(const AuditLog& log, ReplayResult& result, Decisions decisions = Decisions::kSimulated);

  // Pods whose end the log does not give end as the API server's grace period says.
  void Apply(const AuditChange& change, ApiServer& server);
  // What a watcher of `server` hears: notes when pods are bound, and returns whether something waited for
  // that.
  bool OnWatch(const WatchEvent& event, absl::Time now);
  // Applies what waited for pods that are bound by now.
  void ApplyHeld(ApiServer& server);
  // Whether the log says when this pod goes.
  bool LogEnds(const api::Pod& pod) const;

 private:
  // OK where the change took effect, or waits for a pod to be bound.
  absl::Status TryApply(const AuditChange& change, ApiServer& server);
  absl::Status Create(const AuditChange& change, ApiServer& server);
  absl::Status Modify(const AuditChange& change, ApiServer& server);
  absl::Status Delete(const AuditChange& change, ApiServer& server);
  absl::Status DeleteAll(const AuditChange& change, ApiServer& server);
  // The object that the body of a change makes of `stored`, or by itself (nullptr).
  absl::StatusOr<api::ObjectPtr> Decode(const AuditChange& change, const api::Object* stored);
  const AuditPod* PodOf(const AuditChange& change) const;

  const AuditLog& log_;
  ReplayResult& result_;
  const Decisions decisions_;
  codec::ObjectReader reader_;
  // Index into the pods of the log, by the uid that the pod has here.
  std::map<std::string, int64_t> pod_by_uid_;
  // By pod: what waits for it to be bound.
  std::map<int64_t, std::vector<const AuditChange*>> held_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPLAY_AUDIT_REPLAYER_H_
