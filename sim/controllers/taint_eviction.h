// Pods that leave tainted nodes: the taint eviction controller.
#ifndef SCHEDSIM_SIM_CONTROLLERS_TAINT_EVICTION_H_
#define SCHEDSIM_SIM_CONTROLLERS_TAINT_EVICTION_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/api/pod.h"
#include "sim/controllers/controller.h"

namespace schedsim::sim {

// Evicts pods from nodes whose NoExecute taints they do not tolerate, at once or when the time of the
// toleration is over. Source: kubernetes v1.37, pkg/controller/tainteviction.
class TaintEvictionController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) { return options.nodes; }
  explicit TaintEvictionController(const ControllerContext& context)
      : loop_(context.loop), server_(context.server), trace_(context.trace) {}
  TaintEvictionController(const TaintEvictionController&) = delete;
  TaintEvictionController& operator=(const TaintEvictionController&) = delete;

  std::vector<api::Kind> Watches() const override { return {api::Kind::kPod, api::Kind::kNode}; }
  void OnEvent(const WatchEvent& event) override;
  void Start() override;

 private:
  void LookAt(const api::Pod& pod);
  void CancelOf(const std::string& pod_uid);
  void Evict(const std::string& pod_uid, const std::string& name_space, const std::string& name);

  EventLoop& loop_;
  ApiServer& server_;
  Trace& trace_;
  bool started_ = false;
  // Evictions to come, by the pod's uid; what Cancel takes.
  std::map<std::string, uint64_t> evictions_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_TAINT_EVICTION_H_
