// The admission plugin DefaultStorageClass: claims that ask for no class get the default one.
// Source: kubernetes v1.37, plugin/pkg/admission/storage/storageclass/setdefault/admission.go.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_DEFAULT_STORAGE_CLASS_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_DEFAULT_STORAGE_CLASS_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "core/api/object.h"
#include "sim/cluster/admission/plugin.h"

namespace schedsim::sim {

// The default class among `best`, which may be nullptr, and one that comes behind it by name: of those that
// call themselves the default the newest, and of equally old ones the first by name; nullptr: none does.
// Source: kubernetes v1.37, pkg/volume/util/storageclass.go, GetDefaultClass.
const api::Object* BetterDefaultClass(const api::Object* best, const api::Object& storage_class);

class DefaultStorageClassPlugin final : public AdmissionPlugin {
 public:
  bool OnChange(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) override;
  // Never refuses.
  absl::Status Mutate(api::Object& object) const override;

 private:
  // The classes that call themselves the default, by name.
  std::map<std::string, api::ObjectPtr> defaults_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_DEFAULT_STORAGE_CLASS_H_
