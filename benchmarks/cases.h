// The cases that the benchmarks run, and that a real scheduler can be measured on.
#ifndef SCHEDSIM_BENCHMARKS_CASES_H_
#define SCHEDSIM_BENCHMARKS_CASES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace schedsim::benchmarks {

// All cases are text in the format of docs/conformance.md, decided by the number of nodes alone, and record decisions.

// Nodes of three sizes in five zones, six bound pods a node and two pending pods for five nodes, of one deployment for 50
// nodes. Half of the deployments are plain; the others have spread constraints (zone, hostname), or affinity and
// anti-affinity to pods of their own or of another deployment. There is room for all.
std::string SpreadingCase(int32_t node_count);

// By name: `spreading`. InvalidArgument for any other.
absl::StatusOr<std::string> MakeCase(absl::string_view kind, int32_t node_count);

}  // namespace schedsim::benchmarks

#endif  // SCHEDSIM_BENCHMARKS_CASES_H_
