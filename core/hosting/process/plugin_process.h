// A program of plugins, and the protocol that it speaks: docs/plugins.md has all messages.
#ifndef SCHEDSIM_CORE_HOSTING_PROCESS_PLUGIN_PROCESS_H_
#define SCHEDSIM_CORE_HOSTING_PROCESS_PLUGIN_PROCESS_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/codec/text/json_writer.h"
#include "core/framework/pod_info.h"
#include "core/hosting/process/child_process.h"
#include "core/hosting/process/message.h"
#include "core/hosting/process/process_mirror.h"
#include "schedsim/plugin_abi.h"

namespace schedsim::hosting {

inline constexpr int64_t kProtocolVersion = 1;
// The exit code of a program that ends since a plugin's answer is not known.
inline constexpr int kNoAnswerExitCode = 4;

// What a program says of one of its plugins.
struct ProcessPluginInfo {
  std::string name;
  std::set<std::string> methods = {};
  schedsim_reads filter_reads = SCHEDSIM_READS_ANYTHING;
  schedsim_reads score_reads = SCHEDSIM_READS_ANYTHING;

  bool Has(const std::string& method) const { return methods.count(method) > 0; }
  friend bool operator==(const ProcessPluginInfo&, const ProcessPluginInfo&) = default;
};

// What a program is asked, for messages.
struct ProcessCall {
  const std::string& plugin;
  const char* point;
  const framework::PodInfo* pod;  // nullptr: the call is about none.
};

// Answers what a program asks in its turn.
class ProcessRequests {
 public:
  virtual ~ProcessRequests() = default;
  // `what`: the request's name. Writes the fields of the reply, or sets `wants_reply` to false. Errors are
  // set in `request`.
  virtual void Answer(const std::string& what, Fields& request, codec::JsonWriter& reply,
                      bool& wants_reply) = 0;
};

class PluginProcess {
 public:
  // Starts the program and asks which plugins it has. A call, and all that the program does in it, may take
  // `limit` of real time. InvalidArgument, NotFound or Unavailable, with the program's name in front, where
  // that does not work out; Aborted where it takes too long.
  static absl::StatusOr<std::shared_ptr<PluginProcess>> Start(ChildCommand command, absl::Duration limit);

  const std::vector<ProcessPluginInfo>& plugins() const { return plugins_; }
  ProcessMirror& mirror() { return mirror_; }
  // Numbers for plugins, states and ends of binding, none of which is given twice.
  int64_t NextNumber() { return ++last_number_; }
  // Whether a call is under way.
  bool is_busy() const { return depth_ > 0; }

  // What the program is to hear of CycleStates with its next message.
  void CopyState(int64_t from, int64_t to);
  void DropState(int64_t number);
  // Writes that, and what is new of pods and nodes.
  void WriteNews(codec::JsonWriter& message);

  // Sends the line and hands the answer to `take`. Where none comes, or one that `take` finds fault with, the
  // program ends, with a line that names plugin, extension point and pod: as after a crash of a plugin, and
  // with kNoAnswerExitCode where time is over. May be called from within `requests`.
  void Call(const ProcessCall& call, absl::string_view line, ProcessRequests& requests,
            absl::FunctionRef<void(Fields& answer)> take);

 private:
  PluginProcess(std::string name, std::unique_ptr<ChildProcess> child, absl::Duration limit)
      : name_(std::move(name)), child_(std::move(child)), limit_(limit) {}
  absl::Status SayHello();
  std::string TakeHello(const codec::Value& answer);
  void TakePlugin(Fields& plugin);
  // Handles one line of the program. Returns whether it was the answer. `error` says what is wrong.
  bool Handle(const codec::Value& line, ProcessRequests& requests,
              absl::FunctionRef<void(Fields& answer)> take, std::string& error);
  // Ends the program.
  [[noreturn]] void Fail(const ProcessCall& call, absl::string_view what, int exit_code);

  const std::string name_;
  const std::unique_ptr<ChildProcess> child_;
  const absl::Duration limit_;
  std::vector<ProcessPluginInfo> plugins_;
  ProcessMirror mirror_;
  std::string state_news_;
  int64_t last_number_ = 0;
  int depth_ = 0;
};

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_PROCESS_PLUGIN_PROCESS_H_
