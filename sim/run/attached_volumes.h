// Volumes that only one node has at a time.
#ifndef SCHEDSIM_SIM_RUN_ATTACHED_VOLUMES_H_
#define SCHEDSIM_SIM_RUN_ATTACHED_VOLUMES_H_

#include <cstddef>
#include <map>
#include <string>

#include "core/api/pod.h"
#include "core/api/storage.h"
#include "sim/cluster/api_server.h"

namespace schedsim::sim {

// Looks for pods that are bound to a node although a volume of theirs, which can be attached to one node at a
// time, is in use on another. The scheduler places them so, as it looks at nothing but ReadWriteOncePod; but
// in a cluster they wait there for the other pod to end, and a rollout that waits for them hangs. Nothing is
// attached here.
class AttachedVolumes {
 public:
  // `server` must outlive it. To be made before the server has objects.
  explicit AttachedVolumes(ApiServer& server);
  AttachedVolumes(const AttachedVolumes&) = delete;
  AttachedVolumes& operator=(const AttachedVolumes&) = delete;

  // From now on pods that come onto a node are looked at; those before only have their volumes.
  void Start() { started_ = true; }
  // The first such pod, and how many more there were; "": there was none.
  std::string Warning() const;

 private:
  void OnEvent(const WatchEvent& event);
  void LookAt(const api::Pod& pod, const std::string& claim_key);
  bool IsForOneNode(const api::PersistentVolumeClaim& claim) const;

  ApiServer& server_;
  bool started_ = false;
  // By claim: the nodes of the pods on nodes that use it, by pod.
  std::map<std::string, std::map<std::string, std::string>> users_;
  std::string first_;
  size_t count_ = 0;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RUN_ATTACHED_VOLUMES_H_
