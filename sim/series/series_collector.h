// Looks on at a run, and notes what it is like over virtual time.
#ifndef SCHEDSIM_SIM_SERIES_SERIES_COLLECTOR_H_
#define SCHEDSIM_SIM_SERIES_SERIES_COLLECTOR_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "core/api/node.h"
#include "core/api/pod.h"
#include "core/base/lookup_map.h"
#include "core/base/symbol.h"
#include "core/framework/pod_info.h"
#include "sim/run/simulation.h"
#include "sim/series/time_series.h"

namespace schedsim::sim {

// Notes a point whenever what was set off at a virtual time has settled and something is other than before:
// what the API server has then, and how long the scheduling queue is. Changes no decision.
class SeriesCollector {
 public:
  // Beyond so many points, some are left out (Simplify), so that a long run takes no more memory than that.
  // 0: there is no limit.
  explicit SeriesCollector(size_t points_max);
  ~SeriesCollector();
  SeriesCollector(const SeriesCollector&) = delete;
  SeriesCollector& operator=(const SeriesCollector&) = delete;

  // All three in this order, for each run; the next run begins anew. The first before the simulation is made
  // with these options, the second before it has objects, the third when it is over.
  void AddTo(SimulationOptions& options);
  void Attach(Simulation& simulation);
  void Finish();

  // Of the run that is finished. The last point is that of its end.
  const TimeSeries& series() const { return series_; }

  // What the pods of a node ask for, and what it has, as in TimeSeries::Resource; "pods" counts them.
  struct Amount {
    std::string name;
    absl::int128 requested = 0;
    absl::int128 allocatable = 0;
  };
  // Of a node that there is, at the end; by name, none that are nothing but zeros.
  std::vector<Amount> AmountsOf(const std::string& node_name) const;

 private:
  struct Run;

  void OnChange(const WatchEvent& event);
  // `is_last`: the point stays though nothing is other than before.
  void Note(bool is_last);
  void DropLast();

  const size_t points_max_;
  std::unique_ptr<Run> run_;  // nullptr: none yet.
  TimeSeries series_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SERIES_SERIES_COLLECTOR_H_
