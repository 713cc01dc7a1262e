// A running instance of a guest, and what it may ask the host for.
#ifndef SCHEDSIM_CORE_HOSTING_WASM_GUEST_H_
#define SCHEDSIM_CORE_HOSTING_WASM_GUEST_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/lookup_map.h"
#include "core/base/rng.h"
#include "core/framework/diagnosis.h"
#include "core/framework/handle.h"
#include "core/framework/node_info.h"
#include "core/framework/plugin.h"
#include "core/framework/pod_info.h"
#include "core/hosting/wasm/guest_code.h"

namespace schedsim::hosting {

// Takes a line of a guest's log, without its end.
using GuestLog = std::function<void(absl::string_view line)>;

// What a guest's configuration says.
struct GuestArgs {
  std::string guest_url;
  std::string guest_config;
  int32_t log_severity = 0;
  std::vector<std::string> args;
  int64_t fuel = kWasmFuel;
};

// Objects in protobuf, as guests get them: each version of one is written once.
class GuestObjects {
 public:
  // The pod, with this node's name where it has none. Valid until the next call.
  const std::string& Pod(const api::PodPtr& pod, absl::string_view node_name);
  const std::string& Node(const framework::NodeInfo& node);
  // All nodes in their order. Valid until the next call.
  const std::string& Nodes(framework::NodeInfos nodes);

 private:
  struct WrittenNode {
    api::NodePtr node;
    std::string bytes;
  };
  api::PodPtr pod_;  // Whose bytes `pod_bytes_` are, with this node's name.
  std::string pod_node_;
  std::string pod_bytes_;
  std::string nodes_;
  LookupMap<std::string, WrittenNode> by_node_;  // By name.
};

// What all instances of a plugin have in common.
struct GuestHost {
  std::shared_ptr<const GuestCode> code;
  framework::Handle& scheduler;
  std::string plugin;
  GuestArgs args;
  GuestLog log;  // May be empty.
  GuestObjects objects = {};
};

// A call of a guest's function: what the guest may ask for, and what it answered.
struct GuestCall {
  GuestFunction function;
  // nullptr, and "": the function is not told.
  const framework::PodInfo* pod = nullptr;
  absl::string_view node_name = "";
  const framework::PodInfo* target_pod = nullptr;
  framework::NodeInfos filtered = {};
  const framework::NodeToStatus* statuses = nullptr;
  // Shape: a score for each of `scored`.
  framework::NodeInfos scored = {};
  absl::Span<const int64_t> scores = {};
  // Whether the pod is given with the node's name: from Reserve on.
  bool pod_has_node = false;

  // Numbers in pairs: resource and action.
  std::vector<std::pair<uint32_t, uint32_t>> events = {};
  std::vector<std::string> node_names = {};
  std::string nominated_node_name = "";
  std::string status_reason = "";
  // By name of the node.
  std::vector<std::pair<std::string, int64_t>> normalized = {};
};

// One instance. Calls do not overlap.
class Guest final : public WasmHost {
 public:
  // An instance whose start functions have run. `host` must outlive it. InvalidArgument in the real host's
  // words (`wasm: instantiate error: …`) where they fail.
  static absl::StatusOr<std::unique_ptr<Guest>> Make(GuestHost& host);

  // Calls the function, which the guest has. Returns what it does; an error in the real host's words (`wasm:
  // filter error: …`) where it fails, after which the instance is of no use any more.
  absl::StatusOr<uint64_t> Call(GuestCall& call);

  absl::Status OnCall(size_t import, absl::Span<const WasmWord> args, WasmMemory memory,
                      WasmWord& result) override;

 private:
  explicit Guest(GuestHost& host) : host_(host) {}

  // Where something is in the guest's memory.
  struct Range {
    uint64_t begin = 0;
    uint64_t size = 0;
  };

  absl::StatusOr<uint64_t> Run(GuestFunction function);
  absl::StatusOr<bool> RunStart(GuestFunction function);
  absl::Status CallOfApi(GuestImport import, absl::Span<const WasmWord> args, WasmWord& result);
  absl::Status CallOfResult(GuestImport import, Range from);
  absl::Status CallOfWasi(GuestImport import, absl::Span<const WasmWord> args, WasmWord& result);

  void PushEvents(absl::string_view bytes);
  absl::Status PushScores(absl::string_view text);
  absl::Status RecordEvent(Range from);
  absl::Status WaitingPod(GuestImport import, absl::Span<const WasmWord> args);
  absl::Status Log(GuestImport import, absl::Span<const WasmWord> args);
  void WriteLog(int64_t severity, absl::string_view text);
  std::string ImageStates(absl::string_view node_name) const;
  absl::StatusOr<std::string> NamedNode(Range name) const;
  uint64_t WriteOut(absl::Span<const WasmWord> args);
  void WriteArgs(absl::Span<const WasmWord> args);

  // Puts `data` at `to` where it has room there, and says how long it is.
  absl::Status Pull(absl::string_view data, Range to, bool is_object, WasmWord& result);
  // Absent: it is not in the memory.
  std::optional<absl::string_view> Read(Range from) const;
  bool Write(uint64_t at, absl::string_view data);
  bool WriteNumber(uint64_t at, uint64_t value, int bytes);
  // What calls of the host move is bounded, too.
  absl::Status Charge(uint64_t bytes);

  GuestHost& host_;
  std::unique_ptr<WasmInstance> instance_;
  // Of the running call; nullptr: none is running, or that of a start function.
  GuestCall* call_ = nullptr;
  GuestFunction function_ = GuestFunction::kStart;
  WasmMemory memory_;
  // What the guest printed in this call.
  std::string printed_;
  uint64_t moved_bytes_ = 0;
  // How often each of its clocks was read.
  uint64_t wall_readings_ = 0;
  uint64_t monotonic_readings_ = 0;
  // The same bytes for each instance.
  Rng random_ = Rng(42);
  // The guest ended itself with this code.
  std::optional<uint32_t> exit_code_;
};

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_WASM_GUEST_H_
