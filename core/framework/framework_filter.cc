// Filter, from single nodes to ranges and what is remembered of them.
// Source: kubernetes v1.37, scheduler/framework/runtime/framework.go, RunFilterPlugins.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/processors.h"
#include "core/framework/column_gather.h"
#include "core/framework/error_text.h"
#include "core/framework/filter_verdict.h"
#include "core/framework/framework.h"

namespace schedsim::framework {
namespace {

// Whether each verdict is 0 or this one.
SCHEDSIM_FOR_EACH_PROCESSOR bool AllOrNone(const uint8_t* verdicts, uint8_t verdict, size_t count) {
  uint8_t others = 0;
  for (size_t i = 0; i < count; ++i) others |= verdicts[i] == 0 ? 0 : verdicts[i] ^ verdict;
  return others == 0;
}

// Gives the group to the nodes that failed and have none.
SCHEDSIM_FOR_EACH_PROCESSOR void SetWhere(const uint8_t* verdicts, int32_t group, int32_t* groups,
                                          size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const int32_t known = groups[i];
    groups[i] = verdicts[i] != 0 && known == NodeToStatus::kNoGroup ? group : known;
  }
}

// A failure that is not among those that are remembered.
constexpr uint8_t kUnlisted = kAskFilter;

// 0 for success; else the place, from 1 on, of the status among `failures`, to which it is added where it is
// new. A plugin whose answers follow from few facts has few failures; kUnlisted where it has too many.
uint8_t VerdictOf(const Status& status, std::vector<Status>& failures) {
  if (status.IsSuccess()) return 0;
  const auto known = std::find(failures.begin(), failures.end(), status);
  if (known != failures.end()) return static_cast<uint8_t>(known - failures.begin() + 1);
  if (failures.size() + 1 == kUnlisted) return kUnlisted;
  failures.push_back(status);
  return static_cast<uint8_t>(failures.size());
}

}  // namespace

void Framework::FollowClass(const PodInfo& pod) {
  if (pod.spec_info->id != last_class_.id) {
    last_class_ = LastClass{.id = pod.spec_info->id};
    return;
  }
  last_class_.came_again = true;
  const SnapshotLister& snapshot = handle_.snapshot();
  const NodeChanges changes = snapshot.ChangesSince(last_class_.changes_position);
  last_class_.changes_position = changes.position;
  const size_t count = snapshot.List().size();
  if (changes.all || last_class_.verdicts.size() != count) {
    last_class_.verdicts.assign(count, kUnknown);
    last_class_.has_total.assign(count, 0);
    last_class_.totals.resize(count);
    return;
  }
  for (const NodeInfo* node : changes.nodes) {
    if (node->position < 0) continue;
    last_class_.verdicts[static_cast<size_t>(node->position)] = kUnknown;
    last_class_.has_total[static_cast<size_t>(node->position)] = 0;
  }
}

Status Framework::RunFilter(const Entry<FilterPlugin>& entry, const CycleState& state, const PodInfo& pod,
                            const NodeInfo& node) {
  ++counters_.Calls(CountedPoint::kFilter, entry.id);
  Status status = entry.plugin->Filter(state, pod, node);
  if (status.IsSuccess()) return status;
  if (!status.IsRejected()) {
    Status error =
        Status::Error(absl::StrCat("running \"", entry.name, "\" filter plugin: ", ErrorText(status)));
    error.SetPluginIfUnset(entry.name);
    return error;
  }
  status.SetPluginIfUnset(entry.name);
  return status;
}

Status Framework::RunFilterPlugins(CycleState& state, const PodInfo& pod, const NodeInfo& node) {
  ++counters_.filtered_nodes;
  for (const Entry<FilterPlugin>& entry : filter_) {
    if (state.skip_filter.test(static_cast<size_t>(entry.id))) continue;
    Status status = RunFilter(entry, state, pod, node);
    if (!status.IsSuccess()) return status;
  }
  return Status();
}

