// The admission plugin Priority: pods get the priority and the preemption policy of their PriorityClass.
// Source: kubernetes v1.37, plugin/pkg/admission/priority/admission.go.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_PRIORITY_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_PRIORITY_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/api/pod.h"
#include "core/api/workloads.h"
#include "sim/cluster/admission/plugin.h"

namespace schedsim::sim {

class PriorityPlugin final : public AdmissionPlugin {
 public:
  bool OnChange(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) override;
  // Refuses a spec whose class is not there or says otherwise. Where it has no class, what it says stays.
  absl::Status MutateSpec(absl::string_view name_space, api::PodSpec& spec) const override;
  // InvalidArgument for a class that the API server would not create: users may define values up to
  // 1,000,000,000, and names that begin with `system-` are those of the system's own classes.
  // Source: kubernetes v1.37, pkg/apis/scheduling/validation/validation.go, ValidatePriorityClass.
  absl::Status Validate(const api::Object& object) const override;

  // Sets priority and preemption policy where the spec has no priority and its class is there.
  void SetPriority(api::PodSpec& spec) const;

 private:
  // The class that a spec is in; nullptr for one without a name, where there is no default.
  const api::PriorityClass* ClassOf(const api::PodSpec& spec) const;

  // By name.
  std::map<std::string, std::shared_ptr<const api::PriorityClass>> classes_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_PRIORITY_H_
