// What a run was like over virtual time, as columns of numbers.
#ifndef SCHEDSIM_SIM_SERIES_TIME_SERIES_H_
#define SCHEDSIM_SIM_SERIES_TIME_SERIES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/time/time.h"

namespace schedsim::sim {

// Shape: every column has one entry a point. A point holds from its time to that of the next one.
struct TimeSeries {
  // Units: cpu in thousandths of a core, memory and storage in bytes, others in wholes; an amount that is
  // larger than 64 bits hold stands as the largest that they hold. Sums over the nodes that there are.
  struct Resource {
    std::string name;
    std::vector<int64_t> requested;
    std::vector<int64_t> allocatable;
  };

  // Since virtual zero, ascending, no two alike.
  std::vector<absl::Duration> times;
  std::vector<int64_t> nodes;
  // Pods with a node, and pods without one that a profile is for; finished ones are neither.
  std::vector<int64_t> bound;
  std::vector<int64_t> pending;
  // The parts of the scheduling queue; gated pods are not among the unschedulable ones. Pods that are being
  // tried or bound are in none of them.
  std::vector<int64_t> active;
  std::vector<int64_t> backoff;
  std::vector<int64_t> unschedulable;
  std::vector<int64_t> gated;
  // Since virtual zero: scheduling attempts, and victims of preemption that are gone.
  std::vector<int64_t> attempts;
  std::vector<int64_t> evicted;
  // By name. Also resources that no node has, or none any longer.
  std::vector<Resource> resources;

  size_t size() const { return times.size(); }
};

// The columns of counts, with their names for people and programs, in a fixed order.
struct CountColumn {
  const char* name;
  std::vector<int64_t> TimeSeries::*values;
};
inline constexpr std::array<CountColumn, 9> kCountColumns = {{{"nodes", &TimeSeries::nodes},
                                                              {"bound", &TimeSeries::bound},
                                                              {"pending", &TimeSeries::pending},
                                                              {"active", &TimeSeries::active},
                                                              {"backoff", &TimeSeries::backoff},
                                                              {"unschedulable", &TimeSeries::unschedulable},
                                                              {"gated", &TimeSeries::gated},
                                                              {"attempts", &TimeSeries::attempts},
                                                              {"evicted", &TimeSeries::evicted}}};

// All columns of numbers but the times: counts, then resources. They stay where they are as long as `series`
// keeps its resources.
std::vector<std::vector<int64_t>*> ColumnsOf(TimeSeries& series);

// The amount, or the nearest one that 64 bits hold.
int64_t Saturated(absl::int128 amount);

// Of how many resources the peaks stay, and how many points of a part may.
inline constexpr size_t kSimplifiedResources = 16;
inline constexpr size_t kPartPointsMax = 3 + 2 * (kCountColumns.size() + 2 * kSimplifiedResources);

// Leaves points out until no more than `part_count` times kPartPointsMax are left. The points fall into parts
// of as many points each; of each part stay the first and the last one, the one that holds longest, and those
// at which a column has its first lowest or first highest value: counts, and the first resources. No value is
// made up. Nothing happens where there are not more points than parts.
void Simplify(size_t part_count, TimeSeries& series);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SERIES_TIME_SERIES_H_
