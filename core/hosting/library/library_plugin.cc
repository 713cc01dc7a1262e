#include "core/hosting/library/library_plugin.h"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/framework/informer_cache.h"
#include "core/hosting/every_extension_point.h"
#include "core/hosting/library/host_functions.h"
#include "core/hosting/library/plugin_call.h"

namespace schedsim::hosting {
namespace {

using api::ExtensionPoint;
using framework::CycleState;
using framework::NodeInfo;
using framework::NodeInfos;
using framework::PodInfo;
using framework::Status;

// All that AnyEvents stands for. Source: kubernetes v1.37, scheduler/framework/types.go,
// UnrollWildCardResource.
constexpr framework::EventResource kAnyResource[] = {
    framework::EventResource::kPod,
    framework::EventResource::kNode,
    framework::EventResource::kPersistentVolume,
    framework::EventResource::kPersistentVolumeClaim,
    framework::EventResource::kCSINode,
    framework::EventResource::kCSIDriver,
    framework::EventResource::kCSIStorageCapacity,
    framework::EventResource::kStorageClass,
    framework::EventResource::kResourceClaim,
    framework::EventResource::kDeviceClass,
};

class LibraryPlugin final : public EveryExtensionPoint {
 public:
  LibraryPlugin(const schedsim_plugin& plugin, std::string args, framework::Handle& handle)
      : calls_(plugin),
        name_(View(plugin.name)),
        handle_({.scheduler = handle,
                 .plugin = name_,
                 .plugin_id = handle.plugin_names().IdOf(name_),
                 .args = std::move(args)}) {}
  ~LibraryPlugin() override {
    if (self_ != nullptr) calls_.destroy(self_);
  }

  Status Create() {
    const PluginCall at_work(name_.c_str(), "the start", nullptr);
    Status status;
    self_ = calls_.create(&handle_, ToAbi(status));
    if (self_ == nullptr && status.IsSuccess()) return Status::Error("the plugin was not made");
    if (calls_.on_pod != nullptr && status.IsSuccess()) handle_.scheduler.AddInformerHandler(*this);
    return status;
  }

  absl::string_view Name() const override { return name_; }

  bool Less(const framework::QueuedPodInfo& a, const framework::QueuedPodInfo& b) const override {
    const PluginCall at_work(name_.c_str(), "QueueSort", a.pod_info.get());
    return calls_.less(self_, Opaque<const schedsim_queued_pod>(&a), Opaque<const schedsim_queued_pod>(&b)) !=
           0;
  }

  Status PreEnqueue(const PodInfo& pod) override {
    return Answer("PreEnqueue", &pod,
                  [&](schedsim_status* status) { calls_.pre_enqueue(self_, ToAbi(pod), status); });
  }

  framework::PreFilterResult PreFilter(CycleState& state, const PodInfo& pod, NodeInfos nodes) override {
    framework::PreFilterResult result;
    schedsim_pre_filter_result target = {.result = result, .symbols = handle_.scheduler.symbols()};
    result.status = Answer("PreFilter", &pod, [&](schedsim_status* status) {
      calls_.pre_filter(self_, ToAbi(state), ToAbi(pod), ToAbi(nodes), nodes.size(), &target, status);
    });
    return result;
  }

  Status AddPod(CycleState& state, const PodInfo& pod, const PodInfo& other, const NodeInfo& node) override {
    if (calls_.add_pod == nullptr) return Status();
    return Answer("AddPod", &pod, [&](schedsim_status* status) {
      calls_.add_pod(self_, ToAbi(state), ToAbi(pod), ToAbi(other), ToAbi(node), status);
    });
  }

  Status RemovePod(CycleState& state, const PodInfo& pod, const PodInfo& other,
                   const NodeInfo& node) override {
    if (calls_.remove_pod == nullptr) return Status();
    return Answer("RemovePod", &pod, [&](schedsim_status* status) {
      calls_.remove_pod(self_, ToAbi(state), ToAbi(pod), ToAbi(other), ToAbi(node), status);
    });
  }

  Status Filter(const CycleState& state, const PodInfo& pod, const NodeInfo& node) override {
    return Answer("Filter", &pod, [&](schedsim_status* status) {
      calls_.filter(self_, ToAbi(state), ToAbi(pod), ToAbi(node), status);
    });
  }

  framework::Dependency FilterDependency() const override { return DependencyOf(calls_.filter_reads); }

  framework::PostFilterResult PostFilter(CycleState& state, const PodInfo& pod,
                                         const framework::NodeToStatus& statuses) override {
    framework::PostFilterResult result;
    result.status = Answer("PostFilter", &pod, [&](schedsim_status* status) {
      calls_.post_filter(self_, ToAbi(state), ToAbi(pod), Opaque<const schedsim_node_statuses>(&statuses),
                         Opaque<schedsim_post_filter_result>(&result), status);
    });
    return TakePostFilter(std::move(result), name_, pod, handle_.scheduler);
  }

