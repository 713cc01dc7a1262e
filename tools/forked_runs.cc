#include "tools/forked_runs.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/printable.h"
#include "core/hosting/library/plugin_call.h"

namespace schedsim::tools {
namespace {

struct Child {
  int64_t number = 0;
  pid_t pid = 0;
  int descriptor = -1;
  std::string text;
};

void WriteAll(int descriptor, const std::string& text) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write(descriptor, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    written += static_cast<size_t>(count);
  }
}

// Each text ends with this, so that one that was cut off is known for it.
constexpr char kEnd = '\0';

absl::StatusOr<Child> Start(int64_t number, const std::function<std::string(int64_t)>& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::UnavailableError("there is no pipe to be had");
  const pid_t pid = fork();
  if (pid < 0) {
    close(ends[0]);
    close(ends[1]);
    return absl::UnavailableError("another process of the program can't be started");
  }
  if (pid > 0) {
    close(ends[1]);
    return Child{.number = number, .pid = pid, .descriptor = ends[0], .text = {}};
  }
  // What the parent has in its buffers is the parent's to write, so the copy ends without putting in order.
  close(ends[0]);
  // The line with which a plugin ends the copy is a text without an end.
  hosting::PluginCall::set_copy_descriptor(ends[1]);
  WriteAll(ends[1], work(number) + kEnd);
  _exit(0);
}

// Reads what there is. False: that was the end.
bool Read(Child& child) {
  char buffer[65536];
  const ssize_t count = read(child.descriptor, buffer, sizeof(buffer));
  if (count < 0 && errno == EINTR) return true;
  if (count > 0) child.text.append(buffer, static_cast<size_t>(count));
  return count > 0;
}

// How a process ended that has no result; `line`: what it said last, or "".
std::string EndOf(int state, absl::string_view line) {
  std::string end = "the run ended without a result, ";
  if (WIFSIGNALED(state)) {
    absl::StrAppend(&end, "by signal ", WTERMSIG(state), " (", strsignal(WTERMSIG(state)), ")");
  } else {
    absl::StrAppend(&end, "with exit code ", WEXITSTATUS(state));
  }
  line = absl::StripPrefix(absl::StripTrailingAsciiWhitespace(line), "schedsim: ");
  if (!line.empty()) absl::StrAppend(&end, ": ", Printable(line));
  return end;
}

absl::StatusOr<std::string> Finish(Child& child) {
  close(child.descriptor);
  int state = 0;
  while (waitpid(child.pid, &state, 0) < 0 && errno == EINTR) {
  }
  if (!child.text.empty() && child.text.back() == kEnd) {
    child.text.pop_back();
    return std::move(child.text);
  }
  return absl::UnavailableError(EndOf(state, child.text));
}

void EndAll(std::vector<Child>& children) {
  for (Child& child : children) {
    kill(child.pid, SIGKILL);
    Finish(child).IgnoreError();
  }
  children.clear();
}

// Waits until one of them has something to say, and moves what is finished to `done`.
void Wait(std::vector<Child>& running, std::map<int64_t, absl::StatusOr<std::string>>& done) {
  std::vector<pollfd> waits;
  for (const Child& child : running)
    waits.push_back({.fd = child.descriptor, .events = POLLIN, .revents = 0});
  if (poll(waits.data(), waits.size(), -1) < 0) return;
  for (size_t i = waits.size(); i-- > 0;) {
    if (waits[i].revents == 0 || Read(running[i])) continue;
    done.emplace(running[i].number, Finish(running[i]));
    running.erase(running.begin() + static_cast<ptrdiff_t>(i));
  }
}

}  // namespace

absl::Status RunForked(int64_t count, int64_t jobs, const std::function<std::string(int64_t)>& work,
                       const std::function<bool(int64_t, absl::StatusOr<std::string>)>& take) {
  std::vector<Child> running;
  std::map<int64_t, absl::StatusOr<std::string>> done;
  int64_t next = 0;
  int64_t taken = 0;
  while (taken < count) {
    while (next < count && static_cast<int64_t>(running.size()) < jobs) {
      absl::StatusOr<Child> child = Start(next, work);
      if (!child.ok()) {
        EndAll(running);
        return child.status();
      }
      running.push_back(*std::move(child));
      ++next;
    }
    Wait(running, done);
    for (auto first = done.begin(); first != done.end() && first->first == taken; first = done.begin()) {
      const bool goes_on = take(taken++, std::move(first->second));
      done.erase(first);
      if (goes_on) continue;
      EndAll(running);
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

}  // namespace schedsim::tools
