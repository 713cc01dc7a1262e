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
#include "sim/cluster/admission/plugin.h"
#include "sim/cluster/admission/policy_json.h"

namespace schedsim::sim {

class LimitRangerPlugin final : public AdmissionPlugin {
 public:
  bool OnChange(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) override;
  const void* RulesOf(absl::string_view name_space) const override;
  // Never refuses. Default limits are not requests of containers: the API's defaults came before.
  absl::Status MutateSpec(absl::string_view name_space, api::PodSpec& spec) const override;
  // What becomes of the pod's annotation kubernetes.io/limit-ranger if MutateSpec gets the spec; "": nothing.
  std::string AnnotationFor(absl::string_view name_space, const api::PodSpec& spec) const;
  // Refuses a spec with all that is out of bounds of the first LimitRange that it violates.
  absl::Status ValidateSpec(absl::string_view name_space, const api::PodSpec& spec) const override;
  // The same for claims, by their requests.
  absl::Status Validate(const api::Object& object) const override;

 private:
  using Limits = std::vector<LimitRangeItem>;

  // By name, of one namespace.
  using Ranges = std::map<std::string, Limits>;

  // Sets what is missing, and returns the annotation that says so.
  std::string SetDefaults(absl::string_view name_space, api::PodSpec& spec) const;
  const Ranges* Find(absl::string_view name_space) const;

  std::map<std::string, Ranges> ranges_;  // By namespace.
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_LIMIT_RANGER_H_
