#include "core/hosting/process/child_process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"

namespace schedsim::hosting {
namespace {

constexpr int kTextDescriptor = 3;
// A line of standard error that is longer is passed on in pieces.
constexpr size_t kErrorLineBytesMax = size_t{64} << 10;
constexpr absl::Duration kPatienceAtEnd = absl::Seconds(1);

// Real time. What takes too long ends the run, so that no result comes of this clock.
using RealClock = std::chrono::steady_clock;
absl::Duration Since(RealClock::time_point start) { return absl::FromChrono(RealClock::now() - start); }

std::string ErrorText(int error) { return std::strerror(error); }

void Close(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

// Both ends of a pipe, which other programs do not get.
struct Pipe {
  int read = -1;
  int write = -1;

  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    Close(read);
    Close(write);
  }
  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
};

// A descriptor from which the text can be read; -1: there is none.
int TextDescriptor(const std::string& text) {
  const int descriptor = memfd_create("plugin", MFD_CLOEXEC);
  if (descriptor < 0) return -1;
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write(descriptor, text.data() + written, text.size() - written);
    if (count <= 0) {
      close(descriptor);
      return -1;
    }
    written += static_cast<size_t>(count);
  }
  lseek(descriptor, 0, SEEK_SET);
  return descriptor;
}

// Moves a descriptor out of the way of those that the program is to have.
int MovedUp(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, kTextDescriptor + 1); }

struct Descriptors {
  StandardStreams streams;
  int text;    // -1: none.
  int report;  // Takes the error of what fails.
};

// What happens between fork and exec: nothing that allocates.
[[noreturn]] void BecomeProgram(const Descriptors& given, char* const* arguments, char* const* environment,
                                pid_t parent, int signal_at_end) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, signal_at_end);
  if (getppid() != parent) _exit(127);
  // Ignored signals would stay ignored.
  for (const int signal : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  const Descriptors own = {.streams = {.input = MovedUp(given.streams.input),
                                       .output = MovedUp(given.streams.output),
                                       .errors = MovedUp(given.streams.errors)},
                           .text = given.text < 0 ? -1 : MovedUp(given.text),
                           .report = MovedUp(given.report)};
  const bool ready =
      dup2(own.streams.input, STDIN_FILENO) >= 0 && dup2(own.streams.output, STDOUT_FILENO) >= 0 &&
      dup2(own.streams.errors, STDERR_FILENO) >= 0 && (own.text < 0 || dup2(own.text, kTextDescriptor) >= 0);
  // Nothing else that is open here is the program's business.
  close_range(own.text < 0 ? kTextDescriptor : kTextDescriptor + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  if (ready) execvpe(arguments[0], arguments, environment);
  const int error = errno;
  static_cast<void>(!write(own.report, &error, sizeof(error)));
  _exit(127);
}

// This process's environment, with these variables set.
std::vector<std::string> EnvironmentWith(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const absl::string_view text = *variable;
    const absl::string_view name = text.substr(0, text.find('='));
    const bool is_set = std::any_of(variables.begin(), variables.end(),
                                    [name](const auto& other) { return other.first == name; });
    if (!is_set) all.emplace_back(text);
  }
  for (const auto& [name, value] : variables) all.push_back(absl::StrCat(name, "=", value));
  return all;
}

std::vector<ChildProcess*>& Living() {
  static auto* const living = new std::vector<ChildProcess*>;
  return *living;
}

}  // namespace

