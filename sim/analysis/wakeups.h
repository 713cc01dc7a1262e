// Pods that would fit, but that nothing wakes.
#ifndef SCHEDSIM_SIM_ANALYSIS_WAKEUPS_H_
#define SCHEDSIM_SIM_ANALYSIS_WAKEUPS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/lookup_map.h"
#include "core/scheduler/scheduler.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

// Times are since virtual zero.
struct MissedWakeup {
  // An event since the pod was last known not to fit, and what the plugins that rejected it say of it.
  struct Event {
    absl::Duration at;
    std::string label;   // As in the trace.
    std::string object;  // "namespace/name", or a name.
    // By plugin, sorted: "Skip", "Queue", "none" (no hint, which counts as Queue) or "not registered".
    std::vector<std::pair<std::string, std::string>> answers;
  };

  // Pods that are alike; the first one was tested.
  std::vector<std::string> pods;
  // When it was found to fit, and on which node.
  absl::Duration at;
  std::string node;
  // Its last attempt, and who rejected it then, sorted.
  int32_t attempts = 0;
  absl::Duration rejected_at;
  std::vector<std::string> rejectors;
  // Those about the node, or a pod on it, come first; the first few of `event_count`.
  std::vector<Event> events;
  int64_t event_count = 0;
  // Without any event: what changed, such as "Node node-1 updated".
  std::vector<std::string> changes;
  // What woke it in the end; absent: nothing until the end of the run.
  std::optional<absl::Duration> woken_at;
  std::string woken_by;
};

// Tests, when it is told that the scheduler is at rest, whether a pod of the unschedulable pool would fit: a
// missed wake-up, since only the five-minute flush is sure to come. Gated pods are left out, and pods that a
// plugin rejected after a node had been found: PreFilter and Filter cannot say whether that would happen
// again. Changes no decision.
class WakeupCheck : public SimulationObserver {
 public:
  // Becomes an observer of the simulation, which has no objects yet. It outlives the check, and must not go
  // on without it.
  explicit WakeupCheck(Simulation& simulation);

  void OnMove(const queue::Move& move) override;
  void OnClusterEvent(const framework::ClusterEvent& event, const api::ObjectPtr& old_object,
                      const api::ObjectPtr& new_object) override;
  void OnChange(const WatchEvent& event) override;
  // Cheap where nothing changed since.
  void OnRest() override;

  // In the order in which they were found.
  const std::vector<MissedWakeup>& findings() const { return findings_; }

 private:
  struct LoggedEvent {
    uint64_t sequence = 0;
    absl::Time at;
    framework::ClusterEvent event;
    api::ObjectPtr old_object;
    api::ObjectPtr new_object;
  };
  using Group = std::vector<const framework::QueuedPodInfo*>;

  std::map<std::string, Group> Groups() const;
  void Report(const Group& group, const framework::NodeInfo& node);
  void AddEvents(const framework::QueuedPodInfo& pod, const framework::NodeInfo& node,
                 MissedWakeup& missed) const;
  MissedWakeup::Event Explain(const framework::QueuedPodInfo& pod, const LoggedEvent& logged,
                              const std::vector<std::string>& rejectors) const;

  scheduler::Scheduler& scheduler_;
  const Clock& clock_;
  const absl::Time zero_;
  // Since the last check.
  std::deque<LoggedEvent> events_;
  std::vector<std::string> changes_;
  // Shape: pods popped since the last check, by key; the first event that came after.
  LookupMap<std::string, uint64_t> popped_;
  uint64_t next_sequence_ = 0;
  uint64_t last_change_ = UINT64_MAX;
  // By key: in which attempt's wait the pod was reported.
  LookupMap<std::string, int32_t> reported_;
  // By key of the pod that was tested: the finding that nothing has woken yet.
  LookupMap<std::string, size_t> open_;
  std::vector<MissedWakeup> findings_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_ANALYSIS_WAKEUPS_H_
