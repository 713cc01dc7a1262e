#include "core/hosting/process/remote_line.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "core/hosting/process/message.h"

namespace schedsim::hosting {
namespace {

// What does not end by itself ends when somebody reads it.
constexpr size_t kUnsentBytesMax = size_t{1} << 20;

[[noreturn]] void End(absl::string_view why, int exit_code) {
  const std::string line = absl::StrCat("schedsim plugin host: ", why, "\n");
  if (!why.empty()) static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
  _exit(exit_code);
}

}  // namespace

RemoteLine::RemoteLine()
    : input_(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)), output_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
}

bool RemoteLine::Read(std::string& line) {
  Flush();
  size_t searched = 0;
  while (true) {
    const size_t end = unread_.find('\n', searched);
    if (end != std::string::npos) {
      line.assign(unread_, 0, end);
      unread_.erase(0, end + 1);
      return true;
    }
    searched = unread_.size();
    constexpr size_t kStepBytes = size_t{64} << 10;
    unread_.resize(searched + kStepBytes);
    const ssize_t count = read(input_, unread_.data() + searched, kStepBytes);
    unread_.resize(searched + (count > 0 ? static_cast<size_t>(count) : 0));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
  }
}

void RemoteLine::Flush() {
  absl::string_view rest = unsent_;
  while (!rest.empty()) {
    const ssize_t count = write(output_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) End("", 0);
    rest.remove_prefix(static_cast<size_t>(count));
  }
  unsent_.clear();
}

void RemoteLine::Send(absl::string_view line) {
  absl::StrAppend(&unsent_, line, "\n");
  if (unsent_.size() > kUnsentBytesMax) Flush();
}

void RemoteLine::Run() {
  std::string line;
  while (Read(line)) {
    const std::string error = ReadLine(line, [this](const codec::Value& map) {
      handler_(map);
      return std::string();
    });
    if (!error.empty()) End(error, 2);
  }
}

void RemoteLine::Ask(absl::string_view request, absl::FunctionRef<void(const codec::Value& line)> take) {
  Send(request);
  std::string line;
  bool is_answered = false;
  while (!is_answered) {
    if (!Read(line)) End("", 0);
    const std::string error = ReadLine(line, [&](const codec::Value& map) {
      is_answered = map.Find("reply") != nullptr;
      if (is_answered) {
        take(map);
      } else {
        handler_(map);
      }
      return std::string();
    });
    if (!error.empty()) End(error, 2);
  }
}

}  // namespace schedsim::hosting
