// What the kubelets of the cluster do here: they end the pods that are deleted.
#ifndef SCHEDSIM_SIM_ACTORS_KUBELETS_H_
#define SCHEDSIM_SIM_ACTORS_KUBELETS_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/pod.h"
#include "core/base/rng.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/interleaving.h"
#include "sim/kernel/latency.h"
#include "sim/record/trace.h"

namespace schedsim::sim {

// One for all nodes. The kubelets tell the API server how long a pod takes to end, watch for deletions that
// rest on it, and remove each pod when its time is over. They are actors, not controllers: they live on the
// nodes, take time of their own, and controllers reach them through the API server alone.
// What is borrowed must outlive it.
class Kubelets {
 public:
  // `termination`: how long a deleted pod that is bound stays; drawn from the stream of `rng`.
  Kubelets(const Latency& termination, const Rng& rng, Interleaving& interleaving, ApiServer& server,
           Trace& trace);
  Kubelets(const Kubelets&) = delete;
  Kubelets& operator=(const Kubelets&) = delete;

  // Takes on the pods that are ending already, those of the input: each is gone when its deletionTimestamp
  // has come, which is the end of its grace period. A node whose condition Ready is Unknown is silent. A pod
  // that somebody else has to release first (metadata.finalizers) fails instead. To be called once, when the
  // run starts.
  void EndTerminatingPods(absl::Time now);

  // Nobody confirms deletions on a silent node: its pods stay until it is heard again, then they go. Those
  // that were ready before are ready again.
  void SetSilent(absl::string_view node_name, bool silent);
  bool IsSilent(absl::string_view node_name) const { return silent_.count(node_name) > 0; }

 private:
  std::optional<absl::Duration> GracePeriod(const api::Pod& pod);
  void OnEvent(const WatchEvent& event);
  void OnNode(const WatchEvent& event);
  void EndAt(absl::Time end, api::PodPtr pod);
  void EndNext();
  void End(const api::Pod& pod);

  const Latency termination_;
  Rng rng_;
  Interleaving& interleaving_;
  ApiServer& server_;
  Trace& trace_;
  // The uid of the pod whose deletion is under way and that was given time; "": none. A deletionTimestamp
  // that someone writes into an update is not a deletion, so the kubelets leave it alone.
  std::string being_deleted_;
  // Deleted pods by the end of their termination time, in the order of their deletion.
  std::map<absl::Time, std::vector<api::PodPtr>> terminating_;
  std::set<std::string, std::less<>> silent_;
  // Whether pods end that were ending when the run began.
  bool ends_terminating_pods_ = false;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_ACTORS_KUBELETS_H_
