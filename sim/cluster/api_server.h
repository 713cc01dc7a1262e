// An API server in memory: whole objects, versions, watches.
#ifndef SCHEDSIM_SIM_CLUSTER_API_SERVER_H_
#define SCHEDSIM_SIM_CLUSTER_API_SERVER_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/api/devices.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/api/pod_group.h"
#include "core/base/clock.h"
#include "core/base/lookup_map.h"
#include "core/base/rng.h"
#include "core/codec/objects/objects.h"
#include "core/codec/patch/object_patch.h"
#include "core/codec/text/value.h"
#include "core/framework/client.h"
#include "sim/cluster/admission/admission.h"
#include "sim/kernel/variation.h"

namespace schedsim::sim {

// What happened to an object. `old_object` is nullptr for additions, `new_object` for deletions.
struct WatchEvent {
  api::ObjectPtr old_object;
  api::ObjectPtr new_object;
};

// How long a pod has to end that does not ask for another time. Source: kubernetes v1.37,
// pkg/apis/core/v1/defaults.go, terminationGracePeriodSeconds.
inline constexpr absl::Duration kDefaultGracePeriod = absl::Seconds(30);

// Keeps objects under (kind, namespace, name) and gives each change a resource version. All calls take
// effect at once; whoever wants them to take time calls later.
class ApiServer {
 public:
  struct Options {
    // Clears status.nominatedNodeName when a pod is bound (gate ClearingNominatedNodeNameAfterBinding).
    bool clears_nomination_when_bound = true;
    Admission::Options admission;
    // Of the names that are made up.
    uint64_t seed = 1;
    // Made-up names end in a number of five digits, counted from 1.
    bool counts_names = false;
    // Which updates of controllers meet a conflict; it must outlive the server. nullptr: none but those with
    // an old version.
    Faults* faults = nullptr;
  };
  // Whether an update is for one version of the object only.
  enum class VersionCheck : uint8_t {
    kChecked,
    kUnchecked,  // The version is another server's, or the caller means whatever is there.
  };
  // Called with each change, in order, before the call that made it returns.
  using Watcher = std::function<void(const WatchEvent&)>;

  // `clock` must outlive the server.
  ApiServer(const Options& options, const Clock& clock)
      : options_(options),
        clock_(clock),
        admission_(options.admission),
        names_(Rng(options.seed).Fork("api-server/names")) {}
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  // Keeps a uid that is to come with an object from being given out before: those of another run look alike.
  void ReserveUid(absl::string_view uid);
  // One that was not given out before.
  std::string NewUid();

  void Watch(Watcher watcher) { watchers_.push_back(std::move(watcher)); }

