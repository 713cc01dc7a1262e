// The admission plugin ResourceQuota, and the controller that keeps the status of quotas.
// Source: apiserver v0.37, pkg/admission/plugin/resourcequota; kubernetes v1.37,
// pkg/controller/resourcequota.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_RESOURCE_QUOTA_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_RESOURCE_QUOTA_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "core/api/object.h"
#include "core/api/quantity.h"
#include "sim/cluster/admission/plugin.h"
#include "sim/cluster/admission/quota_usage.h"

namespace schedsim::sim {

class ResourceQuotaPlugin final : public AdmissionPlugin {
 public:
  // Calls its argument with each object of the cluster.
  using Objects = absl::FunctionRef<void(absl::FunctionRef<void(const api::Object&)>)>;
  // The new status of a quota, as JSON: `{"hard":{…},"used":{…}}`.
  struct StatusUpdate {
    std::string name_space;
    std::string name;
    std::string status;
  };

  // Counts what is added to and taken from the quotas of the object's namespace.
  bool OnChange(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) override;
  // Refuses what would exceed a quota, and pods that do not say what a quota counts.
  absl::Status Validate(const api::Object& object) const override;

  // Whether a quota is new and has to count what is there, or one has a status to be written.
  bool HasWork() const { return !uncounted_.empty() || !changed_.empty(); }
  // Counts what new quotas find, and returns what is to be written, by namespace and name. Afterwards there
  // is no work, until something changes again.
  std::vector<StatusUpdate> Work(Objects objects);

 private:
  struct Quota {
    api::ResourceList hard;
    std::map<std::string, std::string> hard_text;  // As written.
    std::vector<QuotaScope> scopes;
    api::ResourceList used;  // Of the resources in `hard`.
    std::string status;      // As stored.
  };
  using Key = std::pair<std::string, std::string>;  // Namespace and name.

  void OnQuota(const api::Object& object, bool is_gone);
  // Adds `sign` (1 or -1) times what the object uses.
  void Count(const Key& key, const api::Object& object, int sign);
  static std::string StatusOf(const Quota& quota);
  // The quotas of a namespace, in order of name.
  template <typename Visitor>
  void ForEachOf(const std::string& name_space, const Visitor& visit) const;

  std::map<Key, Quota> quotas_;
  std::set<Key> uncounted_;
  std::set<Key> changed_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_RESOURCE_QUOTA_H_
