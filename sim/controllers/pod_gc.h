// Pods whose node is gone: a part of the pod garbage collector.
#ifndef SCHEDSIM_SIM_CONTROLLERS_POD_GC_H_
#define SCHEDSIM_SIM_CONTROLLERS_POD_GC_H_

#include <string>

#include "absl/time/time.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"
#include "sim/record/trace.h"

namespace schedsim::sim {

// Looks every 20 s for nodes that were deleted, gives them 40 s to come back, and deletes their pods at once.
// Source: kubernetes v1.37, pkg/controller/podgc. Nodes that were never there are left alone: the input may
// be a part of a cluster.
class PodGc {
 public:
  // What is borrowed must outlive it.
  PodGc(EventLoop& loop, ApiServer& server, Trace& trace);
  PodGc(const PodGc&) = delete;
  PodGc& operator=(const PodGc&) = delete;

  // The first look is 20 s from now.
  void Start() { start_ = loop_.Now(); }

 private:
  void OnEvent(const WatchEvent& event);
  void Collect(const std::string& node_name);

  EventLoop& loop_;
  ApiServer& server_;
  Trace& trace_;
  absl::Time start_ = absl::InfiniteFuture();
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_POD_GC_H_
