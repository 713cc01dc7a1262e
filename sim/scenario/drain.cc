#include "sim/scenario/drain.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/cluster/eviction.h"
#include "sim/controllers/daemon_set.h"

namespace schedsim::sim {
namespace {

constexpr absl::Duration kRetryPeriod = absl::Seconds(5);
// How often kubectl looks whether an evicted pod is gone.
constexpr absl::Duration kPollPeriod = absl::Seconds(1);
// So many tries come one after the other; later ones wait for a change.
constexpr int64_t kTryCount = 1000;

bool HasEmptyDir(const api::Pod& pod) {
  return std::any_of(pod.spec->volumes.begin(), pod.spec->volumes.end(), [](const api::Volume& volume) {
    return absl::StartsWith(volume.source, "{\"emptyDir\"");
  });
}

}  // namespace

Drainer::Drainer(EventLoop& loop, ApiServer& server) : loop_(loop), server_(server) {
  server_.Watch([this](const WatchEvent& event) { OnEvent(event); });
}

void Drainer::Drain(const std::vector<std::string>& nodes, const DrainOptions& options, Failed failed) {
  Command& command = commands_.emplace_back();
  command.options = options;
  command.failed = std::move(failed);
  for (const std::string& node : nodes) {
    records_of_[node].push_back(turns_.size());
    command.turns.push_back(turns_.size());
    turns_.emplace_back().record.node = node;
  }
  BeginNode(commands_.size() - 1);
}

std::string Drainer::Refusal(const std::vector<api::PodPtr>& pods, const DrainOptions& options) {
  std::vector<std::string> bare;
  std::vector<std::string> local;
  std::vector<std::string> of_daemon_sets;
  for (const api::PodPtr& pod : pods) {
    if (pod->IsTerminal() || api::IsMirrorPod(*pod)) continue;
    if (IsDaemonSetPod(*pod)) {
      if (!options.ignore_daemon_sets) of_daemon_sets.push_back(pod->Key());
    } else if (HasEmptyDir(*pod) && !options.delete_empty_dir_data) {
      local.push_back(pod->Key());
    } else if (ControllerOf(*pod) == nullptr && !options.force) {
      bare.push_back(pod->Key());
    }
  }
  std::vector<std::string> errors;
  const auto add = [&errors](const std::vector<std::string>& keys, absl::string_view what) {
    if (!keys.empty())
      errors.push_back(absl::StrCat("cannot delete ", what, ": ", absl::StrJoin(keys, ", ")));
  };
  add(of_daemon_sets, "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)");
  add(local, "Pods with local storage (use --delete-emptydir-data to override)");
  add(bare, "Pods that declare no controller (use --force to override)");
  if (errors.size() < 2) return errors.empty() ? "" : errors[0];
  return absl::StrCat("[", absl::StrJoin(errors, ", "), "]");
}

void Drainer::BeginNode(size_t command_index) {
  Command& command = commands_[command_index];
  for (; command.index < command.turns.size(); ++command.index) {
    const size_t turn_index = command.turns[command.index];
    Turn& turn = turns_[turn_index];
    turn.record.begun = loop_.Now();
    std::vector<api::PodPtr> pods;
    for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
      auto pod = std::static_pointer_cast<const api::Pod>(object);
      if (pod->node_name == turn.record.node) pods.push_back(std::move(pod));
    }
    std::string refusal = Refusal(pods, command.options);
    if (!refusal.empty()) {
      turn.record.state = DrainedNode::State::kFailed;
      turn.record.ended = loop_.Now();
      turn.record.message = refusal;
      command.failed(absl::StrCat("unable to drain node \"", turn.record.node, "\" due to error: ", refusal));
      continue;
    }
    turn.record.state = DrainedNode::State::kDraining;
    for (api::PodPtr& pod : pods) {
      if (api::IsMirrorPod(*pod) || (IsDaemonSetPod(*pod) && !pod->IsTerminal())) continue;
      const api::OwnerReference* owner = ControllerOf(*pod);
      pods_[pod->metadata.uid].push_back(
          {.command = command_index, .turn = turn_index, .pod = turn.pods.size()});
      DrainedPod record;
      record.pod = pod->Key();
      if (owner != nullptr) record.owner = absl::StrCat(owner->kind, "/", owner->name);
      turn.record.pods.push_back(std::move(record));
      turn.pods.push_back(std::move(pod));
    }
    command.try_count = 0;
    command.finishes = false;
    command.deadline_id = 0;
    // For kubectl, no time at all is all the time there is.
    if (command.options.timeout == absl::ZeroDuration()) return Try(command_index);
    command.deadline = std::min(loop_.Now() + command.options.timeout, kEndOfTime);
    command.deadline_id = loop_.At(command.deadline, EventLoop::Phase::kStep, [this, command_index] {
      EndNode(command_index, absl::StrCat("global timeout reached: ",
                                          absl::FormatDuration(commands_[command_index].options.timeout)));
    });
    Try(command_index);
    return;
  }
}

