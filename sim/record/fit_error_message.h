// What Kubernetes' message for a pod that fits on no node says. It is the only source of reasons where a
// trace has no status for each node.
#ifndef SCHEDSIM_SIM_RECORD_FIT_ERROR_MESSAGE_H_
#define SCHEDSIM_SIM_RECORD_FIT_ERROR_MESSAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace schedsim::sim {

struct FitErrorMessage {
  struct Reason {
    int64_t node_count = 0;
    std::string reason;
  };

  // How many nodes there are.
  int64_t node_count = 0;
  // In the order of the message. A node may count for several.
  std::vector<Reason> reasons;
};

// Reads "0/4 nodes are available: 3 Insufficient cpu, 1 node(s) were unschedulable. ..."; nothing for any
// other text. Source: kubernetes v1.37, scheduler/framework/types.go, FitError.
std::optional<FitErrorMessage> ReadFitErrorMessage(absl::string_view message);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RECORD_FIT_ERROR_MESSAGE_H_
