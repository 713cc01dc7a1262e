#include "core/hosting/wasm/guest_code.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"

namespace schedsim::hosting {
namespace {

using api::ExtensionPoint;

struct KnownFunction {
  absl::string_view name;
  absl::string_view results;
};

// By GuestFunction. With the address sanitizer the address of a text is no constant for GCC.
const KnownFunction kFunctions[kGuestFunctionCount] = {
    {kStartExport, ""}, {"_initialize", ""},     {"_start", ""},   {"enqueue", ""},     {"prefilter", "i"},
    {"addpod", "i"},    {"removepod", "i"},      {"filter", "i"},  {"postfilter", "I"}, {"prescore", "i"},
    {"score", "I"},     {"normalizescore", "i"}, {"reserve", "i"}, {"unreserve", ""},   {"permit", "I"},
    {"prebind", "i"},   {"bind", "i"},           {"postbind", ""},
};

struct KnownImport {
  absl::string_view module;
  absl::string_view name;
  absl::string_view params;
  absl::string_view results;
  GuestImport import;
};

constexpr absl::string_view kApi = "k8s.io/api";
constexpr absl::string_view kKlog = "k8s.io/klog";
constexpr absl::string_view kScheduler = "k8s.io/scheduler";
constexpr absl::string_view kWasi = "wasi_snapshot_preview1";

constexpr KnownImport kImports[] = {
    {kApi, "node", "iiii", "i", GuestImport::kNode},
    {kApi, "nodeList", "ii", "i", GuestImport::kNodeList},
    {kKlog, "log", "iii", "", GuestImport::kLog},
    {kKlog, "logs", "iiiii", "", GuestImport::kLogs},
    {kKlog, "severity", "", "i", GuestImport::kSeverity},
    {kScheduler, "get_config", "ii", "i", GuestImport::kGetConfig},
    {kScheduler, "currentPod", "ii", "i", GuestImport::kCurrentPod},
    {kScheduler, "currentNodeName", "ii", "i", GuestImport::kCurrentNodeName},
    {kScheduler, "targetPod", "ii", "i", GuestImport::kTargetPod},
    {kScheduler, "filteredNodeList", "ii", "i", GuestImport::kFilteredNodeList},
    {kScheduler, "nodeToStatusMap", "ii", "i", GuestImport::kNodeToStatusMap},
    {kScheduler, "nodeScoreList", "ii", "i", GuestImport::kNodeScoreList},
    {kScheduler, "nodeImageStates", "iiii", "i", GuestImport::kNodeImageStates},
    {kScheduler, "result.cluster_events", "ii", "", GuestImport::kClusterEvents},
    {kScheduler, "result.node_names", "ii", "", GuestImport::kNodeNames},
    {kScheduler, "result.nominated_node_name", "ii", "", GuestImport::kNominatedNodeName},
    {kScheduler, "result.status_reason", "ii", "", GuestImport::kStatusReason},
    {kScheduler, "result.normalized_score_list", "ii", "", GuestImport::kNormalizedScoreList},
    {kScheduler, "handle.eventrecorder.eventf", "ii", "", GuestImport::kEventf},
    {kScheduler, "handle.reject_waiting_pod", "iiii", "", GuestImport::kRejectWaitingPod},
    {kScheduler, "handle.get_waiting_pod", "iiii", "", GuestImport::kGetWaitingPod},
    {kWasi, "args_get", "ii", "i", GuestImport::kArgsGet},
    {kWasi, "args_sizes_get", "ii", "i", GuestImport::kArgsSizesGet},
    {kWasi, "clock_time_get", "iIi", "i", GuestImport::kClockTimeGet},
    {kWasi, "environ_get", "ii", "i", GuestImport::kEnvironGet},
    {kWasi, "environ_sizes_get", "ii", "i", GuestImport::kEnvironSizesGet},
    {kWasi, "fd_write", "iiii", "i", GuestImport::kFdWrite},
    {kWasi, "proc_exit", "i", "", GuestImport::kProcExit},
    {kWasi, "random_get", "ii", "i", GuestImport::kRandomGet},
    {kWasi, "sched_yield", "", "i", GuestImport::kSchedYield},
    {kWasi, "poll_oneoff", "iiii", "i", GuestImport::kNotThere},
    {kWasi, "clock_res_get", "ii", "i", GuestImport::kNotThere},
    {kWasi, "fd_close", "i", "i", GuestImport::kBadDescriptor},
    {kWasi, "fd_fdstat_get", "ii", "i", GuestImport::kBadDescriptor},
    {kWasi, "fd_fdstat_set_flags", "ii", "i", GuestImport::kBadDescriptor},
    {kWasi, "fd_filestat_get", "ii", "i", GuestImport::kBadDescriptor},
    {kWasi, "fd_filestat_set_size", "iI", "i", GuestImport::kBadDescriptor},
    {kWasi, "fd_pread", "iiiIi", "i", GuestImport::kBadDescriptor},
    {kWasi, "fd_prestat_dir_name", "iii", "i", GuestImport::kBadDescriptor},
    {kWasi, "fd_prestat_get", "ii", "i", GuestImport::kBadDescriptor},
    {kWasi, "fd_pwrite", "iiiIi", "i", GuestImport::kBadDescriptor},
    {kWasi, "fd_read", "iiii", "i", GuestImport::kBadDescriptor},
    {kWasi, "fd_readdir", "iiiIi", "i", GuestImport::kBadDescriptor},
    {kWasi, "fd_seek", "iIii", "i", GuestImport::kBadDescriptor},
    {kWasi, "fd_sync", "i", "i", GuestImport::kBadDescriptor},
    {kWasi, "fd_tell", "ii", "i", GuestImport::kBadDescriptor},
    {kWasi, "path_create_directory", "iii", "i", GuestImport::kBadDescriptor},
    {kWasi, "path_filestat_get", "iiiii", "i", GuestImport::kBadDescriptor},
    {kWasi, "path_filestat_set_times", "iiiiIIi", "i", GuestImport::kBadDescriptor},
    {kWasi, "path_link", "iiiiiii", "i", GuestImport::kBadDescriptor},
    {kWasi, "path_open", "iiiiiIIii", "i", GuestImport::kBadDescriptor},
    {kWasi, "path_readlink", "iiiiii", "i", GuestImport::kBadDescriptor},
    {kWasi, "path_remove_directory", "iii", "i", GuestImport::kBadDescriptor},
    {kWasi, "path_rename", "iiiiii", "i", GuestImport::kBadDescriptor},
    {kWasi, "path_symlink", "iiiii", "i", GuestImport::kBadDescriptor},
    {kWasi, "path_unlink_file", "iii", "i", GuestImport::kBadDescriptor},
};

absl::Status Invalid(absl::string_view what) { return absl::InvalidArgumentError(what); }

absl::StatusOr<GuestImport> ImportOf(const WasmImport& import) {
  const auto* const known =
      std::find_if(std::begin(kImports), std::end(kImports), [&import](const KnownImport& candidate) {
        return candidate.module == import.module && candidate.name == import.name;
      });
  const std::string shown = absl::StrCat("function \"", Printable(import.name, kShownBytesMax), "\" of \"",
                                         Printable(import.module, kShownBytesMax), "\"");
  if (known == std::end(kImports)) {
    return Invalid(absl::StrCat("wasm: guest imports the ", shown, ", which the host does not have"));
  }
  const WasmFunctionType type = {.params = std::string(known->params),
                                 .results = std::string(known->results)};
  if (import.type == type) return known->import;
  return Invalid(absl::StrCat("wasm: guest imports the ", shown, " as ", import.type.ToString(),
                              ", expected ", type.ToString()));
}

absl::Status SetExports(GuestCode& code) {
  code.exports.fill(GuestCode::kNoExport);
  bool has_memory = false;
  const std::vector<WasmExport>& exports = code.module.exports;
  for (size_t i = 0; i < exports.size(); ++i) {
    has_memory |= exports[i].kind == WasmKind::kMemory && exports[i].name == "memory";
    if (exports[i].kind != WasmKind::kFunction) continue;
    for (size_t function = 0; function < kGuestFunctionCount; ++function) {
      const KnownFunction& known = kFunctions[function];
      if (exports[i].name != known.name) continue;
      if (!exports[i].type.params.empty() || exports[i].type.results != known.results) {
        const absl::string_view result = known.results == "i" ? "i32" : known.results == "I" ? "i64" : "";
        return Invalid(absl::StrCat("wasm: guest exports the wrong signature for func[", known.name,
                                    "]. should be () -> (", result, ")"));
      }
      code.exports[function] = i;
    }
  }
  if (!has_memory) return Invalid("wasm: guest doesn't export memory[memory]");
  bool has_any = false;
  bool has_other = false;
  for (size_t i = static_cast<size_t>(GuestFunction::kEnqueue); i < kGuestFunctionCount; ++i) {
    const auto function = static_cast<GuestFunction>(i);
    has_any |= code.Has(function);
    has_other |= code.Has(function) && function != GuestFunction::kPreFilter;
  }
  if (!has_any) return Invalid("wasm: guest does not export any plugin functions");
  const bool has_group =
      code.HasFilter() || code.HasScore() || code.HasReserve() || code.HasPermit() || code.HasBind();
  const bool lacks_group =
      (!code.HasFilter() && (code.Has(GuestFunction::kPostFilter) || code.Has(GuestFunction::kAddPod) ||
                             code.Has(GuestFunction::kRemovePod))) ||
      (!code.HasScore() &&
       (code.Has(GuestFunction::kPreScore) || code.Has(GuestFunction::kNormalizeScore))) ||
      (!code.HasBind() && (code.Has(GuestFunction::kPreBind) || code.Has(GuestFunction::kPostBind)));
  if (lacks_group || (!has_group && has_other)) {
    return Invalid("wasm: filter, score, reserve, permit or bind must be exported");
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view GuestFunctionName(GuestFunction function) {
  return kFunctions[static_cast<size_t>(function)].name;
}

api::ExtensionPointSet GuestCode::Points() const {
  api::ExtensionPointSet points;
  const auto set = [&points](std::initializer_list<ExtensionPoint> group, bool has) {
    for (const ExtensionPoint point : group) {
      if (has) points.set(static_cast<size_t>(point));
    }
  };
  set({ExtensionPoint::kPreFilter}, true);
  set({ExtensionPoint::kFilter, ExtensionPoint::kPostFilter}, HasFilter());
  set({ExtensionPoint::kPreScore, ExtensionPoint::kScore}, HasScore());
  set({ExtensionPoint::kReserve}, HasReserve());
  set({ExtensionPoint::kPermit}, HasPermit());
  set({ExtensionPoint::kPreBind, ExtensionPoint::kBind, ExtensionPoint::kPostBind}, HasBind());
  return points;
}

std::string GuestCode::Note() const {
  if (Has(GuestFunction::kInitialize)) {
    return "exports _initialize, which kube-scheduler-wasm-extension does not call";
  }
  constexpr absl::string_view kRefused[] = {"RP", "FRP", "FRB", "FPB", "SRP", "FSRP", "FRPB", "SRPB"};
  const std::string groups =
      absl::StrCat(HasFilter() ? "F" : "", HasScore() ? "S" : "", HasReserve() ? "R" : "",
                   HasPermit() ? "P" : "", HasBind() ? "B" : "");
  if (std::find(std::begin(kRefused), std::end(kRefused), groups) == std::end(kRefused)) return "";
  return "exports a set of functions that kube-scheduler-wasm-extension refuses (\"wasm: filter, score, "
         "reserve, "
         "permit or bind must be exported\")";
}

absl::StatusOr<std::shared_ptr<const GuestCode>> LoadGuest(std::string name, absl::string_view bytes,
                                                           WasmEngine engine, int64_t fuel) {
  const absl::Status valid = ValidateWasm(bytes);
  if (!valid.ok()) return Invalid(absl::StrCat("wasm: error compiling guest: ", valid.message()));
  auto code = std::make_shared<GuestCode>();
  code->name = std::move(name);
  absl::StatusOr<WasmModule> module = MeterWasm(bytes, fuel);
  if (!module.ok()) return Invalid(absl::StrCat("wasm: error compiling guest: ", module.status().message()));
  code->module = *std::move(module);
  RETURN_IF_ERROR(SetExports(*code));
  for (const WasmImport& import : code->module.imports) {
    GuestImport known = GuestImport::kNotThere;
    ASSIGN_OR_RETURN(known, ImportOf(import));
    code->imports.push_back(known);
  }
  ASSIGN_OR_RETURN(code->program, LoadWasm(engine, code->module));
  return code;
}

}  // namespace schedsim::hosting
