// Pods whose node is gone: a part of the pod garbage collector.
#ifndef SCHEDSIM_SIM_CONTROLLERS_POD_GC_H_
#define SCHEDSIM_SIM_CONTROLLERS_POD_GC_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "sim/controllers/controller.h"

namespace schedsim::sim {

// Looks every 20 s for nodes that were deleted, gives them 40 s to come back, and deletes their pods at once.
// Source: kubernetes v1.37, pkg/controller/podgc. Nodes that were never there are left alone: the input may
// be a part of a cluster.
class PodGcController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) { return options.nodes; }
  explicit PodGcController(const ControllerContext& context)
      : loop_(context.loop), server_(context.server), trace_(context.trace) {}
  PodGcController(const PodGcController&) = delete;
  PodGcController& operator=(const PodGcController&) = delete;

  std::vector<api::Kind> Watches() const override { return {api::Kind::kNode}; }
  void OnEvent(const WatchEvent& event) override;
  // The first look is 20 s from now.
  void Start() override { start_ = loop_.Now(); }

 private:
  void Collect(const std::string& node_name);

  EventLoop& loop_;
  ApiServer& server_;
  Trace& trace_;
  absl::Time start_ = absl::InfiniteFuture();
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_POD_GC_H_
