#include "sim/replay/audit_replay.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/base/status_macros.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"

namespace schedsim::sim {
namespace {

// How long the run goes on behind the log at most: claims that nobody binds would be waited for again and
// again.
constexpr absl::Duration kTimeAfter = absl::Minutes(10);

// Applies the changes of one life of the scheduler.
class ReplayScript : public Script {
 public:
  // `next`: index of the next change; moves on. Those before `end` are applied.
  ReplayScript(const AuditLog& log, absl::Time end, AuditReplayer& replayer, size_t& next,
               Simulation& simulation)
      : log_(log), end_(end), replayer_(replayer), next_(next), simulation_(simulation) {
    simulation_.server().Watch([this](const WatchEvent& event) {
      EventLoop& loop = simulation_.loop();
      if (!replayer_.OnWatch(event, loop.Now())) return;
      loop.At(loop.Now(), EventLoop::Phase::kStep, [this] { replayer_.ApplyHeld(simulation_.server()); });
    });
  }

  void Start() override { Schedule(); }
  // What comes behind the log need not be waited for once nothing moves.
  void OnSettled() override {
    if (next_ == log_.changes.size() && simulation_.Quiet()) simulation_.Stop();
  }
  bool Done() const override { return next_ == log_.changes.size() || log_.changes[next_].at >= end_; }
  bool Waits() const override { return false; }

 private:
  // Each change is put into the loop when the one before is done, so that what it sets off comes before the
  // next.
  void Schedule() {
    if (Done()) return;
    EventLoop& loop = simulation_.loop();
    loop.At(std::max(loop.Now(), log_.changes[next_].at), EventLoop::Phase::kStep, [this] {
      replayer_.Apply(log_.changes[next_], simulation_.server());
      ++next_;
      Schedule();
    });
  }

  const AuditLog& log_;
  const absl::Time end_;
  AuditReplayer& replayer_;
  size_t& next_;
  Simulation& simulation_;
};

// All objects, pods last: as informers hear of them when they start.
std::vector<api::ObjectPtr> AllObjects(const ApiServer& server) {
  std::vector<api::ObjectPtr> objects;
  std::vector<api::ObjectPtr> pods;
  for (int kind = 0; kind < api::kKindCount; ++kind) {
    const bool is_pod = static_cast<api::Kind>(kind) == api::Kind::kPod;
    for (const auto& [key, object] : server.List(static_cast<api::Kind>(kind))) {
      (is_pod ? pods : objects).push_back(object);
    }
  }
  objects.insert(objects.end(), pods.begin(), pods.end());
  return objects;
}

// What is there after a silence that ends at `end`. Pods that were ending have ended.
std::vector<api::ObjectPtr> PassSilence(const AuditLog& log, const std::vector<api::ObjectPtr>& objects,
                                        absl::Time start, absl::Time end, AuditReplayer& replayer,
                                        size_t& next) {
  EventLoop loop(start);
  ApiServer server({}, loop);
  for (const api::ObjectPtr& object : objects) {
    const bool is_ending = object->kind == api::Kind::kPod &&
                           object->metadata.deletion_timestamp.has_value() &&
                           !replayer.LogEnds(static_cast<const api::Pod&>(*object));
    if (!is_ending) server.Create(object).IgnoreError();
  }
  server.Watch([&](const WatchEvent& event) { replayer.OnWatch(event, loop.Now()); });
  for (; next < log.changes.size() && log.changes[next].at < end; ++next) {
    loop.AdvanceTo(std::max(loop.Now(), log.changes[next].at));
    replayer.Apply(log.changes[next], server);
    replayer.ApplyHeld(server);
  }
  return AllObjects(server);
}

}  // namespace

absl::StatusOr<ReplayResult> ReplayAuditLog(const AuditLog& log, const SimulationOptions& options) {
  ReplayResult result;
  if (log.changes.empty()) return result;
  AuditReplayer replayer(log, result);
  size_t next = 0;
  std::vector<api::ObjectPtr> objects;
  absl::Time start = log.changes.front().at;
  for (size_t life = 0; life <= log.silences.size(); ++life) {
    const bool is_last = life == log.silences.size();
    const absl::Time end = is_last ? absl::InfiniteFuture() : std::max(start, log.silences[life].from);
    SimulationOptions own = options;
    own.zero = start;
    own.creation_interval = absl::Microseconds(1);
    own.until = (is_last ? std::max(start, log.changes.back().at) + kTimeAfter : end) - start;
    std::unique_ptr<Simulation> simulation;
    ASSIGN_OR_RETURN(simulation, Simulation::Make(std::move(own)));
    simulation->CreateObjects(objects);
    ReplayScript script(log, end, replayer, next, *simulation);
    simulation->set_script(&script);
    simulation->Run();
    if (is_last) break;
    objects = PassSilence(log, AllObjects(simulation->server()), end, log.silences[life].to, replayer, next);
    start = std::max(start, log.silences[life].to);
  }
  return result;
}

}  // namespace schedsim::sim
