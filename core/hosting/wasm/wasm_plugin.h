// A guest as one of the framework's plugins.
#ifndef SCHEDSIM_CORE_HOSTING_WASM_WASM_PLUGIN_H_
#define SCHEDSIM_CORE_HOSTING_WASM_WASM_PLUGIN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "core/framework/handle.h"
#include "core/framework/plugin.h"
#include "core/hosting/wasm/guest.h"

namespace schedsim::hosting {

// Makes the plugin, with a first instance. InvalidArgument, in the real host's words, where that does not
// start.
absl::StatusOr<std::unique_ptr<framework::Plugin>> MakeWasmPlugin(std::shared_ptr<const GuestCode> code,
                                                                  std::string name, GuestArgs args,
                                                                  GuestLog log, framework::Handle& handle);

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_WASM_WASM_PLUGIN_H_
