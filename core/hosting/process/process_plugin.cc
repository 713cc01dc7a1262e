#include "core/hosting/process/process_plugin.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/api/kubernetes_line.h"
#include "core/base/printable.h"
#include "core/framework/filter_verdict.h"
#include "core/framework/informer_cache.h"
#include "core/hosting/every_extension_point.h"
#include "core/hosting/library/host_functions.h"
#include "core/hosting/library/library_plugin.h"
#include "core/hosting/process/event_names.h"
#include "core/hosting/process/process_handle.h"

namespace schedsim::hosting {
namespace {

using api::ExtensionPoint;
using codec::JsonWriter;
using framework::CycleState;
using framework::NodeInfo;
using framework::NodeInfos;
using framework::PodInfo;
using framework::Status;

void Nothing(JsonWriter& /*line*/) {}
void NoAnswer(Fields& /*answer*/) {}

// Filters get the state as const, and may change their own part of it.
CycleState* Own(const CycleState& state) { return const_cast<CycleState*>(&state); }

framework::ActionType ActionOf(const std::string& name, Fields& event) {
  const std::optional<framework::ActionType> actions = ActionNamed(name);
  if (actions.has_value()) return *actions;
  event.SetError(absl::StrCat("actions: ", Printable(name, kShownBytesMax), " is no action"));
  return 0;
}

class ProcessPlugin final : public EveryExtensionPoint {
 public:
  ProcessPlugin(ProcessPluginInfo info, std::shared_ptr<PluginProcess> process, framework::Handle& handle)
      : info_(std::move(info)), handle_(info_.name, std::move(process), handle) {}

  Status Create(const std::string& args) {
    Status status;
    const auto fill = [&](JsonWriter& line) {
      line.Field("name", info_.name).Key("args").Raw(args.empty() ? "null" : args);
      line.Field("kubernetesVersion", api::KubernetesLineName(handle_.scheduler().line().line));
    };
    handle_.Call("New", {.point = "the start"}, fill,
                 [&](Fields& answer) { status = answer.Status("status"); });
    if (status.IsSuccess() && info_.Has("OnPod")) handle_.scheduler().AddInformerHandler(*this);
    return status;
  }

  absl::string_view Name() const override { return info_.name; }

  bool Less(const framework::QueuedPodInfo& a, const framework::QueuedPodInfo& b) const override {
    bool less = false;
    const auto write = [this](const char* key, const framework::QueuedPodInfo& pod, JsonWriter& line) {
      line.Key(key).BeginObject().Field("pod", mutable_handle().Tell(*pod.pod_info));
      line.Field("timestamp", absl::ToUnixNanos(pod.timestamp)).Field("attempts", int64_t{pod.attempts});
      line.EndObject();
    };
    const auto fill = [&](JsonWriter& line) {
      write("a", a, line);
      write("b", b, line);
    };
    mutable_handle().Call("Less", {.point = "QueueSort", .pod = a.pod_info.get()}, fill,
                          [&](Fields& answer) { less = answer.Bool("less"); });
    return less;
  }

  Status PreEnqueue(const PodInfo& pod) override {
    return StatusOf("PreEnqueue", {.point = "PreEnqueue", .pod = &pod});
  }

  framework::PreFilterResult PreFilter(CycleState& state, const PodInfo& pod, NodeInfos /*nodes*/) override {
    framework::PreFilterResult result;
    // All nodes are known by the snapshot, which the plugin asks for if it wants it.
    Call("PreFilter", {.point = "PreFilter", .pod = &pod, .state = &state}, Nothing, [&](Fields& answer) {
      result.status = answer.Status("status");
      if (!answer.Has("nodes")) return;
      result.node_names.emplace();
      for (const std::string& name : answer.Texts("nodes")) {
        result.node_names->push_back(handle_.scheduler().symbols().Intern(name));
      }
    });
    return result;
  }