absl::StatusOr<pid_t> SpawnProgram(const ChildCommand& command, const StandardStreams& streams,
                                   int signal_at_end) {
  const std::string& program = command.arguments[0];
  Pipe report;
  int text = -1;
  if (!report.Open() || (!command.text.empty() && (text = TextDescriptor(command.text)) < 0))
    return absl::UnavailableError(absl::StrCat("cannot be started: ", ErrorText(errno)));
  std::vector<char*> arguments;
  for (const std::string& argument : command.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const std::vector<std::string> variables = EnvironmentWith(command.environment);
  std::vector<char*> environment;
  for (const std::string& variable : variables) environment.push_back(const_cast<char*>(variable.c_str()));
  environment.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    BecomeProgram({.streams = streams, .text = text, .report = report.write}, arguments.data(),
                  environment.data(), parent, signal_at_end);
  }
  const int fork_error = errno;
  Close(text);
  if (pid < 0) return absl::UnavailableError(absl::StrCat("cannot be started: ", ErrorText(fork_error)));
  // Both sides do it, so that it is done for whoever needs it first.
  setpgid(pid, pid);
  Close(report.write);
  int error = 0;
  ssize_t count = 0;
  do count = read(report.read, &error, sizeof(error));
  while (count < 0 && errno == EINTR);
  if (count != static_cast<ssize_t>(sizeof(error))) return pid;
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
  if (error == ENOENT) {
    const bool is_path = absl::StrContains(program, '/');
    return absl::NotFoundError(absl::StrCat(program, is_path ? ", or what is to run it (#!)," : "",
                                            " is not there", is_path ? "" : ", expected it in PATH"));
  }
  return absl::UnavailableError(absl::StrCat(program, " cannot be started: ", ErrorText(error)));
}

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(ChildCommand command) {
  std::unique_ptr<ChildProcess> child(new ChildProcess(std::move(command)));
  RETURN_IF_ERROR(child->Spawn());
  return child;
}

absl::Status ChildProcess::Spawn() {
  // A program that ends early is found out when its answer is read.
  std::signal(SIGPIPE, SIG_IGN);
  Pipe input, output, errors;
  if (!input.Open() || !output.Open() || !errors.Open())
    return absl::UnavailableError(absl::StrCat("cannot be started: ", ErrorText(errno)));
  ASSIGN_OR_RETURN(
      pid_,
      SpawnProgram(command_, {.input = input.read, .output = output.write, .errors = errors.write}, SIGKILL));
  Living().push_back(this);
  // A program that ends may leave its last run as it is.
  static const bool finishes = std::atexit(&ChildProcess::FinishAll) == 0;
  static_cast<void>(finishes);
  input_ = std::exchange(input.write, -1);
  output_ = std::exchange(output.read, -1);
  errors_ = std::exchange(errors.read, -1);
  for (const int descriptor : {input_, output_, errors_}) {
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  }
  return absl::OkStatus();
}

ChildProcess::~ChildProcess() {
  Finish();
  Living().erase(std::remove(Living().begin(), Living().end(), this), Living().end());
}

void ChildProcess::Finish() {
  Close(input_);
  Close(output_);
  if (pid_ >= 0 && !Reap(kPatienceAtEnd)) Kill();
  PassOnErrors();
  if (!error_line_.empty()) error_line_.push_back('\n');
  PassOnErrors();
  Close(errors_);
}

void ChildProcess::FinishAll() {
  for (ChildProcess* child : Living()) child->Finish();
}

void ChildProcess::Kill() {
  if (pid_ < 0) return;
  killpg(pid_, SIGKILL);
  Reap(absl::InfiniteDuration());
  PassOnErrors();
}

void ChildProcess::KillAll() {
  for (ChildProcess* child : Living()) child->Kill();
}

