#include "sim/recorder/recorder.h"

#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "core/api/kubernetes_version.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "core/codec/text/reader.h"
#include "core/hosting/process/child_process.h"

namespace schedsim::sim {
namespace {

// Of what `describe` prints, and of the commands.
constexpr absl::string_view kVersion = "1";

// What a program writes to, without a name anywhere: nothing is left of it, however this process ends.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("recorder", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }
  std::string Contents() const {
    std::ifstream file(absl::StrCat("/proc/self/fd/", descriptor_), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  const int descriptor_;
};

// What a program that ended has said.
struct Outcome {
  int exit_code = 0;  // -1: a signal ended it.
  std::string output;
  std::string errors;
};

// `text`: what the program can read as descriptor 3.
absl::StatusOr<Outcome> Run(const std::string& path, std::vector<std::string> arguments, std::string text) {
  // Without a slash it is still a file, and not looked for elsewhere.
  arguments.insert(arguments.begin(), absl::StrContains(path, '/') ? path : absl::StrCat("./", path));
  const MemoryFile input, output, errors;
  // It cleans up behind itself where it is asked to end.
  const absl::StatusOr<pid_t> pid = hosting::SpawnProgram(
      {.name = path, .arguments = std::move(arguments), .text = std::move(text), .environment = {}},
      {.input = input.descriptor(), .output = output.descriptor(), .errors = errors.descriptor()}, SIGTERM);
  if (!pid.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": cannot be run (", pid.status().message(), "), expected a recorder"));
  }
  int status = 0;
  while (waitpid(*pid, &status, 0) < 0) {
    if (errno != EINTR) return absl::UnavailableError(absl::StrCat(path, ": is lost"));
  }
  return Outcome{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                 .output = output.Contents(),
                 .errors = errors.Contents()};
}

// The last lines of what a program said, without its own name.
std::string MessageOf(const Outcome& outcome) {
  constexpr size_t kBytesMax = 2000;
  absl::string_view text = absl::StripAsciiWhitespace(outcome.errors);
  if (text.size() > kBytesMax) text.remove_prefix(text.size() - kBytesMax);
  absl::ConsumePrefix(&text, "recorder: ");
  if (text.empty()) return outcome.exit_code < 0 ? "a signal ended it" : "it says nothing";
  return std::string(text);
}

std::string TextOf(const codec::Value& parent, absl::string_view key) {
  const codec::Value* const value = parent.Find(key);
  return value != nullptr && value->is_string() ? std::string(value->text) : std::string();
}

absl::StatusOr<Recorder> ReadDescription(const std::string& path, const std::string& text) {
  Recorder recorder;
  recorder.path = path;
  const auto read = [&](const codec::Document& document) -> absl::Status {
    const codec::Value* const version = document.root.Find("recorder");
    if (version == nullptr) return absl::InvalidArgumentError("it does not describe itself");
    if (version->text != kVersion) {
      return absl::InvalidArgumentError(
          absl::StrCat("it is of version ", version->text, ", expected ", kVersion, ": build it again"));
    }
    api::KubernetesVersion line;
    ASSIGN_OR_RETURN(line, api::ParseKubernetesVersion(TextOf(document.root, "line")));
    recorder.line = line.line;
    recorder.kubernetes_version = TextOf(document.root, "kubernetesVersion");
    const codec::Value* const plugins = document.root.Find("plugins");
    for (const codec::Value& item : plugins == nullptr ? absl::Span<const codec::Value>() : plugins->items) {
      recorder.plugins.push_back({.name = TextOf(item, "name"),
                                  .package = TextOf(item, "package"),
                                  .version = TextOf(item, "version")});
    }
    return absl::OkStatus();
  };
  absl::Status status = codec::ReadText(text, "description.json", {}, read);
  if (status.ok() && recorder.kubernetes_version.empty())
    status = absl::InvalidArgumentError("it does not describe itself");
  if (status.ok()) return recorder;
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": ", status.message(), "; expected a recorder, which tools/recorder/build.sh builds"));
}

}  // namespace

std::string Recorder::ToString() const {
  const auto append = [](std::string* out, const Plugin& plugin) {
    absl::StrAppend(out, plugin.name, " (", plugin.package, " ", plugin.version, ")");
  };
  return absl::StrCat("kube-scheduler ", kubernetes_version, plugins.empty() ? "" : " with ",
                      absl::StrJoin(plugins, ", ", append));
}

absl::StatusOr<Recorder> DescribeRecorder(const std::string& path) {
  RETURN_IF_ERROR(codec::CheckFile(path));
  Outcome outcome;
  ASSIGN_OR_RETURN(outcome, Run(path, {"describe"}, ""));
  if (outcome.exit_code == 0) return ReadDescription(path, outcome.output);
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", Printable(MessageOf(outcome)),
                   "; expected a recorder, which tools/recorder/build.sh builds"));
}

absl::StatusOr<std::string> RunRecorder(const Recorder& recorder, const std::string& test_case) {
  Outcome outcome;
  ASSIGN_OR_RETURN(outcome, Run(recorder.path, {"run", "/dev/fd/3", "/dev/stdout"}, test_case));
  const std::string trace(absl::StripAsciiWhitespace(outcome.output));
  if (outcome.exit_code == 0 && !trace.empty()) return trace;
  const std::string message = absl::StrCat(recorder.path, ": ", MessageOf(outcome));
  return outcome.exit_code == 1 ? absl::FailedPreconditionError(message)
                                : absl::InvalidArgumentError(message);
}

}  // namespace schedsim::sim
