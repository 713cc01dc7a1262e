#include "tests/core/queue/naive_queue.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"

namespace schedsim::queue {

using framework::ClusterEvent;
using framework::PodInfoPtr;
using framework::QueuedPodInfo;

MoveText DescribeMove(const std::string& key, SubQueue from, SubQueue to, const std::string& event,
                      const std::string& in_flight_event, absl::Span<const HintAnswer> answers) {
  std::string text = absl::StrCat(key, " ", static_cast<int>(from), " -> ", static_cast<int>(to), " ", event);
  if (!in_flight_event.empty()) absl::StrAppend(&text, " after ", in_flight_event);
  for (const HintAnswer& answer : answers) {
    absl::StrAppend(&text, ", ", answer.plugin, " says ", static_cast<int>(answer.answer));
  }
  return text;
}

NaiveQueue::NaiveQueue(const SchedulingQueue::Options& options, QueueWorld& world)
    : options_(options), world_(world) {
  for (const char* plugin : kPluginNames) {
    for (const framework::ClusterEventWithHint& event : EventsOf(plugin)) {
      hints_.push_back({.plugin = plugin, .event = event});
    }
    // Whoever waits for new nodes hears of taints as well; no plugin here waits for taints by itself.
    const bool waits_for_nodes = absl::string_view(plugin) == "Any" || absl::string_view(plugin) == "Label";
    if (world.line().taint_change_wakes_node_add && waits_for_nodes) {
      hints_.push_back({.plugin = plugin,
                        .event = {.event = {.resource = framework::EventResource::kNode,
                                            .action = framework::kUpdateNodeTaint},
                                  .hint = nullptr}});
    }
  }
}

NaiveQueue::Entry* NaiveQueue::Find(const std::string& key) {
  for (Entry& entry : entries_) {
    if (entry.pod.key == key) return &entry;
  }
  return nullptr;
}

bool NaiveQueue::HasProfile(const QueuedPodInfo& pod) const {
  return std::find(std::begin(kSchedulerNames), std::end(kSchedulerNames),
                   pod.pod_info->pod->spec->scheduler_name) != std::end(kSchedulerNames);
}

bool NaiveQueue::AnyoneWaitsFor(const ClusterEvent& event) const {
  return std::any_of(hints_.begin(), hints_.end(),
                     [&event](const Hint& hint) { return MatchClusterEvents(hint.event.event, event); });
}

absl::Time NaiveQueue::BackoffTime(const QueuedPodInfo& pod) const {
  const int count = pod.consecutive_errors_count > 0 ? pod.consecutive_errors_count : pod.unschedulable_count;
  if (count == 0) return absl::InfinitePast();
  absl::Duration backoff = options_.pod_initial_backoff;
  for (int i = 1; i < count; ++i) backoff = std::min(2 * backoff, options_.pod_max_backoff);
  return absl::FromUnixSeconds(absl::ToUnixSeconds(pod.timestamp + backoff));
}

bool NaiveQueue::IsBackingOff(const QueuedPodInfo& pod) const {
  return BackoffTime(pod) >= absl::FromUnixSeconds(absl::ToUnixSeconds(world_.clock().Now()));
}

void NaiveQueue::RunPreEnqueue(QueuedPodInfo& pod) const {
  framework::PluginNames& names = world_.plugin_names();
  const bool by_gate = !pod.pod_info->pod->spec->scheduling_gates.empty();
  const bool by_shut = world_.shut.count(pod.pod_info->pod->metadata.uid) > 0;
  const bool shut_before = pod.gating_plugin == names.IdOf("Shut");
  pod.gating_plugin.reset();
  if (!HasProfile(pod) || (!by_gate && !by_shut)) return;
  // The plugin that kept the pod out is asked first.
  const bool shut = by_shut && (shut_before || !by_gate);
  pod.gating_plugin = names.IdOf(shut ? "Shut" : "Gate");
  pod.unschedulable_plugins.set(static_cast<size_t>(*pod.gating_plugin));
}

void NaiveQueue::GoTo(Entry& entry, SubQueue place) {
  if (place == SubQueue::kUnschedulable && entry.place != SubQueue::kUnschedulable) {
    entry.pool_order = ++pool_order_;
  }
  entry.place = place;
}

void NaiveQueue::GoToActive(Entry& entry, bool run_pre_enqueue) {
  if (run_pre_enqueue) RunPreEnqueue(entry.pod);
  if (entry.pod.Gated()) return GoTo(entry, SubQueue::kUnschedulable);
  if (!entry.pod.initial_attempt_timestamp.has_value()) {
    entry.pod.initial_attempt_timestamp = world_.clock().Now();
  }
  GoTo(entry, SubQueue::kActive);
}

void NaiveQueue::Requeue(Entry& entry, Strategy strategy) {
  if (strategy == Strategy::kSkip) return GoTo(entry, SubQueue::kUnschedulable);
  if (strategy == Strategy::kImmediately || !IsBackingOff(entry.pod)) return GoToActive(entry, true);
  RunPreEnqueue(entry.pod);
  if (entry.pod.Gated()) return GoTo(entry, SubQueue::kUnschedulable);
  const bool by_error = entry.pod.RejectorPlugins().none();
  GoTo(entry, by_error ? SubQueue::kErrorBackoff : SubQueue::kBackoff);
}

NaiveQueue::Strategy NaiveQueue::Weigh(const QueuedPodInfo& pod, const Event& event, Answers& answers) const {
  answers.clear();
  if (pod.RejectorPlugins().none()) return Strategy::kAfterBackoff;
  if (event.event.IsWildcard()) {
    const bool of_other_pod =
        event.new_object != nullptr && event.new_object->metadata.uid != pod.pod_info->Uid();
    return of_other_pod ? Strategy::kSkip : Strategy::kAfterBackoff;
  }
  if (!HasProfile(pod)) return Strategy::kAfterBackoff;
  Strategy strategy = Strategy::kSkip;
  for (const Hint& hint : hints_) {
    const framework::PluginId plugin = world_.plugin_names().IdOf(hint.plugin);
    const size_t bit = static_cast<size_t>(plugin);
    if (!pod.RejectorPlugins().test(bit) || !MatchClusterEvents(hint.event.event, event.event)) continue;
    HintAnswer::Answer answer = HintAnswer::Answer::kNoHint;
    if (hint.event.hint != nullptr) {
      const bool queue = hint.event.hint(*pod.pod_info, event.old_object.get(), event.new_object.get()) ==
                         framework::QueueingHint::kQueue;
      answer = queue ? HintAnswer::Answer::kQueue : HintAnswer::Answer::kSkip;
    }
    answers.push_back({.plugin = plugin, .answer = answer});
    if (answer == HintAnswer::Answer::kSkip) continue;
    if (pod.pending_plugins.test(bit)) return Strategy::kImmediately;
    strategy = Strategy::kAfterBackoff;
    if (pod.pending_plugins.none()) return strategy;
  }
  return strategy;
}

void NaiveQueue::NoteInFlight(const Event& event) {
  for (InFlight& pod : in_flight_) pod.events.push_back(event);
}

void NaiveQueue::EndNomination(const std::string& uid) {
  std::erase_if(nominations_, [&uid](const Nomination& other) { return other.pod->Uid() == uid; });
}

void NaiveQueue::Nominate(const PodInfoPtr& pod, const std::string& node) {
  EndNomination(pod->pod->metadata.uid);
  const api::PodPtr known = world_.informer_cache.FindPod("default", pod->pod->metadata.name);
  if (node.empty() || known == nullptr || !known->node_name.empty()) return;
  nominations_.push_back({.pod = pod, .node = node});
}

void NaiveQueue::Tell(const Entry& entry, SubQueue from, const std::string& event, const Answers& answers,
                      const std::string& in_flight_event) {
  moves_.push_back(DescribeMove(entry.pod.key, from, entry.place, event, in_flight_event, answers));
}

void NaiveQueue::Add(const PodInfoPtr& pod) {
  Entry entry;
  entry.pod.key = pod->pod->Key();
  entry.pod.pod_info = pod;
  entry.pod.timestamp = world_.clock().Now();
  std::erase_if(entries_, [&entry](const Entry& other) { return other.pod.key == entry.pod.key; });
  GoToActive(entry, true);
  Tell(entry, SubQueue::kNone, EventLabel(framework::kEventUnscheduledPodAdd, world_.line()));
  if (world_.line().nominates_gated_pods || entry.place == SubQueue::kActive) {
    Nominate(pod, pod->pod->status.nominated_node_name);
  }
  entries_.push_back(entry);
}

void NaiveQueue::Update(const api::PodPtr& old_pod, const PodInfoPtr& new_pod) {
  const std::string& uid = new_pod->pod->metadata.uid;
  const std::vector<ClusterEvent> events = framework::PodSchedulingPropertiesChange(
      *new_pod->pod, *old_pod, framework::EventResource::kTargetPod, world_.line());
  const bool flies = std::any_of(in_flight_.begin(), in_flight_.end(),
                                 [&uid](const InFlight& pod) { return pod.uid == uid; });
  if (flies) {
    for (const ClusterEvent& event : events) {
      NoteInFlight({.event = event, .old_object = old_pod, .new_object = new_pod->pod});
    }
    return;
  }
  Entry* entry = Find(new_pod->pod->Key());
  if (entry == nullptr) return Add(new_pod);
  entry->pod.pod_info = new_pod;
  std::string node = new_pod->pod->status.nominated_node_name;
  if (old_pod->status.nominated_node_name.empty() && node.empty()) {
    for (const Nomination& nomination : nominations_) {
      if (nomination.pod->Uid() == old_pod->metadata.uid) node = nomination.node;
    }
  }
  EndNomination(old_pod->metadata.uid);
  Nominate(new_pod, node);
  for (const ClusterEvent& event : events) {
    if (entry->place != SubQueue::kUnschedulable) return;
    Answers answers;
    const Strategy strategy =
        Weigh(entry->pod, {.event = event, .old_object = old_pod, .new_object = new_pod->pod}, answers);
    if (strategy == Strategy::kSkip) continue;
    Requeue(*entry, strategy);
    Tell(*entry, SubQueue::kUnschedulable, EventLabel(event, world_.line()), answers);
  }
}

void NaiveQueue::Delete(const api::Pod& pod) {
  EndNomination(pod.metadata.uid);
  Entry* entry = Find(pod.Key());
  if (entry == nullptr) return;
  const SubQueue from = std::exchange(entry->place, SubQueue::kNone);
  Tell(*entry, from, EventLabel(framework::kEventUnscheduledPodDelete, world_.line()));
  std::erase_if(entries_, [&pod](const Entry& other) { return other.pod.key == pod.Key(); });
}

std::optional<QueuedPodInfo> NaiveQueue::Pop() {
  while (true) {
    const bool any_active = std::any_of(entries_.begin(), entries_.end(),
                                        [](const Entry& entry) { return entry.place == SubQueue::kActive; });
    const SubQueue from = any_active ? SubQueue::kActive : SubQueue::kBackoff;
    const Entry* first = nullptr;
    for (const Entry& entry : entries_) {
      if (entry.place != from) continue;
      bool before = first == nullptr;
      if (!before && from == SubQueue::kActive) before = SortsBefore(entry.pod, first->pod);
      if (!before && from == SubQueue::kBackoff) {
        const absl::Time time = BackoffTime(entry.pod);
        const absl::Time first_time = BackoffTime(first->pod);
        before = time < first_time || (time == first_time && SortsBefore(entry.pod, first->pod));
      }
      if (before) first = &entry;
    }
    if (first == nullptr) return std::nullopt;
    Entry popped = *first;
    std::erase_if(entries_, [&popped](const Entry& other) { return other.pod.key == popped.pod.key; });
    ++popped.pod.attempts;
    popped.pod.gating_plugin.reset();
    const std::string uid(popped.pod.pod_info->Uid());
    const bool flies = std::any_of(in_flight_.begin(), in_flight_.end(),
                                   [&uid](const InFlight& pod) { return pod.uid == uid; });
    popped.place = flies ? SubQueue::kNone : SubQueue::kInFlight;
    Tell(popped, from, any_active ? "Pop" : "PopFromBackoffQ");
    if (flies) continue;
    in_flight_.push_back({.uid = uid, .events = {}});
    return popped.pod;
  }
}

void NaiveQueue::Done(const std::string& uid) {
  std::erase_if(in_flight_, [&uid](const InFlight& pod) { return pod.uid == uid; });
}

void NaiveQueue::AddUnschedulableIfNotPresent(QueuedPodInfo pod) {
  const std::string uid(pod.pod_info->Uid());
  if (Find(pod.key) == nullptr) {
    const bool by_error = pod.RejectorPlugins().none();
    pod.unschedulable_count += by_error ? 0 : 1;
    pod.consecutive_errors_count = by_error ? pod.consecutive_errors_count + 1 : 0;
    pod.timestamp = world_.clock().Now();
    pod.flush_timestamp.reset();
    Strategy strategy = by_error ? Strategy::kAfterBackoff : Strategy::kSkip;
    Answers told;
    std::string told_event;
    const auto flight = std::find_if(in_flight_.begin(), in_flight_.end(),
                                     [&uid](const InFlight& other) { return other.uid == uid; });
    if (flight == in_flight_.end()) strategy = Strategy::kAfterBackoff;
    if (flight != in_flight_.end() && !by_error) {
      // The first event that lets the pod go counts, or the first that lets it go at once.
      for (const Event& event : flight->events) {
        Answers answers;
        const Strategy one = Weigh(pod, event, answers);
        if (one == Strategy::kSkip) continue;
        strategy = one;
        told = answers;
        told_event = EventLabel(event.event, world_.line());
        if (one == Strategy::kImmediately || pod.pending_plugins.none()) break;
      }
    }
    Entry entry = {.pod = std::move(pod), .place = SubQueue::kInFlight};
    Requeue(entry, strategy);
    Tell(entry, SubQueue::kInFlight, "ScheduleAttemptFailure", told, told_event);
    entries_.push_back(entry);
  }
  Done(uid);
}

void NaiveQueue::MovePods(const std::vector<std::string>& keys, const Event& event) {
  const framework::PluginNames& names = world_.plugin_names();
  for (const std::string& key : keys) {
    Entry& entry = *Find(key);
    const bool reaches_gated = (event.event.IsWildcard() && world_.line().flush_reaches_gated_pods) ||
                               std::any_of(hints_.begin(), hints_.end(), [&](const Hint& hint) {
                                 return entry.pod.Gated() &&
                                        names.NameOf(*entry.pod.gating_plugin) == hint.plugin &&
                                        MatchClusterEvents(hint.event.event, event.event);
                               });
    // A pod that has no profile any more is never asked for.
    if (entry.pod.Gated() && (!reaches_gated || (!HasProfile(entry.pod) && !event.event.IsWildcard())))
      continue;
    Answers answers;
    const Strategy strategy = Weigh(entry.pod, event, answers);
    if (strategy == Strategy::kSkip) continue;
    entry.place = SubQueue::kNone;
    Requeue(entry, strategy);
    Tell(entry, SubQueue::kUnschedulable, EventLabel(event.event, world_.line()), answers);
  }
  NoteInFlight(event);
}

void NaiveQueue::MoveAllToActiveOrBackoffQueue(const ClusterEvent& event, const api::ObjectPtr& old_object,
                                               const api::ObjectPtr& new_object,
                                               const SchedulingQueue::PreCheck& pre_check) {
  if (!AnyoneWaitsFor(event)) return;
  std::vector<std::pair<uint64_t, std::string>> pool;
  for (const Entry& entry : entries_) {
    if (entry.place != SubQueue::kUnschedulable) continue;
    if (pre_check != nullptr && !pre_check(*entry.pod.pod_info->pod)) continue;
    pool.emplace_back(entry.pool_order, entry.pod.key);
  }
  std::sort(pool.begin(), pool.end());
  std::vector<std::string> keys;
  for (const auto& [order, key] : pool) keys.push_back(key);
  MovePods(keys, {.event = event, .old_object = old_object, .new_object = new_object});
}

void NaiveQueue::Activate(const std::vector<api::PodPtr>& pods) {
  for (const api::PodPtr& pod : pods) {
    Entry* entry = Find(pod->Key());
    if (entry != nullptr && entry->place != SubQueue::kActive) {
      const SubQueue from = entry->place;
      GoToActive(*entry, from == SubQueue::kUnschedulable || world_.line().activate_runs_pre_enqueue);
      Tell(*entry, from, "ForceActivate");
      continue;
    }
    const bool flies = std::any_of(in_flight_.begin(), in_flight_.end(),
                                   [&pod](const InFlight& other) { return other.uid == pod->metadata.uid; });
    if (flies) NoteInFlight({.event = framework::kEventForceActivate, .old_object = {}, .new_object = pod});
  }
}

void NaiveQueue::FlushBackoffCompleted() {
  for (Entry& entry : entries_) {
    const bool waits = entry.place == SubQueue::kBackoff || entry.place == SubQueue::kErrorBackoff;
    if (!waits || IsBackingOff(entry.pod)) continue;
    const SubQueue from = entry.place;
    GoToActive(entry, false);
    Tell(entry, from, "BackoffComplete");
  }
}

void NaiveQueue::FlushUnschedulableLeftover() {
  std::vector<std::pair<uint64_t, std::string>> due;
  const absl::Time now = world_.clock().Now();
  for (Entry& entry : entries_) {
    const absl::Time since =
        std::max(entry.pod.timestamp, entry.pod.flush_timestamp.value_or(absl::InfinitePast()));
    if (entry.place != SubQueue::kUnschedulable) continue;
    if (now - since <= options_.pod_max_in_unschedulable_pods) continue;
    if (world_.line().flush_reaches_gated_pods) entry.pod.flush_timestamp = now;
    due.emplace_back(entry.pool_order, entry.pod.key);
  }
  if (due.empty()) return;
  std::sort(due.begin(), due.end());
  std::vector<std::string> keys;
  for (const auto& [order, key] : due) keys.push_back(key);
  MovePods(keys, {.event = framework::kEventUnschedulableTimeout, .old_object = {}, .new_object = {}});
}

std::vector<const NaiveQueue::Entry*> NaiveQueue::Entries() const {
  std::vector<const Entry*> entries;
  for (const Entry& entry : entries_) entries.push_back(&entry);
  std::sort(entries.begin(), entries.end(),
            [](const Entry* a, const Entry* b) { return a->pod.key < b->pod.key; });
  return entries;
}

std::map<std::string, std::vector<std::string>> NaiveQueue::Nominations() const {
  std::map<std::string, std::vector<std::string>> nominations;
  for (const Nomination& nomination : nominations_) {
    nominations[nomination.node].emplace_back(nomination.pod->Uid());
  }
  return nominations;
}

}  // namespace schedsim::queue
