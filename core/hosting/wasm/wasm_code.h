// The code of a function of a guest, with what MeterWasm puts into it.
#ifndef SCHEDSIM_CORE_HOSTING_WASM_WASM_CODE_H_
#define SCHEDSIM_CORE_HOSTING_WASM_WASM_CODE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/hosting/wasm/wasm_module.h"

namespace schedsim::hosting {

// What the code of all functions has in common.
struct WasmCodeContext {
  std::vector<WasmFunctionType> types;
  // Shape: the type of each function, imported ones first.
  std::vector<uint32_t> function_types;
  uint32_t imported_functions = 0;
  // Pages that memory may grow to.
  uint32_t memory_pages_max = 0;
  // The globals that were added: fuel (i64), stack (i32), stop (i32).
  uint32_t fuel_global = 0;
  uint32_t stack_global = 0;
  uint32_t stop_global = 0;
};

// The body of a function of type `type`, locals and all, in its metered form. `body` is valid.
absl::StatusOr<std::string> MeterWasmCode(absl::string_view body, const WasmFunctionType& type,
                                          const WasmCodeContext& context);

// The body of a function that takes nothing: it sets the counters to what a call may have, and calls
// `function`.
std::string StartWasmCall(uint32_t function, int64_t fuel, const WasmCodeContext& context);

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_WASM_WASM_CODE_H_
