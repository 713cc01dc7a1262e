// How calls reach extenders: live, from a file, or from a recorded run.
#ifndef SCHEDSIM_SIM_EXTENDERS_EXTENDER_TRANSPORT_H_
#define SCHEDSIM_SIM_EXTENDERS_EXTENDER_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/scheduler_config.h"
#include "core/framework/node_info.h"
#include "core/framework/pod_info.h"

namespace schedsim::sim {

class ApiServer;
class EventLoop;
class Trace;

enum class ExtenderVerb : uint8_t { kFilter, kPrioritize, kPreempt, kBind };
// "filter", "prioritize", "preempt" or "bind", whatever path the configuration has for it.
absl::string_view NameOf(ExtenderVerb verb);

// A call of an extender.
struct ExtenderCall {
  size_t extender = 0;  // Its place in the configuration.
  ExtenderVerb verb = ExtenderVerb::kFilter;
  std::string url;
  absl::Duration timeout;
  std::string body;
  // Whom it is about; of the objects in the body, those that are nodes.
  std::string pod;
  std::string node;  // To bind.
  std::vector<api::NodePtr> nodes;
};

// What comes back.
struct ExtenderAnswer {
  // Why there is no answer, as Go's HTTP client says it; "": there is one.
  std::string error;
  int status = 0;
  std::string body;
};

// Carries calls.
class ExtenderTransport {
 public:
  virtual ~ExtenderTransport() = default;
  // Calls `done` once, at once or in virtual time; never, where the run ends before.
  using Done = std::function<void(ExtenderAnswer)>;
  virtual void Send(ExtenderCall call, Done done) = 0;
  // Why the run was ended by the transport. Aborted: what an extender says is not known. OK: it was not.
  virtual absl::Status failure() const { return absl::OkStatus(); }
  // What the user should know of the calls of a run that is over; "": nothing.
  virtual std::string Warning() const { return ""; }
};

// What a transport may use; all of it outlives the transport.
struct ExtenderWorld {
  EventLoop& loop;
  ApiServer& server;
  Trace& trace;
  const api::KubeSchedulerConfiguration& config;
};

struct ExtenderOptions {
  // Makes the transport of a run. Empty: a configuration with extenders is refused.
  std::function<std::unique_ptr<ExtenderTransport>(const ExtenderWorld& world)> make_transport;
  // What records call the extenders, by their place in the configuration; behind the end: their address.
  std::vector<std::string> names;
  // Whether objects in requests are as in recorded cases: with apiVersion and kind, which those of the real
  // scheduler's informers do not have, and without a time in the condition that a binding sets.
  bool sends_types = false;
  // Whether an extender that says that it has bound a pod has done so. Otherwise the transport binds it.
  bool binds = true;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXTENDERS_EXTENDER_TRANSPORT_H_
