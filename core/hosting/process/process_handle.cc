#include "core/hosting/process/process_handle.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/printable.h"
#include "core/framework/waiting_pods.h"
#include "core/hosting/library/host_functions.h"

namespace schedsim::hosting {
namespace {

using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfo;
using framework::PodInfoPtr;
using framework::Status;

// What a plugin keeps for a pod is in the program, under a number. Its slot is that of the filter state,
// which what-if runs copy.
class ProcessState : public framework::StateData {
 public:
  ProcessState(std::shared_ptr<PluginProcess> process, int64_t number)
      : process_(std::move(process)), number_(number) {}
  ProcessState(const ProcessState&) = delete;
  ProcessState& operator=(const ProcessState&) = delete;
  ~ProcessState() override { process_->DropState(number_); }

  std::unique_ptr<StateData> Clone() const override {
    const int64_t copy = process_->NextNumber();
    process_->CopyState(number_, copy);
    return std::make_unique<ProcessState>(process_, copy);
  }

  int64_t number() const { return number_; }

 private:
  const std::shared_ptr<PluginProcess> process_;
  const int64_t number_;
};

}  // namespace

const ProcessHandle::Request ProcessHandle::kRequests[] = {
    {"snapshot", &ProcessHandle::Snapshot, true},   {"node", &ProcessHandle::Node, true},
    {"details", &ProcessHandle::Details, true},     {"statuses", &ProcessHandle::Statuses, true},
    {"object", &ProcessHandle::Object, true},       {"objects", &ProcessHandle::Objects, true},
    {"nominated", &ProcessHandle::Nominated, true}, {"waiting", &ProcessHandle::Waiting, true},
    {"allow", &ProcessHandle::Allow, true},         {"reject", &ProcessHandle::Reject, true},
    {"filters", &ProcessHandle::Filters, true},     {"activate", &ProcessHandle::Activate, true},
    {"finish", &ProcessHandle::Finished, true},     {"onCancel", &ProcessHandle::OnCancel, false},
    {"post", &ProcessHandle::Post, false},          {"cancel", &ProcessHandle::Cancel, false},
    {"bind", &ProcessHandle::Bind, false},          {"delete", &ProcessHandle::Delete, false},
    {"event", &ProcessHandle::Event, false},        {"note", &ProcessHandle::Note, false},
    {"inexact", &ProcessHandle::Inexact, false},
};

ProcessHandle::ProcessHandle(std::string plugin, std::shared_ptr<PluginProcess> process,
                             framework::Handle& scheduler)
    : plugin_(std::move(plugin)),
      process_(std::move(process)),
      scheduler_(scheduler),
      number_(process_->NextNumber()),
      plugin_id_(scheduler.plugin_names().IdOf(plugin_)) {}

void ProcessHandle::Call(const char* method, const CallContext& context,
                         absl::FunctionRef<void(codec::JsonWriter&)> fill,
                         absl::FunctionRef<void(Fields& answer)> take) {
  ProcessMirror& mirror = process_->mirror();
  if (!process_->is_busy()) mirror.ForgetIfMany();
  const CallContext* const outer = std::exchange(current_, &context);
  codec::JsonWriter line;
  line.BeginObject().Field("call", method).Field("plugin", number_);
  line.Field("now", absl::ToUnixNanos(scheduler_.clock().Now()));
  if (context.pod != nullptr) line.Field("pod", mirror.Tell(*context.pod, scheduler_.symbols()));
  if (context.state != nullptr) line.Field("state", NumberOf(*context.state));
  if (!context.nodes.empty()) {
    line.Key("nodes").BeginArray();
    for (const NodeInfo* node : context.nodes) line.String(mirror.Tell(*node, scheduler_.symbols()));
    line.EndArray();
  }
  fill(line);
  process_->WriteNews(line);
  line.EndObject();
  process_->Call({.plugin = plugin_, .point = context.point, .pod = context.pod}, line.text(), *this, take);
  current_ = outer;
}

std::string ProcessHandle::Tell(const PodInfo& pod) {
  return process_->mirror().Tell(pod, scheduler_.symbols());
}

int64_t ProcessHandle::NumberOf(CycleState& state) {
  auto* own = state.Read<ProcessState>(plugin_id_, CycleState::kFilterSlot);
  if (own == nullptr) {
    auto made = std::make_unique<ProcessState>(process_, process_->NextNumber());
    own = made.get();
    state.Write(plugin_id_, CycleState::kFilterSlot, std::move(made));
  }
  return own->number();
}

int64_t ProcessHandle::Begin(framework::StatusCallback done, framework::PodInPreBind* in_pre_bind) {
  const int64_t number = process_->NextNumber();
  bindings_[number] = {.done = std::move(done), .in_pre_bind = in_pre_bind};
  return number;
}

bool ProcessHandle::Finish(int64_t number, Status status) {
  Binding* const found = bindings_.Find(number);
  if (found == nullptr) return false;
  const framework::StatusCallback done = std::move(found->done);
  bindings_.Erase(number);
  // What follows is the scheduler's work again.
  const CallContext* const outer = std::exchange(current_, nullptr);
  done(std::move(status));
  current_ = outer;
  return true;
}

void ProcessHandle::Answer(const std::string& what, Fields& request, codec::JsonWriter& reply,
                           bool& wants_reply) {
  const Request* const found = std::find_if(std::begin(kRequests), std::end(kRequests),
                                            [&what](const Request& known) { return what == known.name; });
  if (found == std::end(kRequests)) {
    request.SetError("there is no such request");
    return;
  }
  wants_reply = found->wants_reply;
  (this->*found->method)(request, reply);
}

// ---- Nodes and pods ----

const NodeInfo* ProcessHandle::FindNode(absl::string_view name) const {
  const Symbol symbol = scheduler_.symbols().Find(name);
  if (current_ != nullptr) {
    for (const NodeInfo* node : current_->nodes) {
      if (node->name == symbol) return node;
    }
  }
  return scheduler_.snapshot().Get(symbol);
}

api::PodPtr ProcessHandle::PodOf(Fields& request) {
  const std::string name = request.Text("pod");
  api::PodPtr pod = process_->mirror().FindPod(name);
  if (pod == nullptr) request.SetError(absl::StrCat("pod: no pod ", Printable(name, kShownBytesMax)));
  return pod;
}

PodInfoPtr ProcessHandle::InfoOf(Fields& request) {
  api::PodPtr pod = PodOf(request);
  return pod == nullptr ? nullptr : scheduler_.pod_infos().Make(std::move(pod));
}

void ProcessHandle::Snapshot(Fields& /*request*/, codec::JsonWriter& reply) {
  reply.Key("nodes").BeginArray();
  for (const NodeInfo* node : scheduler_.snapshot().List()) {
    reply.String(process_->mirror().Tell(*node, scheduler_.symbols()));
  }
  reply.EndArray();
}

void ProcessHandle::Node(Fields& request, codec::JsonWriter& reply) {
  const NodeInfo* const node = FindNode(request.Text("name"));
  if (node != nullptr) process_->mirror().Tell(*node, scheduler_.symbols());
  reply.Key("found").Bool(node != nullptr);
}

void ProcessHandle::Details(Fields& request, codec::JsonWriter& /*reply*/) {
  ProcessMirror& mirror = process_->mirror();
  mirror.TellPodsOfNodes();
  if (current_ != nullptr) {
    for (const NodeInfo* node : current_->nodes) mirror.Tell(*node, scheduler_.symbols());
  }
  const NodeInfo* const node = FindNode(request.Text("name"));
  if (node != nullptr) mirror.Tell(*node, scheduler_.symbols());
}

void ProcessHandle::Statuses(Fields& request, codec::JsonWriter& reply) {
  if (current_ == nullptr || current_->statuses == nullptr) {
    request.SetError("only PostFilter has statuses of nodes");
    return;
  }
  reply.Key("nodes").BeginArray();
  for (const NodeInfo* node : scheduler_.snapshot().List()) {
    const Status& status = current_->statuses->Get(node->position);
    reply.BeginObject().Field("name", process_->mirror().Tell(*node, scheduler_.symbols())).Key("status");
    WriteStatus(status, reply);
    reply.Field("plugin", status.plugin()).EndObject();
  }
  reply.EndArray();
}

void ProcessHandle::Object(Fields& request, codec::JsonWriter& reply) {
  const std::string name_space = request.Text("namespace");
  const std::string name = request.Text("name");
  const api::Kind kind = KindNamed(request.Text("kind"));
  api::ObjectPtr object;
  if (kind != api::Kind::kOther) object = scheduler_.informers().Find(kind, name_space, name);
  WriteObject(object.get(), reply.Key("object"));
}

void ProcessHandle::Objects(Fields& request, codec::JsonWriter& reply) {
  const api::Kind kind = KindNamed(request.Text("kind"));
  reply.Key("objects").BeginArray();
  if (kind != api::Kind::kOther && kind != api::Kind::kPod) {
    for (const auto& [key, object] : scheduler_.informers().List(kind)) {
      WriteObject(object.get(), reply);
    }
  }
  reply.EndArray();
}

void ProcessHandle::TellPods(const std::vector<PodInfoPtr>& pods, codec::JsonWriter& reply) {
  reply.Key("pods").BeginArray();
  for (const PodInfoPtr& pod : pods) reply.String(process_->mirror().Tell(*pod, scheduler_.symbols()));
  reply.EndArray();
}

void ProcessHandle::Nominated(Fields& request, codec::JsonWriter& reply) {
  TellPods(scheduler_.NominatedPodsForNode(scheduler_.symbols().Find(request.Text("node"))), reply);
}

// ---- Pods that wait ----

void ProcessHandle::Waiting(Fields& /*request*/, codec::JsonWriter& reply) {
  reply.Key("pods").BeginArray();
  scheduler_.IterateOverWaitingPods([&](framework::WaitingPod& pod) {
    reply.String(process_->mirror().Tell(pod.pod(), scheduler_.symbols()));
  });
  reply.EndArray();
}

void ProcessHandle::Allow(Fields& request, codec::JsonWriter& reply) {
  framework::WaitingPod* const pod = scheduler_.GetWaitingPod(request.Text("uid"));
  const std::string plugin = request.Text("plugin");
  if (pod != nullptr) pod->Allow(plugin.empty() ? plugin_ : plugin);
  reply.Key("found").Bool(pod != nullptr);
}

void ProcessHandle::Reject(Fields& request, codec::JsonWriter& reply) {
  framework::WaitingPod* const pod = scheduler_.GetWaitingPod(request.Text("uid"));
  const std::string plugin = request.Text("plugin");
  const bool found =
      pod != nullptr && pod->Reject(plugin.empty() ? plugin_ : plugin, request.Text("message"));
  reply.Key("found").Bool(found);
}

void ProcessHandle::Filters(Fields& request, codec::JsonWriter& reply) {
  const PodInfoPtr pod = InfoOf(request);
  const NodeInfo* const node = FindNode(request.Text("node"));
  CycleState* const state = current_ == nullptr ? nullptr : current_->state;
  if (node == nullptr) request.SetError("node: no such node");
  if (state == nullptr) request.SetError("only a call with a state can ask the filters");
  if (!request.error().empty()) return;
  reply.Key("status");
  WriteStatus(scheduler_.RunFilterPluginsWithNominatedPods(*state, *pod, *node), reply);
}

void ProcessHandle::Activate(Fields& request, codec::JsonWriter& reply) {
  const api::PodPtr pod = scheduler_.informers().FindPod(request.Text("namespace"), request.Text("name"));
  if (pod != nullptr) scheduler_.Activate({pod});
  reply.Key("found").Bool(pod != nullptr);
}

// ---- What takes time ----

void ProcessHandle::Finished(Fields& request, codec::JsonWriter& /*reply*/) {
  const int64_t number = request.Int("done");
  Status status = request.Status("status");
  if (!request.error().empty()) return;
  if (!Finish(number, std::move(status))) request.SetError("done: it is over, or never began");
}

void ProcessHandle::OnCancel(Fields& request, codec::JsonWriter& /*reply*/) {
  const int64_t number = request.Int("done");
  const Binding* const found = bindings_.Find(number);
  if (found == nullptr || found->in_pre_bind == nullptr) return;
  found->in_pre_bind->set_on_cancel([this, number] {
    const Binding* const binding = bindings_.Find(number);
    if (binding == nullptr) return;
    const std::string cause = binding->in_pre_bind->message();
    Call(
        "Cancelled", {.point = "the end of a pod in PreBind"},
        [&](codec::JsonWriter& line) { line.Field("done", number).Field("cause", cause); }, [](Fields&) {});
  });
}

void ProcessHandle::Post(Fields& request, codec::JsonWriter& /*reply*/) {
  const int64_t timer = request.Int("timer");
  const absl::Duration delay = absl::Nanoseconds(std::max<int64_t>(request.Int("delay"), 0));
  if (!request.error().empty()) return;
  timers_[timer] = scheduler_.executor().Post(delay, [this, timer] {
    timers_.Erase(timer);
    Call(
        "Timer", {.point = "a timer"}, [timer](codec::JsonWriter& line) { line.Field("timer", timer); },
        [](Fields&) {});
  });
}

void ProcessHandle::Cancel(Fields& request, codec::JsonWriter& /*reply*/) {
  const int64_t timer = request.Int("timer");
  const uint64_t* const found = timers_.Find(timer);
  if (found == nullptr) return;
  scheduler_.executor().Cancel(*found);
  timers_.Erase(timer);
}

framework::Client::Done ProcessHandle::CallDone(Fields& request) {
  return [this, number = request.Int("called")](const absl::Status& status) {
    Call(
        "Called", {.point = "the end of a call"},
        [&](codec::JsonWriter& line) { line.Field("called", number).Field("error", status.message()); },
        [](Fields&) {});
  };
}

void ProcessHandle::Bind(Fields& request, codec::JsonWriter& /*reply*/) {
  api::PodPtr pod = PodOf(request);
  const std::string node = request.Text("node");
  framework::Client::Done done = CallDone(request);
  if (request.error().empty()) scheduler_.client().Bind(std::move(pod), node, std::move(done));
}

void ProcessHandle::Delete(Fields& request, codec::JsonWriter& /*reply*/) {
  api::PodPtr pod = PodOf(request);
  framework::Client::Done done = CallDone(request);
  if (request.error().empty()) scheduler_.client().DeletePod(std::move(pod), std::move(done));
}

// ---- What is told ----

void ProcessHandle::Event(Fields& request, codec::JsonWriter& /*reply*/) {
  const api::PodPtr pod = PodOf(request);
  framework::PodEvent event = {.type = request.Text("type"),
                               .reason = request.Text("reason"),
                               .action = request.Text("action"),
                               .note = request.Text("note")};
  if (!request.error().empty() || !scheduler_.client().WantsEvents()) return;
  scheduler_.client().RecordEvent(*pod, std::move(event));
}

void ProcessHandle::Note(Fields& request, codec::JsonWriter& /*reply*/) {
  const PodInfoPtr pod = InfoOf(request);
  const std::string point = request.Text("point");
  const std::string node = request.Text("node");
  const Status status = request.Status("status");
  if (!request.error().empty()) return;
  scheduler_.RecordNote(
      {.plugin = plugin_, .point = point, .pod = *pod, .node_name = node, .status = status});
}

void ProcessHandle::Inexact(Fields& request, codec::JsonWriter& /*reply*/) {
  const PodInfoPtr pod = InfoOf(request);
  const std::string reason = request.Text("reason");
  if (request.error().empty()) scheduler_.MarkInexact(*pod, reason);
}

}  // namespace schedsim::hosting
