#include "sim/controllers/node_lifecycle.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "core/api/node.h"
#include "core/api/taints.h"

namespace schedsim::sim {
namespace {

constexpr char kNoExecute[] = "NoExecute";

bool IsOfLifecycle(const api::Taint& taint) {
  return taint.key == api::kTaintNodeNotReady || taint.key == api::kTaintNodeUnreachable;
}

void SetStatus(api::Node& node, absl::string_view type, absl::string_view status, bool add) {
  for (api::NodeCondition& condition : node.status.conditions) {
    if (condition.type != type) continue;
    condition.status = std::string(status);
    return;
  }
  if (add) node.status.conditions.push_back({.type = std::string(type), .status = std::string(status)});
}

bool HasUnschedulableTaint(const api::Node& node) {
  return std::any_of(node.spec.taints.begin(), node.spec.taints.end(), [](const api::Taint& taint) {
    return taint.key == api::kTaintNodeUnschedulable && taint.effect == "NoSchedule";
  });
}

}  // namespace

void NodeLifecycleController::OnEvent(const WatchEvent& event) {
  if (!started_ || event.new_object == nullptr) return;
  const auto& node = static_cast<const api::Node&>(*event.new_object);
  if (node.spec.unschedulable != HasUnschedulableTaint(node)) unschedulable_.Add(node.metadata.name);
}

void NodeLifecycleController::Start() {
  started_ = true;
  for (const auto& [name, object] : server_.List(api::Kind::kNode)) OnEvent({.new_object = object});
}

absl::Status NodeLifecycleController::SetUnschedulableTaint(const std::string& node_name) {
  const api::ObjectPtr stored = server_.Find(api::Kind::kNode, "Node", "", node_name);
  if (stored == nullptr) return absl::OkStatus();
  auto node = std::static_pointer_cast<api::Node>(stored->Clone());
  if (node->spec.unschedulable == HasUnschedulableTaint(*node)) return absl::OkStatus();
  if (node->spec.unschedulable) {
    node->spec.taints.push_back(
        {.key = std::string(api::kTaintNodeUnschedulable), .value = "", .effect = "NoSchedule"});
  } else {
    std::erase_if(node->spec.taints,
                  [](const api::Taint& taint) { return taint.key == api::kTaintNodeUnschedulable; });
  }
  return server_.Update(node);
}

absl::Status NodeLifecycleController::MissHeartbeats(const std::string& node_name,
                                                     absl::Duration grace_period) {
  if (server_.Find(api::Kind::kNode, "Node", "", node_name) == nullptr) {
    return absl::NotFoundError(absl::StrCat("there is no Node ", node_name));
  }
  if (graces_.count(node_name) > 0) return absl::OkStatus();
  graces_[node_name] = loop_.At(loop_.Now() + grace_period, EventLoop::Phase::kStep, [this, node_name] {
    graces_.erase(node_name);
    SetCondition(node_name, "Unknown", api::kTaintNodeUnreachable);
  });
  return absl::OkStatus();
}

absl::Status NodeLifecycleController::SetNotReady(const std::string& node_name) {
  if (server_.Find(api::Kind::kNode, "Node", "", node_name) == nullptr) {
    return absl::NotFoundError(absl::StrCat("there is no Node ", node_name));
  }
  SetCondition(node_name, "False", api::kTaintNodeNotReady);
  return absl::OkStatus();
}

absl::Status NodeLifecycleController::Recover(const std::string& node_name) {
  if (server_.Find(api::Kind::kNode, "Node", "", node_name) == nullptr) {
    return absl::NotFoundError(absl::StrCat("there is no Node ", node_name));
  }
  auto grace = graces_.find(node_name);
  if (grace != graces_.end()) {
    loop_.Cancel(grace->second);
    graces_.erase(grace);
  }
  SetCondition(node_name, "True", "");
  return absl::OkStatus();
}

// The conditions first, then the taints, as two changes.
void NodeLifecycleController::SetCondition(const std::string& node_name, absl::string_view ready,
                                           absl::string_view taint_key) {
  const api::ObjectPtr stored = server_.Find(api::Kind::kNode, "Node", "", node_name);
  if (stored == nullptr) return;
  auto node = std::static_pointer_cast<api::Node>(stored->Clone());
  SetStatus(*node, "Ready", ready, /*add=*/true);
  // A kubelet that says that it is not ready still says what it lacks.
  if (ready != "False") {
    const absl::string_view pressure = ready == "Unknown" ? "Unknown" : "False";
    for (const char* type : {"MemoryPressure", "DiskPressure", "PIDPressure"}) {
      SetStatus(*node, type, pressure, /*add=*/false);
    }
  }
  server_.Update(node).IgnoreError();
  auto tainted = std::static_pointer_cast<api::Node>(node->Clone());
  std::erase_if(tainted->spec.taints, IsOfLifecycle);
  if (!taint_key.empty()) {
    for (const char* effect : {"NoSchedule", kNoExecute}) {
      tainted->spec.taints.push_back({.key = std::string(taint_key), .value = "", .effect = effect});
    }
  }
  // It is a copy from before the update above.
  if (tainted->spec.taints != node->spec.taints) {
    server_.Update(tainted, ApiServer::VersionCheck::kUnchecked).IgnoreError();
  }
}

}  // namespace schedsim::sim
