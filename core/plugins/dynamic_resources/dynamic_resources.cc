// DynamicResources: devices that pods claim.
// Source: kubernetes v1.37, plugins/dynamicresources.
// Not built yet beyond pods that it does not concern: others are marked inexact.

#include <algorithm>
#include <memory>

#include "core/framework/plugin.h"
#include "core/plugins/registry.h"
#include "core/plugins/resource_allocation.h"

namespace schedsim::plugins {
namespace {

using framework::Status;

class DynamicResources final : public framework::Plugin,
                               public framework::PreFilterPlugin,
                               public framework::FilterPlugin,
                               public framework::PreEnqueuePlugin,
                               public framework::PostFilterPlugin,
                               public framework::ScorePlugin,
                               public framework::ReservePlugin,
                               public framework::PreBindPlugin,
                               public framework::SignPlugin {
 public:
  explicit DynamicResources(framework::Handle& handle) : handle_(handle) {}

  absl::string_view Name() const override { return "DynamicResources"; }

  bool SignPod(const framework::PodInfo& pod, framework::PodSigner&) const override {
    return pod.pod->spec->resource_claims.empty();
  }

  framework::PreFilterResult PreFilter(framework::CycleState&, const framework::PodInfo& pod,
                                       framework::NodeInfos) override {
    const api::PodSpec& spec = *pod.pod->spec;
    if (!spec.resource_claims.empty()) handle_.MarkInexact(pod, "resource claims");
    if (AsksForDeviceClass(pod.spec_info->requests, handle_)) {
      handle_.MarkInexact(pod, "extended resources of a DeviceClass");
    }
    framework::PreFilterResult result;
    result.status = Status::Skip();
    return result;
  }

  Status Filter(const framework::CycleState&, const framework::PodInfo&,
                const framework::NodeInfo&) override {
    return Status();
  }

  Status PreEnqueue(const framework::PodInfo&) override { return Status(); }
  framework::PostFilterResult PostFilter(framework::CycleState& state, const framework::PodInfo&,
                                         const framework::NodeToStatus&) override {
    // Its PreFilter was not reached, so its state is missing.
    if (!state.skip_filter.test(static_cast<size_t>(handle_.plugin_names().IdOf(Name())))) {
      return {.status = Status::Error("not found"), .nominated_node_name = std::nullopt};
    }
    std::vector<std::string> reasons;
    if (handle_.line().dynamic_resources_post_filter_has_reason)
      reasons.emplace_back("no new claims to deallocate");
    return {.status = Status(framework::Code::kUnschedulable, std::move(reasons)),
            .nominated_node_name = std::nullopt};
  }
  Status Score(const framework::CycleState&, const framework::PodInfo&, const framework::NodeInfo&,
               int64_t& score) override {
    score = 0;
    return Status();
  }
  bool ScoresOnlyWithFilter() const override { return true; }
  Status Reserve(framework::CycleState&, const framework::PodInfo&, const framework::NodeInfo&) override {
    return Status();
  }
  void Unreserve(framework::CycleState&, const framework::PodInfo&, absl::string_view) override {}
  Status PreBindPreFlight(framework::CycleState&, const framework::PodInfo&, absl::string_view) override {
    return Status::Skip();
  }
  void PreBind(framework::CycleState&, const framework::PodInfo&, absl::string_view,
               framework::StatusCallback done) override {
    done(Status());
  }

 private:
  framework::Handle& handle_;
};

}  // namespace

PluginOr NewDynamicResources(const api::PluginArgs&, framework::Handle& handle) {
  return std::make_unique<DynamicResources>(handle);
}

}  // namespace schedsim::plugins
