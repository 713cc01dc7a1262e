// What the API server warns of when it takes a manifest.
#ifndef SCHEDSIM_SIM_FORMATS_POD_WARNINGS_H_
#define SCHEDSIM_SIM_FORMATS_POD_WARNINGS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

struct PodWarning {
  codec::Position position;
  std::string text;  // `spec.containers[0].resources.requests[memory]: what`.
};

// What means something else than it seems to, of a pod or the template of a workload: amounts of memory or
// storage that are no whole bytes (`100m`), and selectors that are absent and so match no pod. Empty for
// other kinds. Source: kubernetes v1.37, pkg/api/pod/warnings.go, of which this is the part that placements
// rest on.
std::vector<PodWarning> PodWarnings(const codec::Value& document, absl::string_view kind);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_POD_WARNINGS_H_
