#include "core/hosting/library/plugin_call.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
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
  absl::string_view text() const { return {text_.data(), size_}; }

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
  current_->End(" crashed at ", NameOf(signal));
}

void PluginCall::OnExit() {
  if (current_ != nullptr && current_->plugin_ != nullptr)
    current_->End(" ended the program at ", "it called exit");
}

void PluginCall::End(const char* deed, const char* how) const {
  Line line;
  line.Add("schedsim: plugin ");
  line.Add(plugin_);
  line.Add(deed);
  line.Add(point_);
  if (pod_ != nullptr && pod_->pod != nullptr) {
    const api::ObjectMeta& pod = pod_->pod->metadata;
    line.Add(" for pod ");
    line.Add(pod.namespace_.data(), pod.namespace_.size());
    line.Add("/");
    line.Add(pod.name.data(), pod.name.size());
  }
  line.Add(": ");
  line.Add(how);
  line.Add("\n");
  EndProgram(line.text(), kPluginCrashExitCode);
}

void PluginCall::EndProgram(absl::string_view line, int exit_code) {
  for (const int descriptor : {STDERR_FILENO, copy_descriptor_}) {
    if (descriptor >= 0) static_cast<void>(!write(descriptor, line.data(), line.size()));
  }
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
  static_cast<void>(std::atexit(&PluginCall::OnExit));
  static_cast<void>(std::at_quick_exit(&PluginCall::OnExit));
}

}  // namespace schedsim::hosting
