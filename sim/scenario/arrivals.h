// Objects that come and go while a cluster runs: an open system.
#ifndef SCHEDSIM_SIM_SCENARIO_ARRIVALS_H_
#define SCHEDSIM_SIM_SCENARIO_ARRIVALS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/base/rng.h"
#include "core/codec/objects/objects.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/latency.h"
#include "sim/run/simulation.h"
#include "sim/scenario/arrival_process.h"
#include "sim/scenario/indexed_template.h"

namespace schedsim::sim {

// One entry of `arrivals` in a scenario.
struct ArrivalSource {
  // Distinct; chance has it in the names of its streams.
  std::string name;
  // For messages: `file:line:column: arrivals[0]`.
  std::string place;
  ArrivalProcess process;
  // Since virtual zero: from the begin on, and before the end. Absent: to the end of the run.
  absl::Duration from;
  std::optional<absl::Duration> until;
  // At most so many objects.
  std::optional<int64_t> count;
  IndexedTemplate object;
  // How long a pod stays on its node, and anything else in the cluster. Absent: for ever. A row of a file
  // goes before it.
  std::optional<Latency> lifetime;
  // What becomes of a pod then: Succeeded or Failed; "": it is deleted.
  std::string last_phase;
};

// Creates the objects of all sources at their times, and takes them away when their lifetimes are over.
class Arrivals {
 public:
  // To be made when the objects of the input are there, at virtual zero; nothing has arrived then. What is
  // borrowed must outlive the run.
  Arrivals(std::vector<ArrivalSource> sources, Simulation& simulation);
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;

  // Each `place: what`: objects that could not be created, the first of each source, with their number.
  std::vector<std::string> Failures() const;

 private:
  struct Source {
    Source(const ArrivalSource& source, const Simulation& simulation);

    const ArrivalSource& given;
    ArrivalSequence sequence;
    Rng lifetimes;
    int64_t made = 0;
    int64_t failed = 0;
    std::string first_failure;
  };
  // How an object leaves that is there.
  struct Leaving {
    absl::Duration lifetime;
    const ArrivalSource* source = nullptr;
    uint64_t work = 0;  // What Cancel takes; 0: its time does not run yet.
  };

  void ScheduleNext(Source& source);
  // Creates what arrives now, one millisecond apart, and goes on.
  void Arrive(Source& source, NextArrival next);
  void Make(Source& source, const RecordedArrivals::Row* row);
  void OnChange(const WatchEvent& event);
  void LeaveLater(const api::Object& object, Leaving& leaving);
  void Leave(const api::ObjectPtr& object, const ArrivalSource& source);

  const std::vector<ArrivalSource> given_;
  Simulation& simulation_;
  codec::ObjectReader reader_;
  std::vector<Source> sources_;                          // Shape: as given_.
  std::map<std::string, Leaving, std::less<>> leaving_;  // By uid.
  // While an object is created that has a lifetime.
  std::optional<Leaving> creating_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCENARIO_ARRIVALS_H_
