#include "core/hosting/process/library_host.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/decode.h"
#include "core/framework/cycle_state.h"
#include "core/framework/plugin.h"
#include "core/framework/queued_pod_info.h"
#include "core/framework/waiting_pods.h"
#include "core/hosting/library/host_functions.h"
#include "core/hosting/library/library_plugin.h"
#include "core/hosting/library/open_library.h"
#include "core/hosting/library/plugin_call.h"
#include "core/hosting/library/plugin_libraries.h"
#include "core/hosting/process/event_names.h"
#include "core/hosting/process/message.h"
#include "core/hosting/process/plugin_process.h"
#include "core/hosting/process/remote_host.h"
#include "core/hosting/process/remote_line.h"
#include "core/hosting/process/remote_scheduler.h"

namespace schedsim::hosting {
namespace {

using codec::JsonWriter;
using codec::Value;
using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfoPtr;
using framework::Status;

// The methods of the plugin, as the protocol names them.
std::vector<const char*> MethodsOf(const schedsim_plugin& plugin) {
  const std::pair<const char*, bool> methods[] = {{"Less", plugin.less != nullptr},
                                                  {"PreEnqueue", plugin.pre_enqueue != nullptr},
                                                  {"PreFilter", plugin.pre_filter != nullptr},
                                                  {"AddPod", plugin.add_pod != nullptr},
                                                  {"RemovePod", plugin.remove_pod != nullptr},
                                                  {"Filter", plugin.filter != nullptr},
                                                  {"PostFilter", plugin.post_filter != nullptr},
                                                  {"PreScore", plugin.pre_score != nullptr},
                                                  {"Score", plugin.score != nullptr},
                                                  {"NormalizeScore", plugin.normalize_score != nullptr},
                                                  {"Reserve", plugin.reserve != nullptr},
                                                  {"Unreserve", plugin.unreserve != nullptr},
                                                  {"Permit", plugin.permit != nullptr},
                                                  {"PreBindPreFlight", plugin.pre_bind_pre_flight != nullptr},
                                                  {"PreBind", plugin.pre_bind != nullptr},
                                                  {"Bind", plugin.bind != nullptr},
                                                  {"PostBind", plugin.post_bind != nullptr},
                                                  {"SignPod", plugin.sign_pod != nullptr},
                                                  {"EventsToRegister", plugin.events_to_register != nullptr},
                                                  {"OnPod", plugin.on_pod != nullptr}};
  std::vector<const char*> names;
  for (const auto& [name, has] : methods) {
    if (has) names.push_back(name);
  }
  return names;
}

const char* ReadsName(schedsim_reads reads) {
  if (reads == SCHEDSIM_READS_NODE) return "node";
  return reads == SCHEDSIM_READS_NODE_OBJECT ? "nodeObject" : "anything";
}

// PreBind or Bind of a pod, which keeps what the plugin may look at until it is over.
struct Binding {
  PodInfoPtr pod;
  std::unique_ptr<framework::PodInPreBind> in_pre_bind;
  bool is_in_call = true;
  Status status;  // Where it ended in the call.
};

class LibraryHost {
 public:
  explicit LibraryHost(const schedsim_library& library) : library_(library) {
    connection_.set_handler([this](const Value& line) { Handle(line); });
  }
  ~LibraryHost() {
    // Plugins go before the states and pods that they know.
    plugins_.clear();
    states_.clear();
  }
  LibraryHost(const LibraryHost&) = delete;
  LibraryHost& operator=(const LibraryHost&) = delete;

  void Run() { connection_.Run(); }

 private:
  // A call of the scheduler with what it is about.
  struct Call {
    const Value& line;
    Fields fields;
    framework::Plugin* plugin;
    PodInfoPtr pod;
    CycleState* state;
    std::vector<const NodeInfo*> nodes;
    JsonWriter answer;

    template <typename T>
    T& As() const {
      T* const found = dynamic_cast<T*>(plugin);
      CHECK(found != nullptr);
      return *found;
    }
    void Answer(const Status& status) { WriteStatus(status, answer.Key("status")); }
  };
  using Method = void (LibraryHost::*)(Call& call);
  struct Row {
    const char* name;
    Method method;
  };
  static const Row kRows[];

