// The condition that says why a pod is about to be deleted.
#ifndef SCHEDSIM_SIM_CONTROLLERS_DISRUPTION_TARGET_H_
#define SCHEDSIM_SIM_CONTROLLERS_DISRUPTION_TARGET_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/pod.h"
#include "core/framework/client.h"
#include "sim/cluster/api_server.h"
#include "sim/record/trace.h"

namespace schedsim::sim {

// Gives the pod the condition DisruptionTarget, if it is still there.
inline void SetDisruptionTarget(const api::Pod& pod, absl::string_view reason, absl::string_view message,
                                ApiServer& server, Trace& trace) {
  framework::PodStatusPatch patch;
  patch.condition = {.type = "DisruptionTarget",
                     .status = "True",
                     .reason = std::string(reason),
                     .message = std::string(message)};
  const absl::StatusOr<api::PodPtr> marked = server.PatchPodStatus(pod, patch);
  if (marked.ok()) trace.Status(**marked);
}

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_DISRUPTION_TARGET_H_
