// The admission plugin RuntimeClass: pods get the overhead, the node selector and the tolerations of their
// RuntimeClass.
// Source: kubernetes v1.37, plugin/pkg/admission/runtimeclass/admission.go.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_RUNTIME_CLASS_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_RUNTIME_CLASS_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/api/pod.h"
#include "core/api/quantity.h"
#include "core/api/taints.h"
#include "sim/cluster/admission/plugin.h"

namespace schedsim::sim {

class RuntimeClassPlugin final : public AdmissionPlugin {
 public:
  bool OnChange(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) override;
  // Refuses a spec whose class does not exist, or that contradicts its class.
  absl::Status MutateSpec(absl::string_view name_space, api::PodSpec& spec) const override;
  // Refuses an overhead that no class gave.
  absl::Status ValidateSpec(absl::string_view name_space, const api::PodSpec& spec) const override;

 private:
  struct RuntimeClass {
    std::optional<api::ResourceList> overhead;  // overhead.podFixed
    // Absent: the class says nothing of scheduling.
    bool has_scheduling = false;
    std::vector<std::pair<std::string, std::string>> node_selector;
    std::vector<api::Toleration> tolerations;
  };

  const RuntimeClass* Find(const api::PodSpec& spec) const;

  std::map<std::string, RuntimeClass> classes_;  // By name.
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_RUNTIME_CLASS_H_