  void Handle(const Value& line) {
    if (line.Find("hello") != nullptr) {
      SayHello();
      return;
    }
    if (scheduler_ == nullptr) {
      scheduler_ = std::make_unique<RemoteScheduler>(connection_, Fields(line).Text("kubernetesVersion"));
      scheduler_->set_on_line([this](const Value& told) { TakeStates(told); });
      SetRemoteScheduler(scheduler_.get());
    }
    scheduler_->Learn(line);
    Call call = {.line = line,
                 .fields = Fields(line),
                 .plugin = nullptr,
                 .pod = nullptr,
                 .state = nullptr,
                 .nodes = {},
                 .answer = {}};
    const auto plugin = plugins_.find(call.fields.Int("plugin"));
    if (plugin != plugins_.end()) call.plugin = plugin->second.get();
    if (call.fields.Has("pod")) call.pod = scheduler_->FindPod(call.fields.Text("pod"));
    if (call.fields.Has("state")) call.state = &StateOf(call.fields.Int("state"));
    for (const std::string& name : call.fields.Texts("nodes"))
      call.nodes.push_back(scheduler_->FindNode(name));
    call.answer.BeginObject().Key("answer").BeginObject();
    const std::string name = call.fields.Text("call");
    for (const Row* row = kRows; row->name != nullptr; ++row) {
      if (name != row->name) continue;
      (this->*row->method)(call);
      call.answer.EndObject().EndObject();
      connection_.Send(call.answer.text());
      return;
    }
    connection_.Send(absl::StrCat("{\"failed\":\"a call that is not known: ", name, "\"}"));
  }

  void SayHello() {
    JsonWriter hello;
    hello.BeginObject().Field("protocol", kProtocolVersion).Key("plugins").BeginArray();
    for (size_t i = 0; i < library_.plugin_count; ++i) {
      const schedsim_plugin& plugin = *library_.plugins[i];
      hello.BeginObject().Field("name", View(plugin.name)).Key("methods").BeginArray();
      for (const char* method : MethodsOf(plugin)) hello.String(method);
      hello.EndArray().Field("filterReads", ReadsName(plugin.filter_reads));
      hello.Field("scoreReads", ReadsName(plugin.score_reads)).EndObject();
    }
    hello.EndArray().EndObject();
    connection_.Send(hello.text());
  }

  CycleState& StateOf(int64_t number) {
    std::unique_ptr<CycleState>& state = states_[number];
    if (state == nullptr) state = std::make_unique<CycleState>();
    return *state;
  }

  void TakeStates(const Value& line) {
    const Value* const changes = line.Find("states");
    if (changes == nullptr) return;
    for (const Value& change : changes->items) {
      const auto number = [&change](size_t index) {
        int64_t value = 0;
        CHECK(absl::SimpleAtoi(change.items[index].text, &value));
        return value;
      };
      if (change.items[0].text == "drop") {
        states_.erase(number(1));
      } else {
        states_[number(2)] = StateOf(number(1)).Clone();
      }
    }
  }

  // ---- The calls ----

  void New(Call& call) {
    const std::string name = call.fields.Text("name");
    const schedsim_plugin* plugin = nullptr;
    for (size_t i = 0; i < library_.plugin_count; ++i) {
      if (View(library_.plugins[i]->name) == name) plugin = library_.plugins[i];
    }
    CHECK(plugin != nullptr);
    const Value* const args = call.line.Find("args");
    api::PluginArgs given;
    if (args != nullptr && !args->is_null()) given = api::UnknownArgs{.json = codec::JsonOf(*args)};
    auto made = MakeLibraryPlugin(*plugin, given, *scheduler_);
    call.Answer(made.ok() ? Status() : Status::Error(std::string(made.status().message())));
    if (made.ok()) plugins_[call.fields.Int("plugin")] = *std::move(made);
  }

