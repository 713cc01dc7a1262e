#include "sim/analysis/wakeups.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/framework/events.h"

namespace schedsim::sim {

using framework::QueuedPodInfo;
using framework::SubQueue;
using queue::HintAnswer;

namespace {

// Older ones are forgotten: a scheduler that is long busy sees many.
constexpr size_t kEventsMax = 10'000;
constexpr size_t kEventsShown = 10;

void AppendMap(const api::StringMap& map, std::string& text) {
  for (const auto& [key, value] : map) absl::StrAppend(&text, "\n", key, "=", value);
  text += "\n\n";
}

// Pods with equal keys fit on the same nodes.
std::string GroupKey(const QueuedPodInfo& queued) {
  const api::Pod& pod = *queued.pod_info->pod;
  std::string key = absl::StrCat(queued.pod_info->spec_info->id, "\n", pod.metadata.namespace_, "\n",
                                 pod.status.nominated_node_name, "\n", queued.RejectorPlugins().to_string());
  AppendMap(pod.metadata.labels, key);
  AppendMap(pod.metadata.annotations, key);
  // Their claims are named after the pod, or in its status.
  const bool own_claims = std::any_of(pod.spec->volumes.begin(), pod.spec->volumes.end(),
                                      [](const api::Volume& volume) { return volume.ephemeral.has_value(); });
  if (own_claims || !pod.spec->resource_claims.empty()) absl::StrAppend(&key, pod.metadata.name);
  return key;
}

absl::string_view AnswerText(HintAnswer::Answer answer) {
  switch (answer) {
    case HintAnswer::Answer::kSkip:
      return "Skip";
    case HintAnswer::Answer::kQueue:
      return "Queue";
    case HintAnswer::Answer::kNoHint:
      return "none";
  }
  return "";
}

bool IsAbout(const api::ObjectPtr& object, const std::string& node) {
  if (object == nullptr) return false;
  if (object->kind == api::Kind::kNode) return object->metadata.name == node;
  return object->kind == api::Kind::kPod && static_cast<const api::Pod&>(*object).node_name == node;
}

}  // namespace

WakeupCheck::WakeupCheck(Simulation& simulation)
    : scheduler_(simulation.scheduler()), clock_(simulation.loop()), zero_(simulation.zero()) {
  simulation.AddObserver(this);
}

void WakeupCheck::OnMove(const queue::Move& move) {
  if (move.to == SubQueue::kInFlight) popped_[move.pod.key] = next_sequence_;
  if (move.from != SubQueue::kUnschedulable || move.to == SubQueue::kUnschedulable) return;
  const size_t* open = open_.Find(move.pod.key);
  if (open == nullptr) return;
  findings_[*open].woken_at = clock_.Now() - zero_;
  findings_[*open].woken_by = move.event;
  open_.Erase(move.pod.key);
}

void WakeupCheck::OnClusterEvent(const framework::ClusterEvent& event, const api::ObjectPtr& old_object,
                                 const api::ObjectPtr& new_object) {
  events_.push_back({.sequence = next_sequence_++,
                     .at = clock_.Now(),
                     .event = event,
                     .old_object = old_object,
                     .new_object = new_object});
  if (events_.size() > kEventsMax) events_.pop_front();
}

void WakeupCheck::OnChange(const WatchEvent& event) {
  if (changes_.size() == kEventsShown) return;
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  const absl::string_view verb = event.old_object == nullptr   ? "created"
                                 : event.new_object == nullptr ? "deleted"
                                                               : "updated";
  changes_.push_back(absl::StrCat(object.kind_name, " ", object.Key(), " ", verb));
}

// In the order of the keys, so that findings have an order of their own: that of their first pods.
std::map<std::string, WakeupCheck::Group> WakeupCheck::Groups() const {
  std::map<std::string, std::string> first_pods;
  std::map<std::string, Group> groups;
  for (const QueuedPodInfo* pod : scheduler_.queue().GetState().unschedulable) {
    const int32_t* reported = reported_.Find(pod->key);
    const bool known = reported != nullptr && *reported == pod->attempts;
    const bool deleted = pod->pod_info->pod->metadata.deletion_timestamp.has_value();
    if (pod->Gated() || pod->found_node || known || deleted) continue;
    const std::string& first = first_pods.emplace(GroupKey(*pod), pod->key).first->second;
    groups[first].push_back(pod);
  }
  return groups;
}

void WakeupCheck::OnRest() {
  const uint64_t change = scheduler_.change_count() + scheduler_.queue().change_count();
  if (change == last_change_) return;
  last_change_ = change;
  for (const auto& [first, group] : Groups()) {
    const framework::NodeInfo* node = scheduler_.FindFit(*group[0]);
    if (node != nullptr) Report(group, *node);
  }
  events_.clear();
  changes_.clear();
  popped_ = {};
}

void WakeupCheck::Report(const Group& group, const framework::NodeInfo& node) {
  const QueuedPodInfo& pod = *group[0];
  MissedWakeup missed = {.pods = {},
                         .at = clock_.Now() - zero_,
                         .node = node.node->metadata.name,
                         .attempts = pod.attempts,
                         .rejected_at = pod.timestamp - zero_,
                         .rejectors = scheduler_.plugin_names().Sorted(pod.RejectorPlugins())};
  for (const QueuedPodInfo* alike : group) {
    missed.pods.push_back(alike->key);
    reported_[alike->key] = alike->attempts;
  }
  AddEvents(pod, node, missed);
  open_[pod.key] = findings_.size();
  findings_.push_back(std::move(missed));
}

void WakeupCheck::AddEvents(const QueuedPodInfo& pod, const framework::NodeInfo& node,
                            MissedWakeup& missed) const {
  const uint64_t* popped = popped_.Find(pod.key);
  std::vector<const LoggedEvent*> since;
  for (const LoggedEvent& logged : events_) {
    if (popped == nullptr || logged.sequence >= *popped) since.push_back(&logged);
  }
  std::stable_partition(since.begin(), since.end(), [&node](const LoggedEvent* logged) {
    const std::string& name = node.node->metadata.name;
    return IsAbout(logged->old_object, name) || IsAbout(logged->new_object, name);
  });
  missed.event_count = static_cast<int64_t>(since.size());
  if (since.empty()) missed.changes = changes_;
  for (size_t i = 0; i < std::min(since.size(), kEventsShown); ++i) {
    missed.events.push_back(Explain(pod, *since[i], missed.rejectors));
  }
}

MissedWakeup::Event WakeupCheck::Explain(const QueuedPodInfo& pod, const LoggedEvent& logged,
                                         const std::vector<std::string>& rejectors) const {
  const api::ObjectPtr& object = logged.new_object != nullptr ? logged.new_object : logged.old_object;
  MissedWakeup::Event event = {.at = logged.at - zero_,
                               .label = framework::EventLabel(logged.event, scheduler_.line()),
                               .object = object == nullptr ? "" : object->Key(),
                               .answers = {}};
  const std::vector<HintAnswer> answers =
      scheduler_.queue().AnswersTo(pod, logged.event, logged.old_object.get(), logged.new_object.get());
  for (const std::string& plugin : rejectors) {
    std::string answer = "not registered";
    for (const HintAnswer& hint : answers) {
      if (scheduler_.plugin_names().NameOf(hint.plugin) == plugin)
        answer = std::string(AnswerText(hint.answer));
    }
    event.answers.emplace_back(plugin, std::move(answer));
  }
  return event;
}

}  // namespace schedsim::sim
