// Score, from single nodes and columns to weighted sums.
// Source: kubernetes v1.37, scheduler/framework/runtime/framework.go, RunScorePlugins.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/processors.h"
#include "core/framework/column_gather.h"
#include "core/framework/error_text.h"
#include "core/framework/framework.h"

namespace schedsim::framework {
namespace {

Status ScoreNode(ScorePlugin& plugin, absl::string_view name, const CycleState& state, const PodInfo& pod,
                 const NodeInfo& node, int64_t& score) {
  const Status status = plugin.Score(state, pod, node, score);
  if (status.IsSuccess()) return Status();
  return Status::Error(absl::StrCat("plugin \"", name, "\" failed with: ", ErrorText(status)));
}

Status InvalidScore(absl::string_view plugin, int64_t score) {
  return Status::Error(absl::StrCat("applying score defaultWeights on Score plugins: plugin \"", plugin,
                                    "\" returns an invalid score ", score, ", it should in the range of [",
                                    kMinNodeScore, ", ", kMaxNodeScore, "] after normalizing"));
}

constexpr uint64_t kMaxScore = static_cast<uint64_t>(kMaxNodeScore);

// Adds the scores to `sums`. The sign bit of the result is set where a score was below kMinNodeScore or above
// kMaxNodeScore.
SCHEDSIM_FOR_EACH_PROCESSOR uint64_t AddScores(const int64_t* scores, int64_t* sums, size_t count) {
  static_assert(kMinNodeScore == 0);
  uint64_t signs = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t score = static_cast<uint64_t>(scores[i]);
    signs |= score | (kMaxScore - score);
    sums[i] = static_cast<int64_t>(static_cast<uint64_t>(sums[i]) + score);
  }
  return signs;
}

// The same with a weight.
SCHEDSIM_FOR_EACH_PROCESSOR uint64_t AddWeighted(const int64_t* scores, int64_t weight, int64_t* sums,
                                                 size_t count) {
  // Few processors multiply several numbers of 64 bits at once. Valid scores, and weights without their sign,
  // have 32 and no sign, so the product gets the sign of the weight: -x is ~x + 1.
  const uint64_t sign = weight < 0 ? UINT64_MAX : 0;
  const uint32_t factor = static_cast<uint32_t>(weight < 0 ? -weight : weight);
  uint64_t signs = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t score = static_cast<uint64_t>(scores[i]);
    signs |= score | (kMaxScore - score);
    const uint64_t product = uint64_t{static_cast<uint32_t>(score)} * factor;
    sums[i] = static_cast<int64_t>(static_cast<uint64_t>(sums[i]) + ((product ^ sign) - sign));
  }
  return signs;
}

// Most often all are, which all bits together show at once.
SCHEDSIM_FOR_EACH_PROCESSOR bool AllZero(const int64_t* scores, size_t count) {
  int64_t bits = 0;
  for (size_t i = 0; i < count; ++i) bits |= scores[i];
  return bits == 0;
}

SCHEDSIM_FOR_EACH_PROCESSOR void AddToAll(int64_t score, int64_t* sums, size_t count) {
  for (size_t i = 0; i < count; ++i) sums[i] += score;
}

}  // namespace

Status Framework::ScoreColumn(ScoreEntry& entry, CycleState& state, const PodInfo& pod, NodeInfos nodes,
                              absl::Span<const int32_t> positions, std::vector<int64_t>& raw) {
  raw.resize(nodes.size());
  // Columns pay where there are many nodes.
  const bool is_few = nodes.size() <= kFewNodes && entry.dependency.of != Dependency::Of::kCluster;
  const bool has_positions = !positions.empty() && !is_few;
  int64_t& calls = counters_.Calls(CountedPoint::kScore, entry.id);
  if (has_positions && entry.plugin->ScoreNodes(state, pod, positions, absl::MakeSpan(raw))) {
    calls += static_cast<int64_t>(nodes.size());
    return Status();
  }
  if (has_positions && entry.dependency.of != Dependency::Of::kCluster) {
    return ScoreRemembered(entry, state, pod, nodes, positions, raw);
  }
  calls += static_cast<int64_t>(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    Status status = ScoreNode(*entry.plugin, entry.name, state, pod, *nodes[i], raw[i]);
    if (!status.IsSuccess()) return status;
  }
  return Status();
}

