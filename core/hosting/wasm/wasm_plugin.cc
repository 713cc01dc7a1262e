#include "core/hosting/wasm/wasm_plugin.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/status_macros.h"
#include "core/hosting/library/library_plugin.h"
#include "core/hosting/wasm/guest_pool.h"

namespace schedsim::hosting {
namespace {

using framework::CycleState;
using framework::EventResource;
using framework::NodeInfo;
using framework::NodeInfos;
using framework::PodInfo;
using framework::Status;

// What a guest that registers no events waits for. Source: scheduler/plugin/plugin.go, allClusterEvents.
constexpr EventResource kDefaultEvents[] = {EventResource::kPod,
                                            EventResource::kNode,
                                            EventResource::kCSINode,
                                            EventResource::kPersistentVolume,
                                            EventResource::kPersistentVolumeClaim,
                                            EventResource::kStorageClass};

// By the guest's number. The fifth, PodSchedulingContext, is no longer there.
// Source: scheduler/plugin/clusterevent.go.
constexpr std::optional<EventResource> kGuestResources[] = {
    EventResource::kPod,
    EventResource::kNode,
    EventResource::kPersistentVolume,
    EventResource::kPersistentVolumeClaim,
    std::nullopt,
    EventResource::kResourceClaim,
    EventResource::kStorageClass,
    EventResource::kCSINode,
    EventResource::kCSIDriver,
    EventResource::kCSIStorageCapacity,
    EventResource::kWildcard,
};

// The guest's bits are those of old releases: additions, deletions and four updates of nodes, which still
// have these places; all of them together stand for everything.
framework::ActionType ActionsOf(uint32_t bits) {
  constexpr uint32_t kGuestAll = 63;
  constexpr uint32_t kGuestUpdate = 60;
  if ((bits & kGuestAll) == kGuestAll) return framework::kAllActions;
  if ((bits & kGuestUpdate) == kGuestUpdate) return framework::kUpdate | (bits & ~kGuestUpdate & kGuestAll);
  return bits & kGuestAll;
}

class WasmPlugin final : public framework::Plugin,
                         public framework::PreFilterPlugin,
                         public framework::FilterPlugin,
                         public framework::PostFilterPlugin,
                         public framework::PreScorePlugin,
                         public framework::ScorePlugin,
                         public framework::ReservePlugin,
                         public framework::PermitPlugin,
                         public framework::PreBindPlugin,
                         public framework::BindPlugin,
                         public framework::PostBindPlugin,
                         public framework::EnqueueExtensions {
 public:
  WasmPlugin(std::shared_ptr<const GuestCode> code, std::string name, GuestArgs args, GuestLog log,
             framework::Handle& handle)
      : host_({.code = std::move(code),
               .scheduler = handle,
               .plugin = std::move(name),
               .args = std::move(args),
               .log = std::move(log)}),
        pool_(host_) {}

  absl::Status Start() { return pool_.Start(); }

  absl::string_view Name() const override { return host_.plugin; }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    std::vector<framework::ClusterEventWithHint> events;
    if (Has(GuestFunction::kEnqueue)) {
      GuestCall call = {.function = GuestFunction::kEnqueue};
      const absl::StatusOr<uint64_t> result = pool_.CallBefore(call);
      if (!result.ok()) events_error_ = absl::InvalidArgumentError(result.status().message());
      for (const auto& [resource, actions] : call.events) {
        if (resource >= std::size(kGuestResources) || !kGuestResources[resource].has_value()) continue;
        events.push_back({.event = {.resource = *kGuestResources[resource], .action = ActionsOf(actions)}});
      }
      if (!call.events.empty()) return events;
    }
    for (const EventResource resource : kDefaultEvents) events.push_back({.event = {.resource = resource}});
    return events;
  }

  absl::Status EventsError() const override { return events_error_; }

  framework::PreFilterResult PreFilter(CycleState&, const PodInfo& pod, NodeInfos) override {
    framework::PreFilterResult result;
    if (!Has(GuestFunction::kPreFilter)) return result;
    GuestCall call = {.function = GuestFunction::kPreFilter, .pod = &pod};
    result.status = Answer(call, pool_.CallInScheduling(call));
    if (call.node_names.empty()) return result;
    result.node_names.emplace();
    for (const std::string& name : call.node_names) {
      result.node_names->push_back(host_.scheduler.symbols().Intern(name));
    }
    return result;
  }

  Status AddPod(CycleState&, const PodInfo& pod, const PodInfo& other, const NodeInfo& node) override {
    return InScheduling({.function = GuestFunction::kAddPod,
                         .pod = &pod,
                         .node_name = node.node->metadata.name,
                         .target_pod = &other});
  }

