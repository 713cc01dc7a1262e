// DefaultBinder: binds the pod through the API server.
// Source: kubernetes v1.37, plugins/defaultbinder/default_binder.go.
// Extension points: Bind. Arguments: none.

#include <memory>
#include <string>
#include <utility>

#include "core/framework/plugin.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using framework::Status;

class DefaultBinder final : public framework::Plugin, public framework::BindPlugin {
 public:
  explicit DefaultBinder(framework::Handle& handle) : handle_(handle) {}

  absl::string_view Name() const override { return "DefaultBinder"; }

  void Bind(framework::CycleState&, const framework::PodInfo& pod, absl::string_view node_name,
            framework::StatusCallback done) override {
    handle_.client().Bind(pod.pod, node_name, [done = std::move(done)](const absl::Status& status) {
      done(status.ok() ? Status() : Status::Error(std::string(status.message())));
    });
  }

 private:
  framework::Handle& handle_;
};

}  // namespace

PluginOr NewDefaultBinder(const api::PluginArgs&, framework::Handle& handle) {
  return std::make_unique<DefaultBinder>(handle);
}

}  // namespace schedsim::plugins
