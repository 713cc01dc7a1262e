// The events of a run, as an API server has them.
#ifndef SCHEDSIM_SIM_MEASURE_CLUSTER_EVENTS_H_
#define SCHEDSIM_SIM_MEASURE_CLUSTER_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/api/pod.h"
#include "core/framework/client.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

// One Event object.
struct ClusterEvent {
  std::string name_space;
  std::string type;  // Normal or Warning.
  std::string reason;
  std::string kind;  // Of the object that it is about.
  std::string name;
  std::string message;
  std::string source;  // Who reports it.
  absl::Time first;
  absl::Time last;
  // How often it came, as the API server knows it.
  int64_t count = 1;
};

// Keeps what the scheduler and the taint eviction controller report, and the Event objects that the cluster
// has at the end of the run. Changes nothing.
class ClusterEvents {
 public:
  ClusterEvents() = default;
  ClusterEvents(const ClusterEvents&) = delete;
  ClusterEvents& operator=(const ClusterEvents&) = delete;

  // Before the simulation has objects; it must outlive the run.
  void Attach(Simulation& simulation);
  // After the run.
  void Finish();

  // In the order of the time when they came first.
  const std::vector<ClusterEvent>& events() const { return events_; }
  absl::Time end() const { return end_; }

 private:
  // An event of the scheduler that may come again.
  struct Series {
    size_t place = 0;  // In events_.
    int64_t count = 1;
    absl::Time last;
  };

  void OnEvent(const api::Pod& pod, const framework::PodEvent& event, absl::string_view source);
  // The times at which the scheduler's recorder writes and drops series, up to now.
  void Catch(absl::Time now);
  void OnChange(const WatchEvent& event);
  void AddObjects();

  Simulation* simulation_ = nullptr;
  std::vector<ClusterEvent> events_;
  // By what makes two events the same one.
  std::map<std::string, Series> series_;
  absl::Time next_finish_;
  absl::Time next_refresh_;
  absl::Time end_;
};

// As `kubectl get events` prints them, at the end of the run; with a column NAMESPACE in front where they are
// in several namespaces.
std::string EventsText(const ClusterEvents& events);
// The same for programs: `{"apiVersion": "schedsim/v1", "kind": "EventTable", "rows": [...]}`.
std::string EventsJson(const ClusterEvents& events, absl::Time zero);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_MEASURE_CLUSTER_EVENTS_H_
