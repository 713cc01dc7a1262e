// The pods of workloads, by their controller.
#ifndef SCHEDSIM_SIM_CONTROLLERS_OWNED_PODS_H_
#define SCHEDSIM_SIM_CONTROLLERS_OWNED_PODS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/base/clock.h"
#include "core/base/lookup_map.h"
#include "sim/cluster/api_server.h"

namespace schedsim::sim {

// `Deployment default/web`: what warnings say of a ReplicaSet of it, or of any object that nothing controls.
std::string WorkloadOf(const api::Object& object);
// The uid of the controller of this kind that the event's object has now, and that it had before; "": none.
struct OwnerChange {
  std::string before;
  std::string now;
};
OwnerChange OwnerChangeOf(const WatchEvent& event, absl::string_view owner_kind);
// Whether the pod's condition Ready is True.
bool IsReady(const api::Pod& pod);
// Whether the pod is being deleted.
bool IsTerminating(const api::Pod& pod);
// Whether the pod is neither over nor being deleted.
bool IsActive(const api::Pod& pod);

// Keeps the pods of each workload together, so that controllers need not go through all pods. Until the first
// workload comes it keeps nothing, and an event costs a comparison. One for all controllers.
class OwnedPods {
 public:
  struct Entry {
    api::PodPtr pod;
    // Since when it is ready without a break; the infinite past: since before it was kept. Only of ready
    // ones.
    absl::Time ready_since;
  };
  // By name.
  using Pods = absl::btree_map<std::string, Entry>;
  // Counts over pods that are active.
  struct Counts {
    int64_t active = 0;
    int64_t ready = 0;
    int64_t bound = 0;
    // Of pods that are being deleted, and not over.
    int64_t terminating = 0;
  };
  // Hears of a change of a pod that a workload of its kind controls, or did before: the key of the workload,
  // "namespace/name", and the change.
  using Listener = std::function<void(const std::string& owner_key, const WatchEvent& event)>;

  // Both must outlive it.
  OwnedPods(const ApiServer& server, const Clock& clock) : server_(server), clock_(clock) {}
  OwnedPods(const OwnedPods&) = delete;
  OwnedPods& operator=(const OwnedPods&) = delete;

  // `kind_name`: of workloads, "ReplicaSet". Listeners hear from Start on, in the order of their calls here.
  void Listen(absl::string_view kind_name, Listener listener);
  // A change of any object, before controllers hear of it.
  void OnEvent(const WatchEvent& event);
  // From now on listeners hear of pods.
  void Start();

  // Keeps pods even where there is no workload that a controller looks after.
  void KeepAll();

  // Of the workload with this uid; it may be gone.
  const Pods& Of(const std::string& owner_uid) const;
  // The same pods, in no order that counts, which costs less than Of where that is not asked anyway.
  void ForEach(const std::string& owner_uid, absl::FunctionRef<void(const api::Pod& pod)> visit) const;
  Counts CountsOf(const std::string& owner_uid) const;
  // How many active pods have been ready for so long.
  int64_t AvailableOf(const std::string& owner_uid, absl::Duration min_ready);
  // When the next one of those that are ready will have been so for so long; the infinite future: none.
  absl::Time NextAvailable(const std::string& owner_uid, absl::Duration min_ready) const;
  // Whether the pod is controlled by a workload that is there, and that a controller looks after.
  bool IsOwned(const api::Pod& pod) const;

 private:
  // How many pods have been ready since a time, of those that are active; and how many of them since a time
  // up to `until`, so that a count that is asked for again and again only adds what is new.
  struct ReadyTimes {
    absl::btree_map<absl::Time, int64_t> counts;
    absl::Time until = absl::InfinitePast();
    int64_t up_to_until = 0;

    void Add(absl::Time time, int64_t by);
    int64_t UpTo(absl::Time time);
  };
  struct Group {
    mutable Pods pods;
    // Not yet among `pods`: where nothing is due, counts are all that is asked for.
    mutable std::vector<Entry> unsorted;
    Counts counts;
    ReadyTimes ready_times;

    Pods& Sorted() const;
  };

  bool IsWorkload(const api::Object& object) const;
  // Begins to keep pods, those that are there first.
  void Fill();
  void OnWorkload(const WatchEvent& event);
  void OnPod(const WatchEvent& event);
  void Remove(const api::Pod& pod);
  void Insert(const api::PodPtr& pod, absl::Time ready_since);
  void Tell(const api::Pod& pod, const WatchEvent& event) const;

  const ApiServer& server_;
  const Clock& clock_;
  std::map<std::string, std::vector<Listener>, std::less<>> listeners_;
  bool fills_ = false;
  bool tells_ = false;
  // By uid of the workload.
  LookupMap<std::string, Group> groups_;
  // Of workloads that are there; the value says nothing.
  LookupMap<std::string, bool> workloads_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_OWNED_PODS_H_
