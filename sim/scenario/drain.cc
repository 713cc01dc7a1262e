#include "sim/scenario/drain.h"

#include <algorithm>
#include <utility>

namespace schedsim::sim {
namespace {

constexpr absl::Duration kRetryPeriod = absl::Seconds(5);
// So many tries come one after the other; later ones wait for a change.
constexpr int64_t kTryCount = 1000;

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

Drainer::Drainer(EventLoop& loop, ApiServer& server, DisruptionController& disruptions)
    : loop_(loop), server_(server), disruptions_(disruptions) {
  server_.Watch([this](const WatchEvent& event) { OnEvent(event); });
}

void Drainer::Drain(absl::string_view node_name, absl::Duration timeout) {
  std::vector<api::PodPtr>& pods = pods_[std::string(node_name)];
  pods.clear();
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    auto pod = std::static_pointer_cast<const api::Pod>(object);
    if (pod->node_name == node_name && !StaysOnDrain(*pod)) pods.push_back(std::move(pod));
  }
  Try({.node_name = std::string(node_name), .deadline = std::min(loop_.Now() + timeout, kEndOfTime)});
}

void Drainer::Try(Run run) {
  ++run.try_count;
  bool is_blocked = false;
  const std::vector<api::PodPtr> pods = pods_[run.node_name];
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
  if (!is_blocked || loop_.Now() + kRetryPeriod > run.deadline) return;
  if (run.try_count >= kTryCount) {
    Sleep(run);
    return;
  }
  loop_.At(loop_.Now() + kRetryPeriod, EventLoop::Phase::kStep, [this, run] { Try(run); });
}

// Whether an eviction is allowed rests on pods and budgets alone. The last try stays in the loop: up to then
// the drain is under way, and a run does not end by itself.
void Drainer::Sleep(const Run& run) {
  const absl::Time now = loop_.Now();
  const absl::Time last = now + absl::Floor(run.deadline - now, kRetryPeriod);
  const uint64_t id = loop_.At(last, EventLoop::Phase::kStep, [this, run] {
    std::erase_if(sleeping_, [this](const Sleeping& drain) { return drain.last <= loop_.Now(); });
    Try(run);
  });
  sleeping_.push_back({.run = run, .since = now, .last = last, .last_id = id});
}

// A try comes at one of its times, every five seconds.
void Drainer::OnEvent(const WatchEvent& event) {
  if (sleeping_.empty()) return;
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind != api::Kind::kPod && object.kind != api::Kind::kPodDisruptionBudget) return;
  const std::vector<Sleeping> woken = std::move(sleeping_);
  sleeping_.clear();
  for (const Sleeping& drain : woken) {
    const absl::Duration asleep = absl::Ceil(loop_.Now() - drain.since, kRetryPeriod);
    const absl::Time next = drain.since + std::max(asleep, kRetryPeriod);
    loop_.Cancel(drain.last_id);
    loop_.At(next, EventLoop::Phase::kStep, [this, run = drain.run] { Try(run); });
  }
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
