#include "core/hosting/wasm/guest.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/api/go_text.h"
#include "core/base/check.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/api_fields.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/protobuf/proto_writer.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"

namespace schedsim::hosting {
namespace {

// So much may the host's functions move in one call of the guest.
constexpr uint64_t kMovedBytesMax = uint64_t{1} << 30;
// So much is kept of what a guest prints.
constexpr size_t kPrintedBytesMax = 64 << 10;

absl::Status Trap(absl::string_view what) { return absl::AbortedError(absl::StrCat("wasm error: ", what)); }

// The object as a message, without the fields that the real scheduler's informers drop.
std::string ProtoOf(const api::Object& object, absl::string_view kind) {
  const codec::ApiKind* const known = codec::ApiFields::Get().Find("v1", kind);
  CHECK(known != nullptr && known->type != nullptr);
  std::string bytes;
  codec::VisitObjectTree(object, [&](const codec::Value& root) {
    std::vector<codec::Member> members(root.members.begin(), root.members.end());
    std::vector<codec::Member> metadata;
    for (codec::Member& member : members) {
      if (member.key != "metadata") continue;
      for (const codec::Member& field : member.value.members) {
        if (field.key != "managedFields") metadata.push_back(field);
      }
      member.value.members = metadata;
    }
    codec::Value trimmed = root;
    trimmed.members = members;
    bytes = codec::WriteProto(trimmed, *known->type);
  });
  return bytes;
}

// The values of a JSON object, in its order.
template <typename Visit>
absl::Status ReadJsonObject(absl::string_view text, const Visit& visit) {
  return codec::ReadText(std::string(text), "guest.json", {}, [&visit](const codec::Document& document) {
    for (const codec::Member& member : document.root.members) visit(member);
    return absl::OkStatus();
  });
}

std::string JsonOfNumbers(std::vector<std::pair<absl::string_view, int64_t>> numbers) {
  std::sort(numbers.begin(), numbers.end());
  codec::JsonWriter json;
  json.BeginObject();
  for (const auto& [name, number] : numbers) json.Field(name, number);
  json.EndObject();
  return json.text();
}

}  // namespace

const std::string& GuestObjects::Pod(const api::PodPtr& pod, absl::string_view node_name) {
  const absl::string_view node = pod->node_name.empty() ? node_name : "";
  if (pod == pod_ && node == pod_node_) return pod_bytes_;
  pod_ = pod;
  pod_node_ = std::string(node);
  if (node.empty()) {
    pod_bytes_ = ProtoOf(*pod, "Pod");
    return pod_bytes_;
  }
  const std::shared_ptr<api::Object> copy = pod->Clone();
  static_cast<api::Pod&>(*copy).node_name = pod_node_;
  pod_bytes_ = ProtoOf(*copy, "Pod");
  return pod_bytes_;
}

const std::string& GuestObjects::Node(const framework::NodeInfo& node) {
  WrittenNode& written = by_node_[node.node->metadata.name];
  if (written.node != node.node) {
    written.node = node.node;
    written.bytes = ProtoOf(*node.node, "Node");
  }
  return written.bytes;
}

const std::string& GuestObjects::Nodes(framework::NodeInfos nodes) {
  nodes_.clear();
  for (const framework::NodeInfo* const node : nodes) {
    if (node->node != nullptr) codec::AppendProtoBytes(2, Node(*node), nodes_);
  }
  return nodes_;
}

absl::StatusOr<std::unique_ptr<Guest>> Guest::Make(GuestHost& host) {
  std::unique_ptr<Guest> guest(new Guest(host));
  ASSIGN_OR_RETURN(guest->instance_, host.code->program->Instantiate(*guest));
  for (const GuestFunction function :
       {GuestFunction::kModuleStart, GuestFunction::kInitialize, GuestFunction::kStart}) {
    if (!host.code->Has(function)) continue;
    bool goes_on = true;
    ASSIGN_OR_RETURN(goes_on, guest->RunStart(function));
    if (!goes_on) break;
  }
  return guest;
}

// False: the guest ended itself, and well, which some do when they are ready.
absl::StatusOr<bool> Guest::RunStart(GuestFunction function) {
  const absl::StatusOr<uint64_t> run = Run(function);
  if (run.ok()) return true;
  if (exit_code_ == 0u) return false;
  if (!absl::IsAborted(run.status())) return run.status();
  return absl::InvalidArgumentError(
      absl::StrCat("failed to create a guest pool: wasm: instantiate error: ", printed_,
                   printed_.empty() ? "" : "\n", run.status().message()));
}

absl::StatusOr<uint64_t> Guest::Run(GuestFunction function) {
  function_ = function;
  printed_.clear();
  moved_bytes_ = 0;
  exit_code_.reset();
  return instance_->Call(host_.code->exports[static_cast<size_t>(function)]);
}

absl::StatusOr<uint64_t> Guest::Call(GuestCall& call) {
  call_ = &call;
  const absl::StatusOr<uint64_t> run = Run(call.function);
  call_ = nullptr;
  if (run.ok() || !absl::IsAborted(run.status())) return run;
  return absl::AbortedError(absl::StrCat("wasm: ", GuestFunctionName(call.function), " error: ", printed_,
                                         printed_.empty() ? "" : "\n", run.status().message()));
}

// ---- Memory ----

std::optional<absl::string_view> Guest::Read(Range from) const {
  if (from.begin + from.size > memory_.size()) return std::nullopt;
  return absl::string_view(reinterpret_cast<const char*>(memory_.data()) + from.begin, from.size);
}

bool Guest::Write(uint64_t at, absl::string_view data) {
  if (at + data.size() > memory_.size()) return false;
  if (!data.empty()) std::memcpy(memory_.data() + at, data.data(), data.size());
  return true;
}

bool Guest::WriteNumber(uint64_t at, uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i)));
  return Write(at, text);
}

