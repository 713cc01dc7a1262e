#include "sim/whatif/trial.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/base/status_macros.h"

namespace schedsim::sim {
namespace {

// Looks on at a run, and keeps what is gone in the end: pods, and what controlled them.
class Ledger {
 public:
  void OnEvent(const WatchEvent& event) {
    const api::ObjectPtr& object = event.new_object != nullptr ? event.new_object : event.old_object;
    if (object->kind == api::Kind::kPod) {
      const auto [place, is_new] = places_.emplace(object->metadata.uid, pods_.size());
      if (is_new) pods_.emplace_back();
      Entry& entry = pods_[place->second];
      entry.pod = std::static_pointer_cast<const api::Pod>(object);
      entry.is_deleted = event.new_object == nullptr;
    } else if (event.old_object == nullptr) {
      Owner& owner = owners_[object->metadata.uid];
      owner.name = absl::StrCat(object->kind_name, " ", object->Key());
      if (const api::OwnerReference* above = ControllerOf(*object)) owner.above = *above;
    }
  }

  // When the run is over.
  std::vector<TrialPod> Pods(const Simulation& simulation) const {
    std::vector<TrialPod> pods;
    for (const Entry& entry : pods_) pods.push_back(PodOf(entry, simulation));
    std::stable_sort(pods.begin(), pods.end(),
                     [](const TrialPod& a, const TrialPod& b) { return a.key < b.key; });
    return pods;
  }

 private:
  struct Entry {
    api::PodPtr pod;
    bool is_deleted = false;
  };
  struct Owner {
    std::string name;
    std::optional<api::OwnerReference> above;
  };

  TrialPod PodOf(const Entry& entry, const Simulation& simulation) const {
    const api::Pod& pod = *entry.pod;
    const PodTimes times = simulation.TimesOf(pod);
    TrialPod row = {.key = pod.Key(),
                    .group = absl::StrCat("Pod ", pod.Key()),
                    .node = pod.node_name,
                    .phase = pod.status.phase,
                    .is_placed = times.queued.has_value() && times.bound.has_value(),
                    .is_ending = pod.metadata.deletion_timestamp.has_value(),
                    .is_deleted = entry.is_deleted,
                    .is_evicted = entry.is_deleted && simulation.evicted().count(pod.Key()) > 0,
                    .message = ""};
    const api::OwnerReference* owner = ControllerOf(pod);
    if (owner != nullptr) row.group = NameOf(*owner, pod);
    row.root = row.group;
    // A controller may be controlled in turn; in no sensible input more than a few are.
    constexpr int kDepthMax = 8;
    for (int depth = 0; owner != nullptr && depth < kDepthMax; ++depth) {
      const auto found = owners_.find(owner->uid);
      if (found == owners_.end() || !found->second.above.has_value()) break;
      owner = &*found->second.above;
      row.root = NameOf(*owner, pod);
    }
    return row;
  }

  std::string NameOf(const api::OwnerReference& owner, const api::Pod& pod) const {
    const auto found = owners_.find(owner.uid);
    if (found != owners_.end()) return found->second.name;
    return absl::StrCat(owner.kind, " ", pod.metadata.namespace_, "/", owner.name);
  }