  void Less(Call& call) {
    const auto pod = [&](const char* key) {
      Fields told(*call.line.Find(key));
      framework::QueuedPodInfo queued;
      queued.pod_info = scheduler_->FindPod(told.Text("pod"));
      queued.timestamp = absl::FromUnixNanos(told.Int("timestamp"));
      queued.attempts = static_cast<int32_t>(told.Int("attempts"));
      return queued;
    };
    call.answer.Key("less").Bool(call.As<framework::QueueSortPlugin>().Less(pod("a"), pod("b")));
  }

  void PreEnqueue(Call& call) { call.Answer(call.As<framework::PreEnqueuePlugin>().PreEnqueue(*call.pod)); }

  void PreFilter(Call& call) {
    const framework::PreFilterResult result = call.As<framework::PreFilterPlugin>().PreFilter(
        *call.state, *call.pod, scheduler_->snapshot().List());
    call.Answer(result.status);
    if (!result.node_names.has_value()) return;
    call.answer.Key("nodes").BeginArray();
    for (const Symbol name : *result.node_names) call.answer.String(scheduler_->symbols().Text(name));
    call.answer.EndArray();
  }

  void AddPod(Call& call) {
    const PodInfoPtr other = scheduler_->FindPod(call.fields.Text("other"));
    call.Answer(
        call.As<framework::PreFilterPlugin>().AddPod(*call.state, *call.pod, *other, *call.nodes.at(0)));
  }

  void RemovePod(Call& call) {
    const PodInfoPtr other = scheduler_->FindPod(call.fields.Text("other"));
    call.Answer(
        call.As<framework::PreFilterPlugin>().RemovePod(*call.state, *call.pod, *other, *call.nodes.at(0)));
  }

  void Filter(Call& call) {
    auto& plugin = call.As<framework::FilterPlugin>();
    call.answer.Key("statuses").BeginArray();
    for (const NodeInfo* node : call.nodes) {
      WriteStatus(plugin.Filter(*call.state, *call.pod, *node), call.answer);
    }
    call.answer.EndArray();
  }

  void PostFilter(Call& call) {
    framework::NodeToStatus statuses;
    JsonWriter request = scheduler_->Request("statuses");
    const framework::NodeInfos nodes = scheduler_->snapshot().List();
    statuses.Reset(static_cast<int32_t>(nodes.size()));
    scheduler_->Ask(request, [&](const Value& reply) {
      int32_t position = 0;
      Fields(reply).ForEach("nodes", [&](Fields& node) {
        Status status = node.Status("status");
        if (!status.IsSuccess()) status.SetPluginIfUnset(node.Text("plugin"));
        statuses.Set(position++, status);
      });
    });
    const framework::PostFilterResult result =
        call.As<framework::PostFilterPlugin>().PostFilter(*call.state, *call.pod, statuses);
    call.Answer(result.status);
    if (result.nominated_node_name.has_value()) call.answer.Field("nominate", *result.nominated_node_name);
  }

  void PreScore(Call& call) {
    call.Answer(call.As<framework::PreScorePlugin>().PreScore(*call.state, *call.pod, call.nodes));
  }

  void Score(Call& call) {
    auto& plugin = call.As<framework::ScorePlugin>();
    std::vector<int64_t> scores(call.nodes.size());
    for (size_t i = 0; i < scores.size(); ++i) {
      const Status status = plugin.Score(*call.state, *call.pod, *call.nodes[i], scores[i]);
      if (status.IsSuccess()) continue;
      call.Answer(status);
      return;
    }
    WriteScores(call, scores);
  }

  void NormalizeScore(Call& call) {
    std::vector<int64_t> scores = call.fields.Ints("scores", call.nodes.size());
    call.Answer(call.As<framework::ScorePlugin>().NormalizeScore(*call.state, *call.pod, call.nodes,
                                                                 absl::MakeSpan(scores)));
    WriteScores(call, scores);
  }

  static void WriteScores(Call& call, const std::vector<int64_t>& scores) {
    call.answer.Key("scores").BeginArray();
    for (const int64_t score : scores) call.answer.Int(score);
    call.answer.EndArray();
  }