absl::Status Guest::Charge(uint64_t bytes) {
  moved_bytes_ += bytes;
  if (moved_bytes_ <= kMovedBytesMax) return absl::OkStatus();
  return Trap("the host's functions moved more than 1 GiB in one call");
}

absl::Status Guest::Pull(absl::string_view data, Range to, bool is_object, WasmWord& result) {
  RETURN_IF_ERROR(Charge(data.size()));
  result = static_cast<uint32_t>(data.size());
  if (data.size() > to.size) return absl::OkStatus();
  if (!Write(to.begin, data) && is_object) return Trap("out of memory");
  return absl::OkStatus();
}

// ---- The functions ----

absl::Status Guest::OnCall(size_t import, absl::Span<const WasmWord> args, WasmMemory memory,
                           WasmWord& result) {
  memory_ = memory;
  const GuestImport known = host_.code->imports[import];
  if (known >= GuestImport::kArgsGet) return CallOfWasi(known, args, result);
  switch (known) {
    case GuestImport::kLog:
    case GuestImport::kLogs:
      return Log(known, args);
    case GuestImport::kSeverity:
      result = static_cast<uint32_t>(host_.args.log_severity);
      return absl::OkStatus();
    case GuestImport::kEventf:
      return RecordEvent({args[0], args[1]});
    case GuestImport::kRejectWaitingPod:
    case GuestImport::kGetWaitingPod:
      return WaitingPod(known, args);
    case GuestImport::kClusterEvents:
    case GuestImport::kNodeNames:
    case GuestImport::kNominatedNodeName:
    case GuestImport::kStatusReason:
    case GuestImport::kNormalizedScoreList:
      return CallOfResult(known, {args[0], args[1]});
    default:
      return CallOfApi(known, args, result);
  }
}

absl::StatusOr<std::string> Guest::NamedNode(Range name) const {
  const std::optional<absl::string_view> text = Read(name);
  if (!text.has_value()) return Trap("out of memory reading nodeName");
  return std::string(*text);
}

