// The guests that a KubeSchedulerConfiguration names.
#ifndef SCHEDSIM_CORE_HOSTING_WASM_WASM_GUESTS_H_
#define SCHEDSIM_CORE_HOSTING_WASM_WASM_GUESTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/api/default_profile.h"
#include "core/codec/text/value.h"
#include "core/hosting/library/plugin_libraries.h"
#include "core/hosting/wasm/guest.h"
#include "core/hosting/wasm/wasm_engine.h"

namespace schedsim::hosting {

// How guests are found and run.
struct GuestOptions {
  WasmEngine engine = WasmEngines().front();
  // Takes what guests log; may be empty.
  GuestLog log = nullptr;
  // Places in the container of the real scheduler, and what is there on this machine.
  std::vector<std::pair<std::string, std::string>> mounts = {};
};

// Loads the guests of the configuration `root`: each entry of a profile's pluginConfig whose args have a
// guestURL is one, of the entry's name. Adds them to `loaded`, and to `known` (sorted by name) with the
// extension points that they have; a guest takes the place of a built-in plugin of its name, but not of one
// of kube-scheduler's. `file` is that of `root`: a path of a guest is that of a mount, else looked for beside
// the file, then where the program runs. What the user should know comes into `notes`, each
// `file:line:column: path: what`. InvalidArgument, in the same form, for a guest that is not found or cannot
// be run, and for arguments of a wrong type.
absl::Status LoadGuests(const codec::Value& root, absl::string_view file, const GuestOptions& options,
                        std::vector<api::PluginInfo>& known, LoadedPlugins& loaded,
                        std::vector<std::string>& notes);

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_WASM_WASM_GUESTS_H_
