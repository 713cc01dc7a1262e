// The admission plugin DefaultTolerationSeconds: pods stay for five minutes on a node that is not ready or
// unreachable, unless they say otherwise.
// Source: kubernetes v1.37, plugin/pkg/admission/defaulttolerationseconds/admission.go.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_DEFAULT_TOLERATION_SECONDS_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_DEFAULT_TOLERATION_SECONDS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/api/pod.h"
#include "sim/cluster/admission/plugin.h"

namespace schedsim::sim {

class DefaultTolerationSecondsPlugin final : public AdmissionPlugin {
 public:
  // Never refuses.
  absl::Status MutateSpec(absl::string_view name_space, api::PodSpec& spec) const override;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_DEFAULT_TOLERATION_SECONDS_H_
