// Disruption budgets: a part of the disruption controller.
#ifndef SCHEDSIM_SIM_CONTROLLERS_DISRUPTION_H_
#define SCHEDSIM_SIM_CONTROLLERS_DISRUPTION_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/api/pod.h"
#include "core/api/workloads.h"
#include "core/base/symbol.h"
#include "core/framework/selector.h"
#include "sim/controllers/controller.h"

namespace schedsim::sim {

// Says how many pods may be evicted, when it is asked. The status of budgets is not written.
// Source: kubernetes v1.37, pkg/controller/disruption/disruption.go.
class DisruptionController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions&) { return true; }
  explicit DisruptionController(const ControllerContext& context) : server_(context.server) {}

  std::vector<api::Kind> Watches() const override { return {}; }
  void OnEvent(const WatchEvent&) override {}
  void Start() override {}

  // Whether all budgets of the pod allow its eviction now.
  bool AllowsEviction(const api::Pod& pod);

 private:
  // How many more of the budget's pods may go now, over pods that are not being deleted: bound ones are
  // healthy, and as many are expected as there were at most since the first look. A budget without
  // minAvailable and maxUnavailable says so in its status.
  int64_t DisruptionsAllowed(const api::PodDisruptionBudget& budget, const framework::LabelMatcher& selector);
  bool Covers(const api::PodDisruptionBudget& budget, const framework::LabelMatcher& selector,
              const api::Pod& pod);

  ApiServer& server_;
  std::map<std::string, int64_t> expected_;  // By the budget's key.
  SymbolTable symbols_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_DISRUPTION_H_