  Status AddPod(CycleState& state, const PodInfo& pod, const PodInfo& other, const NodeInfo& node) override {
    return WithOther("AddPod", state, pod, other, node);
  }

  Status RemovePod(CycleState& state, const PodInfo& pod, const PodInfo& other,
                   const NodeInfo& node) override {
    return WithOther("RemovePod", state, pod, other, node);
  }

  Status Filter(const CycleState& state, const PodInfo& pod, const NodeInfo& node) override {
    if (const Status* const known = TakeAnswer(state, pod, node)) return *known;
    const NodeInfo* const alone = &node;
    return FilterAll(state, pod, NodeInfos(&alone, 1))[0];
  }

  framework::Dependency FilterDependency() const override { return DependencyOf(info_.filter_reads); }

  // One message for all nodes. Failures are asked for node by node then, and are there already.
  bool FilterNodes(const CycleState& state, const PodInfo& pod, int32_t first,
                   absl::Span<uint8_t> verdicts) override {
    if (info_.filter_reads != SCHEDSIM_READS_ANYTHING) return false;
    const NodeInfos nodes =
        handle_.scheduler().snapshot().List().subspan(static_cast<size_t>(first), verdicts.size());
    FilterAnswers answers = {.state = handle_.NumberOf(*Own(state)),
                             .pod = &pod,
                             .first = first,
                             .statuses = FilterAll(state, pod, nodes)};
    for (size_t i = 0; i < verdicts.size(); ++i) {
      verdicts[i] = answers.statuses[i].IsSuccess() ? 0 : framework::kAskFilter;
    }
    filter_answers_ = std::move(answers);
    return true;
  }

  framework::PostFilterResult PostFilter(CycleState& state, const PodInfo& pod,
                                         const framework::NodeToStatus& statuses) override {
    framework::PostFilterResult result;
    const CallContext context = {.point = "PostFilter", .pod = &pod, .state = &state, .statuses = &statuses};
    Call("PostFilter", context, Nothing, [&](Fields& answer) {
      result.status = answer.Status("status");
      if (answer.Has("nominate")) result.nominated_node_name = answer.Text("nominate");
    });
    return TakePostFilter(std::move(result), info_.name, pod, handle_.scheduler());
  }

  Status PreScore(CycleState& state, const PodInfo& pod, NodeInfos nodes) override {
    return StatusOf("PreScore", {.point = "PreScore", .pod = &pod, .state = &state, .nodes = nodes});
  }

  Status Score(const CycleState& state, const PodInfo& pod, const NodeInfo& node, int64_t& score) override {
    const NodeInfo* const alone = &node;
    return ScoreAll(state, pod, NodeInfos(&alone, 1), {&score, 1});
  }

  framework::Dependency ScoreDependency() const override { return DependencyOf(info_.score_reads); }

  // One message for all nodes. Where an answer is no score, each node is asked for again.
  bool ScoreNodes(const CycleState& state, const PodInfo& pod, absl::Span<const int32_t> positions,
                  absl::Span<int64_t> scores) override {
    if (info_.score_reads != SCHEDSIM_READS_ANYTHING) return false;
    const NodeInfos all = handle_.scheduler().snapshot().List();
    std::vector<const NodeInfo*> nodes;
    nodes.reserve(positions.size());
    for (const int32_t position : positions) nodes.push_back(all[static_cast<size_t>(position)]);
    return ScoreAll(state, pod, nodes, scores).IsSuccess();
  }

  bool HasNormalizeScore() const override { return info_.Has("NormalizeScore"); }

  Status NormalizeScore(const CycleState& state, const PodInfo& pod, NodeInfos nodes,
                        absl::Span<int64_t> scores) override {
    Status status;
    const auto fill = [&](JsonWriter& line) {
      line.Key("scores").BeginArray();
      for (const int64_t score : scores) line.Int(score);
      line.EndArray();
    };
    const CallContext context = {.point = "NormalizeScore", .pod = &pod, .state = Own(state), .nodes = nodes};
    Call("NormalizeScore", context, fill, [&](Fields& answer) {
      status = answer.Status("status");
      if (!status.IsSuccess()) return;
      const std::vector<int64_t> normalized = answer.Ints("scores", scores.size());
      std::copy(normalized.begin(), normalized.end(), scores.begin());
    });
    return status;
  }