  Status PreScore(CycleState& state, const PodInfo& pod, NodeInfos nodes) override {
    return Answer("PreScore", &pod, [&](schedsim_status* status) {
      calls_.pre_score(self_, ToAbi(state), ToAbi(pod), ToAbi(nodes), nodes.size(), status);
    });
  }

  Status Score(const CycleState& state, const PodInfo& pod, const NodeInfo& node, int64_t& score) override {
    return Answer("Score", &pod, [&](schedsim_status* status) {
      score = calls_.score(self_, ToAbi(state), ToAbi(pod), ToAbi(node), status);
    });
  }

  framework::Dependency ScoreDependency() const override { return DependencyOf(calls_.score_reads); }

  // One call for all nodes costs less than one for each. Where an answer is no score, each node is asked
  // again.
  bool ScoreNodes(const CycleState& state, const PodInfo& pod, absl::Span<const int32_t> positions,
                  absl::Span<int64_t> scores) override {
    if (calls_.score_reads != SCHEDSIM_READS_ANYTHING) return false;
    const PluginCall at_work(name_.c_str(), "Score", &pod);
    const NodeInfos nodes = handle_.scheduler.snapshot().List();
    Status status;
    for (size_t i = 0; i < positions.size(); ++i) {
      if (!handle_.found.empty()) handle_.found.clear();
      const NodeInfo& node = *nodes[static_cast<size_t>(positions[i])];
      scores[i] = calls_.score(self_, ToAbi(state), ToAbi(pod), ToAbi(node), ToAbi(status));
      if (!status.IsSuccess()) return false;
    }
    return true;
  }

  bool HasNormalizeScore() const override { return calls_.normalize_score != nullptr; }

  Status NormalizeScore(const CycleState& state, const PodInfo& pod, NodeInfos nodes,
                        absl::Span<int64_t> scores) override {
    return Answer("NormalizeScore", &pod, [&](schedsim_status* status) {
      calls_.normalize_score(self_, ToAbi(state), ToAbi(pod), ToAbi(nodes), scores.data(), nodes.size(),
                             status);
    });
  }

  Status Reserve(CycleState& state, const PodInfo& pod, const NodeInfo& node) override {
    return Answer("Reserve", &pod, [&](schedsim_status* status) {
      calls_.reserve(self_, ToAbi(state), ToAbi(pod), Text(node.node->metadata.name), status);
    });
  }

  void Unreserve(CycleState& state, const PodInfo& pod, absl::string_view node_name) override {
    const PluginCall at_work(name_.c_str(), "Unreserve", &pod);
    handle_.found.clear();
    if (calls_.unreserve != nullptr) calls_.unreserve(self_, ToAbi(state), ToAbi(pod), Text(node_name));
  }

  framework::PermitResult Permit(CycleState& state, const PodInfo& pod,
                                 absl::string_view node_name) override {
    framework::PermitResult result;
    result.status = Answer("Permit", &pod, [&](schedsim_status* status) {
      result.timeout =
          absl::Nanoseconds(calls_.permit(self_, ToAbi(state), ToAbi(pod), Text(node_name), status));
    });
    return result;
  }

  Status PreBindPreFlight(CycleState& state, const PodInfo& pod, absl::string_view node_name) override {
    if (calls_.pre_bind_pre_flight == nullptr) return Status();
    return Answer("PreBindPreFlight", &pod, [&](schedsim_status* status) {
      calls_.pre_bind_pre_flight(self_, ToAbi(state), ToAbi(pod), Text(node_name), status);
    });
  }

  void PreBind(CycleState& state, const PodInfo& pod, absl::string_view node_name,
               framework::StatusCallback done) override {
    const PluginCall at_work(name_.c_str(), "PreBind", &pod);
    handle_.found.clear();
    calls_.pre_bind(self_, ToAbi(state), ToAbi(pod), Text(node_name),
                    new schedsim_done{.done = std::move(done), .in_pre_bind = state.in_pre_bind});
  }

  void Bind(CycleState& state, const PodInfo& pod, absl::string_view node_name,
            framework::StatusCallback done) override {
    const PluginCall at_work(name_.c_str(), "Bind", &pod);
    handle_.found.clear();
    calls_.bind(self_, ToAbi(state), ToAbi(pod), Text(node_name), new schedsim_done{.done = std::move(done)});
  }

  void PostBind(CycleState& state, const PodInfo& pod, absl::string_view node_name) override {
    const PluginCall at_work(name_.c_str(), "PostBind", &pod);
    handle_.found.clear();
    calls_.post_bind(self_, ToAbi(state), ToAbi(pod), Text(node_name));
  }