absl::Status Guest::CallOfApi(GuestImport import, absl::Span<const WasmWord> args, WasmWord& result) {
  const framework::SnapshotLister& snapshot = host_.scheduler.snapshot();
  if (import == GuestImport::kNode || import == GuestImport::kNodeImageStates) {
    const Range to = {args[2], args[3]};
    std::string name;
    ASSIGN_OR_RETURN(name, NamedNode({args[0], args[1]}));
    if (import == GuestImport::kNodeImageStates) return Pull(ImageStates(name), to, true, result);
    const framework::NodeInfo* const node = snapshot.Get(host_.scheduler.symbols().Find(name));
    const bool is_there = node != nullptr && node->node != nullptr;
    return Pull(is_there ? host_.objects.Node(*node) : "", to, true, result);
  }
  const Range to = {args[0], args[1]};
  if (import == GuestImport::kGetConfig) return Pull(host_.args.guest_config, to, false, result);
  if (import == GuestImport::kNodeList) return Pull(host_.objects.Nodes(snapshot.List()), to, true, result);
  if (call_ == nullptr) return Trap("no extension point is being called");
  const GuestCall& call = *call_;
  const auto pod = [&](const framework::PodInfo* of, absl::string_view node_name) -> absl::Status {
    return Pull(of == nullptr ? "" : host_.objects.Pod(of->pod, node_name), to, true, result);
  };
  if (import == GuestImport::kCurrentPod) return pod(call.pod, call.pod_has_node ? call.node_name : "");
  if (import == GuestImport::kTargetPod) return pod(call.target_pod, "");
  if (import == GuestImport::kCurrentNodeName) return Pull(call.node_name, to, false, result);
  std::vector<std::pair<absl::string_view, int64_t>> numbers;
  if (import == GuestImport::kFilteredNodeList) {
    codec::JsonWriter json;
    json.BeginArray();
    for (const framework::NodeInfo* const node : call.filtered) json.String(node->node->metadata.name);
    json.EndArray();
    return Pull(json.text(), to, false, result);
  }
  if (import == GuestImport::kNodeToStatusMap && call.statuses != nullptr) {
    for (const framework::NodeInfo* const node : snapshot.List()) {
      const framework::Status& status = call.statuses->Get(node->position);
      if (status.SameAs(call.statuses->absent_nodes_status())) continue;
      numbers.emplace_back(node->node->metadata.name, static_cast<int64_t>(status.code()));
    }
  }
  if (import == GuestImport::kNodeScoreList) {
    for (size_t i = 0; i < call.scored.size(); ++i) {
      numbers.emplace_back(call.scored[i]->node->metadata.name, call.scores[i]);
    }
  }
  return Pull(JsonOfNumbers(std::move(numbers)), to, false, result);
}

std::string Guest::ImageStates(absl::string_view node_name) const {
  const SymbolTable& symbols = host_.scheduler.symbols();
  const framework::NodeInfo* const node = host_.scheduler.snapshot().Get(symbols.Find(node_name));
  if (node == nullptr) return "null";
  std::vector<std::pair<absl::string_view, const framework::ImageState*>> states;
  for (const framework::ImageState& image : node->images)
    states.emplace_back(symbols.Text(image.name), &image);
  std::sort(states.begin(), states.end());
  codec::JsonWriter json;
  json.BeginObject();
  for (const auto& [name, state] : states) {
    json.Key(name).BeginObject();
    json.Field("Size", state->size_bytes).Field("NumNodes", int64_t{state->node_count}).EndObject();
  }
  json.EndObject();
  return json.text();
}

absl::Status Guest::CallOfResult(GuestImport import, Range from) {
  if (call_ == nullptr) return Trap("no extension point is being called");
  RETURN_IF_ERROR(Charge(from.size));
  const std::optional<absl::string_view> text = Read(from);
  switch (import) {
    case GuestImport::kClusterEvents:
      if (!text.has_value()) return Trap("out of memory reading clusterEvents");
      PushEvents(*text);
      break;
    case GuestImport::kNormalizedScoreList:
      if (!text.has_value()) return Trap("out of memory reading normalized score list");
      return PushScores(*text);
    case GuestImport::kNodeNames:
      if (!text.has_value()) return Trap("out of memory reading nodeNames");
      call_->node_names = absl::StrSplit(*text, '\0', absl::SkipEmpty());
      break;
    case GuestImport::kNominatedNodeName:
      if (!text.has_value()) return Trap("out of memory reading nominatedNodeName");
      call_->nominated_node_name = std::string(*text);
      break;
    default:
      call_->status_reason = std::string(text.value_or("BUG: out of memory reading message"));
      break;
  }
  return absl::OkStatus();
}

void Guest::PushEvents(absl::string_view bytes) {
  call_->events.clear();
  constexpr size_t kRecordBytes = 8;
  for (size_t at = 0; at + kRecordBytes <= bytes.size(); at += kRecordBytes) {
    std::pair<uint32_t, uint32_t>& event = call_->events.emplace_back();
    for (size_t i = 0; i < 4; ++i) {
      event.first |= uint32_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
      event.second |= uint32_t{static_cast<uint8_t>(bytes[at + 4 + i])} << (8 * i);
    }
  }
}

absl::Status Guest::PushScores(absl::string_view text) {
  call_->normalized.clear();
  bool is_number = true;
  const absl::Status read = ReadJsonObject(text, [&](const codec::Member& member) {
    int64_t score = 0;
    is_number &= absl::SimpleAtoi(member.value.text, &score);
    call_->normalized.emplace_back(std::string(member.key), score);
  });
  if (!read.ok() || !is_number) {
    return Trap(absl::StrCat("the normalized scores are no JSON object of whole numbers: ",
                             Printable(text, kShownBytesMax)));
  }
  std::sort(call_->normalized.begin(), call_->normalized.end());
  return absl::OkStatus();
}

