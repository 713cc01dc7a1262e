// A cluster with the controllers of workloads, and what people do to it.
#ifndef SCHEDSIM_TESTS_SIM_CONTROLLERS_WORKLOAD_CLUSTER_H_
#define SCHEDSIM_TESTS_SIM_CONTROLLERS_WORKLOAD_CLUSTER_H_

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/api/kinds.h"
#include "core/base/check.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/text/reader.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {

// Nodes of 4 cores, n0 and so on.
inline std::string Nodes(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&text, "---\napiVersion: v1\nkind: Node\nmetadata: {name: n", i, ", labels: {name: n", i,
                    "}}\nstatus: {allocatable: {cpu: 4, memory: 16Gi, pods: 110}}\n");
  }
  return text;
}

class WorkloadCluster {
 public:
  // YAML documents, each behind a line of dashes.
  explicit WorkloadCluster(const std::string& objects) : cluster_(objects) {
    cluster_.options.controllers.workloads = true;
    cluster_.options.trace_level = TraceLevel::kOff;
    cluster_.on_made = [this](Simulation& simulation) {
      for (auto& [at, work] : work_) {
        simulation.loop().At(simulation.zero() + at, EventLoop::Phase::kStep,
                             [&simulation, work = work] { work(simulation); });
      }
    };
  }

  SimulationOptions& options() { return cluster_.options; }

  // `at`: in seconds.
  void At(double at, std::function<void(Simulation& simulation)> work) {
    work_.emplace_back(absl::Seconds(at), std::move(work));
  }
  // A merge patch of an object in the namespace default.
  void Patch(double at, const std::string& kind, const std::string& name, const std::string& patch) {
    At(at, [kind, name, patch](Simulation& simulation) {
      const api::ObjectPtr object = Find(simulation, kind, name);
      CHECK(object != nullptr);
      const absl::Status status =
          codec::ReadText(patch, "patch.json", {}, [&](const codec::Document& document) {
            return simulation.server().Patch(*object, codec::PatchType::kMerge, document.root).status();
          });
      CHECK(status.ok());
    });
  }
  void Delete(double at, const std::string& kind, const std::string& name) {
    At(at, [kind, name](Simulation& simulation) {
      const api::ObjectPtr object = Find(simulation, kind, name);
      CHECK(object != nullptr);
      if (object->kind == api::Kind::kPod) {
        CHECK(simulation.server().DeletePod(static_cast<const api::Pod&>(*object)).ok());
      } else {
        const api::ObjectMeta& meta = object->metadata;
        CHECK(simulation.server().Delete(object->kind, kind, meta.namespace_, meta.name).ok());
      }
    });
  }

  void Run(std::optional<double> until = std::nullopt) { simulation_ = cluster_.Run(until); }

  Simulation& simulation() { return *simulation_; }
  // The object as JSON; null: there is none.
  nlohmann::json Get(const std::string& kind, const std::string& name) {
    const api::ObjectPtr object = Find(*simulation_, kind, name);
    return object == nullptr ? nlohmann::json() : nlohmann::json::parse(codec::ObjectJson(*object));
  }
  nlohmann::json Status(const std::string& kind, const std::string& name) {
    return Get(kind, name)["status"];
  }
  // `True MinimumReplicasAvailable`; "": there is no such condition.
  std::string Condition(const std::string& kind, const std::string& name, const std::string& type) {
    const nlohmann::json status = Status(kind, name);
    const nlohmann::json conditions = status.value("conditions", nlohmann::json::array());
    for (const nlohmann::json& condition : conditions) {
      if (condition["type"] != type) continue;
      return absl::StrCat(condition["status"].get<std::string>(), " ",
                          condition.value("reason", std::string()));
    }
    return "";
  }
  // Pods whose names begin so, by name.
  std::vector<api::PodPtr> Pods(absl::string_view prefix) {
    std::vector<api::PodPtr> pods;
    for (const auto& [key, object] : simulation_->server().List(api::Kind::kPod)) {
      if (!absl::StartsWith(object->metadata.name, prefix)) continue;
      pods.push_back(std::static_pointer_cast<const api::Pod>(object));
    }
    return pods;
  }
  // Objects of a kind, by name.
  std::vector<nlohmann::json> All(const std::string& kind) {
    std::vector<nlohmann::json> found;
    for (const auto& [key, object] : simulation_->server().List(api::FindKindByName(kind)->kind)) {
      if (object->kind_name == kind) found.push_back(nlohmann::json::parse(codec::ObjectJson(*object)));
    }
    return found;
  }

 private:
  static api::ObjectPtr Find(Simulation& simulation, const std::string& kind, const std::string& name) {
    const api::KindInfo* info = api::FindKindByName(kind);
    return simulation.server().Find(info->kind, kind, info->is_namespaced ? "default" : "", name);
  }

  SmallCluster cluster_;
  std::vector<std::pair<absl::Duration, std::function<void(Simulation& simulation)>>> work_;
  std::unique_ptr<Simulation> simulation_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_TESTS_SIM_CONTROLLERS_WORKLOAD_CLUSTER_H_