  Status RemovePod(CycleState&, const PodInfo& pod, const PodInfo& other, const NodeInfo& node) override {
    return InScheduling({.function = GuestFunction::kRemovePod,
                         .pod = &pod,
                         .node_name = node.node->metadata.name,
                         .target_pod = &other});
  }

  Status Filter(const CycleState&, const PodInfo& pod, const NodeInfo& node) override {
    return InScheduling(
        {.function = GuestFunction::kFilter, .pod = &pod, .node_name = node.node->metadata.name});
  }

  framework::PostFilterResult PostFilter(CycleState&, const PodInfo& pod,
                                         const framework::NodeToStatus& statuses) override {
    framework::PostFilterResult result;
    if (!Has(GuestFunction::kPostFilter)) return result;
    GuestCall call = {.function = GuestFunction::kPostFilter, .pod = &pod, .statuses = &statuses};
    const absl::StatusOr<uint64_t> answer = pool_.CallInScheduling(call);
    result.status = Answer(call, answer);
    constexpr uint64_t kOverride = 1;
    if (answer.ok() && *answer >> 32 == kOverride) result.nominated_node_name = call.nominated_node_name;
    return TakePostFilter(std::move(result), host_.plugin, pod, host_.scheduler);
  }

  Status PreScore(CycleState&, const PodInfo& pod, NodeInfos nodes) override {
    return InScheduling({.function = GuestFunction::kPreScore, .pod = &pod, .filtered = nodes});
  }

  Status Score(const CycleState&, const PodInfo& pod, const NodeInfo& node, int64_t& score) override {
    GuestCall call = {.function = GuestFunction::kScore, .pod = &pod, .node_name = node.node->metadata.name};
    const absl::StatusOr<uint64_t> answer = pool_.CallInScheduling(call);
    score = answer.ok() ? static_cast<int32_t>(*answer >> 32) : 0;
    return Answer(call, answer);
  }

  bool HasNormalizeScore() const override { return Has(GuestFunction::kNormalizeScore); }

  Status NormalizeScore(const CycleState&, const PodInfo& pod, NodeInfos nodes,
                        absl::Span<int64_t> scores) override {
    GuestCall call = {
        .function = GuestFunction::kNormalizeScore, .pod = &pod, .scored = nodes, .scores = scores};
    const Status status = Answer(call, pool_.CallInScheduling(call));
    if (!status.IsSuccess() || call.normalized.empty()) return status;
    if (call.normalized.size() != scores.size()) {
      const std::string what =
          absl::StrCat("size mismatch: scores has ", scores.size(), " elements, but updatedScores has ",
                       call.normalized.size(), " elements");
      host_.scheduler.MarkInexact(pod, absl::StrCat("plugin \"", host_.plugin, "\" normalizes scores: ", what,
                                                    ", on which the real host crashes"));
      return Status::Error(what);
    }
    return TakeNormalized(call, pod, nodes, scores);
  }

  Status Reserve(CycleState&, const PodInfo& pod, const NodeInfo& node) override {
    return InScheduling({.function = GuestFunction::kReserve,
                         .pod = &pod,
                         .node_name = node.node->metadata.name,
                         .pod_has_node = true});
  }

  void Unreserve(CycleState&, const PodInfo& pod, absl::string_view node_name) override {
    if (Has(GuestFunction::kUnreserve)) {
      Tell({.function = GuestFunction::kUnreserve, .pod = &pod, .node_name = node_name, .pod_has_node = true},
           /*in_binding=*/false);
    }
    pool_.EndBinding(pod.Uid());
  }

  framework::PermitResult Permit(CycleState&, const PodInfo& pod, absl::string_view node_name) override {
    GuestCall call = {
        .function = GuestFunction::kPermit, .pod = &pod, .node_name = node_name, .pod_has_node = true};
    const absl::StatusOr<uint64_t> answer = pool_.CallInScheduling(call);
    // The upper half is the code here.
    const absl::StatusOr<uint64_t> code = answer.ok() ? absl::StatusOr<uint64_t>(*answer >> 32) : answer;
    framework::PermitResult result = {.status = Answer(call, code), .timeout = absl::ZeroDuration()};
    if (answer.ok()) result.timeout = absl::Milliseconds(static_cast<uint32_t>(*answer));
    pool_.StartBinding(pod.Uid());
    return result;
  }

  Status PreBindPreFlight(CycleState&, const PodInfo&, absl::string_view) override { return Status(); }

