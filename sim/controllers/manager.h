// All controllers of a simulation.
#ifndef SCHEDSIM_SIM_CONTROLLERS_MANAGER_H_
#define SCHEDSIM_SIM_CONTROLLERS_MANAGER_H_

#include <array>
#include <memory>
#include <vector>

#include "core/api/object.h"
#include "sim/controllers/controller.h"

namespace schedsim::sim {

// Makes the controllers of the table in manager.cc, and tells each of the changes that it watches, in the
// order of the table. A controller that has to have settled before the scheduler starts is started by
// StartEarly.
class ControllerManager {
 public:
  // Watches the API server from now on.
  explicit ControllerManager(const ControllerContext& context);
  ControllerManager(const ControllerManager&) = delete;
  ControllerManager& operator=(const ControllerManager&) = delete;

  // Starts the volume controller, if there is one: the scheduler finds the volumes that it made.
  void StartEarly();
  // Starts all others.
  void Start();

  // The controller of this class; nullptr where it takes no part.
  template <typename T>
  T* Get() const {
    for (const std::unique_ptr<Controller>& controller : controllers_) {
      if (auto* found = dynamic_cast<T*>(controller.get())) return found;
    }
    return nullptr;
  }

 private:
  std::vector<std::unique_ptr<Controller>> controllers_;
  // Shape: by kind; who hears of it.
  std::array<std::vector<Controller*>, api::kKindCount> watchers_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_MANAGER_H_