void Drainer::Try(size_t command_index) {
  Command& command = commands_[command_index];
  const size_t turn_index = command.turns[command.index];
  const Turn& turn = turns_[turn_index];
  ++command.try_count;
  command.last_try = loop_.Now();
  command.next_try_id = 0;
  bool is_blocked = false;
  for (size_t i = 0; i < turn.pods.size(); ++i) {
    const DrainedPod& record = turn.record.pods[i];
    const bool is_done = record.evicted.has_value() || record.gone.has_value() || !record.error.empty();
    if (!is_done && TryPod({.command = command_index, .turn = turn_index, .pod = i})) is_blocked = true;
  }
  if (!is_blocked) {
    FinishIfGone(command_index);
    return;
  }
  if (command.try_count >= kTryCount) {
    command.is_asleep = true;
    ++asleep_count_;
    return;
  }
  command.next_try_id = loop_.At(loop_.Now() + kRetryPeriod, EventLoop::Phase::kStep,
                                 [this, command_index] { Try(command_index); });
}

bool Drainer::TryPod(const PodOfTurn& place) {
  Turn& turn = turns_[place.turn];
  const api::PodPtr pod = StoredPod(*turn.pods[place.pod]);
  DrainedPod& record = turn.record.pods[place.pod];
  if (pod == nullptr) {
    record.gone = loop_.Now();
    return false;
  }
  // A pod that is over or being deleted anyway has its successor for that.
  const bool is_over = pod->IsTerminal() || pod->metadata.deletion_timestamp.has_value();
  const api::OwnerReference* owner = is_over ? nullptr : ControllerOf(*pod);
  // The pod may be gone, and its successor there, before the eviction returns.
  if (owner != nullptr) without_successor_[owner->uid].push_back(place);
  const bool is_made_anew = is_made_anew_ != nullptr && is_made_anew_(*pod);
  const Eviction eviction = EvictPod(*pod, loop_.Now(), server_);
  if (eviction.outcome == Eviction::Outcome::kEvicted) {
    record.evicted = loop_.Now();
    record.was_over = is_over;
    if (owner != nullptr && !is_made_anew) ++evicted_of_workloads_;
    return false;
  }
  if (owner != nullptr) without_successor_[owner->uid].pop_back();
  record.budget = eviction.budget;
  if (eviction.outcome == Eviction::Outcome::kFailed) {
    record.error = eviction.message;
    return false;
  }
  ++record.refusal_count;
  record.cause = eviction.cause;
  return true;
}

// Every pod has its answer. kubectl looks each second whether one is gone that was evicted.
void Drainer::FinishIfGone(size_t command_index) {
  Command& command = commands_[command_index];
  if (command.finishes || command.next_try_id != 0 || command.is_asleep) return;
  const Turn& turn = turns_[command.turns[command.index]];
  absl::Time end = loop_.Now();
  std::vector<std::string> errors;
  for (const DrainedPod& pod : turn.record.pods) {
    if (!pod.error.empty())
      errors.push_back(absl::StrCat("error when evicting pods/\"", pod.pod, "\": ", pod.error));
    if (!pod.error.empty() || !pod.evicted.has_value()) continue;
    if (!pod.gone.has_value()) return;
    end = std::max(end, *pod.evicted + absl::Ceil(*pod.gone - *pod.evicted, kPollPeriod));
  }
  command.finishes = true;
  loop_.At(end, EventLoop::Phase::kStep, [this, command_index, failure = absl::StrJoin(errors, ", ")] {
    if (commands_[command_index].finishes) EndNode(command_index, failure);
  });
}

void Drainer::EndNode(size_t command_index, std::string failure) {
  Command& command = commands_[command_index];
  DrainedNode& record = turns_[command.turns[command.index]].record;
  if (command.deadline_id != 0) loop_.Cancel(command.deadline_id);
  if (command.next_try_id != 0) loop_.Cancel(command.next_try_id);
  command.next_try_id = 0;
  if (command.is_asleep) --asleep_count_;
  command.is_asleep = false;
  command.finishes = false;
  record.ended = loop_.Now();
  record.state = failure.empty() ? DrainedNode::State::kDrained : DrainedNode::State::kFailed;
  if (!failure.empty()) {
    command.failed(absl::StrCat("unable to drain node \"", record.node, "\" due to error: ", failure));
  }
  record.message = std::move(failure);
  ++command.index;
  BeginNode(command_index);
}

