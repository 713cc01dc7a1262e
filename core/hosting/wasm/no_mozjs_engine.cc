// A build without SpiderMonkey.
#include "core/hosting/wasm/wasm_backends.h"

namespace schedsim::hosting {

const bool kHasMozjs = false;

std::string MozjsVersion() { return "mozjs: not in this build"; }

absl::StatusOr<std::unique_ptr<WasmProgram>> LoadMozjs(const WasmModule& /*module*/) {
  return absl::UnavailableError("mozjs is not in this build, expected wabt");
}

}  // namespace schedsim::hosting