  void Reserve(Call& call) {
    // The plugin is given the name alone.
    auto object = std::make_shared<api::Node>();
    object->metadata.name = call.fields.Text("node");
    NodeInfo node;
    node.node = std::move(object);
    call.Answer(call.As<framework::ReservePlugin>().Reserve(*call.state, *call.pod, node));
  }

  void Unreserve(Call& call) {
    call.As<framework::ReservePlugin>().Unreserve(*call.state, *call.pod, call.fields.Text("node"));
  }

  void Permit(Call& call) {
    const framework::PermitResult result =
        call.As<framework::PermitPlugin>().Permit(*call.state, *call.pod, call.fields.Text("node"));
    call.Answer(result.status);
    call.answer.Field("timeout", absl::ToInt64Nanoseconds(result.timeout));
  }

  void PreBindPreFlight(Call& call) {
    call.Answer(call.As<framework::PreBindPlugin>().PreBindPreFlight(*call.state, *call.pod,
                                                                     call.fields.Text("node")));
  }

  void PreBind(Call& call) {
    const int64_t number = call.fields.Int("done");
    Binding& binding = bindings_[number];
    binding.pod = call.pod;
    binding.in_pre_bind = std::make_unique<framework::PodInPreBind>(scheduler_->executor());
    call.state->in_pre_bind = binding.in_pre_bind.get();
    call.As<framework::PreBindPlugin>().PreBind(*call.state, *call.pod, call.fields.Text("node"),
                                                [this, number](Status status) { End(number, status); });
    const bool is_later = EndCall(call, number);
    if (!is_later) return;
    JsonWriter request = scheduler_->Request("onCancel");
    request.Field("done", number);
    scheduler_->Tell(request);
  }

  void Bind(Call& call) {
    const int64_t number = call.fields.Int("done");
    bindings_[number].pod = call.pod;
    call.As<framework::BindPlugin>().Bind(*call.state, *call.pod, call.fields.Text("node"),
                                          [this, number](Status status) { End(number, status); });
    EndCall(call, number);
  }

  void End(int64_t number, const Status& status) {
    Binding& binding = bindings_.at(number);
    if (binding.is_in_call) {
      binding.is_in_call = false;
      binding.status = status;
      return;
    }
    JsonWriter request = scheduler_->Request("finish");
    WriteStatus(status, request.Field("done", number).Key("status"));
    scheduler_->Ask(request, [](const Value&) {});
    bindings_.erase(number);
  }

  // Returns whether the binding goes on.
  bool EndCall(Call& call, int64_t number) {
    Binding& binding = bindings_.at(number);
    if (binding.is_in_call) {
      binding.is_in_call = false;
      call.answer.Key("later").Bool(true);
      return true;
    }
    call.Answer(binding.status);
    bindings_.erase(number);
    return false;
  }

  void PostBind(Call& call) {
    call.As<framework::PostBindPlugin>().PostBind(*call.state, *call.pod, call.fields.Text("node"));
  }

  // What was signed is no text.
  void SignPod(Call& call) {
    framework::PodSigner signer;
    const bool is_signed = call.As<framework::SignPlugin>().SignPod(*call.pod, signer);
    call.Answer(is_signed ? Status() : Status::Error("the pod cannot be signed"));
    call.answer.Key("parts").BeginArray().BeginObject();
    call.answer.Field("key", "").Field("value", absl::BytesToHexString(signer.text())).EndObject().EndArray();
  }

  void EventsToRegister(Call& call) {
    auto& plugin = call.As<framework::EnqueueExtensions>();
    std::vector<framework::ClusterEventWithHint> events = plugin.EventsToRegister();
    const absl::Status error = plugin.EventsError();
    call.Answer(error.ok() ? Status() : Status::Error(std::string(error.message())));
    call.answer.Key("events").BeginArray();
    for (framework::ClusterEventWithHint& event : events) {
      call.answer.BeginObject().Field("resource", EventResourceText(event.event.resource));
      call.answer.Key("actions").BeginArray();
      for (const absl::string_view action : ActionNames(event.event.action)) call.answer.String(action);
      call.answer.EndArray();
      if (event.hint != nullptr) {
        hints_.push_back(std::move(event.hint));
        call.answer.Field("hint", static_cast<int64_t>(hints_.size()));
      }
      call.answer.EndObject();
    }
    call.answer.EndArray();
  }

