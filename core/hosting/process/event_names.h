// Events as messages name them.
#ifndef SCHEDSIM_CORE_HOSTING_PROCESS_EVENT_NAMES_H_
#define SCHEDSIM_CORE_HOSTING_PROCESS_EVENT_NAMES_H_

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/framework/events.h"

namespace schedsim::hosting {

// "UpdateNodeLabel", "Add", "Update", "All"; absent: there is no such action.
std::optional<framework::ActionType> ActionNamed(absl::string_view name);
// Names that together stand for these actions.
std::vector<absl::string_view> ActionNames(framework::ActionType actions);

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_PROCESS_EVENT_NAMES_H_
