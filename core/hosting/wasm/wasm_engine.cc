#include "core/hosting/wasm/wasm_engine.h"

#include <new>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/hosting/wasm/wasm_backends.h"

namespace schedsim::hosting {

absl::string_view WasmEngineName(WasmEngine engine) {
  return engine == WasmEngine::kInterpreter ? "wabt" : "mozjs";
}

std::vector<WasmEngine> WasmEngines() {
  if (kHasMozjs) return {WasmEngine::kCompiler, WasmEngine::kInterpreter};
  return {WasmEngine::kInterpreter};
}

std::string WasmEngineVersion(WasmEngine engine) {
  return engine == WasmEngine::kInterpreter ? WabtVersion() : MozjsVersion();
}

absl::StatusOr<std::unique_ptr<WasmProgram>> LoadWasm(WasmEngine engine, const WasmModule& module) {
  return engine == WasmEngine::kInterpreter ? LoadWabt(module) : LoadMozjs(module);
}

absl::Status WasmTrap(WasmStop stop, absl::string_view engine_text) {
  if (stop == WasmStop::kNoMemory) {
    // No result may come of it: a program that ends without memory ends here, too.
    if (const std::new_handler end = std::get_new_handler()) end();
    return absl::ResourceExhaustedError("this machine has no memory for the guest");
  }
  if (stop == WasmStop::kFuel) return absl::AbortedError("wasm error: the call did not come to an end");
  if (stop == WasmStop::kDepth) return absl::AbortedError("wasm error: stack overflow");
  // What stands in an engine's words, and what is said of it, in wazero's words where it has some.
  constexpr absl::string_view kTraps[][2] = {
      {"unreachable", "unreachable"},
      {"divide by zero", "integer divide by zero"},
      {"overflow", "integer overflow"},
      {"invalid conversion", "invalid conversion to integer"},
      {"signature mismatch", "indirect call type mismatch"},
      {"uninitialized", "invalid table access"},
      {"call to null", "invalid table access"},
      {"out of bounds", "out of bounds access"},
      {"undefined table", "out of bounds access"},
  };
  for (const auto& [text, what] : kTraps) {
    if (absl::StrContains(engine_text, text)) return absl::AbortedError(absl::StrCat("wasm error: ", what));
  }
  return absl::InternalError(absl::StrCat("the engine stopped the guest: ", engine_text));
}

}  // namespace schedsim::hosting