  bool SignsPods() const override { return calls_.sign_pod != nullptr; }

  bool SignPod(const PodInfo& pod, framework::PodSigner& signer) const override {
    const PluginCall at_work(name_.c_str(), "SignPod", &pod);
    signer.Begin(name_);
    schedsim_signer target = {.signer = signer};
    Status status;
    calls_.sign_pod(self_, ToAbi(pod), &target, ToAbi(status));
    return status.IsSuccess();
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    if (calls_.events_to_register == nullptr) return AnyEvents();
    std::vector<framework::ClusterEventWithHint> events;
    const Status status = Answer("EventsToRegister", nullptr, [&](schedsim_status* target) {
      schedsim_events into = {.events = events, .plugin = name_.c_str()};
      calls_.events_to_register(self_, &into, target);
    });
    if (!status.IsSuccess()) events_error_ = absl::InvalidArgumentError(status.Message());
    return events;
  }

  absl::Status EventsError() const override { return events_error_; }

  void OnChange(const api::Object* old_object, const api::Object* new_object) override {
    const api::Object& object = new_object == nullptr ? *old_object : *new_object;
    if (object.kind != api::Kind::kPod) return;
    const PluginCall at_work(name_.c_str(), "the informer of pods", nullptr);
    handle_.found.clear();
    calls_.on_pod(self_, ToAbi(old_object), ToAbi(new_object));
  }

 private:
  // What the plugin answers in this call.
  template <typename Call>
  Status Answer(const char* point, const PodInfo* pod, const Call& call) {
    const PluginCall at_work(name_.c_str(), point, pod);
    if (!handle_.found.empty()) handle_.found.clear();
    Status status;
    call(ToAbi(status));
    return status;
  }

  const schedsim_plugin& calls_;
  const std::string name_;
  schedsim_handle handle_;
  void* self_ = nullptr;
  absl::Status events_error_;
};

}  // namespace

framework::Dependency DependencyOf(schedsim_reads reads) {
  using Of = framework::Dependency::Of;
  if (reads == SCHEDSIM_READS_NODE) return {.of = Of::kNode};
  if (reads == SCHEDSIM_READS_NODE_OBJECT) return {.of = Of::kNodeObject};
  return {};
}

std::vector<framework::ClusterEventWithHint> AnyEvents() {
  std::vector<framework::ClusterEventWithHint> events;
  for (const framework::EventResource resource : kAnyResource) events.push_back({.event = {resource}});
  return events;
}

framework::PostFilterResult TakePostFilter(framework::PostFilterResult result, absl::string_view plugin,
                                           const PodInfo& pod, framework::Handle& scheduler) {
  if (!result.status.IsSkip() && !result.status.IsWait()) return result;
  const std::string what =
      absl::StrCat("plugin \"", plugin, "\" answered ", framework::CodeName(result.status.code()),
                   " at PostFilter, on which the real scheduler crashes");
  scheduler.MarkInexact(pod, what);
  return {.status = Status::Error(what)};
}

api::ExtensionPointSet PointsOf(const schedsim_plugin& plugin) {
  api::ExtensionPointSet points;
  const auto set = [&points](ExtensionPoint point, bool has) {
    if (has) points.set(static_cast<size_t>(point));
  };
  set(ExtensionPoint::kQueueSort, plugin.less != nullptr);
  set(ExtensionPoint::kPreEnqueue, plugin.pre_enqueue != nullptr);
  set(ExtensionPoint::kPreFilter, plugin.pre_filter != nullptr);
  set(ExtensionPoint::kFilter, plugin.filter != nullptr);
  set(ExtensionPoint::kPostFilter, plugin.post_filter != nullptr);
  set(ExtensionPoint::kPreScore, plugin.pre_score != nullptr);
  set(ExtensionPoint::kScore, plugin.score != nullptr);
  set(ExtensionPoint::kReserve, plugin.reserve != nullptr);
  set(ExtensionPoint::kPermit, plugin.permit != nullptr);
  set(ExtensionPoint::kPreBind, plugin.pre_bind != nullptr);
  set(ExtensionPoint::kBind, plugin.bind != nullptr);
  set(ExtensionPoint::kPostBind, plugin.post_bind != nullptr);
  return points;
}

absl::StatusOr<std::unique_ptr<framework::Plugin>> MakeLibraryPlugin(const schedsim_plugin& plugin,
                                                                     const api::PluginArgs& args,
                                                                     framework::Handle& handle) {
  const auto* given = std::get_if<api::UnknownArgs>(&args);
  auto made = std::make_unique<LibraryPlugin>(plugin, given == nullptr ? "" : given->json, handle);
  const Status status = made->Create();
  if (!status.IsSuccess()) return absl::InvalidArgumentError(status.Message());
  return made;
}

}  // namespace schedsim::hosting