bool ChildProcess::Reap(absl::Duration patience) {
  const RealClock::time_point start = RealClock::now();
  while (pid_ >= 0) {
    const bool waits = patience == absl::InfiniteDuration();
    const pid_t ended = waitpid(pid_, &wait_status_, waits ? 0 : WNOHANG);
    if (ended == pid_ || (ended < 0 && errno != EINTR)) {
      // What it started itself goes, too.
      killpg(pid_, SIGKILL);
      pid_ = -1;
      break;
    }
    if (Since(start) >= patience) return false;
    PassOnErrors();
    if (!waits) absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

std::string ChildProcess::End() {
  // Its output is closed: if it has not ended, it will.
  if (pid_ >= 0 && !Reap(kPatienceAtEnd)) {
    Kill();
    return "closed its standard output";
  }
  PassOnErrors();
  if (WIFEXITED(wait_status_)) return absl::StrCat("ended with exit code ", WEXITSTATUS(wait_status_));
  return absl::StrCat("was ended by signal ", WTERMSIG(wait_status_), " (", strsignal(WTERMSIG(wait_status_)),
                      ")");
}

void ChildProcess::Write(absl::string_view line) { absl::StrAppend(&to_write_, line, "\n"); }

absl::StatusOr<absl::string_view> ChildProcess::Read(absl::Duration& left) {
  read_.erase(0, std::exchange(taken_, 0));
  size_t searched = 0;
  while (true) {
    const size_t end = read_.find('\n', searched);
    if (end != std::string::npos) {
      taken_ = end + 1;
      return absl::string_view(read_).substr(0, end);
    }
    searched = read_.size();
    if (read_.size() > kLineBytesMax) {
      return absl::UnavailableError(
          absl::StrCat("wrote a line of more than ", kLineBytesMax, " bytes, expected an answer"));
    }
    if (output_ < 0) {
      const std::string end_text = End();
      if (read_.empty()) return absl::UnavailableError(end_text);
      return absl::UnavailableError(
          absl::StrCat(end_text, " within a line, ", Printable(read_, kShownBytesMax)));
    }
    const RealClock::time_point start = RealClock::now();
    const bool in_time = Exchange(left);
    left -= Since(start);
    if (!in_time) return absl::AbortedError("no answer");
  }
}

bool ChildProcess::Exchange(absl::Duration left) {
  if (left <= absl::ZeroDuration()) return false;
  struct pollfd polled[] = {{.fd = output_, .events = POLLIN, .revents = 0},
                            {.fd = errors_, .events = POLLIN, .revents = 0},
                            {.fd = to_write_.empty() ? -1 : input_, .events = POLLOUT, .revents = 0}};
  const int64_t milliseconds = std::clamp<int64_t>(absl::ToInt64Milliseconds(left), 1, INT32_MAX);
  const int count = poll(polled, std::size(polled), static_cast<int>(milliseconds));
  if (count == 0) return false;
  if (count < 0) return errno == EINTR;
  if (polled[1].revents != 0) PassOnErrors();
  if (polled[2].revents != 0) WriteSome();
  if (polled[0].revents != 0) ReadSome();
  return true;
}

void ChildProcess::WriteSome() {
  const ssize_t count = write(input_, to_write_.data() + written_, to_write_.size() - written_);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (count > 0) written_ += static_cast<size_t>(count);
  // It does not listen any more: what it says, or how it ends, tells why.
  if (count > 0 && written_ < to_write_.size()) return;
  to_write_.clear();
  written_ = 0;
}

void ChildProcess::ReadSome() {
  constexpr size_t kStepBytes = size_t{64} << 10;
  const size_t size = read_.size();
  read_.resize(size + kStepBytes);
  const ssize_t count = read(output_, read_.data() + size, kStepBytes);
  read_.resize(size + (count > 0 ? static_cast<size_t>(count) : 0));
  if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) Close(output_);
}

void ChildProcess::PassOnErrors() {
  char bytes[4096];
  while (errors_ >= 0) {
    const ssize_t count = read(errors_, bytes, sizeof(bytes));
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) Close(errors_);
    if (count <= 0) break;
    error_line_.append(bytes, static_cast<size_t>(count));
    // Whoever writes without end is not read without end.
    if (error_line_.size() > kErrorLineBytesMax) break;
  }
  size_t begin = 0;
  while (begin < error_line_.size()) {
    size_t end = error_line_.find('\n', begin);
    const bool is_long = end == std::string::npos && error_line_.size() - begin > kErrorLineBytesMax;
    if (is_long) end = error_line_.size();
    if (end == std::string::npos) break;
    const std::string line =
        absl::StrCat(command_.name, ": ", Printable(error_line_.substr(begin, end - begin)), "\n");
    static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
    begin = end + 1;
  }
  error_line_.erase(0, begin);
}

}  // namespace schedsim::hosting