void Drainer::OnEvent(const WatchEvent& event) {
  if (commands_.empty()) return;
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind != api::Kind::kPod && object.kind != api::Kind::kPodDisruptionBudget) return;
  if (asleep_count_ > 0) Wake();
  if (object.kind != api::Kind::kPod) return;
  if (event.new_object == nullptr) OnPodGone(static_cast<const api::Pod&>(object));
  if (event.old_object == nullptr) OnPodCreated(static_cast<const api::Pod&>(object));
}

void Drainer::OnPodGone(const api::Pod& pod) {
  auto found = pods_.find(pod.metadata.uid);
  if (found == pods_.end()) return;
  const std::vector<PodOfTurn> places = std::move(found->second);
  pods_.erase(found);
  for (const PodOfTurn& place : places) {
    DrainedPod& record = turns_[place.turn].record.pods[place.pod];
    record.gone = loop_.Now();
    const Command& command = commands_[place.command];
    const bool is_its_turn =
        command.index < command.turns.size() && command.turns[command.index] == place.turn;
    // While its eviction is under way, whoever evicts it looks.
    if (is_its_turn && record.evicted.has_value()) FinishIfGone(place.command);
  }
}

void Drainer::OnPodCreated(const api::Pod& pod) {
  const api::OwnerReference* owner = ControllerOf(pod);
  if (owner == nullptr) return;
  auto found = without_successor_.find(owner->uid);
  if (found == without_successor_.end() || found->second.empty()) return;
  const PodOfTurn place = found->second.front();
  found->second.pop_front();
  turns_[place.turn].record.pods[place.pod].successor = pod.Key();
}

// Whether an eviction is allowed rests on pods and budgets alone, and a try comes at one of its times, every
// five seconds. Those that were left out would have been refused.
void Drainer::Wake() {
  for (size_t i = 0; i < commands_.size(); ++i) {
    Command& command = commands_[i];
    if (!command.is_asleep) continue;
    command.is_asleep = false;
    --asleep_count_;
    const absl::Duration asleep =
        std::max(absl::Ceil(loop_.Now() - command.last_try, kRetryPeriod), kRetryPeriod);
    const int64_t left_out = asleep / kRetryPeriod - 1;
    for (DrainedPod& pod : turns_[command.turns[command.index]].record.pods) {
      const bool waits = !pod.evicted.has_value() && !pod.gone.has_value() && pod.error.empty();
      if (waits) pod.refusal_count += left_out;
    }
    command.next_try_id = loop_.At(command.last_try + asleep, EventLoop::Phase::kStep, [this, i] { Try(i); });
  }
}

api::PodPtr Drainer::StoredPod(const api::Pod& pod) const {
  api::PodPtr now = server_.FindPod(pod.metadata.namespace_, pod.metadata.name);
  return now == nullptr || now->metadata.uid != pod.metadata.uid ? nullptr : now;
}

bool Drainer::IsDrained(const std::string& node_name) const {
  auto found = records_of_.find(node_name);
  if (found == records_of_.end()) return true;
  return std::all_of(found->second.begin(), found->second.end(), [this](size_t index) {
    const Turn& turn = turns_[index];
    return turn.record.begun.has_value() &&
           std::none_of(turn.pods.begin(), turn.pods.end(),
                        [this](const api::PodPtr& pod) { return StoredPod(*pod) != nullptr; });
  });
}

std::vector<std::string> Drainer::Left(const std::string& node_name) const {
  // Several drains of the node may wait for one pod.
  std::set<std::string> left;
  auto found = records_of_.find(node_name);
  if (found == records_of_.end()) return {};
  for (const size_t index : found->second) {
    for (const api::PodPtr& pod : turns_[index].pods) {
      if (StoredPod(*pod) != nullptr) left.insert(pod->Key());
    }
  }
  return {left.begin(), left.end()};
}

std::vector<DrainedNode> Drainer::Records() const {
  std::vector<DrainedNode> records;
  for (const Turn& turn : turns_) {
    records.push_back(turn.record);
    for (DrainedPod& pod : records.back().pods) {
      const size_t slash = pod.successor.find('/');
      if (slash == std::string::npos) continue;
      const api::PodPtr successor =
          server_.FindPod(pod.successor.substr(0, slash), pod.successor.substr(slash + 1));
      pod.successor_is_gone = successor == nullptr;
      if (successor != nullptr) pod.successor_node = successor->node_name;
    }
  }
  return records;
}

}  // namespace schedsim::sim