bool Framework::SumNodeScores(CycleState& state, const PodInfo& pod, NodeInfos nodes,
                              absl::Span<const int32_t> positions, std::vector<int64_t>& totals) {
  if (!KeepsAnswersFor(pod) || last_class_.normalizes_over_nodes) return false;
  missing_.clear();
  missing_positions_.clear();
  const NodeColumns& columns = handle_.snapshot().Columns();
  ForEachUnset(columns, last_class_.has_total.data(), positions, [&](size_t i, size_t /*position*/) {
    missing_.push_back(nodes[i]);
    missing_positions_.push_back(positions[i]);
  });
  if (!missing_.empty() && !ComputeNodeScores(state, pod, missing_, missing_positions_, missing_totals_)) {
    return false;
  }
  counters_.known_sums += static_cast<int64_t>(nodes.size() - missing_.size());
  for (size_t i = 0; i < missing_.size(); ++i) {
    const size_t at = static_cast<size_t>(missing_positions_[i]);
    last_class_.totals[at] = missing_totals_[i];
    last_class_.has_total[at] = 1;
  }
  totals.resize(nodes.size());
  Gather(columns, last_class_.totals.data(), positions, totals.data());
  return true;
}

bool Framework::ComputeNodeScores(CycleState& state, const PodInfo& pod, NodeInfos nodes,
                                  absl::Span<const int32_t> positions, std::vector<int64_t>& totals) {
  totals.assign(nodes.size(), 0);
  if (nodes.size() <= kFewNodes) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (!ComputeNodeScore(state, pod, *nodes[i], totals[i])) return false;
    }
    return true;
  }
  PluginScores& column = scored_;
  for (ScoreEntry& entry : score_) {
    if (entry.dependency.of == Dependency::Of::kCluster) continue;
    if (state.skip_score.test(static_cast<size_t>(entry.id))) continue;
    if (!ScoreColumn(entry, state, pod, nodes, positions, column.raw).IsSuccess()) return false;
    // Where nothing but 0 is given, each node gets what a single one would get.
    if (entry.has_normalize) {
      if (!entry.normalizes_by_scores_only || !AllZero(column.raw.data(), column.raw.size())) {
        last_class_.normalizes_over_nodes = true;
        return false;
      }
    }
    if (!WeighColumn(entry, state, pod, nodes, column, totals, /*keeps_raw=*/false).IsSuccess()) return false;
  }
  return true;
}

bool Framework::ComputeNodeScore(CycleState& state, const PodInfo& pod, const NodeInfo& node,
                                 int64_t& total) {
  for (const ScoreEntry& entry : score_) {
    if (entry.dependency.of == Dependency::Of::kCluster) continue;
    if (state.skip_score.test(static_cast<size_t>(entry.id))) continue;
    int64_t score = 0;
    ++counters_.Calls(CountedPoint::kScore, entry.id);
    if (!entry.plugin->Score(state, pod, node, score).IsSuccess()) return false;
    if (entry.has_normalize) {
      if (score != 0 || !entry.normalizes_by_scores_only) {
        last_class_.normalizes_over_nodes = true;
        return false;
      }
      ++counters_.Calls(CountedPoint::kNormalizeScore, entry.id);
      const NodeInfo* const alone = &node;
      if (!entry.plugin->NormalizeScore(state, pod, NodeInfos(&alone, 1), {&score, 1}).IsSuccess())
        return false;
    }
    if (score < kMinNodeScore || score > kMaxNodeScore) return false;
    total += score * entry.weight;
  }
  return true;
}