absl::Status Guest::RecordEvent(Range from) {
  RETURN_IF_ERROR(Charge(from.size));
  const std::optional<absl::string_view> text = Read(from);
  if (!text.has_value()) return Trap("out of memory reading eventrecorder event");
  framework::PodEvent event;
  std::string kind;
  std::string name_space;
  std::string name;
  const absl::Status read = ReadJsonObject(*text, [&](const codec::Member& member) {
    const std::string value(member.value.text);
    if (member.key == "Eventtype") event.type = value;
    if (member.key == "Reason") event.reason = value;
    if (member.key == "Action") event.action = value;
    if (member.key == "Note") event.note = value;
    if (member.key != "RegardingReference") return;
    for (const codec::Member& field : member.value.members) {
      if (field.key == "Kind") kind = std::string(field.value.text);
      if (field.key == "Namespace") name_space = std::string(field.value.text);
      if (field.key == "Name") name = std::string(field.value.text);
    }
  });
  if (!read.ok()) return Trap(absl::StrCat("the event is no JSON: ", Printable(*text, kShownBytesMax)));
  constexpr int64_t kError = 2;
  if (event.type != "Normal" && event.type != "Warning") {
    WriteLog(kError, absl::StrCat("Unsupported event type: '", Printable(event.type, kShownBytesMax), "'"));
    return absl::OkStatus();
  }
  const api::PodPtr pod = kind == "Pod" ? host_.scheduler.informers().FindPod(name_space, name) : nullptr;
  if (pod == nullptr) {
    WriteLog(kError, absl::StrCat("an event about ", Printable(kind, kShownBytesMax), " ",
                                  Printable(name_space, kShownBytesMax), "/", Printable(name, kShownBytesMax),
                                  ", which is no pod that the scheduler knows, is not kept"));
    return absl::OkStatus();
  }
  host_.scheduler.client().RecordEvent(*pod, std::move(event));
  return absl::OkStatus();
}

absl::Status Guest::WaitingPod(GuestImport import, absl::Span<const WasmWord> args) {
  const bool rejects = import == GuestImport::kRejectWaitingPod;
  const std::optional<absl::string_view> uid = Read({args[0], args[1]});
  if (!uid.has_value()) {
    return Trap(absl::StrCat("out of memory reading ", rejects ? "rejectWaitingPod" : "getWaitingPod"));
  }
  const Range out = {args[2], args[3]};
  std::string answer(8, '\0');
  if (rejects) {
    if (host_.scheduler.RejectWaitingPod(*uid)) answer[0] = 1;
  } else if (const framework::WaitingPod* const waiting = host_.scheduler.GetWaitingPod(*uid)) {
    answer = host_.objects.Pod(waiting->pod().pod, "");
  }
  RETURN_IF_ERROR(Charge(answer.size()));
  if (answer.size() <= out.size && Write(out.begin, answer)) return absl::OkStatus();
  return Trap(
      absl::StrCat("out of memory writing ", rejects ? "rejectWaitingPod" : "getWaitingPod", " result"));
}

absl::Status Guest::Log(GuestImport import, absl::Span<const WasmWord> args) {
  const auto severity = static_cast<int32_t>(args[0]);
  if (severity < host_.args.log_severity || !host_.log) return absl::OkStatus();
  RETURN_IF_ERROR(Charge(args[2] + (import == GuestImport::kLogs ? args[4] : 0)));
  const std::optional<absl::string_view> text = Read({args[1], args[2]});
  const std::optional<absl::string_view> values =
      import == GuestImport::kLogs ? Read({args[3], args[4]}) : absl::string_view();
  // A line that is not there is none.
  if (!text.has_value() || !values.has_value()) return absl::OkStatus();
  std::string line(*text);
  const std::vector<std::string> pairs = absl::StrSplit(*values, '\0', absl::SkipEmpty());
  for (size_t i = 0; i < pairs.size(); i += 2) {
    absl::StrAppend(&line, " ", pairs[i], "=",
                    api::GoQuote(i + 1 < pairs.size() ? pairs[i + 1] : "(MISSING)"));
  }
  WriteLog(severity, line);
  return absl::OkStatus();
}

void Guest::WriteLog(int64_t severity, absl::string_view text) {
  constexpr int64_t kInfo = 0;
  constexpr int64_t kError = 2;
  // As klog's own functions, there are lines of these two alone.
  if (!host_.log || (severity != kInfo && severity != kError)) return;
  const bool has_pod = call_ != nullptr && call_->pod != nullptr;
  host_.log(absl::StrCat(api::FormatRfc3339Micros(host_.scheduler.clock().Now()),
                         severity == kInfo ? " I " : " E ", host_.plugin, " ", GuestFunctionName(function_),
                         has_pod ? " " : "", has_pod ? call_->pod->pod->Key() : "",
                         call_ == nullptr || call_->node_name.empty() ? "" : " on ",
                         call_ == nullptr ? "" : call_->node_name, ": ", Printable(text, size_t{4} << 10)));
}