  // Stores a new object, with a name made up where it has a generateName alone, and with defaults for what
  // the input leaves out: uid, creationTimestamp, and what admission sets. AlreadyExists when there is one of
  // that name. PermissionDenied and InvalidArgument, with the API server's message, when admission or
  // validation refuses the object. `uid`: what an object without one gets; "": a new one.
  absl::Status Create(const api::ObjectPtr& object, absl::string_view uid = "");
  // The same; returns the object as stored.
  absl::StatusOr<api::ObjectPtr> CreateNamed(const api::ObjectPtr& object, absl::string_view uid = "");
  // What Create would say of the pod, but for its name; nothing is stored.
  absl::Status Admit(const api::Pod& pod) { return admission_.Check(pod); }
  // Whether an object may be changed so, but for what is fixed in a pod's spec. The errors of Create.
  absl::Status AdmitUpdate(const api::Object& before, const api::Object& after) const {
    return admission_.ValidateUpdate(before, after);
  }
  // Replaces an object, which keeps its uid, creationTimestamp and, once it is set, deletionTimestamp. A pod
  // keeps its node, conditions and nomination where the new one has none, and the priority that admission
  // gave it. NotFound when there is none. Aborted, a conflict, when another version than that of `object` is
  // stored; an object without a version is for whatever is there.
  absl::Status Update(const api::ObjectPtr& object, VersionCheck check = VersionCheck::kChecked);
  // What Update says where another version of the object is stored.
  static absl::Status VersionConflict(const api::Object& object);
  // Writes a part of a claim, the rest stays: its status, all but that, or all. A claim that is being
  // deleted goes with its last finalizer. NotFound when there is none; Aborted when another version, or
  // another claim of that name, is stored.
  enum class ClaimPart : uint8_t { kStatus, kAllButStatus, kAll };
  absl::Status UpdateClaim(const api::ResourceClaim& claim, ClaimPart part);
  // Takes the consumer of this uid out of the claim's status.reservedFor. The errors of UpdateClaim; the
  // version does not count.
  absl::Status RemoveConsumer(const api::ResourceClaim& claim, absl::string_view uid);
  // Says whether a patch may make `after` of `before`.
  using PatchCheck = absl::FunctionRef<absl::Status(const api::Object& before, const api::Object& after)>;
  // Patches the stored object and returns it as stored. NotFound when there is none, InvalidArgument as
  // codec::PatchObject says it, Aborted when the patch names another version than the stored one, and what
  // `check` returns; without a check, all is allowed that makes a valid object.
  absl::StatusOr<api::ObjectPtr> Patch(const api::Object& object, codec::PatchType type,
                                       const codec::Value& patch, PatchCheck check = AllowAll);
  // Deletes the pod of this namespace and name gracefully. A pod that runs on a node gets a
  // deletionTimestamp, as far from now as the grace period says, and stays for whoever ends it; without a
  // grace period, and if it does not run, it is removed at once. NotFound when there is none.
  absl::Status DeletePod(const api::Pod& pod);
  // How long a pod that runs has from its deletion on: zero, it is removed at once; absent, it is ending
  // already and nothing changes. The kubelets say so, since they end the pods. Without it, all are removed at
  // once.
  using GracePeriod = std::function<std::optional<absl::Duration>(const api::Pod&)>;
  void set_grace_period(GracePeriod grace_period) { grace_period_ = std::move(grace_period); }
  // Whether an object may not go yet, since it is in use. Without it, none is protected.
  using Protection = std::function<bool(const api::Object&)>;
  void set_protection(Protection protection) { protection_ = std::move(protection); }
  // From now on nodes that are created have the taint node.kubernetes.io/not-ready, as admission gives it to
  // them. Not those that a cluster gave out.
  void TaintNewNodes() { admission_.TaintNewNodes(); }
  // Ends a pod's life gracefully: sets its deletionTimestamp, `grace` from now. NotFound when there is none.
  absl::Status MarkDeleted(const api::Pod& pod, absl::Duration grace);
  // NotFound when there is none. An object that is protected gets a deletionTimestamp and stays; who protects
  // it deletes it again later.
  absl::Status Delete(api::Kind kind, absl::string_view kind_name, absl::string_view name_space,
                      absl::string_view name);
  // The same for the stored object of the same group, kind, namespace and name.
  absl::Status Delete(const api::Object& object);

  // The binding subresource of a pod. NotFound, or a conflict (Aborted) when the pod is bound already, being
  // deleted, or another one of the same name.
  absl::Status Bind(const api::Pod& pod, absl::string_view node_name);
  // NotFound when the pod is gone. Returns the pod as stored.
  absl::StatusOr<api::PodPtr> PatchPodStatus(const api::Pod& pod, const framework::PodStatusPatch& patch);

  // Sets a condition of the group's status. NotFound when the group is gone. Returns it as stored.
  absl::StatusOr<api::PodGroupPtr> PatchPodGroupStatus(const api::PodGroup& group,
                                                       const api::PodCondition& condition);

  // The object of this name, or nullptr. `kind_name` counts for kOther only. Where kinds that are not built
  // in share it, the first group has precedence.
  api::ObjectPtr Find(api::Kind kind, absl::string_view kind_name, absl::string_view name_space,
                      absl::string_view name) const;
  // The same by "namespace/name", or "name" where there is no namespace, as Object::Key has it.
  api::ObjectPtr FindByKey(api::Kind kind, absl::string_view kind_name, absl::string_view key) const;
  // The object of a kind without an enumerator, of this group, by the same key, or nullptr. `api_version`:
  // "batch/v1"; other versions of the group count as well.
  api::ObjectPtr FindOther(absl::string_view api_version, absl::string_view kind_name,
                           absl::string_view key) const;
  // The stored object of the same group, kind, namespace and name, or nullptr.
  api::ObjectPtr Find(const api::Object& object) const;
  api::PodPtr FindPod(absl::string_view name_space, absl::string_view name) const;