bool Framework::RunFilterPluginsOnRange(CycleState& state, const PodInfo& pod, int32_t first,
                                        NodeToStatus& statuses, absl::Span<int32_t> groups) {
  counters_.filtered_nodes += static_cast<int64_t>(groups.size());
  // Bytes of ones are numbers of -1.
  static_assert(NodeToStatus::kNoGroup == -1);
  std::memset(groups.data(), 0xff, groups.size() * sizeof(groups[0]));
  active_filters_.clear();
  active_cluster_filters_.clear();
  for (size_t filter = 0; filter < filter_.size(); ++filter) {
    if (state.skip_filter.test(static_cast<size_t>(filter_[filter].id))) continue;
    active_filters_.push_back(filter);
    if (filter_dependencies_[filter].of == Dependency::Of::kCluster)
      active_cluster_filters_.push_back(filter);
  }
  const bool keeps = KeepsAnswersFor(pod);
  uint8_t* const verdicts = keeps ? last_class_.verdicts.data() + first : nullptr;
  const size_t first_by_cluster =
      active_cluster_filters_.empty() ? kNoFilter : active_cluster_filters_.front();
  if (keeps && last_class_.last_failing_filter > first_by_cluster) ForgetFailures();
  FindStretches(verdicts, groups.size());
  bool all_pass = true;
  for (const Stretch& stretch : stretches_) {
    const absl::Span<int32_t> part = groups.subspan(stretch.begin, stretch.end - stretch.begin);
    uint8_t* const known = keeps ? verdicts + stretch.begin : nullptr;
    if (stretch.known && !TakeKnown(known, statuses, part)) all_pass = false;
    // Behind the last filter that looks at nothing but the node, what is left has passed all of them.
    const size_t last_by_node = stretch.known ? kNoFilter : LastFilterByNode();
    for (const size_t filter : stretch.known ? active_cluster_filters_ : active_filters_) {
      // A node that one filter failed is no matter for the next ones: the first failure is its status.
      if (!all_pass && std::find(part.begin(), part.end(), NodeToStatus::kNoGroup) == part.end()) break;
      const bool any_failed =
          FilterRange(filter, state, pod, first + static_cast<int32_t>(stretch.begin), statuses, part);
      if (filter == last_by_node && keeps) MarkPassed(part, known);
      if (!any_failed) continue;
      all_pass = false;
      if (keeps && !stretch.known && filter < first_by_cluster) MarkFailed(filter, part, statuses, known);
    }
  }
  return all_pass;
}

bool Framework::TakeKnown(const uint8_t* verdicts, NodeToStatus& statuses, absl::Span<int32_t> groups) {
  int64_t failed = 0;
  uint8_t newest = kPassed;
  int32_t newest_group = NodeToStatus::kNoGroup;
  for (size_t i = 0; i < groups.size() && !last_class_.failures.empty(); ++i) {
    // Most nodes passed: eight at a time.
    constexpr uint64_t kEightPassed = 0x0101010101010101;
    uint64_t eight = 0;
    while (i + sizeof(eight) <= groups.size()) {
      std::memcpy(&eight, verdicts + i, sizeof(eight));
      if (eight != kEightPassed) break;
      i += sizeof(eight);
    }
    if (i == groups.size() || verdicts[i] == kPassed) continue;
    if (verdicts[i] != newest) {
      newest = verdicts[i];
      newest_group = statuses.GroupOf(last_class_.failures[newest - kFirstFailure]);
    }
    groups[i] = newest_group;
    ++failed;
  }
  counters_.known_passes += static_cast<int64_t>(groups.size()) - failed;
  counters_.known_answers += failed;
  return failed == 0;
}

void Framework::MarkFailed(size_t filter, absl::Span<const int32_t> groups, const NodeToStatus& statuses,
                           uint8_t* verdicts) {
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] == NodeToStatus::kNoGroup || verdicts[i] != kUnknown) continue;
    const Status& status = statuses.groups()[static_cast<size_t>(groups[i])].status;
    if (!status.IsRejected()) continue;
    const uint8_t verdict = VerdictOf(status, last_class_.failures);
    if (verdict == kUnlisted) continue;
    verdicts[i] = static_cast<uint8_t>(verdict - 1 + kFirstFailure);
    last_class_.last_failing_filter = std::max(last_class_.last_failing_filter, filter);
  }
}

void Framework::ForgetFailures() {
  for (uint8_t& verdict : last_class_.verdicts) {
    if (verdict >= kFirstFailure) verdict = kUnknown;
  }
  last_class_.failures.clear();
  last_class_.last_failing_filter = 0;
}

size_t Framework::LastFilterByNode() const {
  const auto last = std::find_if(active_filters_.rbegin(), active_filters_.rend(), [this](size_t filter) {
    return filter_dependencies_[filter].of != Dependency::Of::kCluster;
  });
  return last == active_filters_.rend() ? kNoFilter : *last;
}

void Framework::MarkPassed(absl::Span<const int32_t> groups, uint8_t* verdicts) {
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] == NodeToStatus::kNoGroup) verdicts[i] = kPassed;
  }
}

void Framework::FindStretches(const uint8_t* verdicts, size_t count) {
  stretches_.clear();
  size_t begin = 0;
  // Each stretch costs some calls. Where there are many, asking about all nodes at once costs less.
  while (verdicts != nullptr && begin < count && stretches_.size() <= 2 + count / 16) {
    const bool known = verdicts[begin] != kUnknown;
    size_t end = begin + 1;
    if (known) {
      const void* const unknown = std::memchr(verdicts + end, kUnknown, count - end);
      end = unknown == nullptr ? count : static_cast<size_t>(static_cast<const uint8_t*>(unknown) - verdicts);
    } else {
      end = static_cast<size_t>(std::find_if(verdicts + end, verdicts + count,
                                             [](uint8_t verdict) { return verdict != kUnknown; }) -
                                verdicts);
    }
    stretches_.push_back({.begin = begin, .end = end, .known = known});
    begin = end;
  }
  if (begin < count) stretches_ = {{.begin = 0, .end = count, .known = false}};
}

