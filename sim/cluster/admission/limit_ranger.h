// The admission plugin LimitRanger: default requests and limits by namespace, and bounds for them.
// Source: kubernetes v1.37, plugin/pkg/admission/limitranger/admission.go.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_LIMIT_RANGER_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_LIMIT_RANGER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/api/pod.h"
#include "core/api/quantity.h"
#include "sim/cluster/admission/plugin.h"

namespace schedsim::sim {

class LimitRangerPlugin final : public AdmissionPlugin {
 public:
  bool OnChange(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) override;
  const void* RulesOf(absl::string_view name_space) const override;
  // Never refuses. Default limits are not requests of containers: the API's defaults came before.
  absl::Status MutateSpec(absl::string_view name_space, api::PodSpec& spec) const override;
  // Refuses a spec with all that is out of bounds of the first LimitRange that it violates.
  absl::Status ValidateSpec(absl::string_view name_space, const api::PodSpec& spec) const override;
  // The same for claims, by their requests.
  absl::Status Validate(const api::Object& object) const override;

 private:
  // One of spec.limits.
  struct Limit {
    std::string type;  // Container, Pod or PersistentVolumeClaim.
    api::ResourceList min, max, default_limits, default_requests, max_ratio;
  };
  using Limits = std::vector<Limit>;

  // By name, of one namespace.
  using Ranges = std::map<std::string, Limits>;

  const Ranges* Find(absl::string_view name_space) const;

  std::map<std::string, Ranges> ranges_;  // By namespace.
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_LIMIT_RANGER_H_
