// The admission plugin NamespaceLifecycle: objects are created in namespaces that exist and are to stay.
// Source: apiserver v0.37, pkg/admission/plugin/namespace/lifecycle/admission.go.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_NAMESPACE_LIFECYCLE_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_NAMESPACE_LIFECYCLE_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/api/object.h"
#include "sim/cluster/admission/plugin.h"

namespace schedsim::sim {

// The namespaces that every cluster has, by name: the API server makes them when it starts.
// Source: kubernetes v1.37, pkg/controlplane/controller/systemnamespaces.
absl::Span<const absl::string_view> SystemNamespaces();

// Whether it is one of them.
bool IsSystemNamespace(absl::string_view name);

class NamespaceLifecyclePlugin final : public AdmissionPlugin {
 public:
  bool OnChange(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) override;
  // NotFound for objects whose namespace does not exist; refuses them where it is being terminated.
  absl::Status Mutate(api::Object& object) const override;

 private:
  std::map<std::string, bool> is_terminating_;  // By name, of the namespaces that there are.
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_NAMESPACE_LIFECYCLE_H_
