// How fast the nodes of a zone are given up.
#ifndef SCHEDSIM_SIM_CONTROLLERS_EVICTION_ZONES_H_
#define SCHEDSIM_SIM_CONTROLLERS_EVICTION_ZONES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "core/api/node.h"

namespace schedsim::sim {

// Counts the nodes of each zone that are ready and that are not, and says when the next node of a zone may
// get a NoExecute taint: one in 10 s (--node-eviction-rate 0.1). Where at least 55 % of a zone's nodes, and
// three, are not ready (--unhealthy-zone-threshold), it is one in 100 s if the zone has more than 50 nodes
// (--secondary-node-eviction-rate 0.01, --large-cluster-size-threshold), and none in a smaller one. A zone
// without any ready node has the normal rate again, but for the case that no zone has one: then it is the
// control plane that does not hear the nodes, and no node is given up.
// Source: kubernetes v1.37, pkg/controller/nodelifecycle, handleDisruption and ComputeZoneState, and
// scheduler/rate_limited_queue.go. All four releases have these defaults.
class EvictionZones {
 public:
  enum class Change : uint8_t {
    kNone,
    kStopped,  // No node of any zone is ready from now on.
    kResumed,  // One is again.
  };

  // A node comes (`by` is 1) or goes (-1), or both, since what it says has changed.
  void Count(const api::Node& node, int64_t by);
  // The states of the zones are what the counts say, as if they had been so for long.
  void Settle();
  // Whether Update would change anything.
  bool IsStale() const;
  // Brings the states of the zones up to date with the counts.
  Change Update(absl::Time now);

  // The node waits for its taint.
  void Wait(const api::Node& node);
  bool Waits(const api::Node& node) const;
  // It no longer does.
  void Forget(const api::Node& node);
  // A node that may get its taint now, which no longer waits; absent: none. In a zone, names decide who is
  // first; the real order is by chance.
  std::optional<std::string> Next(absl::Time now);
  // When there will be one; the infinite future: that rests on other changes.
  absl::Time NextTime() const;

 private:
  enum class State : uint8_t { kNormal, kPartialDisruption, kFullDisruption };
  struct Zone {
    int64_t ready = 0;
    int64_t not_ready = 0;
    State state = State::kNormal;
    // From one node to the next; infinite: none.
    absl::Duration interval = absl::Seconds(10);
    absl::Time next = absl::InfinitePast();
    // By name.
    std::set<std::string> waiting;
  };

  static State StateOf(const Zone& zone);
  static absl::Duration IntervalOf(const Zone& zone, State state);
  static void SetInterval(Zone& zone, absl::Duration interval, absl::Time now);
  static bool TryAccept(Zone& zone, absl::Time now);
  // Whether there are nodes, and none of them is ready.
  bool IsAllDisrupted() const;

  // By what ZoneOf says.
  std::map<std::string, Zone> zones_;
  bool is_stopped_ = false;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_EVICTION_ZONES_H_
