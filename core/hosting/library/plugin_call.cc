#include "core/hosting/library/plugin_call.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <utility>

#include "core/framework/pod_info.h"

namespace schedsim::hosting {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// A handler may neither allocate nor print: the line is put together in place.
class Line {
 public:
  void Add(const char* text) { Add(text, std::strlen(text)); }
  void Add(const char* text, size_t size) {
    for (size_t i = 0; i < size && size_ < text_.size(); ++i) text_[size_++] = text[i];
  }
  void Write() const {
    const ssize_t written = write(STDERR_FILENO, text_.data(), size_);
    (void)written;
  }

 private:
  std::array<char, 1024> text_ = {};
  size_t size_ = 0;
};

const char* NameOf(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "a bad address (SIGSEGV)";
    case SIGBUS:
      return "a bad address (SIGBUS)";
    case SIGFPE:
      return "a bad calculation (SIGFPE)";
    case SIGILL:
      return "a bad instruction (SIGILL)";
    default:
      return "it gave up (SIGABRT)";
  }
}

// A plugin that recurses without end has no stack left to tell it on.
std::array<char, size_t{64} * 1024>& SignalStack() {
  static auto* const stack = new std::array<char, size_t{64} * 1024>;
  return *stack;
}

}  // namespace

void PluginCall::OnSignal(int signal) {
  if (current_ == nullptr || current_->plugin_ == nullptr) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  Line line;
  line.Add("schedsim: plugin ");
  line.Add(current_->plugin_);
  line.Add(" crashed at ");
  line.Add(current_->point_);
  if (current_->pod_ != nullptr && current_->pod_->pod != nullptr) {
    const api::ObjectMeta& pod = current_->pod_->pod->metadata;
    line.Add(" for pod ");
    line.Add(pod.namespace_.data(), pod.namespace_.size());
    line.Add("/");
    line.Add(pod.name.data(), pod.name.size());
  }
  line.Add(": ");
  line.Add(NameOf(signal));
  line.Add("\n");
  line.Write();
  if (on_crash_ != nullptr) on_crash_();
  _exit(kPluginCrashExitCode);
}

void PluginCall::EndProgram(absl::string_view line, int exit_code) {
  const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  (void)written;
  if (on_crash_ != nullptr) on_crash_();
  _exit(exit_code);
}

void PluginCall::InstallCrashHandler() {
  static bool is_installed = false;
  if (std::exchange(is_installed, true)) return;
  stack_t stack = {};
  stack.ss_sp = SignalStack().data();
  stack.ss_size = SignalStack().size();
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = &PluginCall::OnSignal;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

}  // namespace schedsim::hosting