bool Framework::FilterEach(const Entry<FilterPlugin>& entry, CycleState& state, const PodInfo& pod,
                           int32_t first, NodeToStatus& statuses, absl::Span<int32_t> groups) {
  const NodeInfos nodes = handle_.snapshot().List().subspan(static_cast<size_t>(first), groups.size());
  bool any_failed = false;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] != NodeToStatus::kNoGroup) continue;
    const Status status = RunFilter(entry, state, pod, *nodes[i]);
    if (status.IsSuccess()) continue;
    groups[i] = statuses.GroupOf(status);
    any_failed = true;
  }
  return any_failed;
}

bool Framework::FilterRange(size_t filter, CycleState& state, const PodInfo& pod, int32_t first,
                            NodeToStatus& statuses, absl::Span<int32_t> groups) {
  const Entry<FilterPlugin>& entry = filter_[filter];
  // Filters of others, which state no concern, may take long to answer: they are asked no more than needed.
  const Dependency& dependency = filter_dependencies_[filter];
  const bool is_dear = dependency.of == Dependency::Of::kNodeObject && !dependency.concern.has_value();
  if (groups.size() <= kFewNodes && !is_dear) return FilterEach(entry, state, pod, first, statuses, groups);
  const std::vector<Status>* failures = &filter_failures_[filter];
  verdicts_.assign(groups.size(), 0);
  if (!entry.plugin->FilterNodes(state, pod, first, absl::MakeSpan(verdicts_))) {
    if (dependency.of == Dependency::Of::kCluster) {
      return FilterEach(entry, state, pod, first, statuses, groups);
    }
    failures = &FilterRemembered(filter, state, pod, first, groups);
  } else {
    counters_.Calls(CountedPoint::kFilter, entry.id) += static_cast<int64_t>(groups.size());
  }
  // Most often all nodes pass. Looking at all verdicts at once is faster than a loop that decides for each.
  uint8_t any = 0;
  for (const uint8_t verdict : verdicts_) any |= verdict;
  if (any == 0) return false;
  // Most often the nodes fail for one reason.
  if (any != kUnlisted && AllOrNone(verdicts_.data(), any, verdicts_.size())) {
    SetWhere(verdicts_.data(), statuses.GroupOf((*failures)[any - 1]), groups.data(), groups.size());
    return true;
  }
  // Which group a verdict stands for is looked up once for a run of equal ones.
  uint8_t known_verdict = 0;
  int32_t known_group = NodeToStatus::kNoGroup;
  for (size_t i = 0; i < groups.size(); ++i) {
    const uint8_t verdict = verdicts_[i];
    if (verdict == 0 || groups[i] != NodeToStatus::kNoGroup) continue;
    if (verdict == kUnlisted) {
      const NodeInfo& node = *handle_.snapshot().List()[static_cast<size_t>(first) + i];
      groups[i] = statuses.GroupOf(RunFilter(entry, state, pod, node));
      continue;
    }
    if (verdict != known_verdict) {
      known_verdict = verdict;
      known_group = statuses.GroupOf((*failures)[verdict - 1]);
    }
    groups[i] = known_group;
  }
  return true;
}

const std::vector<Status>& Framework::FilterRemembered(size_t filter, CycleState& state, const PodInfo& pod,
                                                       int32_t first, absl::Span<const int32_t> groups) {
  const Entry<FilterPlugin>& entry = filter_[filter];
  const NodeInfos all_nodes = handle_.snapshot().List();
  AnswerColumn<uint8_t>& known = filter_answers_.Of(
      static_cast<int32_t>(filter), ClassOf(pod, filter_dependencies_[filter]), all_nodes.size());
  known.Follow(ChangesFor(filter_dependencies_[filter], known.changes_position));
  const NodeColumns& columns = handle_.snapshot().Columns();
  const absl::Span<const int32_t> positions =
      absl::MakeConstSpan(columns.positions).subspan(static_cast<size_t>(first), groups.size());
  const int64_t calls_before = counters_.Calls(CountedPoint::kFilter, entry.id);
  ForEachUnset(columns, known.known.data(), positions, [&](size_t i, size_t position) {
    if (groups[i] != NodeToStatus::kNoGroup) return;
    const Status status = RunFilter(entry, state, pod, *all_nodes[position]);
    known.answers[position] = VerdictOf(status, known.failures);
    known.known[position] = 1;
  });
  const int64_t calls = counters_.Calls(CountedPoint::kFilter, entry.id) - calls_before;
  counters_.known_answers += static_cast<int64_t>(groups.size()) - calls;
  std::copy_n(known.answers.begin() + first, groups.size(), verdicts_.begin());
  return known.failures;
}

bool Framework::FiltersByNodeOnly(const CycleState& state) const {
  if ((cluster_pre_filters_ & ~state.skip_filter).any()) return false;
  for (size_t i = 0; i < filter_.size(); ++i) {
    if (filter_dependencies_[i].of != Dependency::Of::kCluster) continue;
    if (!state.skip_filter.test(static_cast<size_t>(filter_[i].id))) return false;
  }
  return true;
}

}  // namespace schedsim::framework
