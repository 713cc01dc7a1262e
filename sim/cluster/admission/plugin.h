// What the admission plugins of the API server have in common.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_PLUGIN_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_PLUGIN_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/api/pod.h"

namespace schedsim::sim {

// One admission plugin. Admission calls all of them, in the API server's order: first each plugin's Mutate
// functions, then each plugin's Validate functions. What follows from a pod's spec and namespace alone
// belongs into MutateSpec and ValidateSpec, which are called once for all pods that share both.
//
// A refusal is PermissionDenied with the reason alone; Admission puts `pods "NAME" is forbidden: ` before it.
// Errors of other codes are complete messages.
class AdmissionPlugin {
 public:
  AdmissionPlugin() = default;
  virtual ~AdmissionPlugin() = default;
  AdmissionPlugin(const AdmissionPlugin&) = delete;
  AdmissionPlugin& operator=(const AdmissionPlugin&) = delete;

  // Hears of each change in the API server, before the watchers do. `old_object` is nullptr for additions,
  // `new_object` for deletions. Returns whether MutateSpec or ValidateSpec may answer otherwise from now on.
  virtual bool OnChange(const api::ObjectPtr& /*old_object*/, const api::ObjectPtr& /*new_object*/) {
    return false;
  }

  // What tells pods of this namespace apart from those of others for MutateSpec and ValidateSpec: equal for
  // namespaces that are alike, nullptr for those without anything of their own. Valid until OnChange returns
  // true.
  virtual const void* RulesOf(absl::string_view /*name_space*/) const { return nullptr; }

  virtual absl::Status MutateSpec(absl::string_view /*name_space*/, api::PodSpec& /*spec*/) const {
    return absl::OkStatus();
  }
  virtual absl::Status ValidateSpec(absl::string_view /*name_space*/, const api::PodSpec& /*spec*/) const {
    return absl::OkStatus();
  }

  // For each object of any kind, pods too, that is created and did not pass admission before.
  virtual absl::Status Mutate(api::Object& /*object*/) const { return absl::OkStatus(); }
  virtual absl::Status Validate(const api::Object& /*object*/) const { return absl::OkStatus(); }
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_PLUGIN_H_