  std::map<std::string, size_t> places_;  // By uid, into `pods_`.
  std::vector<Entry> pods_;
  std::map<std::string, Owner> owners_;  // By uid.
};

std::map<std::string, int64_t> CountsOf(const Trial& trial, PodTest is) {
  std::map<std::string, int64_t> counts;
  for (const TrialPod& pod : trial.pods) counts[pod.group] += is(pod) ? 1 : 0;
  return counts;
}

std::set<std::string> KeysOf(const Trial& trial, PodTest is) {
  std::set<std::string> keys;
  for (const TrialPod& pod : trial.pods)
    if (is(pod)) keys.insert(pod.key);
  return keys;
}

bool Holds(const TrialPod& pod) { return pod.Holds(); }
bool IsEvicted(const TrialPod& pod) { return pod.is_evicted; }

int64_t CountAt(const std::map<std::string, int64_t>& counts, const std::string& group) {
  const auto found = counts.find(group);
  return found == counts.end() ? 0 : found->second;
}

// Adds what the report says of pods that are there.
void AddStates(Trial& trial) {
  std::map<std::string, const Report::Pod*> rows;
  for (const Report::Pod& row : trial.report.pods) rows[row.Key()] = &row;
  for (TrialPod& pod : trial.pods) {
    const auto row = pod.is_deleted ? rows.end() : rows.find(pod.key);
    if (row == rows.end()) continue;
    pod.is_pending = row->second->status == "Pending";
    pod.is_ignored = row->second->status == "Ignored";
    pod.message = row->second->message;
  }
}

std::vector<api::ObjectPtr> ObjectsOf(const ApiServer& server, const std::vector<api::ObjectPtr>& input) {
  std::vector<api::ObjectPtr> objects;
  std::set<const api::Object*> seen;
  const auto add = [&](const api::ObjectPtr& object) {
    if (object != nullptr && seen.insert(object.get()).second) objects.push_back(object);
  };
  for (const api::ObjectPtr& object : input) add(server.Find(*object));
  for (int kind = 0; kind < api::kKindCount; ++kind) {
    if (static_cast<api::Kind>(kind) == api::Kind::kPod) continue;
    for (const auto& [key, object] : server.List(static_cast<api::Kind>(kind))) add(object);
  }
  for (const auto& [key, object] : server.List(api::Kind::kPod)) add(object);
  return objects;
}

}  // namespace

absl::StatusOr<Trial> RunTrial(Plan plan, KeptObjects kept) {
  Trial trial;
  const std::vector<api::ObjectPtr> input = plan.input.objects;
  Ledger ledger;
  const size_t warnings_before = plan.input.warnings.size();
  plan.pod_rows = PodRows::kAll;
  plan.simulation.trace_level = TraceLevel::kOff;
  plan.on_made = [&ledger](Simulation& simulation) {
    simulation.server().Watch([&ledger](const WatchEvent& event) { ledger.OnEvent(event); });
  };
  plan.on_end = [&](const Simulation& simulation) {
    trial.pods = ledger.Pods(simulation);
    if (kept == KeptObjects::kAll) trial.objects = ObjectsOf(simulation.server(), input);
    for (const Simulation::Refused& refused : simulation.refused())
      trial.refused.push_back({.index = refused.index, .message = refused.message});
  };
  ASSIGN_OR_RETURN(trial.report, RunPlan(std::move(plan)));
  trial.notices = LateNotices(trial.report, warnings_before);
  if (!trial.report.ended_in_circles.empty())
    trial.notices.push_back(absl::StrCat("warning: ", trial.report.ended_in_circles));
  AddStates(trial);
  return trial;
}

const std::vector<std::string>& NoticesOf(const Trial& before, const Trial& after) {
  return before.IsInCircles() && !after.IsInCircles() ? before.notices : after.notices;
}

std::vector<std::string> Displaced(const Trial& before, const Trial& after,
                                   const std::map<std::string, int64_t>& explained) {
  const std::map<std::string, int64_t> held_before = CountsOf(before, Holds);
  const std::map<std::string, int64_t> held_after = CountsOf(after, Holds);
  const std::map<std::string, int64_t> evicted_before = CountsOf(before, IsEvicted);
  const std::map<std::string, int64_t> evicted_after = CountsOf(after, IsEvicted);
  const std::set<std::string> keys_after = KeysOf(after, Holds);
  std::set<std::string> names;
  std::map<std::string, int64_t> named;  // By group.
  for (const TrialPod& pod : after.pods) {
    const bool is_of_cluster = held_before.count(pod.group) > 0;
    const int64_t more = CountAt(evicted_after, pod.group) - CountAt(evicted_before, pod.group);
    if (!pod.is_evicted || !is_of_cluster || named[pod.group] >= more) continue;
    ++named[pod.group];
    names.insert(pod.key);
  }
  for (const TrialPod& pod : before.pods) {
    // A run that ends earlier makes fewer Jobs.
    const bool is_not_made = absl::StartsWith(pod.root, "CronJob ") && held_after.count(pod.group) == 0;
    const int64_t missing =
        CountAt(held_before, pod.group) - CountAt(held_after, pod.group) - CountAt(explained, pod.group);
    if (!pod.Holds() || is_not_made || keys_after.count(pod.key) > 0 || names.count(pod.key) > 0 ||
        named[pod.group] >= missing)
      continue;
    ++named[pod.group];
    names.insert(pod.key);
  }
  return {names.begin(), names.end()};
}

std::vector<const TrialPod*> Gained(const Trial& before, const Trial& after, PodTest is,
                                    const std::set<std::string>& first_nodes) {
  const std::map<std::string, int64_t> counts_before = CountsOf(before, is);
  std::map<std::string, int64_t> more = CountsOf(after, is);
  for (auto& [group, count] : more) count -= CountAt(counts_before, group);
  const std::set<std::string> keys_before = KeysOf(before, is);
  std::vector<const TrialPod*> pods;
  for (const TrialPod& pod : after.pods)
    if (is(pod)) pods.push_back(&pod);
  const auto rank = [&](const TrialPod* pod) {
    return std::pair(keys_before.count(pod->key), 1 - first_nodes.count(pod->node));
  };
  std::stable_sort(pods.begin(), pods.end(),
                   [&](const TrialPod* a, const TrialPod* b) { return rank(a) < rank(b); });
  std::vector<const TrialPod*> gained;
  for (const TrialPod* pod : pods)
    if (more[pod->group]-- > 0) gained.push_back(pod);
  std::sort(gained.begin(), gained.end(),
            [](const TrialPod* a, const TrialPod* b) { return a->key < b->key; });
  return gained;
}

void Messages::Add(const std::string& message, int64_t count) {
  counts_[message.empty() ? std::string(kNoAttempt) : message] += count;
}

std::vector<MessageSum> Messages::Sums() const {
  std::vector<MessageSum> sums;
  for (const auto& [message, count] : counts_) sums.push_back({.message = message, .count = count});
  std::stable_sort(sums.begin(), sums.end(),
                   [](const MessageSum& a, const MessageSum& b) { return a.count > b.count; });
  return sums;
}

}  // namespace schedsim::sim
