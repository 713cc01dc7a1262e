#include "sim/conformance/recorded_choice.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/record/records.h"

namespace schedsim::sim {
namespace {

using record::Text;

constexpr absl::string_view kErrorCode = "Error";

// The nodes to which PreFilter narrowed the search, as they were looked at; empty: it did not, or it is not
// recorded.
std::vector<std::string> LookedAt(const record::Attempt& attempt) {
  std::vector<std::string> nodes;
  if (!attempt.pre_filter.has_value() || !attempt.pre_filter->nodes.has_value()) return nodes;
  for (const record::FilteredNode& node : attempt.filter) nodes.emplace_back(node.node);
  if (!std::is_sorted(nodes.begin(), nodes.end())) return nodes;
  // Nodes in the order of their names are recorded so where the real order is not known. It had an error at
  // its end, and the host before the nodes that are as good.
  std::stable_partition(nodes.begin(), nodes.end(), [&attempt](const std::string& name) {
    return std::none_of(attempt.filter.begin(), attempt.filter.end(),
                        [&name](const auto& node) { return node.node == name && node.code == kErrorCode; });
  });
  std::stable_partition(nodes.begin(), nodes.end(),
                        [&attempt](const std::string& name) { return name == attempt.host; });
  return nodes;
}

// The index of the key that comes first in the record, which is used up; 0: none of them does.
size_t TakeFirst(const std::vector<std::string>& keys, std::vector<std::string>& recorded) {
  for (std::string& one : recorded) {
    const auto key = one.empty() ? keys.end() : std::find(keys.begin(), keys.end(), one);
    if (key == keys.end()) continue;
    one.clear();
    return static_cast<size_t>(key - keys.begin());
  }
  return 0;
}

}  // namespace

RecordedChoice::RecordedChoice(const Records& trace) {
  std::set<Text> incomplete;
  for (const record::Record& record : trace.list) {
    if (const auto* queue = record.As<record::Queue>()) {
      const std::set<Text> now(queue->incomplete.begin(), queue->incomplete.end());
      for (const auto& [pod, info] : queue->info) {
        if (incomplete.count(pod) > 0 && now.count(pod) == 0)
          joins_[std::string(pod)].push_back(!info.unschedulable_plugins.empty());
      }
      incomplete = now;
    }
    if (const auto* gone = record.As<record::Gone>()) endings_.emplace_back(gone->pod);
    if (const auto* failure = record.As<record::BindFailure>()) failures_.emplace_back(failure->pod);
    if (const auto* update = record.As<record::Update>()) {
      bindings_.emplace(update->claim.value_or(""), update->name);
    }
    const auto* attempt = record.As<record::Attempt>();
    if (attempt == nullptr) continue;
    places_.emplace(std::pair(std::string(attempt->pod), attempt->attempts), places_.size());
    std::string nominated;
    if (attempt->post_filter.has_value())
      nominated = std::string(attempt->post_filter->nominate.value_or(""));
    attempts_[{std::string(attempt->pod), attempt->attempts}].push_back(
        {.host = std::string(attempt->host), .nominated = nominated, .looked_at = LookedAt(*attempt)});
  }
}

std::optional<size_t> RecordedChoice::Choose(Kind kind, const framework::PodInfo& pod, int32_t attempts,
                                             absl::Span<const absl::string_view> nodes) {
  const std::vector<Attempt>* recorded = AttemptsOf(pod, attempts);
  if (recorded == nullptr) return std::nullopt;
  std::string taken;
  for (const Attempt& attempt : *recorded) {
    const std::string& wanted = kind == Kind::kHost ? attempt.host : attempt.nominated;
    auto node = std::find(nodes.begin(), nodes.end(), wanted);
    if (node != nodes.end()) return static_cast<size_t>(node - nodes.begin());
    taken = wanted;
  }
  if (!taken.empty()) {
    outside_.push_back(absl::StrCat("attempt ", attempts, " of ", pod.pod->Key(), ": the recorded ",
                                    kind == Kind::kHost ? "host " : "node to preempt on ", taken,
                                    " is none of the equally good ones: ", absl::StrJoin(nodes, ", ")));
  }
  return std::nullopt;
}

std::vector<size_t> RecordedChoice::Order(const framework::PodInfo& pod, int32_t attempts,
                                          absl::Span<const absl::string_view> nodes) {
  std::vector<size_t> order;
  const std::vector<Attempt>* recorded = AttemptsOf(pod, attempts);
  if (recorded == nullptr) return order;
  const Attempt& attempt = recorded->front();
  const std::vector<std::string> names =
      attempt.looked_at.empty() ? std::vector<std::string>{attempt.host} : attempt.looked_at;
  for (const std::string& name : names) {
    const auto node = std::find(nodes.begin(), nodes.end(), name);
    const size_t index = static_cast<size_t>(node - nodes.begin());
    if (node != nodes.end()) {
      if (std::find(order.begin(), order.end(), index) == order.end()) order.push_back(index);
    } else if (!name.empty()) {
      outside_.push_back(
          absl::StrCat("attempt ", attempts, " of ", pod.pod->Key(), ": the recorded node ", name,
                       " is none of those to which PreFilter narrowed: ", absl::StrJoin(nodes, ", ")));
    }
  }
  return order;
}

const std::vector<RecordedChoice::Attempt>* RecordedChoice::AttemptsOf(const framework::PodInfo& pod,
                                                                       int32_t attempts) const {
  const auto found = attempts_.find({pod.pod->Key(), attempts});
  return found == attempts_.end() ? nullptr : &found->second;
}

size_t RecordedChoice::ChooseJoining(absl::Span<const framework::QueuedPodInfo* const> pods) {
  size_t chosen = 0;
  for (size_t i = pods.size(); i > 0; --i) {
    const auto found = joins_.find(pods[i - 1]->key);
    if (found != joins_.end() && !found->second.empty() && found->second.front()) chosen = i - 1;
  }
  const auto found = joins_.find(pods[chosen]->key);
  if (found != joins_.end() && !found->second.empty()) found->second.pop_front();
  return chosen;
}

size_t RecordedChoice::ChoosePop(absl::Span<const framework::QueuedPodInfo* const> pods) {
  if (pods[0]->sub_queue == framework::SubQueue::kIncomplete) return ChooseJoining(pods);
  size_t first = 0;
  size_t first_place = SIZE_MAX;
  for (size_t i = 0; i < pods.size(); ++i) {
    const auto found = places_.find({pods[i]->key, pods[i]->attempts + 1});
    if (found == places_.end() || found->second >= first_place) continue;
    first = i;
    first_place = found->second;
  }
  return first;
}

bool RecordedChoice::Binds(absl::string_view claim, absl::string_view volume) const {
  return bindings_.find({std::string(claim), std::string(volume)}) != bindings_.end();
}

int RecordedChoice::ChooseWake(absl::Time now) {
  const size_t index = wakes_.size();
  wakes_.push_back(now);
  return index < waits_.size() ? waits_[index] : -1;
}

bool RecordedChoice::ChooseLate(absl::Time now, bool woken) {
  cycles_.insert(now);
  return woken != IsUnusual(now, Unusual::kOtherLateness);
}

bool RecordedChoice::IsUnusual(absl::Time now, Unusual how) const {
  const auto found = unusual_.find(now);
  return found != unusual_.end() && found->second == how;
}

size_t RecordedChoice::ChooseEnding(absl::Span<const api::PodPtr> pods) {
  std::vector<std::string> keys;
  for (const api::PodPtr& pod : pods) keys.push_back(pod->Key());
  return TakeFirst(keys, endings_);
}

size_t RecordedChoice::ChooseRejected(absl::Span<const framework::PodInfo* const> pods) {
  std::vector<std::string> keys;
  for (const framework::PodInfo* pod : pods) keys.push_back(pod->pod->Key());
  return TakeFirst(keys, failures_);
}

}  // namespace schedsim::sim
