// Plugins that do what no plugin should.
#include <schedsim/plugin.h>

#include <cstdlib>
#include <string_view>

namespace {

using schedsim::plugin::CycleState;
using schedsim::plugin::Done;
using schedsim::plugin::Events;
using schedsim::plugin::Handle;
using schedsim::plugin::Node;
using schedsim::plugin::NodeStatuses;
using schedsim::plugin::Pod;
using schedsim::plugin::PostFilterResult;
using schedsim::plugin::Scored;
using schedsim::plugin::Status;

// Writes to an address that is not there.
class BadAddress {
 public:
  static constexpr char kName[] = "BadAddress";
  explicit BadAddress(Handle) {}

  Status Filter(CycleState&, Pod, Node) {
    *address_ = 1;
    return {};
  }

 private:
  int* volatile address_ = nullptr;
};

class GivesUp {
 public:
  static constexpr char kName[] = "GivesUp";
  explicit GivesUp(Handle) {}

  Status Reserve(CycleState&, Pod, std::string_view) { std::abort(); }
  void Unreserve(CycleState&, Pod, std::string_view) {}
};

// End the program with the code of success, in the two ways that can be heard of.
class CallsExit {
 public:
  static constexpr char kName[] = "CallsExit";
  explicit CallsExit(Handle) {}

  Status Filter(CycleState&, Pod, Node) { std::exit(0); }
};

class CallsQuickExit {
 public:
  static constexpr char kName[] = "CallsQuickExit";
  explicit CallsQuickExit(Handle) { std::quick_exit(0); }

  Status PreEnqueue(Pod) { return {}; }
};

// Calls itself until there is no stack left.
class Recurses {
 public:
  static constexpr char kName[] = "Recurses";
  explicit Recurses(Handle) {}

  Status PreEnqueue(Pod) { return {.code = Depth(0) < 0 ? schedsim::plugin::Code::kError : Status().code}; }

 private:
  int Depth(int depth) {
    volatile char frame[1024];
    frame[0] = static_cast<char>(depth);
    return Depth(depth + 1) + frame[0];
  }
};

// Never comes back.
class Endless {
 public:
  static constexpr char kName[] = "Endless";
  explicit Endless(Handle) {}

  Status Filter(CycleState&, Pod, Node) {
    while (turns_ >= 0) turns_ = turns_ / 2 + 1;
    return {};
  }

 private:
  volatile int turns_ = 0;
};

class RefusesArgs {
 public:
  static constexpr char kName[] = "RefusesArgs";
  explicit RefusesArgs(Handle) {}

  Status Init() { return Status::Error("these arguments will not do"); }
  Scored Score(CycleState&, Pod, Node) { return 0; }
};

class ScoresTooHigh {
 public:
  static constexpr char kName[] = "ScoresTooHigh";
  explicit ScoresTooHigh(Handle) {}

  Scored Score(CycleState&, Pod, Node) { return 101; }
};

// Has no method that is asked for anything.
class Misspelt {
 public:
  static constexpr char kName[] = "Misspelt";
  explicit Misspelt(Handle) {}

  Status Filters(CycleState&, Pod, Node) { return Status::Unschedulable("no"); }
};

class RegistersNothing {
 public:
  static constexpr char kName[] = "RegistersNothing";
  explicit RegistersNothing(Handle) {}

  Status Filter(CycleState&, Pod, Node) { return {}; }
  Status EventsToRegister(Events&) { return Status::Error("no events"); }
};

// Says that it has bound the pod, and has not.
class BindsNothing {
 public:
  static constexpr char kName[] = "BindsNothing";
  explicit BindsNothing(Handle) {}

  void Bind(CycleState&, Pod, std::string_view, Done done) { done(Status::Success()); }
};

// The real scheduler crashes on this answer.
class SkipsPostFilter {
 public:
  static constexpr char kName[] = "SkipsPostFilter";
  explicit SkipsPostFilter(Handle) {}

  Status Filter(CycleState&, Pod, Node) { return Status::Unschedulable("no"); }
  PostFilterResult PostFilter(CycleState&, Pod, NodeStatuses) { return {.status = Status::Skip()}; }
};

}  // namespace

const schedsim_library* schedsim_plugin_library(const schedsim_host* host) {
  return schedsim::plugin::Library<BadAddress, GivesUp, CallsExit, CallsQuickExit, Recurses, Endless,
                                   RefusesArgs, ScoresTooHigh, SkipsPostFilter, Misspelt, RegistersNothing,
                                   BindsNothing>(host);
}
