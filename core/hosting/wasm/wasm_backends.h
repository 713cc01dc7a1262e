// The engines behind wasm_engine.h.
#ifndef SCHEDSIM_CORE_HOSTING_WASM_WASM_BACKENDS_H_
#define SCHEDSIM_CORE_HOSTING_WASM_WASM_BACKENDS_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/hosting/wasm/wasm_engine.h"
#include "core/hosting/wasm/wasm_module.h"

namespace schedsim::hosting {

std::string WabtVersion();
absl::StatusOr<std::unique_ptr<WasmProgram>> LoadWabt(const WasmModule& module);

// False in a build without SpiderMonkey; then MozjsVersion says so, and LoadMozjs is Unavailable.
extern const bool kHasMozjs;
std::string MozjsVersion();
absl::StatusOr<std::unique_ptr<WasmProgram>> LoadMozjs(const WasmModule& module);

// The error of WasmInstance::Call for a guest that stopped: `stop` is what the guest's kStopExport says, and
// `engine_text` what the engine does.
absl::Status WasmTrap(WasmStop stop, absl::string_view engine_text);

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_WASM_WASM_BACKENDS_H_
