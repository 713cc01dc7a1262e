#include "sim/report/binding_hold.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/extension_point.h"
#include "core/scheduler/scheduler.h"

namespace schedsim::sim {

std::optional<std::string> BindingHoldText(const Simulation& simulation, const api::Pod& pod) {
  const std::optional<scheduler::Scheduler::BindingHold> hold = simulation.FindBindingHold(pod);
  if (!hold.has_value()) return std::nullopt;
  const std::string plugins = absl::StrJoin(hold->plugins, ", ");
  if (hold->point == api::ExtensionPoint::kPermit) return absl::StrCat("it waits on Permit for ", plugins);
  if (hold->point == api::ExtensionPoint::kPreBind)
    return absl::StrCat("PreBind", plugins.empty() ? "" : " of ", plugins, " is not done");
  // The default one's call is on its way, and of several any may have it.
  if (hold->plugins.size() != 1 || plugins == "DefaultBinder") return "";
  return absl::StrCat("Bind of ", plugins, " has not bound it");
}

}  // namespace schedsim::sim