Status Framework::ScoreRemembered(ScoreEntry& entry, CycleState& state, const PodInfo& pod, NodeInfos nodes,
                                  absl::Span<const int32_t> positions, std::vector<int64_t>& raw) {
  AnswerColumn<int64_t>& known =
      score_answers_.Of(static_cast<int32_t>(&entry - score_.data()), ClassOf(pod, entry.dependency),
                        handle_.snapshot().List().size());
  known.Follow(ChangesFor(entry.dependency, known.changes_position));
  counters_.known_answers += static_cast<int64_t>(nodes.size());
  Status failure;
  const NodeColumns& columns = handle_.snapshot().Columns();
  ForEachUnset(columns, known.known.data(), positions, [&](size_t i, size_t position) {
    if (!failure.IsSuccess()) return;
    --counters_.known_answers;
    ++counters_.Calls(CountedPoint::kScore, entry.id);
    failure = ScoreNode(*entry.plugin, entry.name, state, pod, *nodes[i], known.answers[position]);
    known.known[position] = failure.IsSuccess() ? 1 : 0;
  });
  Gather(columns, known.answers.data(), positions, raw.data());
  return failure;
}

Status Framework::Normalize(const ScoreEntry& entry, CycleState& state, const PodInfo& pod, NodeInfos nodes,
                            absl::Span<int64_t> scores) {
  if (!entry.has_normalize) return Status();
  ++counters_.Calls(CountedPoint::kNormalizeScore, entry.id);
  const Status status = entry.plugin->NormalizeScore(state, pod, nodes, scores);
  if (status.IsSuccess()) return status;
  return Status::Error(absl::StrCat("running Normalize on Score plugins: plugin \"", entry.name,
                                    "\" failed with: ", ErrorText(status)));
}

Status Framework::WeighColumn(const ScoreEntry& entry, CycleState& state, const PodInfo& pod, NodeInfos nodes,
                              PluginScores& column, std::vector<int64_t>& totals, bool keeps_raw) {
  // What equal scores become, one of them shows.
  const bool are_alike = !keeps_raw && entry.has_normalize && entry.normalizes_by_scores_only &&
                         !nodes.empty() && AllZero(column.raw.data(), nodes.size());
  if (are_alike) {
    int64_t score = 0;
    const Status normalized = Normalize(entry, state, pod, nodes.first(1), {&score, 1});
    if (!normalized.IsSuccess()) return normalized;
    if (score < kMinNodeScore || score > kMaxNodeScore) return InvalidScore(entry.name, score);
    AddToAll(score * entry.weight, totals.data(), nodes.size());
    return Status();
  }
  if (keeps_raw) {
    column.weighted = column.raw;
  } else {
    column.weighted.swap(column.raw);
  }
  const Status status = Normalize(entry, state, pod, nodes, absl::MakeSpan(column.weighted));
  if (!status.IsSuccess()) return status;
  std::vector<int64_t>& weighted = column.weighted;
  // One pass over all without a branch is faster than one that could end early, which it never does.
  const uint64_t signs = entry.weight == 1
                             ? AddScores(weighted.data(), totals.data(), nodes.size())
                             : AddWeighted(weighted.data(), entry.weight, totals.data(), nodes.size());
  if (signs >> 63 != 0) {
    const auto invalid = std::find_if(weighted.begin(), weighted.end(), [](int64_t score) {
      return score < kMinNodeScore || score > kMaxNodeScore;
    });
    return InvalidScore(entry.name, *invalid);
  }
  for (size_t i = 0; i < weighted.size() && keeps_raw; ++i) weighted[i] *= entry.weight;
  return Status();
}

