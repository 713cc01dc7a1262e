// A guest of kube-scheduler-wasm-extension: which functions it has, and which of the host's it calls.
#ifndef SCHEDSIM_CORE_HOSTING_WASM_GUEST_CODE_H_
#define SCHEDSIM_CORE_HOSTING_WASM_GUEST_CODE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/extension_point.h"
#include "core/hosting/wasm/wasm_engine.h"

// Source of this part of the tree: kube-scheduler-wasm-extension of 2025-11-23, scheduler/plugin.
namespace schedsim::hosting {

// What the host may call. The first three run once, in this order, when an instance is made.
enum class GuestFunction : uint8_t {
  kModuleStart,
  kInitialize,
  kStart,
  kEnqueue,
  kPreFilter,
  kAddPod,
  kRemovePod,
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kNormalizeScore,
  kReserve,
  kUnreserve,
  kPermit,
  kPreBind,
  kBind,
  kPostBind,
};
inline constexpr size_t kGuestFunctionCount = static_cast<size_t>(GuestFunction::kPostBind) + 1;

// The name of the export: `prefilter` and the like.
absl::string_view GuestFunctionName(GuestFunction function);

// What the guest may call.
enum class GuestImport : uint8_t {
  // k8s.io/api
  kNode,
  kNodeList,
  // k8s.io/klog
  kLog,
  kLogs,
  kSeverity,
  // k8s.io/scheduler
  kGetConfig,
  kCurrentPod,
  kCurrentNodeName,
  kTargetPod,
  kFilteredNodeList,
  kNodeToStatusMap,
  kNodeScoreList,
  kNodeImageStates,
  kClusterEvents,
  kNodeNames,
  kNominatedNodeName,
  kStatusReason,
  kNormalizedScoreList,
  kEventf,
  kRejectWaitingPod,
  kGetWaitingPod,
  // wasi_snapshot_preview1
  kArgsGet,
  kArgsSizesGet,
  kClockTimeGet,
  kEnvironGet,
  kEnvironSizesGet,
  kFdWrite,
  kProcExit,
  kRandomGet,
  kSchedYield,
  kBadDescriptor,  // Any function of files: there are none.
  kNotThere,       // What the host does not do.
};

// A guest that was made ready; all its instances share it.
struct GuestCode {
  // What a message calls it: the path of the file.
  std::string name;
  WasmModule module;
  std::unique_ptr<WasmProgram> program;
  // Shape: by GuestFunction; a place in `module.exports`, or kNoExport.
  std::array<size_t, kGuestFunctionCount> exports = {};
  // Shape: one for each of `module.imports`.
  std::vector<GuestImport> imports;

  static constexpr size_t kNoExport = SIZE_MAX;
  bool Has(GuestFunction function) const { return exports[static_cast<size_t>(function)] != kNoExport; }
  // The groups that decide which interfaces the real host's plugin has.
  bool HasFilter() const { return Has(GuestFunction::kFilter); }
  bool HasScore() const { return Has(GuestFunction::kScore); }
  bool HasReserve() const { return Has(GuestFunction::kReserve) || Has(GuestFunction::kUnreserve); }
  bool HasPermit() const { return Has(GuestFunction::kPermit); }
  bool HasBind() const { return Has(GuestFunction::kBind); }
  // The extension points of the plugin: PreFilter, and all those of its groups, also where there is nothing
  // for one of them.
  api::ExtensionPointSet Points() const;
  // What the real host would not load though it can be run here; "": it would.
  std::string Note() const;
};

// Makes a guest ready from its module in binary form. Errors: InvalidArgument, without a place, in the real
// host's words where it has some: a module that is none, one without a memory or without a known function,
// functions of a wrong type, imports that are not known; and those of MeterWasm and LoadWasm.
absl::StatusOr<std::shared_ptr<const GuestCode>> LoadGuest(std::string name, absl::string_view bytes,
                                                           WasmEngine engine, int64_t fuel);

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_WASM_GUEST_CODE_H_
