#include "core/hosting/process/plugin_process.h"

#include <algorithm>
#include <array>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"
#include "core/hosting/library/plugin_call.h"

namespace schedsim::hosting {
namespace {

constexpr std::array<const char*, 20> kMethods = {
    "Less",     "PreEnqueue", "PreFilter",      "AddPod",  "RemovePod",        "Filter", "PostFilter",
    "PreScore", "Score",      "NormalizeScore", "Reserve", "Unreserve",        "Permit", "PreBindPreFlight",
    "PreBind",  "Bind",       "PostBind",       "SignPod", "EventsToRegister", "OnPod"};

std::string TimeOver(absl::Duration limit) {
  return absl::StrCat("no answer within ", absl::FormatDuration(limit),
                      ": the run ends here, since no real clock may reach a result");
}

schedsim_reads ReadsOf(Fields& plugin, const char* field) {
  const std::string text = plugin.Text(field);
  if (text.empty() || text == "anything") return SCHEDSIM_READS_ANYTHING;
  if (text == "node") return SCHEDSIM_READS_NODE;
  if (text == "nodeObject") return SCHEDSIM_READS_NODE_OBJECT;
  plugin.SetError(absl::StrCat(field, ": expected anything, node or nodeObject, got \"",
                               Printable(text, kShownBytesMax), "\""));
  return SCHEDSIM_READS_ANYTHING;
}

}  // namespace

absl::StatusOr<std::shared_ptr<PluginProcess>> PluginProcess::Start(ChildCommand command,
                                                                    absl::Duration limit) {
  const std::string name = command.name;
  absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Start(std::move(command));
  if (!child.ok()) {
    return absl::Status(child.status().code(), absl::StrCat(name, ": ", child.status().message()));
  }
  std::shared_ptr<PluginProcess> process(new PluginProcess(name, *std::move(child), limit));
  RETURN_IF_ERROR(process->SayHello());
  return process;
}

absl::Status PluginProcess::SayHello() {
  codec::JsonWriter hello;
  hello.BeginObject().Key("hello").BeginObject().Field("protocol", kProtocolVersion);
  hello.Field("schedsim", ProgramVersion()).EndObject().EndObject();
  child_->Write(hello.text());
  absl::Duration left = limit_;
  const absl::StatusOr<absl::string_view> line = child_->Read(left);
  if (absl::IsAborted(line.status())) {
    return absl::AbortedError(
        absl::StrCat(name_, ": at its start, where it says which plugins it has: ", TimeOver(limit_)));
  }
  if (!line.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ": ", line.status().message(), " before it said which plugins it has"));
  }
  const std::string error = ReadLine(*line, [this](const codec::Value& map) { return TakeHello(map); });
  if (error.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name_, ": ", error));
}

std::string PluginProcess::TakeHello(const codec::Value& answer) {
  Fields fields(answer);
  if (!fields.Has("protocol")) return "said nothing of its protocol, expected a program of plugins";
  const int64_t version = fields.Int("protocol");
  if (fields.error().empty() && version != kProtocolVersion) {
    return absl::StrCat("speaks version ", version, " of the protocol, expected ", kProtocolVersion,
                        ": use the schedsim_plugin.py of this schedsim");
  }
  fields.ForEach("plugins", [this](Fields& plugin) { TakePlugin(plugin); });
  if (fields.error().empty() && plugins_.empty()) return "a program without a plugin";
  return fields.error();
}

void PluginProcess::TakePlugin(Fields& plugin) {
  ProcessPluginInfo info = {.name = plugin.Text("name")};
  for (std::string& method : plugin.Texts("methods")) {
    if (std::find(kMethods.begin(), kMethods.end(), method) == kMethods.end()) {
      plugin.SetError(absl::StrCat("methods: ", Printable(method, kShownBytesMax), " is not known"));
    }
    info.methods.insert(std::move(method));
  }
  info.filter_reads = ReadsOf(plugin, "filterReads");
  info.score_reads = ReadsOf(plugin, "scoreReads");
  plugins_.push_back(std::move(info));
}

void PluginProcess::CopyState(int64_t from, int64_t to) {
  absl::StrAppend(&state_news_, state_news_.empty() ? "" : ",", "[\"copy\",", from, ",", to, "]");
}

void PluginProcess::DropState(int64_t number) {
  absl::StrAppend(&state_news_, state_news_.empty() ? "" : ",", "[\"drop\",", number, "]");
}

void PluginProcess::WriteNews(codec::JsonWriter& message) {
  if (!state_news_.empty()) message.Key("states").Raw(absl::StrCat("[", state_news_, "]"));
  state_news_.clear();
  mirror_.WriteNews(message);
}

void PluginProcess::Call(const ProcessCall& call, absl::string_view line, ProcessRequests& requests,
                         absl::FunctionRef<void(Fields& answer)> take) {
  ++depth_;
  child_->Write(line);
  absl::Duration left = limit_;
  bool is_answered = false;
  while (!is_answered) {
    const absl::StatusOr<absl::string_view> next = child_->Read(left);
    if (absl::IsAborted(next.status())) Fail(call, TimeOver(limit_), kNoAnswerExitCode);
    if (!next.ok()) Fail(call, next.status().message(), kPluginCrashExitCode);
    const std::string error = ReadLine(*next, [&](const codec::Value& map) {
      std::string wrong;
      is_answered = Handle(map, requests, take, wrong);
      return wrong;
    });
    if (!error.empty()) Fail(call, error, kPluginCrashExitCode);
  }
  --depth_;
}

bool PluginProcess::Handle(const codec::Value& line, ProcessRequests& requests,
                           absl::FunctionRef<void(Fields& answer)> take, std::string& error) {
  Fields fields(line);
  const codec::Value* const answer = line.Find("answer");
  if (answer != nullptr) {
    Fields answered(*answer);
    if (answered.error().empty()) take(answered);
    if (!answered.error().empty()) error = absl::StrCat("answer: ", answered.error());
    return true;
  }
  if (fields.Has("failed")) {
    error = Printable(fields.Text("failed"));
    if (error.empty()) error = "it says so";
    return true;
  }
  const std::string what = fields.Text("do");
  if (what.empty()) {
    error = fields.error().empty() ? "expected a map with `answer`, `failed` or `do`" : fields.error();
    return true;
  }
  codec::JsonWriter reply;
  reply.BeginObject().Key("reply").BeginObject();
  bool wants_reply = true;
  requests.Answer(what, fields, reply, wants_reply);
  if (!fields.error().empty()) {
    error = absl::StrCat("asked for ", Printable(what, kShownBytesMax), ": ", fields.error());
    return true;
  }
  if (!wants_reply) return false;
  reply.EndObject();
  WriteNews(reply);
  reply.EndObject();
  child_->Write(reply.text());
  return false;
}

void PluginProcess::Fail(const ProcessCall& call, absl::string_view what, int exit_code) {
  ChildProcess::KillAll();
  std::string line = absl::StrCat("schedsim: plugin ", call.plugin, " failed at ", call.point);
  if (call.pod != nullptr) {
    const api::ObjectMeta& pod = call.pod->pod->metadata;
    absl::StrAppend(&line, " for pod ", pod.namespace_, "/", pod.name);
  }
  absl::StrAppend(&line, ": ", name_, ": ", what);
  PluginCall::EndProgram(absl::StrCat(Printable(line), "\n"), exit_code);
}

}  // namespace schedsim::hosting
