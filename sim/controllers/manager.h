// All controllers of a simulation.
#ifndef SCHEDSIM_SIM_CONTROLLERS_MANAGER_H_
#define SCHEDSIM_SIM_CONTROLLERS_MANAGER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/api/object.h"
#include "sim/controllers/controller.h"

namespace schedsim::sim {

// Makes the controllers of the table in manager.cc, and tells each of the changes that it watches, in the
// order of the table. A controller that has to have settled before the scheduler starts is started by
// StartEarly.
class ControllerManager {
 public:
  // Watches the API server from now on. Controllers fork their streams of chance from `rng`; loop, server and
  // trace must outlive the manager.
  // `api_call`: from a call of a controller that makes pods to its answer. `faults`: which of their updates
  // fail, nullptr: none.
  ControllerManager(const ControllerOptions& options, const Rng& rng, EventLoop& loop, ApiServer& server,
                    Trace& trace, const Latency& api_call = Latency(), Faults* faults = nullptr);
  ~ControllerManager();
  ControllerManager(const ControllerManager&) = delete;
  ControllerManager& operator=(const ControllerManager&) = delete;

  // Starts the controllers of volumes, budgets and nodes: the scheduler finds what they made.
  void StartEarly();
  // Starts all others.
  void Start();

  // Whether any controller reads what the kubelets say of the pod.
  bool ReadsStatusOf(const api::Pod& pod) const;
  // Whether a controller that is there looks after the pod.
  bool Owns(const api::Pod& pod) const;
  // Whether a controller is about to act on what has happened, rather than that it waits for some time to
  // pass.
  bool IsBusy() const { return busy_count_ > 0; }
  // What the user should know, each with the object in front; with it what controllers still try in vain,
  // once for each object.
  std::vector<std::string> Warnings() const;

  // The controller of this class; nullptr where it takes no part.
  template <typename T>
  T* Get() const {
    for (const std::unique_ptr<Controller>& controller : controllers_) {
      if (auto* found = dynamic_cast<T*>(controller.get())) return found;
    }
    return nullptr;
  }

 private:
  // Sees to it that what was refused is tried again where the change lets more through.
  void AwaitRetries(const WatchEvent& event);

  std::unique_ptr<OwnedPods> owned_pods_;
  std::unique_ptr<ControllerRefs> refs_;
  std::vector<std::string> warnings_;
  int64_t busy_count_ = 0;
  std::vector<WorkQueue*> queues_;
  std::vector<std::unique_ptr<Controller>> controllers_;
  // Shape: by kind; who hears of it.
  std::array<std::vector<Controller*>, api::kKindCount> watchers_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_MANAGER_H_