  // All objects of a kind by "namespace/name", in that order; kOther has the kind in front, "Kind/" or
  // "Kind.group/".
  using Objects = absl::btree_map<std::string, api::ObjectPtr>;
  const Objects& List(api::Kind kind) const {
    if (kind == api::Kind::kPod) ListPods();
    return objects_[static_cast<size_t>(kind)];
  }

  // All pods in the order of their numbers, which is that of their creation. Costs less than List.
  void ForEachPod(absl::FunctionRef<void(const api::Pod&)> visit) const;

  uint64_t resource_version() const { return resource_version_; }

 private:
  static absl::Status AllowAll(const api::Object& /*before*/, const api::Object& /*after*/) {
    return absl::OkStatus();
  }
  static std::string KeyOf(const api::Object& object);
  // Update without faults.
  absl::Status Replace(const api::ObjectPtr& object, VersionCheck check);
  // Gives the object a name that none of its kind has. AlreadyExists after some attempts. Draws.
  absl::Status MakeName(api::Object& object);
  // A copy of `object` with the next resource version.
  std::shared_ptr<api::Object> Copy(const api::Object& object);
  std::shared_ptr<api::Pod> CopyPod(const api::Pod& pod);
  // Gives an updated pod what it keeps of the stored one, and what admission sets.
  void CompleteUpdate(const api::Object& old_object, api::Pod& pod);
  // The stored object of this KeyOf; nullptr: there is none.
  api::ObjectPtr FindStored(api::Kind kind, absl::string_view key) const;
  // The stored version of a pod, of which the caller may have an older one or the name alone; nullptr: none.
  api::PodPtr FindStored(const api::Pod& pod) const;
  // Stores `new_object` under its KeyOf, or removes the old one where that is nullptr, and tells everybody.
  void Store(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object);
  void StorePod(const api::Pod* old_pod, const api::PodPtr& new_pod);
  void CopyTopologyLabels(api::Pod& pod);
  // Writes the statuses of quotas that count something else now.
  void StoreQuotas();
  absl::Status DeleteStored(const api::ObjectPtr& old_object);
  // The object goes, with its namespace where that ends and it was the last one in it.
  absl::Status RemoveStored(const api::ObjectPtr& old_object);
  // Brings the list of pods up to date.
  void ListPods() const;

  const Options options_;
  const Clock& clock_;
  Admission admission_;
  // Decodes patched objects.
  codec::ObjectReader reader_;
  // Pods change most often, and are seldom listed: they are found by number, or by hash where only the name
  // is known, and their list may lag behind.
  struct StoredPod {
    api::PodPtr pod;                // nullptr: there is none, or no longer.
    mutable bool is_listed = true;  // False: it is among `unlisted_pods_`.
  };
  std::vector<StoredPod> pods_by_number_ = std::vector<StoredPod>(1);  // By Pod::number.
  LookupMap<std::string, uint32_t> pods_;                              // Numbers by "namespace/name".
  // By name, beside their list: each binding looks for one.
  LookupMap<std::string, api::ObjectPtr> nodes_;
  mutable std::array<Objects, api::kKindCount> objects_;
  // Numbers of pods that changed since they were listed last, and keys of those that left.
  mutable std::vector<uint32_t> unlisted_pods_;
  mutable std::vector<std::string> left_pods_;
  // The condition of a pod that is bound, which most bound pods share as their only one.
  const api::SharedList<api::PodCondition> scheduled_{std::vector<api::PodCondition>{
      {.type = "PodScheduled", .status = "True", .reason = "", .message = ""}}};
  std::vector<Watcher> watchers_;
  GracePeriod grace_period_;
  Protection protection_;
  uint64_t resource_version_ = 0;
  uint64_t uid_count_ = 0;
  int64_t name_count_ = 0;
  Rng names_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_API_SERVER_H_
