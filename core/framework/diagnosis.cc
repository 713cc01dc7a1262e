#include "core/framework/diagnosis.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace schedsim::framework {
namespace {

// Counts by reason. Few reasons are different, so a list is enough.
class ReasonCounts {
 public:
  void Add(const std::string& reason, int32_t count) {
    for (auto& [known, total] : counts_) {
      if (known == reason) {
        total += count;
        return;
      }
    }
    counts_.emplace_back(reason, count);
  }

  // "<count> <reason>", sorted as text.
  std::vector<std::string> Sorted() const {
    std::vector<std::string> lines;
    for (const auto& [reason, count] : counts_) lines.push_back(absl::StrCat(count, " ", reason));
    std::sort(lines.begin(), lines.end());
    return lines;
  }

 private:
  std::vector<std::pair<std::string, int32_t>> counts_;
};

// Counts statuses that share their parts first, so that each text is looked at once.
ReasonCounts CountReasons(const NodeToStatus& statuses, int32_t all_node_count) {
  std::vector<std::pair<const Status*, int32_t>> distinct;
  for (const NodeToStatus::Entry& entry : statuses.entries()) {
    auto known = std::find_if(distinct.begin(), distinct.end(),
                              [&entry](const auto& item) { return item.first->SameAs(entry.status); });
    if (known == distinct.end()) {
      distinct.emplace_back(&entry.status, 1);
    } else {
      ++known->second;
    }
  }
  ReasonCounts counts;
  for (const auto& [status, count] : distinct) {
    for (const std::string& reason : status->reasons()) counts.Add(reason, count);
  }
  // The nodes that no plugin looked at share one status.
  if (statuses.size() < all_node_count) {
    for (const std::string& reason : statuses.absent_nodes_status().reasons()) {
      counts.Add(reason, all_node_count - statuses.size());
    }
  }
  return counts;
}

}  // namespace

void NodeToStatus::Reset(int32_t node_count) {
  // Takes back only what was set: few nodes are looked at in a cycle, and there may be many.
  for (const Entry& entry : entries_) entry_index_[static_cast<size_t>(entry.position)] = -1;
  entries_.clear();
  entry_index_.resize(static_cast<size_t>(node_count), -1);
  static const Status* const kUnresolvable =
      new Status(Code::kUnschedulableAndUnresolvable, std::vector<std::string>());
  absent_ = *kUnresolvable;
}

void NodeToStatus::Set(int32_t position, Status status) {
  int32_t& index = entry_index_[static_cast<size_t>(position)];
  if (index >= 0) {
    entries_[static_cast<size_t>(index)].status = std::move(status);
    return;
  }
  index = size();
  entries_.push_back(Entry{.position = position, .status = std::move(status)});
}

const Status& NodeToStatus::Get(int32_t position) const {
  const int32_t index = entry_index_[static_cast<size_t>(position)];
  return index < 0 ? absent_ : entries_[static_cast<size_t>(index)].status;
}

void Diagnosis::Reset(int32_t node_count) {
  node_to_status.Reset(node_count);
  unschedulable_plugins.reset();
  pending_plugins.reset();
  pre_filter_message.clear();
  post_filter_message.clear();
  last_added = Status();
}

void Diagnosis::AddPluginStatus(const Status& status, PluginNames& names) {
  // Nodes next to each other often share a status, of which all is known already.
  if (status.plugin().empty() || !status.IsRejected() || status.SameAs(last_added)) return;
  last_added = status;
  const size_t id = static_cast<size_t>(names.IdOf(status.plugin()));
  unschedulable_plugins.set(id);
  if (status.code() == Code::kPending) pending_plugins.set(id);
}

std::string FitErrorMessage(const Diagnosis& diagnosis, int32_t all_node_count) {
  std::string message = absl::StrCat("0/", all_node_count, " nodes are available:");
  // What PreFilter says stands for all nodes, without a count.
  if (!diagnosis.pre_filter_message.empty()) {
    absl::StrAppend(&message, " ", diagnosis.pre_filter_message, ".");
  } else {
    const std::vector<std::string> lines = CountReasons(diagnosis.node_to_status, all_node_count).Sorted();
    if (!lines.empty()) absl::StrAppend(&message, " ", absl::StrJoin(lines, ", "), ".");
  }
  if (!diagnosis.post_filter_message.empty()) absl::StrAppend(&message, " ", diagnosis.post_filter_message);
  return message;
}

}  // namespace schedsim::framework
