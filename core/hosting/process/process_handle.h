// What a plugin of a program asks of the scheduler around it.
#ifndef SCHEDSIM_CORE_HOSTING_PROCESS_PROCESS_HANDLE_H_
#define SCHEDSIM_CORE_HOSTING_PROCESS_PROCESS_HANDLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "core/base/lookup_map.h"
#include "core/framework/cycle_state.h"
#include "core/framework/diagnosis.h"
#include "core/framework/handle.h"
#include "core/framework/plugin.h"
#include "core/hosting/process/plugin_process.h"

namespace schedsim::hosting {

// What a call of a plugin is about.
struct CallContext {
  const char* point = "";
  const framework::PodInfo* pod = nullptr;
  framework::CycleState* state = nullptr;
  // Those that the plugin is asked about, with the pods that they are to have here.
  framework::NodeInfos nodes = {};
  const framework::NodeToStatus* statuses = nullptr;
};

// One for each plugin. It calls the plugin, and answers what that asks meanwhile.
class ProcessHandle : public ProcessRequests {
 public:
  ProcessHandle(std::string plugin, std::shared_ptr<PluginProcess> process, framework::Handle& scheduler);

  // Calls the plugin's method. `fill` adds the call's own fields to the message, `take` reads the answer.
  void Call(const char* method, const CallContext& context, absl::FunctionRef<void(codec::JsonWriter&)> fill,
            absl::FunctionRef<void(Fields& answer)> take);

  // The name of a pod of which the plugin knows with the message that is being written.
  std::string Tell(const framework::PodInfo& pod);

  // That of the plugin's part of the state, which begins with this where there is none yet. No two have the
  // same.
  int64_t NumberOf(framework::CycleState& state);

  // PreBind or Bind of a pod begins. `in_pre_bind` nullptr: it cannot be cancelled. Returns its number.
  int64_t Begin(framework::StatusCallback done, framework::PodInPreBind* in_pre_bind);
  // It is over. False: there is none of that number.
  bool Finish(int64_t number, framework::Status status);

  framework::Handle& scheduler() { return scheduler_; }
  const std::string& plugin() const { return plugin_; }

 private:
  struct Binding {
    framework::StatusCallback done;
    framework::PodInPreBind* in_pre_bind = nullptr;
  };
  using Method = void (ProcessHandle::*)(Fields& request, codec::JsonWriter& reply);
  struct Request {
    const char* name;
    Method method;
    bool wants_reply;
  };
  static const Request kRequests[];

  void Answer(const std::string& what, Fields& request, codec::JsonWriter& reply, bool& wants_reply) override;

  void Snapshot(Fields& request, codec::JsonWriter& reply);
  void Node(Fields& request, codec::JsonWriter& reply);
  void Details(Fields& request, codec::JsonWriter& reply);
  void Statuses(Fields& request, codec::JsonWriter& reply);
  void Object(Fields& request, codec::JsonWriter& reply);
  void Objects(Fields& request, codec::JsonWriter& reply);
  void Nominated(Fields& request, codec::JsonWriter& reply);
  void Waiting(Fields& request, codec::JsonWriter& reply);
  void Allow(Fields& request, codec::JsonWriter& reply);
  void Reject(Fields& request, codec::JsonWriter& reply);
  void Filters(Fields& request, codec::JsonWriter& reply);
  void Activate(Fields& request, codec::JsonWriter& reply);
  void Finished(Fields& request, codec::JsonWriter& reply);
  void OnCancel(Fields& request, codec::JsonWriter& reply);
  void Post(Fields& request, codec::JsonWriter& reply);
  void Cancel(Fields& request, codec::JsonWriter& reply);
  void Bind(Fields& request, codec::JsonWriter& reply);
  void Delete(Fields& request, codec::JsonWriter& reply);
  void Event(Fields& request, codec::JsonWriter& reply);
  void Note(Fields& request, codec::JsonWriter& reply);
  void Inexact(Fields& request, codec::JsonWriter& reply);

  // The node of the running call, or of the snapshot; nullptr: there is none.
  const framework::NodeInfo* FindNode(absl::string_view name) const;
  // The pod that the request names, as the plugin knows it; nullptr, with an error in `request`: none.
  api::PodPtr PodOf(Fields& request);
  framework::PodInfoPtr InfoOf(Fields& request);
  void TellPods(const std::vector<framework::PodInfoPtr>& pods, codec::JsonWriter& reply);
  // What is done when a call to the API server is over.
  framework::Client::Done CallDone(Fields& request);

  const std::string plugin_;
  const std::shared_ptr<PluginProcess> process_;
  framework::Handle& scheduler_;
  const int64_t number_;
  const framework::PluginId plugin_id_;
  const CallContext* current_ = nullptr;
  // Of the executor, by the plugin's own numbers.
  LookupMap<int64_t, uint64_t> timers_;
  LookupMap<int64_t, Binding> bindings_;
};

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_PROCESS_PROCESS_HANDLE_H_
