// Which plugin of a library is at work, for what has to be said when it crashes.
#ifndef SCHEDSIM_CORE_HOSTING_LIBRARY_PLUGIN_CALL_H_
#define SCHEDSIM_CORE_HOSTING_LIBRARY_PLUGIN_CALL_H_

#include <utility>

#include "absl/strings/string_view.h"

namespace schedsim::framework {
struct PodInfo;
}

namespace schedsim::hosting {

// The exit code of a program whose plugin crashed, or ended it.
inline constexpr int kPluginCrashExitCode = 3;

// A call of a plugin, as long as the object lives.
class PluginCall {
 public:
  // Texts must outlive the object. `pod` nullptr: the call is about none. `plugin` nullptr: a plugin has
  // called the scheduler, which is at work.
  PluginCall(const char* plugin, const char* point, const framework::PodInfo* pod)
      : plugin_(plugin), point_(point), pod_(pod), outer_(std::exchange(current_, this)) {}
  ~PluginCall() { current_ = outer_; }
  PluginCall(const PluginCall&) = delete;
  PluginCall& operator=(const PluginCall&) = delete;

  // Lets a signal that a plugin sets off (a bad address, abort, a division by zero), and a call of exit or
  // quick_exit, end the program with a line on standard error that names plugin, point and pod, and with
  // kPluginCrashExitCode. Signals and exits outside of plugins do what they do without it. Calls after the
  // first one do nothing, so that a handler that was installed over this one stays there.
  static void InstallCrashHandler();
  // Ends the program so because of a plugin that is elsewhere, with this line.
  [[noreturn]] static void EndProgram(absl::string_view line, int exit_code);
  // Called before the program ends so; it may do what a signal handler may.
  static void set_on_crash(void (*on_crash)()) { on_crash_ = on_crash; }
  // Where the line is written beside standard error; -1: nowhere.
  static void set_copy_descriptor(int descriptor) { copy_descriptor_ = descriptor; }

 private:
  static void OnSignal(int signal);
  static void OnExit();
  // Ends the program because of this call.
  [[noreturn]] void End(const char* deed, const char* how) const;

  const char* const plugin_;
  const char* const point_;
  const framework::PodInfo* const pod_;
  const PluginCall* const outer_;
  // A signal handler has nothing else to find it by.
  static inline thread_local const PluginCall* current_ = nullptr;
  static inline void (*on_crash_)() = nullptr;
  static inline int copy_descriptor_ = -1;
};

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_LIBRARY_PLUGIN_CALL_H_
