// What runs a guest's code. Engines differ in speed alone.
#ifndef SCHEDSIM_CORE_HOSTING_WASM_WASM_ENGINE_H_
#define SCHEDSIM_CORE_HOSTING_WASM_WASM_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/hosting/wasm/wasm_module.h"

namespace schedsim::hosting {

// A number as a guest has it: an i32 is in the lower half.
using WasmWord = uint64_t;

// The guest's memory, valid until it runs again.
using WasmMemory = absl::Span<uint8_t>;

// Whom a guest calls.
class WasmHost {
 public:
  virtual ~WasmHost() = default;
  // The guest calls its import number `import`; `memory` is empty while there is none. Sets `result` where
  // the import has one. An error stops the guest: WasmInstance::Call returns it.
  virtual absl::Status OnCall(size_t import, absl::Span<const WasmWord> args, WasmMemory memory,
                              WasmWord& result) = 0;
};

// One copy of a module, with memory and globals of its own.
class WasmInstance {
 public:
  virtual ~WasmInstance() = default;
  // Calls an export that takes nothing, by its place in WasmModule::exports; 0 where it returns nothing. When
  // the guest does what it must not, or is stopped, it is an Aborted error with these words, the same for
  // every engine, without a name of anything: `wasm error: unreachable` and the like. Then the instance is of
  // no use any more. ResourceExhausted: the machine has no memory for it.
  virtual absl::StatusOr<WasmWord> Call(size_t exported) = 0;
};

// A module that was made ready.
class WasmProgram {
 public:
  virtual ~WasmProgram() = default;
  // The module and `host` must outlive the instance. Fails as WasmInstance::Call does.
  virtual absl::StatusOr<std::unique_ptr<WasmInstance>> Instantiate(WasmHost& host) = 0;
};

enum class WasmEngine : uint8_t {
  kInterpreter,  // wabt's: everywhere.
  kCompiler,     // SpiderMonkey's, where the build has it.
};

// "wabt" and "mozjs".
absl::string_view WasmEngineName(WasmEngine engine);
// What this program can run guests with; the first one is what it takes by itself.
std::vector<WasmEngine> WasmEngines();
// `wabt 1.0.32 (interpreter)` and the like.
std::string WasmEngineVersion(WasmEngine engine);

// Whether `bytes` are a module: InvalidArgument with the validator's words.
absl::Status ValidateWasm(absl::string_view bytes);

// Makes a module ready that MeterWasm made, and that must outlive the program. Unavailable where the engine
// cannot be used on this machine.
absl::StatusOr<std::unique_ptr<WasmProgram>> LoadWasm(WasmEngine engine, const WasmModule& module);

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_WASM_WASM_ENGINE_H_