  Status Reserve(CycleState& state, const PodInfo& pod, const NodeInfo& node) override {
    return OnNode("Reserve", state, pod, node.node->metadata.name);
  }

  void Unreserve(CycleState& state, const PodInfo& pod, absl::string_view node_name) override {
    if (info_.Has("Unreserve")) OnNode("Unreserve", state, pod, node_name);
  }

  framework::PermitResult Permit(CycleState& state, const PodInfo& pod,
                                 absl::string_view node_name) override {
    framework::PermitResult result;
    Call(
        "Permit", {.point = "Permit", .pod = &pod, .state = &state},
        [&](JsonWriter& line) { line.Field("node", node_name); },
        [&](Fields& answer) {
          result.status = answer.Status("status");
          result.timeout = absl::Nanoseconds(answer.Int("timeout"));
        });
    return result;
  }

  Status PreBindPreFlight(CycleState& state, const PodInfo& pod, absl::string_view node_name) override {
    if (!info_.Has("PreBindPreFlight")) return Status();
    return OnNode("PreBindPreFlight", state, pod, node_name);
  }

  void PreBind(CycleState& state, const PodInfo& pod, absl::string_view node_name,
               framework::StatusCallback done) override {
    Later("PreBind", state, pod, node_name, handle_.Begin(std::move(done), state.in_pre_bind));
  }

  void Bind(CycleState& state, const PodInfo& pod, absl::string_view node_name,
            framework::StatusCallback done) override {
    Later("Bind", state, pod, node_name, handle_.Begin(std::move(done), /*in_pre_bind=*/nullptr));
  }

  void PostBind(CycleState& state, const PodInfo& pod, absl::string_view node_name) override {
    OnNode("PostBind", state, pod, node_name);
  }

  bool SignsPods() const override { return info_.Has("SignPod"); }

  bool SignPod(const PodInfo& pod, framework::PodSigner& signer) const override {
    signer.Begin(info_.name);
    Status status;
    mutable_handle().Call("SignPod", {.point = "SignPod", .pod = &pod}, Nothing, [&](Fields& answer) {
      status = answer.Status("status");
      answer.ForEach("parts", [&](Fields& part) {
        signer.Add(part.Text("key"));
        signer.Add(part.Text("value"));
      });
    });
    return status.IsSuccess();
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    if (!info_.Has("EventsToRegister")) return AnyEvents();
    std::vector<framework::ClusterEventWithHint> events;
    Status status;
    Call("EventsToRegister", {.point = "EventsToRegister"}, Nothing, [&](Fields& answer) {
      status = answer.Status("status");
      answer.ForEach("events", [&](Fields& event) { AddEvent(event, events); });
    });
    if (!status.IsSuccess()) events_error_ = absl::InvalidArgumentError(status.Message());
    return events;
  }

  absl::Status EventsError() const override { return events_error_; }

  void OnChange(const api::Object* old_object, const api::Object* new_object) override {
    const api::Object& object = new_object == nullptr ? *old_object : *new_object;
    if (object.kind != api::Kind::kPod) return;
    Call(
        "OnPod", {.point = "the informer of pods"},
        [&](JsonWriter& line) {
          WriteObject(old_object, line.Key("old"));
          WriteObject(new_object, line.Key("new"));
        },
        NoAnswer);
  }

 private:
  // What Filter said of a range of nodes, each of which may be asked for once. `state` is a number, since the
  // next attempt's state may have the address of this one's.
  struct FilterAnswers {
    int64_t state = 0;
    const PodInfo* pod = nullptr;
    int32_t first = 0;
    std::vector<Status> statuses = {};
  };

