#include "core/hosting/process/remote_scheduler.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/api/feature_gates.h"
#include "core/base/check.h"

namespace schedsim::hosting {
namespace {

using codec::JsonWriter;
using codec::Value;
using framework::NodeInfo;
using framework::PodInfoPtr;
using framework::Status;

// What messages call an object that was sent.
constexpr char kFile[] = "object";

api::LineBehavior BehaviorOf(absl::string_view version) {
  const absl::StatusOr<api::KubernetesVersion> parsed = api::ParseKubernetesVersion(version);
  return api::LineBehaviorOf(api::FeatureGates(parsed.ok() ? parsed->line : api::kDefaultKubernetesLine));
}

}  // namespace

RemoteScheduler::RemoteScheduler(RemoteLine& line, absl::string_view version)
    : connection_(line),
      behavior_(BehaviorOf(version)),
      pod_infos_(behavior_, symbols_),
      reader_({.validate = false}) {}

// ---- What is known ----

void RemoteScheduler::Learn(const Value& line) {
  on_line_(line);
  Fields fields(line);
  if (fields.Has("call")) is_listed_ = false;
  if (fields.Has("now")) now_ = absl::FromUnixNanos(fields.Int("now"));
  const Value* const learn = line.Find("learn");
  if (learn == nullptr) return;
  if (learn->Find("forget") != nullptr) {
    pods_.clear();
    nodes_.clear();
  }
  if (const Value* const pods = learn->Find("pods")) {
    for (const Value& told : pods->items) LearnPod(told);
  }
  if (const Value* const nodes = learn->Find("nodes")) {
    for (const Value& told : nodes->items) LearnNode(told);
  }
}

void RemoteScheduler::LearnPod(const Value& told) {
  Fields fields(told);
  const api::ObjectPtr object = ObjectOf(told.Find("object"));
  CHECK(object != nullptr && object->kind == api::Kind::kPod);
  pods_[fields.Text("uid")] = pod_infos_.Make(std::static_pointer_cast<const api::Pod>(object));
}

void RemoteScheduler::LearnNode(const Value& told) {
  Fields fields(told);
  std::unique_ptr<RemoteNode>& node = nodes_[fields.Text("name")];
  if (node == nullptr) node = std::make_unique<RemoteNode>();
  if (const api::ObjectPtr object = ObjectOf(told.Find("object"))) {
    node->node = std::static_pointer_cast<const api::Node>(object);
    node->name = symbols_.Intern(fields.Text("name"));
    node->allocatable = framework::MakeResource(node->node->status.allocatable, symbols_);
  }
  if (!fields.Has("pods")) return;
  NodeInfo fresh;
  for (const std::string& name : fields.Texts("pods")) fresh.AddPod(FindPod(name));
  node->has_pods = true;
  node->pods = std::move(fresh.pods);
  node->requested = fresh.requested;
}

const NodeInfo* RemoteScheduler::FindNode(absl::string_view name) {
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? nullptr : found->second.get();
}

PodInfoPtr RemoteScheduler::FindPod(absl::string_view name) {
  const auto found = pods_.find(name);
  CHECK(found != pods_.end());
  return found->second;
}

void RemoteScheduler::NeedPods(const NodeInfo& node) {
  if (static_cast<const RemoteNode&>(node).has_pods) return;
  JsonWriter request = Request("details");
  request.Field("name", symbols_.Text(node.name));
  Ask(request, [](const Value&) {});
}

api::ObjectPtr RemoteScheduler::ObjectOf(const Value* value) {
  if (value == nullptr || value->is_null()) return nullptr;
  absl::StatusOr<api::ObjectPtr> object = reader_.Decode(*value, kFile);
  CHECK(object.ok());
  return *std::move(object);
}

// ---- Requests ----

JsonWriter RemoteScheduler::Request(absl::string_view what) const {
  JsonWriter request;
  request.BeginObject().Field("do", what);
  return request;
}

void RemoteScheduler::Ask(JsonWriter& request, absl::FunctionRef<void(const Value& reply)> take) {
  request.EndObject();
  connection_.Ask(request.text(), [&](const Value& line) {
    Learn(line);
    take(*line.Find("reply"));
  });
}

void RemoteScheduler::Tell(JsonWriter& request) {
  request.EndObject();
  connection_.Send(request.text());
}

Status RemoteScheduler::RunFilterPluginsWithNominatedPods(framework::CycleState& /*state*/,
                                                          const framework::PodInfo& pod,
                                                          const NodeInfo& node) {
  Status status;
  JsonWriter request = Request("filters");
  request.Field("pod", ProcessMirror::NameOf(*pod.pod)).Field("node", symbols_.Text(node.name));
  Ask(request, [&](const Value& reply) { status = Fields(reply).Status("status"); });
  return status;
}

const std::vector<PodInfoPtr>& RemoteScheduler::NominatedPodsForNode(Symbol node_name) const {
  auto& self = const_cast<RemoteScheduler&>(*this);
  nominated_.clear();
  if (node_name.id == SymbolTable::kUnknown) return nominated_;
  JsonWriter request = Request("nominated");
  request.Field("node", symbols_.Text(node_name));
  self.Ask(request, [&](const Value& reply) {
    for (const std::string& name : Fields(reply).Texts("pods")) nominated_.push_back(self.FindPod(name));
  });
  return nominated_;
}

framework::NodeInfos RemoteScheduler::List() const {
  if (is_listed_) return listed_;
  auto& self = const_cast<RemoteScheduler&>(*this);
  JsonWriter request = Request("snapshot");
  self.Ask(request, [&](const Value& reply) {
    self.listed_.clear();
    for (const std::string& name : Fields(reply).Texts("nodes")) {
      auto* const node = const_cast<NodeInfo*>(self.FindNode(name));
      CHECK(node != nullptr);
      node->position = static_cast<int32_t>(self.listed_.size());
      self.listed_.push_back(node);
    }
    self.is_listed_ = true;
  });
  return listed_;
}

const NodeInfo* RemoteScheduler::Get(Symbol node_name) const {
  if (node_name.id == SymbolTable::kUnknown) return nullptr;
  auto& self = const_cast<RemoteScheduler&>(*this);
  bool found = false;
  JsonWriter request = Request("node");
  request.Field("name", symbols_.Text(node_name));
  self.Ask(request, [&](const Value& reply) { found = Fields(reply).Bool("found"); });
  return found ? self.FindNode(symbols_.Text(node_name)) : nullptr;
}

// ---- What takes time ----

uint64_t RemoteScheduler::Post(absl::Duration delay, std::function<void()> work) {
  const int64_t number = ++last_number_;
  timers_[number] = std::move(work);
  JsonWriter request = Request("post");
  request.Field("timer", number).Field("delay", absl::ToInt64Nanoseconds(delay));
  Tell(request);
  return static_cast<uint64_t>(number);
}

void RemoteScheduler::Cancel(uint64_t id) {
  if (timers_.erase(static_cast<int64_t>(id)) == 0) return;
  JsonWriter request = Request("cancel");
  request.Field("timer", static_cast<int64_t>(id));
  Tell(request);
}

void RemoteScheduler::RunTimer(int64_t timer) {
  const auto found = timers_.find(timer);
  if (found == timers_.end()) return;
  const std::function<void()> work = std::move(found->second);
  timers_.erase(found);
  work();
}

void RemoteScheduler::CallLater(JsonWriter request, Done done) {
  const int64_t number = ++last_number_;
  calls_[number] = std::move(done);
  request.Field("called", number);
  Tell(request);
}

void RemoteScheduler::EndCall(int64_t number, absl::string_view error) {
  const auto found = calls_.find(number);
  if (found == calls_.end()) return;
  const Done done = std::move(found->second);
  calls_.erase(found);
  done(error.empty() ? absl::OkStatus() : absl::UnknownError(error));
}

void RemoteScheduler::Bind(api::PodPtr pod, absl::string_view node_name, Done done) {
  JsonWriter request = Request("bind");
  request.Field("pod", ProcessMirror::NameOf(*pod)).Field("node", node_name);
  CallLater(std::move(request), std::move(done));
}

void RemoteScheduler::DeletePod(api::PodPtr pod, Done done) {
  JsonWriter request = Request("delete");
  request.Field("pod", ProcessMirror::NameOf(*pod));
  CallLater(std::move(request), std::move(done));
}

// ---- What is told ----

void RemoteScheduler::TellChange(const api::Object* old_object, const api::Object* new_object) {
  for (framework::InformerHandler* handler : handlers_) handler->OnChange(old_object, new_object);
}

void RemoteScheduler::RecordEvent(const api::Pod& pod, framework::PodEvent event) {
  JsonWriter request = Request("event");
  request.Field("pod", ProcessMirror::NameOf(pod)).Field("type", event.type).Field("reason", event.reason);
  request.Field("action", event.action).Field("note", event.note);
  Tell(request);
}

void RemoteScheduler::RecordNote(const framework::PluginNote& note) {
  JsonWriter request = Request("note");
  request.Field("pod", ProcessMirror::NameOf(*note.pod.pod)).Field("point", note.point);
  request.Field("node", note.node_name).Key("status");
  WriteStatus(note.status, request);
  Tell(request);
}

void RemoteScheduler::MarkInexact(const framework::PodInfo& pod, absl::string_view reason) {
  JsonWriter request = Request("inexact");
  request.Field("pod", ProcessMirror::NameOf(*pod.pod)).Field("reason", reason);
  Tell(request);
}

}  // namespace schedsim::hosting
