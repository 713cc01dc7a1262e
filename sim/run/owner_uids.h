// Owners of the input that came without a uid.
#ifndef SCHEDSIM_SIM_RUN_OWNER_UIDS_H_
#define SCHEDSIM_SIM_RUN_OWNER_UIDS_H_

#include <map>
#include <string>
#include <vector>

#include "core/api/object.h"
#include "sim/cluster/api_server.h"

namespace schedsim::sim {

// Finds owners by name: a ReplicaSet that came without a uid (from a manifest, or from what `kubectl neat`
// prints) owns the pods whose ownerReferences have its kind, namespace and name, whatever uid these have. It
// gets the uid that most of them name, so that few have to change.
class OwnerUids {
 public:
  // Of objects that are to be created, nullptr among them for those that are not.
  OwnerUids(const std::vector<api::ObjectPtr>& objects, ApiServer& server);

  // The uid that the object is to get, which has none; "": any.
  std::string UidOf(const api::Object& object) const;
  // The object with the uids of such owners in its ownerReferences.
  api::ObjectPtr WithOwners(const api::ObjectPtr& object) const;

 private:
  // Of those that came without one, by group, kind, namespace and name.
  std::map<std::string, std::string> uids_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RUN_OWNER_UIDS_H_
