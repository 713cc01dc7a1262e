#include "sim/seeds/invariants.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "core/framework/node_info.h"

namespace schedsim::sim {
namespace {

constexpr int64_t kNamedMax = 5;

}  // namespace

Invariants::Invariants(Simulation& simulation) : simulation_(simulation) {
  simulation.server().Watch([this](const WatchEvent& event) {
    const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
    if (object.kind == api::Kind::kPod) OnPod(event);
  });
}

void Invariants::OnPod(const WatchEvent& event) {
  const auto before = std::static_pointer_cast<const api::Pod>(event.old_object);
  const auto now = std::static_pointer_cast<const api::Pod>(event.new_object);
  if (now == nullptr) {
    alive_.erase(before->metadata.uid);
    return;
  }
  alive_[now->metadata.uid] = now;
  if (before == nullptr || before->node_name == now->node_name) return;
  const bool is_second = !bound_.insert(now->metadata.uid).second;
  if (is_second || !before->node_name.empty())
    Note(absl::StrCat("was bound twice, to ", before->node_name, " and ", now->node_name), *now);
}

void Invariants::Note(absl::string_view what, const api::Pod& pod) {
  if (++problem_count_ <= kNamedMax) problems_.push_back(absl::StrCat(pod.Key(), " ", what));
}

std::vector<std::string> Invariants::Check() {
  std::set<std::string> there;
  simulation_.server().ForEachPod([&there](const api::Pod& pod) { there.insert(pod.metadata.uid); });
  for (const auto& [uid, pod] : alive_)
    if (there.count(uid) == 0) Note("is lost: nobody deleted it", *pod);
  had_settled_ = !simulation_.InTransit();
  if (had_settled_) {
    for (scheduler::Scheduler* scheduler : simulation_.schedulers()) CheckScheduler(*scheduler);
  }
  if (problem_count_ > kNamedMax)
    problems_.push_back(absl::StrCat("and ", problem_count_ - kNamedMax, " more"));
  return problems_;
}

void Invariants::CheckScheduler(scheduler::Scheduler& scheduler) {
  queued_.clear();
  const queue::SchedulingQueue::State state = scheduler.queue().GetState();
  for (const auto* pods : {&state.active, &state.backoff, &state.unschedulable})
    for (const framework::QueuedPodInfo* pod : *pods) ++queued_[pod->key];
  simulation_.server().ForEachPod([&](const api::Pod& pod) { CheckPod(pod, scheduler); });
  for (const auto& [key, count] : queued_) {
    if (simulation_.server().FindByKey(api::Kind::kPod, "Pod", key) == nullptr &&
        ++problem_count_ <= kNamedMax)
      problems_.push_back(absl::StrCat(key, " is in the queue, but gone"));
  }
  CheckCache(scheduler);
}

// A pod that is being deleted leaves the queue when it is popped, so it may be in it or not.
void Invariants::CheckPod(const api::Pod& pod, scheduler::Scheduler& scheduler) {
  const auto found = queued_.find(pod.Key());
  const int64_t queue_count = found == queued_.end() ? 0 : found->second;
  const framework::PodInfoPtr cached = scheduler.cache().FindPod(pod);
  const bool is_assumed = scheduler.cache().IsAssumedPod(pod);
  if (pod.IsTerminal() || !pod.node_name.empty() || !scheduler.ResponsibleFor(pod)) {
    if (queue_count > 0) Note("does not wait, but is in the queue", pod);
    const bool is_on_node = !pod.node_name.empty() && !pod.IsTerminal();
    if (!is_on_node) return;
    if (cached == nullptr || is_assumed || cached->pod->node_name != pod.node_name)
      Note(absl::StrCat("is on ", pod.node_name, ", but the scheduler's cache does not have it there"), pod);
    return;
  }
  const bool may_be_away = pod.metadata.deletion_timestamp.has_value() || is_assumed;
  if (queue_count != 1 && !(may_be_away && queue_count == 0))
    Note(absl::StrCat("waits, and is in ", queue_count, " places of the queue"), pod);
}

void Invariants::CheckCache(const scheduler::Scheduler& scheduler) {
  const cache::Cache& cache = scheduler.cache();
  for (const std::unique_ptr<framework::NodeInfo>& node : cache.nodes()) {
    for (const framework::PodInfoPtr& info : node->pods) {
      const api::Pod& pod = *info->pod;
      if (cache.IsAssumedPod(pod)) continue;
      const auto found = alive_.find(pod.metadata.uid);
      const bool is_there =
          found != alive_.end() && !found->second->IsTerminal() && found->second->node_name == pod.node_name;
      if (!is_there) Note(absl::StrCat("is on ", pod.node_name, " in the scheduler's cache alone"), pod);
    }
  }
}

}  // namespace schedsim::sim
