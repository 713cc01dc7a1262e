// What the kubelets of the cluster do here: they end the pods that are deleted.
#ifndef SCHEDSIM_SIM_ACTORS_KUBELETS_H_
#define SCHEDSIM_SIM_ACTORS_KUBELETS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/api/pod.h"
#include "core/base/rng.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"
#include "sim/kernel/latency.h"
#include "sim/kernel/thread_choice.h"
#include "sim/record/trace.h"

namespace schedsim::sim {

// How long a pod has to end that does not ask for another time.
inline constexpr absl::Duration kDefaultGracePeriod = absl::Seconds(30);

// One for all nodes. What is borrowed must outlive it.
class Kubelets {
 public:
  // `termination`: how long a deleted pod that is bound stays; drawn from the stream of `rng`.
  Kubelets(const Latency& termination, const Rng& rng, EventLoop& loop, ApiServer& server, Trace& trace)
      : termination_(termination),
        rng_(rng.Fork("latency/pod-termination")),
        loop_(loop),
        server_(server),
        trace_(trace) {}
  Kubelets(const Kubelets&) = delete;
  Kubelets& operator=(const Kubelets&) = delete;

  // Deletes the pod of this namespace and name as the API server does: one that is bound gets a
  // deletionTimestamp and stays for the termination time, if that is not zero. Nothing happens then to one
  // that has a deletionTimestamp. NotFound when there is none.
  absl::Status DeletePod(const api::Pod& pod);

  void set_choice(ThreadChoice* choice) { choice_ = choice; }

  // Nobody confirms deletions on a silent node: its pods stay until it is heard again, then they go.
  void SetSilent(absl::string_view node_name, bool silent);

 private:
  void EndNext();
  void End(const api::Pod& pod);

  const Latency termination_;
  Rng rng_;
  EventLoop& loop_;
  ApiServer& server_;
  Trace& trace_;
  ThreadChoice* choice_ = nullptr;
  // Deleted pods by the end of their termination time, in the order of their deletion.
  std::map<absl::Time, std::vector<api::PodPtr>> terminating_;
  std::set<std::string> silent_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_ACTORS_KUBELETS_H_