  ProcessHandle& mutable_handle() const { return const_cast<ProcessHandle&>(handle_); }

  void Call(const char* method, const CallContext& context, absl::FunctionRef<void(JsonWriter&)> fill,
            absl::FunctionRef<void(Fields& answer)> take) {
    filter_answers_.statuses.clear();
    handle_.Call(method, context, fill, take);
  }

  Status StatusOf(const char* method, const CallContext& context) {
    Status status;
    Call(method, context, Nothing, [&](Fields& answer) { status = answer.Status("status"); });
    return status;
  }

  Status OnNode(const char* method, CycleState& state, const PodInfo& pod, absl::string_view node_name) {
    Status status;
    Call(
        method, {.point = method, .pod = &pod, .state = &state},
        [&](JsonWriter& line) { line.Field("node", node_name); },
        [&](Fields& answer) { status = answer.Status("status"); });
    return status;
  }

  Status WithOther(const char* method, CycleState& state, const PodInfo& pod, const PodInfo& other,
                   const NodeInfo& node) {
    if (!info_.Has(method)) return Status();
    Status status;
    const NodeInfo* const alone = &node;
    const CallContext context = {
        .point = method, .pod = &pod, .state = &state, .nodes = NodeInfos(&alone, 1)};
    Call(
        method, context, [&](JsonWriter& line) { line.Field("other", handle_.Tell(other)); },
        [&](Fields& answer) { status = answer.Status("status"); });
    return status;
  }

  std::vector<Status> FilterAll(const CycleState& state, const PodInfo& pod, NodeInfos nodes) {
    std::vector<Status> statuses;
    Call("Filter", {.point = "Filter", .pod = &pod, .state = Own(state), .nodes = nodes}, Nothing,
         [&](Fields& answer) { statuses = answer.Statuses("statuses", nodes.size()); });
    return statuses;
  }

  // nullptr: it is not known.
  const Status* TakeAnswer(const CycleState& state, const PodInfo& pod, const NodeInfo& node) {
    FilterAnswers& known = filter_answers_;
    // What-ifs, whose generation is negative, have other pods.
    const bool may_be_known = !known.statuses.empty() && known.state == handle_.NumberOf(*Own(state)) &&
                              known.pod == &pod && node.generation >= 0 && node.position >= known.first;
    if (!may_be_known) return nullptr;
    const size_t at = static_cast<size_t>(node.position - known.first);
    if (at >= known.statuses.size() || known.statuses[at].IsSuccess()) return nullptr;
    taken_ = std::exchange(known.statuses[at], Status());
    return &taken_;
  }

  Status ScoreAll(const CycleState& state, const PodInfo& pod, NodeInfos nodes, absl::Span<int64_t> scores) {
    Status status;
    Call("Score", {.point = "Score", .pod = &pod, .state = Own(state), .nodes = nodes}, Nothing,
         [&](Fields& answer) {
           status = answer.Status("status");
           if (!status.IsSuccess()) return;
           const std::vector<int64_t> given = answer.Ints("scores", nodes.size());
           std::copy(given.begin(), given.end(), scores.begin());
         });
    return status;
  }

  // PreBind or Bind, which may end in the call or later.
  void Later(const char* method, CycleState& state, const PodInfo& pod, absl::string_view node_name,
             int64_t number) {
    Status status;
    bool is_later = false;
    Call(
        method, {.point = method, .pod = &pod, .state = &state},
        [&](JsonWriter& line) { line.Field("node", node_name).Field("done", number); },
        [&](Fields& answer) {
          is_later = answer.Bool("later");
          status = answer.Status("status");
        });
    if (!is_later) handle_.Finish(number, std::move(status));
  }