Status Framework::RunScorePlugins(CycleState& state, const PodInfo& pod, NodeInfos nodes,
                                  absl::Span<const int32_t> positions, bool totals_only, NodeScores& scores) {
  counters_.scored_nodes += static_cast<int64_t>(nodes.size());
  size_t used = 0;
  const bool has_sums =
      totals_only && !positions.empty() && SumNodeScores(state, pod, nodes, positions, scores.totals);
  if (!has_sums) scores.totals.assign(nodes.size(), 0);
  for (ScoreEntry& entry : score_) {
    if (state.skip_score.test(static_cast<size_t>(entry.id))) continue;
    if (has_sums && entry.dependency.of != Dependency::Of::kCluster) continue;
    // A plugin that had nothing to filter scores every node with 0, so it need not be asked.
    const bool all_zero = !handle_.reference() && entry.only_with_filter &&
                          state.skip_filter.test(static_cast<size_t>(entry.id));
    if (all_zero && totals_only) continue;
    if (used == scores.plugins.size()) scores.plugins.emplace_back();
    PluginScores& column = scores.plugins[used++];
    column.plugin = entry.id;
    if (all_zero) {
      column.raw.assign(nodes.size(), 0);
      column.weighted.assign(nodes.size(), 0);
      continue;
    }
    Status status = ScoreColumn(entry, state, pod, nodes, positions, column.raw);
    if (status.IsSuccess()) {
      status = WeighColumn(entry, state, pod, nodes, column, scores.totals, /*keeps_raw=*/!totals_only);
    }
    if (status.IsSuccess()) continue;
    Status first = FirstScoreFailure(state, pod, nodes);
    return first.IsSuccess() ? status : first;
  }
  scores.plugins.resize(used);
  return Status();
}

Status Framework::FirstScoreFailure(CycleState& state, const PodInfo& pod, NodeInfos nodes) {
  std::vector<const ScoreEntry*> entries;
  for (const ScoreEntry& entry : score_) {
    if (!state.skip_score.test(static_cast<size_t>(entry.id))) entries.push_back(&entry);
  }
  std::vector<std::vector<int64_t>> scores(entries.size(), std::vector<int64_t>(nodes.size()));
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (size_t plugin = 0; plugin < entries.size(); ++plugin) {
      const Status status = ScoreNode(*entries[plugin]->plugin, entries[plugin]->name, state, pod, *nodes[i],
                                      scores[plugin][i]);
      if (!status.IsSuccess())
        return Status::Error(absl::StrCat("running Score plugins: ", status.Message()));
    }
  }
  for (size_t plugin = 0; plugin < entries.size(); ++plugin) {
    const Status status = Normalize(*entries[plugin], state, pod, nodes, absl::MakeSpan(scores[plugin]));
    if (!status.IsSuccess()) return status;
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (size_t plugin = 0; plugin < entries.size(); ++plugin) {
      const int64_t score = scores[plugin][i];
      if (score < kMinNodeScore || score > kMaxNodeScore) return InvalidScore(entries[plugin]->name, score);
    }
  }
  return Status();
}

Status Framework::RescoreLastNode(CycleState& state, const PodInfo& pod, NodeInfos nodes,
                                  const std::vector<PluginScores>& known, NodeScores& scores) {
  const size_t last = nodes.size() - 1;
  size_t used = 0;
  scores.totals.assign(nodes.size(), 0);
  std::vector<int64_t> fresh;
  for (ScoreEntry& entry : score_) {
    if (state.skip_score.test(static_cast<size_t>(entry.id))) continue;
    if (used == scores.plugins.size()) scores.plugins.emplace_back();
    PluginScores& column = scores.plugins[used++];
    column.plugin = entry.id;
    Status status = ScoreColumn(entry, state, pod, nodes.subspan(last), /*positions=*/{}, fresh);
    if (!status.IsSuccess()) return status;
    auto cached = std::find_if(known.begin(), known.end(),
                               [&entry](const PluginScores& scored) { return scored.plugin == entry.id; });
    column.raw.assign(nodes.size(), 0);
    if (cached != known.end()) std::copy(cached->raw.begin(), cached->raw.end(), column.raw.begin());
    column.raw[last] = fresh[0];
    status = WeighColumn(entry, state, pod, nodes, column, scores.totals, /*keeps_raw=*/true);
    if (!status.IsSuccess()) return status;
  }
  scores.plugins.resize(used);
  return Status();
}

}  // namespace schedsim::framework
