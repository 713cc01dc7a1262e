#include "sim/recorder/recorder.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
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

extern char** environ;

namespace schedsim::sim {
namespace {

namespace fs = std::filesystem;

// Of what `describe` prints, and of the commands.
constexpr absl::string_view kVersion = "1";

// A folder of its own for what goes to a recorder and comes from it. It goes with all that is in it.
class TemporaryFolder {
 public:
  static absl::StatusOr<TemporaryFolder> Make() {
    std::error_code error;
    std::string path = (fs::temp_directory_path(error) / "schedsim-recorder-XXXXXX").string();
    if (error || mkdtemp(path.data()) == nullptr)
      return absl::UnavailableError(absl::StrCat(path, ": no folder can be made there"));
    return TemporaryFolder(std::move(path));
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }

  std::string File(absl::string_view name) const { return absl::StrCat(path_, "/", name); }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

// What a program that ended has said.
struct Outcome {
  int exit_code = 0;  // -1: a signal ended it.
  std::string output;
  std::string errors;
};

std::string ContentsOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

absl::StatusOr<Outcome> Run(const std::string& path, std::vector<std::string> arguments,
                            const TemporaryFolder& folder) {
  // Without a slash it is still a file, and not looked for elsewhere.
  std::string program = absl::StrContains(path, '/') ? path : absl::StrCat("./", path);
  std::vector<char*> argv = {program.data()};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const std::string output = folder.File("stdout");
  const std::string errors = folder.File("stderr");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), kWrite, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), kWrite, 0600);
  pid_t pid = 0;
  const int spawned = posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (spawned != 0)
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": cannot be run (", std::strerror(spawned), "), expected a recorder"));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return absl::UnavailableError(absl::StrCat(path, ": is lost"));
  }
  return Outcome{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                 .output = ContentsOf(output),
                 .errors = ContentsOf(errors)};
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
  absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Make();
  RETURN_IF_ERROR(folder.status());
  Outcome outcome;
  ASSIGN_OR_RETURN(outcome, Run(path, {"describe"}, *folder));
  if (outcome.exit_code == 0) return ReadDescription(path, outcome.output);
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", Printable(MessageOf(outcome)),
                   "; expected a recorder, which tools/recorder/build.sh builds"));
}

absl::StatusOr<std::string> RunRecorder(const Recorder& recorder, const std::string& test_case) {
  absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Make();
  RETURN_IF_ERROR(folder.status());
  const std::string cases = folder->File("case.jsonl");
  const std::string traces = folder->File("trace.jsonl");
  {
    std::ofstream file(cases, std::ios::binary);
    file << test_case << "\n";
    if (!file.flush()) return absl::UnavailableError(absl::StrCat(cases, ": cannot be written"));
  }
  Outcome outcome;
  ASSIGN_OR_RETURN(outcome, Run(recorder.path, {"run", cases, traces}, *folder));
  const std::string trace(absl::StripAsciiWhitespace(ContentsOf(traces)));
  if (outcome.exit_code == 0 && !trace.empty()) return trace;
  const std::string message = absl::StrCat(recorder.path, ": ", MessageOf(outcome));
  return outcome.exit_code == 1 ? absl::FailedPreconditionError(message)
                                : absl::InvalidArgumentError(message);
}

}  // namespace schedsim::sim
