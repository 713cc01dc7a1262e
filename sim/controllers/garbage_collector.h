// Objects whose owner is gone.
#ifndef SCHEDSIM_SIM_CONTROLLERS_GARBAGE_COLLECTOR_H_
#define SCHEDSIM_SIM_CONTROLLERS_GARBAGE_COLLECTOR_H_

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/api/object.h"
#include "core/base/lookup_map.h"
#include "sim/controllers/controller.h"
#include "sim/controllers/owned_pods.h"
#include "sim/controllers/work_queue.h"

namespace schedsim::sim {

// Deletes in the background what a deleted object owned, if nobody else owns it. What was being deleted at
// the start, goes: owners that waited for what they own, and what is in namespaces. Source: kubernetes v1.37,
// pkg/controller/garbagecollector. The input may be a part of a cluster, also where others of an owner's kind
// are in it, so that an owner that is not there proves nothing: what it owned stays, unless the owner was
// deleted in the run, or another object has its name at the start.
class GarbageCollector : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) { return options.workloads; }
  explicit GarbageCollector(const ControllerContext& context);
  GarbageCollector(const GarbageCollector&) = delete;
  GarbageCollector& operator=(const GarbageCollector&) = delete;

  // All kinds.
  std::vector<api::Kind> Watches() const override;
  void OnEvent(const WatchEvent& event) override;
  void Start() override;

  // Takes the object away from its dependents, so that they stay when it is deleted.
  void Orphan(const api::Object& owner);

 private:
  // What finds an object.
  struct Reference {
    api::Kind kind = api::Kind::kOther;
    std::string kind_name;
    std::string name_space;
    std::string name;
    std::string api_version;

    friend auto operator<=>(const Reference&, const Reference&) = default;
  };

  static bool IsKeptHere(const api::Object& dependent, const api::OwnerReference& owner);
  void KeepOwners(const WatchEvent& event);
  absl::Status Sync(const std::string& key);
  std::vector<api::ObjectPtr> DependentsOf(const std::string& owner_uid, bool is_pod) const;
  api::ObjectPtr Find(const Reference& reference) const;
  // The object that has the owner's name; nullptr: there is none.
  api::ObjectPtr FindOwner(const api::Object& object, const api::OwnerReference& owner) const;
  bool HasOtherOwner(const api::Object& object) const;
  // Whether it has owners, and all of them are known to be gone.
  bool HasAbsentOwners(const api::Object& object) const;
  // Remembers owners whose names others have.
  void NoteReplacedOwners(const api::Object& object);
  void WarnOfReplacedOwners();
  // Has it looked at later if so.
  void AddIfAbsent(const api::Object& object);
  static Reference ReferenceOf(const api::Object& object);
  void Delete(const api::Object& object);
  // Goes on with a deletion that had begun before the start.
  void EndDeletion(const api::Object& object);

  ApiServer& server_;
  OwnedPods& owned_pods_;
  WorkQueue queue_;
  // Objects that have owners, by the owner's uid; pods only by those that are not their controller, or
  // are pods.
  std::map<std::string, std::set<Reference>> dependents_;
  // What seems to have no owner, by uid.
  std::map<std::string, Reference> ownerless_;
  // What was being deleted at the start, by uid.
  std::map<std::string, Reference> ending_;
  // Uids of owners that are known to be gone; the value says nothing.
  LookupMap<std::string, bool> gone_;
  // What the start found whose owner's name another object has: the first one, as a warning, and how many.
  std::string replaced_owner_;
  int64_t replaced_count_ = 0;
  std::vector<std::string>& warnings_;
  bool started_ = false;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_GARBAGE_COLLECTOR_H_