  void AddEvent(Fields& event, std::vector<framework::ClusterEventWithHint>& events) {
    const std::string name = event.Text("resource");
    const std::optional<framework::EventResource> resource = EventResourceNamed(name);
    if (!resource.has_value()) {
      event.SetError(absl::StrCat("resource: there are no events of \"", Printable(name, kShownBytesMax),
                                  "\", expected Node, Pod, AssignedPod, PersistentVolumeClaim and the like"));
      return;
    }
    framework::ActionType actions = 0;
    for (const std::string& action : event.Texts("actions")) actions |= ActionOf(action, event);
    framework::QueueingHintFn hint;
    if (event.Has("hint")) {
      hint = [this, number = event.Int("hint")](const PodInfo& pod, const api::Object* old_object,
                                                const api::Object* new_object) {
        return Hint(number, pod, old_object, new_object);
      };
    }
    events.push_back({.event = {.resource = *resource, .action = actions}, .hint = std::move(hint)});
  }

  framework::QueueingHint Hint(int64_t number, const PodInfo& pod, const api::Object* old_object,
                               const api::Object* new_object) {
    bool queue = true;
    const auto fill = [&](JsonWriter& line) {
      line.Field("hint", number);
      WriteObject(old_object, line.Key("old"));
      WriteObject(new_object, line.Key("new"));
    };
    Call("Hint", {.point = "a queueing hint", .pod = &pod}, fill, [&](Fields& answer) {
      // Rather one attempt too many than a pod that waits in vain.
      queue = answer.Bool("queue") || !answer.Status("status").IsSuccess();
    });
    return framework::QueueIf(queue);
  }

  const ProcessPluginInfo info_;
  ProcessHandle handle_;
  absl::Status events_error_;
  FilterAnswers filter_answers_;
  Status taken_;
};

}  // namespace

api::ExtensionPointSet PointsOf(const ProcessPluginInfo& info) {
  constexpr std::pair<const char*, ExtensionPoint> kPoints[] = {{"Less", ExtensionPoint::kQueueSort},
                                                                {"PreEnqueue", ExtensionPoint::kPreEnqueue},
                                                                {"PreFilter", ExtensionPoint::kPreFilter},
                                                                {"Filter", ExtensionPoint::kFilter},
                                                                {"PostFilter", ExtensionPoint::kPostFilter},
                                                                {"PreScore", ExtensionPoint::kPreScore},
                                                                {"Score", ExtensionPoint::kScore},
                                                                {"Reserve", ExtensionPoint::kReserve},
                                                                {"Permit", ExtensionPoint::kPermit},
                                                                {"PreBind", ExtensionPoint::kPreBind},
                                                                {"Bind", ExtensionPoint::kBind},
                                                                {"PostBind", ExtensionPoint::kPostBind}};
  api::ExtensionPointSet points;
  for (const auto& [method, point] : kPoints) {
    if (info.Has(method)) points.set(static_cast<size_t>(point));
  }
  return points;
}

std::string FaultOf(const ProcessPluginInfo& info) {
  if (!info.Has("PreFilter") && (info.Has("AddPod") || info.Has("RemovePod"))) {
    return "has AddPod or RemovePod without PreFilter";
  }
  if (!info.Has("Score") && info.Has("NormalizeScore")) return "has NormalizeScore without Score";
  if (!info.Has("Reserve") && info.Has("Unreserve")) return "has Unreserve without Reserve";
  if (!info.Has("PreBind") && info.Has("PreBindPreFlight")) return "has PreBindPreFlight without PreBind";
  return "";
}

absl::StatusOr<std::unique_ptr<framework::Plugin>> MakeProcessPlugin(const ProcessPluginInfo& info,
                                                                     std::shared_ptr<PluginProcess> process,
                                                                     const api::PluginArgs& args,
                                                                     framework::Handle& handle) {
  const auto* given = std::get_if<api::UnknownArgs>(&args);
  auto made = std::make_unique<ProcessPlugin>(info, std::move(process), handle);
  const Status status = made->Create(given == nullptr ? "" : given->json);
  if (!status.IsSuccess()) return absl::InvalidArgumentError(status.Message());
  return made;
}

}  // namespace schedsim::hosting