// ---- WASI ----

namespace {

constexpr uint64_t kOk = 0;
constexpr uint64_t kBadDescriptorError = 8;
constexpr uint64_t kFaultError = 21;
constexpr uint64_t kInvalidError = 28;
constexpr uint64_t kNotThereError = 52;

}  // namespace

uint64_t Guest::WriteOut(absl::Span<const WasmWord> args) {
  constexpr uint64_t kOut = 1;
  constexpr uint64_t kErr = 2;
  if (args[0] != kOut && args[0] != kErr) return kBadDescriptorError;
  uint64_t written = 0;
  for (uint64_t i = 0; i < args[2]; ++i) {
    Range piece;
    for (uint64_t* const part : {&piece.begin, &piece.size}) {
      const std::optional<absl::string_view> number =
          Read({args[1] + 8 * i + (part == &piece.size ? 4 : 0), 4});
      if (!number.has_value()) return kFaultError;
      uint32_t value = 0;
      std::memcpy(&value, number->data(), sizeof(value));
      *part = value;
    }
    const std::optional<absl::string_view> text = Read(piece);
    if (!text.has_value()) return kFaultError;
    const size_t room = kPrintedBytesMax - std::min(printed_.size(), kPrintedBytesMax);
    absl::StrAppend(&printed_, text->substr(0, room));
    written += text->size();
  }
  return WriteNumber(args[3], written, 4) ? kOk : kFaultError;
}

// The addresses of the arguments at the first address, the arguments, each with a 0 behind it, at the second
// one.
void Guest::WriteArgs(absl::Span<const WasmWord> args) {
  uint64_t at = args[1];
  for (size_t i = 0; i < host_.args.args.size(); ++i) {
    WriteNumber(args[0] + 4 * i, at, 4);
    Write(at, host_.args.args[i] + std::string(1, '\0'));
    at += host_.args.args[i].size() + 1;
  }
}

absl::Status Guest::CallOfWasi(GuestImport import, absl::Span<const WasmWord> args, WasmWord& result) {
  result = kOk;
  switch (import) {
    case GuestImport::kArgsSizesGet:
    case GuestImport::kEnvironSizesGet: {
      uint64_t count = 0;
      uint64_t bytes = 0;
      for (const std::string& arg : host_.args.args) bytes += arg.size() + 1;
      count = host_.args.args.size();
      const bool is_args = import == GuestImport::kArgsSizesGet;
      const bool fits =
          WriteNumber(args[0], is_args ? count : 0, 4) && WriteNumber(args[1], is_args ? bytes : 0, 4);
      if (!fits) result = kFaultError;
      break;
    }
    case GuestImport::kArgsGet:
      WriteArgs(args);
      break;
    case GuestImport::kClockTimeGet: {
      // As wazero has them by default: what a guest reads does not depend on when it is run.
      constexpr uint64_t kMillisecond = 1'000'000;
      constexpr uint64_t kYear2022 = 1'640'995'200'000'000'000;
      uint64_t time = 0;
      if (args[0] == 0) {
        time = kYear2022 + kMillisecond * wall_readings_++;
      } else if (args[0] == 1) {
        time = kMillisecond * monotonic_readings_++;
      } else {
        result = kInvalidError;
        break;
      }
      if (!WriteNumber(args[2], time, 8)) result = kFaultError;
      break;
    }
    case GuestImport::kFdWrite:
      RETURN_IF_ERROR(Charge(8 * args[2]));
      result = WriteOut(args);
      break;
    case GuestImport::kProcExit:
      exit_code_ = static_cast<uint32_t>(args[0]);
      return Trap(absl::StrCat("module closed with exit_code(", *exit_code_, ")"));
    case GuestImport::kRandomGet: {
      RETURN_IF_ERROR(Charge(args[1]));
      if (args[0] + args[1] > memory_.size()) {
        result = kFaultError;
        break;
      }
      for (uint64_t i = 0; i < args[1]; ++i) memory_[args[0] + i] = static_cast<uint8_t>(random_.Next());
      break;
    }
    case GuestImport::kBadDescriptor:
      result = kBadDescriptorError;
      break;
    case GuestImport::kNotThere:
      result = kNotThereError;
      break;
    default:
      break;
  }
  return absl::OkStatus();
}

}  // namespace schedsim::hosting
