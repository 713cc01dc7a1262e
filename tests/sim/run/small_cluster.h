// A small cluster with what happens to it, run in a test.
#ifndef SCHEDSIM_TESTS_SIM_RUN_SMALL_CLUSTER_H_
#define SCHEDSIM_TESTS_SIM_RUN_SMALL_CLUSTER_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/default_profile.h"
#include "core/api/effective_profile.h"
#include "core/api/extension_point.h"
#include "core/api/feature_gates.h"
#include "core/api/kubernetes_version.h"
#include "core/base/check.h"
#include "core/codec/config/scheduler_config.h"
#include "core/codec/objects/objects.h"
#include "core/framework/handle.h"
#include "core/framework/plugin.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

// Brings a plugin of the test's own into the first profile.
inline void AddPlugin(SimulationOptions& options, const std::string& name, api::ExtensionPoint point,
                      std::function<std::unique_ptr<framework::Plugin>(framework::Handle&)> make) {
  api::EffectiveProfile& profile = options.config.profiles[0];
  profile.plugins[static_cast<size_t>(point)].push_back(name);
  profile.instances.push_back(name);
  std::sort(profile.instances.begin(), profile.instances.end());
  options.more_plugins.push_back(
      {.name = name,
       .factory = [make = std::move(make)](const api::PluginArgs&, framework::Handle& handle)
           -> absl::StatusOr<std::unique_ptr<framework::Plugin>> { return make(handle); }});
}

class SmallCluster {
 public:
  // YAML documents.
  explicit SmallCluster(absl::string_view objects, api::KubernetesLine line = api::kDefaultKubernetesLine)
      : objects_(Read(objects)) {
    const api::FeatureGates gates(line);
    options.line = api::LineBehaviorOf(gates);
    auto config = codec::DefaultSchedulerConfig(gates, api::InTreePlugins(line));
    CHECK(config.ok());
    options.config = *std::move(config);
    options.zero = absl::FromUnixSeconds(946'684'800);
    options.trace_level = TraceLevel::kFull;
    options.trace_sink = [this](absl::string_view line_of_json) { records.emplace_back(line_of_json); };
  }

  // Changes at this time, in order of time. Unit of `at`: seconds.
  void Create(double at, absl::string_view object) { Add(at).create = Read(object).at(0); }
  void Update(double at, absl::string_view object) { Add(at).update = Read(object).at(0); }
  void DeletePod(double at, const std::string& name) { Remove(at, api::Kind::kPod, "default", name); }
  void Remove(double at, api::Kind kind, const std::string& name_space, const std::string& name) {
    Add(at).remove = Step::Reference{
        .kind = kind, .kind_name = std::string(api::KindName(kind)), .name_space = name_space, .name = name};
  }

  // A cluster-wide object of a kind without an enumerator.
  void RemoveOther(double at, const std::string& kind_name, const std::string& name) {
    Add(at).remove =
        Step::Reference{.kind = api::Kind::kOther, .kind_name = kind_name, .name_space = "", .name = name};
  }

  // Up to `until`, in seconds; absent: until nothing is left.
  std::unique_ptr<Simulation> Run(std::optional<double> until) {
    records.clear();
    SimulationOptions copy = options;
    if (until.has_value()) copy.until = absl::Seconds(*until);
    auto simulation = Simulation::Make(std::move(copy));
    CHECK(simulation.ok());
    if (on_made != nullptr) on_made(**simulation);
    (*simulation)->CreateObjects(objects_);
    (*simulation)->AddSteps(steps_);
    (*simulation)->Run();
    return *std::move(simulation);
  }

  const std::vector<api::ObjectPtr>& objects() const { return objects_; }
  const std::vector<Step>& steps() const { return steps_; }

  SimulationOptions options;
  // Called with each simulation before it has objects.
  std::function<void(Simulation&)> on_made;
  // The trace of the last run, a line an entry.
  std::vector<std::string> records;

 private:
  static std::vector<api::ObjectPtr> Read(absl::string_view text) {
    std::vector<api::ObjectPtr> objects;
    codec::ObjectReader reader;
    const absl::Status status =
        reader.ReadText(std::string(text), "test.yaml", [&](api::ObjectPtr object, const codec::Location&) {
          objects.push_back(std::move(object));
          return absl::OkStatus();
        });
    CHECK(status.ok());
    return objects;
  }
  Step& Add(double at) {
    steps_.emplace_back();
    steps_.back().at = absl::Seconds(at);
    return steps_.back();
  }

  std::vector<api::ObjectPtr> objects_;
  std::vector<Step> steps_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_TESTS_SIM_RUN_SMALL_CLUSTER_H_
