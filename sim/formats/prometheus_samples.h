// What was measured of nodes, as Prometheus keeps it.
#ifndef SCHEDSIM_SIM_FORMATS_PROMETHEUS_SAMPLES_H_
#define SCHEDSIM_SIM_FORMATS_PROMETHEUS_SAMPLES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace schedsim::sim {

// Whether a file is the answer of Prometheus' HTTP API to a query, or has its text format.
bool HasPrometheusSamples(absl::string_view content);

// The samples as a List of NodeMetrics in JSON: one object for each `node` that is a label, in the order of
// names, with the series by name among its usage. Of several samples of one series and node the newest
// counts, and among equally old ones the last. Samples without the label are about nothing here and are left
// out. Errors: InvalidArgument, `file:line: what`, for a line that is none, for an answer that is no success
// or no vector, for a value that is no finite number, and where no sample is of a node.
absl::StatusOr<std::string> NodeMetricsOfSamples(const std::string& content, absl::string_view file);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_PROMETHEUS_SAMPLES_H_
