#include "core/framework/diagnosis.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/list_loops.h"

namespace schedsim::framework {
namespace {

// So many groups are compared one by one. Only where there are more, their texts are looked up: a table of
// them costs more than all the rest where what is known of all nodes is copied, as after each attempt in
// vain.
constexpr size_t kFewGroups = 16;

// "<count> <reason>" of each reason, sorted as text.
std::vector<std::string> CountReasons(const NodeToStatus& statuses, int32_t all_node_count) {
  absl::btree_map<absl::string_view, int32_t> counts;
  for (const NodeToStatus::Group& group : statuses.groups()) {
    if (group.count == 0) continue;
    for (const std::string& reason : group.status.reasons()) counts[reason] += group.count;
  }
  // The nodes that no plugin looked at share one status.
  if (statuses.size() < all_node_count) {
    for (const std::string& reason : statuses.absent_nodes_status().reasons()) {
      counts[reason] += all_node_count - statuses.size();
    }
  }
  std::vector<std::string> lines;
  for (const auto& [reason, count] : counts) lines.push_back(absl::StrCat(count, " ", reason));
  std::sort(lines.begin(), lines.end());
  return lines;
}

// Equal texts mean equal statuses.
std::string TextOf(const Status& status) {
  std::string text = absl::StrCat(CodeName(status.code()), "\n", status.plugin());
  for (const std::string& reason : status.reasons()) absl::StrAppend(&text, "\n", reason.size(), ":", reason);
  return text;
}

}  // namespace

void NodeToStatus::Reset(int32_t node_count) {
  // Most cycles of a cluster with room look at few nodes and fail on none of them.
  if (group_of_node_.use_count() > 1) {
    group_of_node_ = nullptr;
  } else if (group_of_node_ != nullptr && node_count != node_count_) {
    group_of_node_->assign(static_cast<size_t>(node_count), kNoGroup);
  } else if (group_of_node_ != nullptr && size_ > 0) {
    std::fill(group_of_node_->begin() + written_begin_, group_of_node_->begin() + written_end_, kNoGroup);
  }
  written_begin_ = written_end_ = 0;
  node_count_ = node_count;
  size_ = 0;
  groups_.clear();
  groups_by_text_.Clear();
  static const Status* const kUnresolvable =
      new Status(Code::kUnschedulableAndUnresolvable, std::vector<std::string>());
  absent_ = *kUnresolvable;
  content_id_ = 0;
}

int32_t NodeToStatus::GroupOf(const Status& status) {
  // A plugin makes its statuses once and hands out copies, so this finds nearly all of them.
  const size_t few = std::min(groups_.size(), kFewGroups);
  for (size_t i = 0; i < few; ++i) {
    if (groups_[i].status.SameAs(status)) return static_cast<int32_t>(i);
  }
  for (size_t i = 0; i < few; ++i) {
    if (groups_[i].status == status) return static_cast<int32_t>(i);
  }
  const int32_t group = static_cast<int32_t>(groups_.size());
  if (groups_.size() >= kFewGroups) {
    for (size_t i = groups_by_text_.size(); i < groups_.size(); ++i) {
      groups_by_text_[TextOf(groups_[i].status)] = static_cast<int32_t>(i);
    }
    const std::string text = TextOf(status);
    if (const int32_t* known = groups_by_text_.Find(text)) return *known;
    groups_by_text_[text] = group;
  }
  groups_.push_back(Group{.status = status, .count = 0});
  return group;
}

NodeToStatus::GroupOfNode& NodeToStatus::OwnGroupOfNode(int32_t begin, int32_t end) {
  written_begin_ = written_end_ == 0 ? begin : std::min(written_begin_, begin);
  written_end_ = std::max(written_end_, end);
  if (group_of_node_ == nullptr) {
    group_of_node_ = std::make_shared<GroupOfNode>(static_cast<size_t>(node_count_), kNoGroup);
  } else if (group_of_node_.use_count() > 1) {
    group_of_node_ = std::make_shared<GroupOfNode>(*group_of_node_);
  }
  return *group_of_node_;
}

bool NodeToStatus::SetGroup(int32_t position, int32_t group) {
  int32_t& known = OwnGroupOfNode(position, position + 1)[static_cast<size_t>(position)];
  if (known == group) return groups_[static_cast<size_t>(group)].count == 1;
  content_id_ = 0;
  if (known == kNoGroup) {
    ++size_;
  } else {
    --groups_[static_cast<size_t>(known)].count;
  }
  known = group;
  return ++groups_[static_cast<size_t>(group)].count == 1;
}

void NodeToStatus::SetGroups(int32_t first, absl::Span<const int32_t> groups,
                             absl::FunctionRef<void(const Status&)> visit) {
  int32_t* const known = OwnGroupOfNode(first, first + static_cast<int32_t>(groups.size())).data() + first;
  content_id_ = 0;
  // All bits of kNoGroup are set.
  int32_t all_known = kNoGroup;
  for (size_t i = 0; i < groups.size(); ++i) all_known &= known[i];
  // A nominated node was looked at before.
  if (all_known != kNoGroup || groups_.size() > kFewGroups) {
    for (size_t i = 0; i < groups.size(); ++i) {
      if (groups[i] == kNoGroup || !SetGroup(first + static_cast<int32_t>(i), groups[i])) continue;
      visit(groups_[static_cast<size_t>(groups[i])].status);
    }
    return;
  }
  std::copy(groups.begin(), groups.end(), known);
  for (size_t group = 0; group < groups_.size(); ++group) {
    const int32_t more = static_cast<int32_t>(CountEqual(groups, static_cast<int32_t>(group)));
    if (more > 0 && groups_[group].count == 0) visit(groups_[group].status);
    groups_[group].count += more;
    size_ += more;
  }
}

void NodeToStatus::Clear(int32_t position) {
  if (group_of_node_ == nullptr || (*group_of_node_)[static_cast<size_t>(position)] == kNoGroup) return;
  int32_t& known = OwnGroupOfNode(position, position + 1)[static_cast<size_t>(position)];
  content_id_ = 0;
  --groups_[static_cast<size_t>(known)].count;
  --size_;
  known = kNoGroup;
}

const Status& NodeToStatus::Get(int32_t position) const {
  if (group_of_node_ == nullptr) return absent_;
  const int32_t group = (*group_of_node_)[static_cast<size_t>(position)];
  return group == kNoGroup ? absent_ : groups_[static_cast<size_t>(group)].status;
}

void NodeToStatus::MarkNodesWith(Code code, absl::Span<uint8_t> marks) const {
  if (group_of_node_ == nullptr) {
    absl::c_fill(marks, absent_.code() == code ? 1 : 0);
    return;
  }
  // By group, kNoGroup first.
  absl::InlinedVector<uint8_t, kFewGroups + 1> has_code = {absent_.code() == code};
  for (const Group& group : groups_) has_code.push_back(group.status.code() == code);
  for (size_t i = 0; i < marks.size(); ++i)
    marks[i] = has_code[static_cast<size_t>((*group_of_node_)[i] - kNoGroup)];
}

void Diagnosis::Reset(int32_t node_count) {
  node_to_status.Reset(node_count);
  unschedulable_plugins.reset();
  pending_plugins.reset();
  pre_filter_message.clear();
  post_filter_message.clear();
  reason_counts.clear();
}

void Diagnosis::AddPluginStatus(const Status& status, PluginNames& names) {
  if (status.plugin().empty() || !status.IsRejected()) return;
  const size_t id = static_cast<size_t>(names.IdOf(status.plugin()));
  unschedulable_plugins.set(id);
  if (status.code() == Code::kPending) pending_plugins.set(id);
}

std::string ReasonCountsText(const NodeToStatus& statuses, int32_t all_node_count) {
  return absl::StrJoin(CountReasons(statuses, all_node_count), ", ");
}

std::string FitErrorMessage(const Diagnosis& diagnosis, int32_t all_node_count) {
  std::string message = absl::StrCat("0/", all_node_count, " nodes are available:");
  // What PreFilter says stands for all nodes, without a count.
  if (!diagnosis.pre_filter_message.empty()) {
    absl::StrAppend(&message, " ", diagnosis.pre_filter_message, ".");
  } else {
    const std::string counts = diagnosis.reason_counts.empty()
                                   ? ReasonCountsText(diagnosis.node_to_status, all_node_count)
                                   : diagnosis.reason_counts;
    if (!counts.empty()) absl::StrAppend(&message, " ", counts, ".");
  }
  if (!diagnosis.post_filter_message.empty()) absl::StrAppend(&message, " ", diagnosis.post_filter_message);
  return message;
}

}  // namespace schedsim::framework
