// The admission plugin DefaultStorageClass: claims that ask for no class get the default one.
// Source: kubernetes v1.37, plugin/pkg/admission/storage/storageclass/setdefault/admission.go.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_DEFAULT_STORAGE_CLASS_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_DEFAULT_STORAGE_CLASS_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "sim/cluster/admission/plugin.h"

namespace schedsim::sim {

class DefaultStorageClassPlugin final : public AdmissionPlugin {
 public:
  bool OnChange(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) override;
  // Never refuses.
  absl::Status Mutate(api::Object& object) const override;

 private:
  // The classes that call themselves the default: when they were made, by name.
  std::map<std::string, absl::Time> defaults_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_DEFAULT_STORAGE_CLASS_H_
