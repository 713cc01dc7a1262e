// The binary module of a guest: what it imports and exports, and the module that is run in its place.
#ifndef SCHEDSIM_CORE_HOSTING_WASM_WASM_MODULE_H_
#define SCHEDSIM_CORE_HOSTING_WASM_WASM_MODULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace schedsim::hosting {

// Types of values: a letter each, `i` (i32), `I` (i64), `f` (f32), `F` (f64), `r` (references).
struct WasmFunctionType {
  std::string params;
  std::string results;

  friend bool operator==(const WasmFunctionType& a, const WasmFunctionType& b) {
    return a.params == b.params && a.results == b.results;
  }
  // `(i32, i64) -> i32`.
  std::string ToString() const;
};

enum class WasmKind : uint8_t { kFunction, kTable, kMemory, kGlobal };

struct WasmImport {
  std::string module;
  std::string name;
  WasmKind kind = WasmKind::kFunction;
  WasmFunctionType type = {};  // Of a function.
};

struct WasmExport {
  std::string name;
  WasmKind kind = WasmKind::kFunction;
  WasmFunctionType type = {};  // Of a function.
};

struct WasmModule {
  std::vector<WasmImport> imports;
  // In the order of the module, kStopExport left out, which is behind them.
  std::vector<WasmExport> exports;
  // The module that is run: see MeterWasm.
  std::string metered;
};

// Why a guest was stopped: the value of the global kStopExport.
enum class WasmStop : uint8_t {
  kNone,      // It was not, or by itself.
  kFuel,      // It did not come to an end.
  kDepth,     // Its calls went too deep.
  kNoMemory,  // The machine would not give the memory that the guest may have.
};
inline constexpr char kStopExport[] = "schedsim.stop";
// The function that the module starts with, where it has one: it is the last one of the exports, and to be
// called first.
inline constexpr char kStartExport[] = "schedsim.start";

// What a guest may have. None of it depends on the machine.
inline constexpr int64_t kWasmFuel = 50'000'000;
inline constexpr uint32_t kWasmMemoryPagesMax = 4096;  // Of 64 Ki each.
inline constexpr uint32_t kWasmTableMax = 1 << 20;
// Of all calls that have not returned, as WasmModule counts it: 8 bytes for each local and operand.
inline constexpr int32_t kWasmStackBytesMax = 2 << 20;

// Reads a module that is valid, and makes of it one that behaves alike on every engine and every machine:
// - It counts. Each call of an exported function that takes nothing starts with `fuel`; the entry of a
//   function and each round of a loop take one, and one more for each 64 instructions in it; bulk operations
//   and growth of memory take by size. Below zero it stops.
// - It adds up what its calls that have not returned keep, and stops where that is too much.
// - Memory and tables end where kWasmMemoryPagesMax and kWasmTableMax say. Growing memory up to that fails
//   for no other reason: where the machine refuses, the guest is stopped.
// - What is no number, as a result of a calculation, has one pattern of bits.
// A stop is an `unreachable` after the exported global kStopExport was set. Custom sections are left out.
// InvalidArgument, without a place, for modules with what no guest needs (vector instructions, threads,
// exceptions, several memories), or that need more than they may have from the start.
absl::StatusOr<WasmModule> MeterWasm(absl::string_view bytes, int64_t fuel);

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_WASM_WASM_MODULE_H_
