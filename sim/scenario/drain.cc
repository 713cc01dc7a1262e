#include "sim/scenario/drain.h"

#include <algorithm>
#include <utility>

namespace schedsim::sim {
namespace {

constexpr absl::Duration kRetryPeriod = absl::Seconds(5);

bool StaysOnDrain(const api::Pod& pod) {
  const auto& owners = pod.metadata.owner_references;
  const bool of_daemon_set = std::any_of(owners.begin(), owners.end(), [](const api::OwnerReference& owner) {
    return owner.controller && owner.kind == "DaemonSet";
  });
  return of_daemon_set || pod.metadata.annotations.Find("kubernetes.io/config.mirror") != nullptr;
}

bool IsOfWorkload(const api::Pod& pod) {
  const auto& owners = pod.metadata.owner_references;
  return std::any_of(owners.begin(), owners.end(),
                     [](const api::OwnerReference& owner) { return owner.controller; });
}

}  // namespace

void Drainer::Drain(absl::string_view node_name, absl::Duration timeout) {
  std::vector<api::PodPtr>& pods = pods_[std::string(node_name)];
  pods.clear();
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    auto pod = std::static_pointer_cast<const api::Pod>(object);
    if (pod->node_name == node_name && !StaysOnDrain(*pod)) pods.push_back(std::move(pod));
  }
  Try(std::string(node_name), loop_.Now() + timeout);
}

void Drainer::Try(const std::string& node_name, absl::Time deadline) {
  bool is_blocked = false;
  const std::vector<api::PodPtr> pods = pods_[node_name];
  for (const api::PodPtr& pod : pods) {
    const api::PodPtr now = server_.FindPod(pod->metadata.namespace_, pod->metadata.name);
    if (!IsThere(*pod) || now->metadata.deletion_timestamp.has_value()) continue;
    if (now->IsTerminal() || disruptions_.AllowsEviction(*now)) {
      server_.DeletePod(*now).IgnoreError();
      if (IsOfWorkload(*now)) ++evicted_of_workloads_;
    } else {
      is_blocked = true;
    }
  }
  if (!is_blocked || loop_.Now() + kRetryPeriod > deadline) return;
  loop_.At(loop_.Now() + kRetryPeriod, EventLoop::Phase::kStep,
           [this, node_name, deadline] { Try(node_name, deadline); });
}

bool Drainer::IsThere(const api::Pod& pod) const {
  const api::PodPtr now = server_.FindPod(pod.metadata.namespace_, pod.metadata.name);
  return now != nullptr && now->metadata.uid == pod.metadata.uid;
}

bool Drainer::IsDrained(const std::string& node_name) const {
  auto found = pods_.find(node_name);
  if (found == pods_.end()) return true;
  return std::none_of(found->second.begin(), found->second.end(),
                      [this](const api::PodPtr& pod) { return IsThere(*pod); });
}

std::vector<std::string> Drainer::Left(const std::string& node_name) const {
  std::vector<std::string> left;
  auto found = pods_.find(node_name);
  if (found == pods_.end()) return left;
  for (const api::PodPtr& pod : found->second) {
    if (IsThere(*pod)) left.push_back(pod->Key());
  }
  return left;
}

}  // namespace schedsim::sim