  void PreBind(CycleState&, const PodInfo& pod, absl::string_view node_name,
               framework::StatusCallback done) override {
    done(InBinding(
        {.function = GuestFunction::kPreBind, .pod = &pod, .node_name = node_name, .pod_has_node = true}));
  }

  void Bind(CycleState&, const PodInfo& pod, absl::string_view node_name,
            framework::StatusCallback done) override {
    Status status = InBinding(
        {.function = GuestFunction::kBind, .pod = &pod, .node_name = node_name, .pod_has_node = true});
    if (status.IsSuccess()) {
      host_.scheduler.MarkInexact(
          pod, absl::StrCat("plugin \"", host_.plugin,
                            "\" says that it bound the pod, which a guest cannot: no binding was made"));
    }
    done(std::move(status));
  }

  void PostBind(CycleState&, const PodInfo& pod, absl::string_view node_name) override {
    if (!Has(GuestFunction::kPostBind)) return pool_.Lose(pod.Uid());
    Tell({.function = GuestFunction::kPostBind, .pod = &pod, .node_name = node_name, .pod_has_node = true},
         /*in_binding=*/true);
    pool_.EndBinding(pod.Uid());
  }

 private:
  bool Has(GuestFunction function) const { return host_.code->Has(function); }

  // What the lower half of a result and the pushed reason say.
  Status Answer(const GuestCall& call, const absl::StatusOr<uint64_t>& result) {
    if (!result.ok()) return Status::Error(std::string(result.status().message()));
    const auto code = static_cast<uint32_t>(*result);
    if (code == 0) return Status();
    if (code <= static_cast<uint32_t>(framework::Code::kPending)) {
      return Status(static_cast<framework::Code>(code), call.status_reason);
    }
    const std::string what = absl::StrCat(
        "plugin \"", host_.plugin, "\" answered code ", static_cast<int32_t>(code), " in ",
        GuestFunctionName(call.function), ", which is none of the framework's: ", call.status_reason);
    if (call.pod != nullptr) host_.scheduler.MarkInexact(*call.pod, what);
    return Status::Error(what);
  }

  Status InScheduling(GuestCall call) {
    if (!Has(call.function)) return Status();
    return Answer(call, pool_.CallInScheduling(call));
  }

  Status InBinding(GuestCall call) {
    if (!Has(call.function)) return Status();
    return Answer(call, pool_.CallInBinding(call.pod->Uid(), call));
  }

  // A call that has no answer: the real host writes a failure into its log.
  void Tell(GuestCall call, bool in_binding) {
    const absl::StatusOr<uint64_t> result =
        in_binding ? pool_.CallInBinding(call.pod->Uid(), call) : pool_.CallInScheduling(call);
    if (result.ok()) return;
    if (host_.log) host_.log(absl::StrCat("E ", host_.plugin, ": ", result.status().message()));
    const Status status = Status::Error(std::string(result.status().message()));
    host_.scheduler.RecordNote({.plugin = host_.plugin,
                                .point = call.function == GuestFunction::kPostBind ? "PostBind" : "Unreserve",
                                .pod = *call.pod,
                                .node_name = call.node_name,
                                .status = status});
  }

  // By name. The real host takes them in the order of a map, so that they come to any nodes.
  Status TakeNormalized(const GuestCall& call, const PodInfo& pod, NodeInfos nodes,
                        absl::Span<int64_t> scores) {
    bool differ = false;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const std::string& name = nodes[i]->node->metadata.name;
      const auto found =
          std::lower_bound(call.normalized.begin(), call.normalized.end(), name,
                           [](const auto& entry, const std::string& key) { return entry.first < key; });
      if (found == call.normalized.end() || found->first != name) {
        return Status::Error(absl::StrCat("no normalized score for node \"", name, "\""));
      }
      scores[i] = found->second;
      differ |= scores[i] != scores[0];
    }
    if (differ) {
      host_.scheduler.MarkInexact(pod,
                                  absl::StrCat("plugin \"", host_.plugin,
                                               "\" normalizes scores, which kube-scheduler-wasm-extension "
                                               "gives to the nodes in a random order"));
    }
    return Status();
  }

  GuestHost host_;
  GuestPool pool_;
  absl::Status events_error_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<framework::Plugin>> MakeWasmPlugin(std::shared_ptr<const GuestCode> code,
                                                                  std::string name, GuestArgs args,
                                                                  GuestLog log, framework::Handle& handle) {
  auto plugin =
      std::make_unique<WasmPlugin>(std::move(code), std::move(name), std::move(args), std::move(log), handle);
  RETURN_IF_ERROR(plugin->Start());
  return plugin;
}

}  // namespace schedsim::hosting
