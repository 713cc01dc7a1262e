// The cases that the benchmarks run, and that a real scheduler can be measured on.
#ifndef SCHEDSIM_BENCHMARKS_CASES_H_
#define SCHEDSIM_BENCHMARKS_CASES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace schedsim::benchmarks {

// All cases are text in the format of docs/conformance.md, decided by the number of nodes alone, and record
// decisions.

// Nodes of three sizes in five zones, six bound pods a node and two pending pods for five nodes, of one
// deployment for 50 nodes. Half of the deployments are plain; the others have spread constraints (zone,
// hostname), or affinity and anti-affinity to pods of their own or of another deployment. There is room for
// all.
std::string SpreadingCase(int32_t node_count);

// Full nodes: eight bound pods of an eighth of the node each, and twenty pending pods a node, of one template
// for five nodes, none of which fits. Two bound pods a node finish, one each 1.8 seconds: an hour for 1,000
// nodes. Half of the templates fit into the room of one pod, the others into that of two or more.
std::string SaturatedCase(int32_t node_count);

// Full nodes: six bound pods each, of priorities 0 to 300, some under a disruption budget, and two pending
// pods for five nodes, of one template for 50 nodes, that fit where one to four of the bound ones make way.
std::string PreemptionCase(int32_t node_count);

// Small nodes, and twenty pending pods a node, of one template for five nodes, that fit on none. Then the
// nodes grow and shrink, twenty times a node; no pod fits for that, so none is to move.
std::string WaitingCase(int32_t node_count);

// By name: `spreading`, `saturated`, `preemption` or `waiting`. InvalidArgument for any other.
absl::StatusOr<std::string> MakeCase(absl::string_view kind, int32_t node_count);

}  // namespace schedsim::benchmarks

#endif  // SCHEDSIM_BENCHMARKS_CASES_H_