  void Hint(Call& call) {
    const api::ObjectPtr old_object = scheduler_->ObjectOf(call.line.Find("old"));
    const api::ObjectPtr new_object = scheduler_->ObjectOf(call.line.Find("new"));
    const size_t hint = static_cast<size_t>(call.fields.Int("hint"));
    const bool queue =
        hints_.at(hint - 1)(*call.pod, old_object.get(), new_object.get()) == framework::QueueingHint::kQueue;
    call.answer.Key("queue").Bool(queue);
  }

  void OnPod(Call& call) {
    const api::ObjectPtr old_object = scheduler_->ObjectOf(call.line.Find("old"));
    const api::ObjectPtr new_object = scheduler_->ObjectOf(call.line.Find("new"));
    call.As<framework::InformerHandler>().OnChange(old_object.get(), new_object.get());
  }

  void Timer(Call& call) { scheduler_->RunTimer(call.fields.Int("timer")); }
  void Called(Call& call) { scheduler_->EndCall(call.fields.Int("called"), call.fields.Text("error")); }

  void Cancelled(Call& call) {
    const auto found = bindings_.find(call.fields.Int("done"));
    if (found == bindings_.end() || found->second.in_pre_bind == nullptr) return;
    found->second.in_pre_bind->CancelPod(call.fields.Text("cause"));
  }

  const schedsim_library& library_;
  RemoteLine connection_;
  std::unique_ptr<RemoteScheduler> scheduler_;  // nullptr: no plugin was made yet.
  std::map<int64_t, std::unique_ptr<framework::Plugin>> plugins_;
  std::map<int64_t, std::unique_ptr<CycleState>> states_;
  std::map<int64_t, Binding> bindings_;
  std::vector<framework::QueueingHintFn> hints_;
};

const LibraryHost::Row LibraryHost::kRows[] = {
    {"New", &LibraryHost::New},
    {"Less", &LibraryHost::Less},
    {"PreEnqueue", &LibraryHost::PreEnqueue},
    {"PreFilter", &LibraryHost::PreFilter},
    {"AddPod", &LibraryHost::AddPod},
    {"RemovePod", &LibraryHost::RemovePod},
    {"Filter", &LibraryHost::Filter},
    {"PostFilter", &LibraryHost::PostFilter},
    {"PreScore", &LibraryHost::PreScore},
    {"Score", &LibraryHost::Score},
    {"NormalizeScore", &LibraryHost::NormalizeScore},
    {"Reserve", &LibraryHost::Reserve},
    {"Unreserve", &LibraryHost::Unreserve},
    {"Permit", &LibraryHost::Permit},
    {"PreBindPreFlight", &LibraryHost::PreBindPreFlight},
    {"PreBind", &LibraryHost::PreBind},
    {"Bind", &LibraryHost::Bind},
    {"PostBind", &LibraryHost::PostBind},
    {"SignPod", &LibraryHost::SignPod},
    {"EventsToRegister", &LibraryHost::EventsToRegister},
    {"Hint", &LibraryHost::Hint},
    {"OnPod", &LibraryHost::OnPod},
    {"Timer", &LibraryHost::Timer},
    {"Called", &LibraryHost::Called},
    {"Cancelled", &LibraryHost::Cancelled},
    {nullptr, nullptr},
};

}  // namespace

absl::Status HostLibrary(const std::string& path) {
  PluginCall::InstallCrashHandler();
  const schedsim_library* library = nullptr;
  {
    const PluginCall at_work(path.c_str(), "its load", nullptr);
    ASSIGN_OR_RETURN(library, OpenLibrary(path, RemoteHost()));
  }
  LoadedPlugins loaded;
  RETURN_IF_ERROR(AddLibrary(path, library, /*known=*/{}, loaded));
  LibraryHost(*library).Run();
  return absl::OkStatus();
}

}  // namespace schedsim::hosting
