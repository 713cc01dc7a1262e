#include "core/plugins/topology_domains.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/base/processors.h"
#include "core/framework/column_gather.h"

namespace schedsim::plugins {
namespace {

SCHEDSIM_FOR_EACH_PROCESSOR void AddProducts(const int32_t* numbers, int64_t factor, int64_t* sums,
                                             size_t count) {
  for (size_t i = 0; i < count; ++i) sums[i] += factor * numbers[i];
}

// Sets marks that are 0 where the number is positive.
SCHEDSIM_FOR_EACH_PROCESSOR void MarkPositive(const int32_t* numbers, uint8_t mark, uint8_t* marks,
                                              size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const uint8_t known = marks[i];
    marks[i] = numbers[i] > 0 && known == 0 ? mark : known;
  }
}

}  // namespace

int32_t TopologyDomains::OfForeign(const framework::NodeInfo& node) const {
  const Symbol* value = node.labels.Find(key_);
  return value == nullptr ? kNoDomain : NumberOfValue(*value);
}

int32_t TopologyDomains::NumberOfValue(Symbol value) const {
  if (const int32_t* known = numbers_.Find(value)) return *known;
  numbers_[value] = count_;
  return count_++;
}

void TopologyDomains::Set(const framework::NodeInfo& node, int32_t index_limit) {
  if (static_cast<size_t>(index_limit) > domains_.size()) {
    lacking_count_ += index_limit - static_cast<int32_t>(domains_.size());
    domains_.resize(static_cast<size_t>(index_limit), kNoDomain);
  }
  const Symbol* value = node.labels.Find(key_);
  int32_t& domain = domains_[static_cast<size_t>(node.index)];
  lacking_count_ -= domain == kNoDomain ? 1 : 0;
  domain = value == nullptr ? kNoDomain : NumberOf(*value);
  lacking_count_ += domain == kNoDomain ? 1 : 0;
}

std::optional<int32_t> TopologyDomains::RunAt(const framework::NodeColumns& columns, size_t position,
                                              size_t node_count) const {
  // Whether numbers follow each other is seen by a comparison with a column in which all do.
  const std::vector<int32_t>& all = columns.positions;
  const auto is_run = [&](const int32_t* numbers) {
    const size_t first = static_cast<size_t>(numbers[0]);
    return numbers[0] >= 0 && first + node_count <= all.size() &&
           std::memcmp(numbers, all.data() + first, node_count * sizeof(int32_t)) == 0;
  };
  const int32_t* const indices = columns.indices.data() + position;
  if (node_count == 0 || !is_run(indices)) return std::nullopt;
  const int32_t* const domains = domains_.data() + indices[0];
  return is_run(domains) ? std::optional<int32_t>(domains[0]) : std::nullopt;
}

void AddWeightedPods(const TopologyDomains& domains, const std::vector<int32_t>& pods, int64_t weight,
                     const framework::NodeColumns& columns, absl::Span<const int32_t> positions,
                     absl::Span<int64_t> scores) {
  // kNoDomain, -1, is above every number of domains as well.
  const auto pods_in = [&pods](size_t domain) { return domain < pods.size() ? pods[domain] : 0; };
  const auto add = [&](size_t begin, size_t position, size_t count) {
    const std::optional<int32_t> run = domains.RunAt(columns, position, count);
    if (run.has_value()) {
      const size_t first = std::min(static_cast<size_t>(*run), pods.size());
      AddProducts(pods.data() + first, weight, scores.data() + begin, std::min(count, pods.size() - first));
      return;
    }
    for (size_t i = 0; i < count; ++i) {
      const int32_t domain = domains.OfIndex(columns.indices[position + i]);
      scores[begin + i] += weight * pods_in(static_cast<size_t>(domain));
    }
  };
  if (framework::InFewRuns(columns, positions, add)) return;
  for (size_t i = 0; i < positions.size(); ++i) {
    const int32_t domain = domains.OfIndex(columns.indices[static_cast<size_t>(positions[i])]);
    scores[i] += weight * pods_in(static_cast<size_t>(domain));
  }
}

void TopologyIndex::Refresh() {
  const framework::SnapshotLister& snapshot = handle_.snapshot();
  if (handle_.reference()) position_ = -1;
  // Numbers of domains stay when nodes go: counts that were made before go on meaning the same.
  FollowSnapshot(
      snapshot, position_, [] {},
      [&](const framework::NodeInfo& node) {
        for (const std::unique_ptr<TopologyDomains>& domains : domains_)
          domains->Set(node, snapshot.IndexLimit());
      });
}

TopologyDomains& TopologyIndex::Of(Symbol key) {
  for (const std::unique_ptr<TopologyDomains>& domains : domains_) {
    if (domains->key() == key) return *domains;
  }
  domains_.push_back(std::make_unique<TopologyDomains>(key));
  const framework::SnapshotLister& snapshot = handle_.snapshot();
  for (const framework::NodeInfo* node : snapshot.List()) domains_.back()->Set(*node, snapshot.IndexLimit());
  return *domains_.back();
}

void DomainCounts::Set(int32_t node_index, int32_t domain, int32_t pod_count) {
  const size_t index = static_cast<size_t>(node_index);
  if (index >= parts_.size()) parts_.resize(index + 1);
  Part& part = parts_[index];
  if (part.domain != kNoDomain) {
    const size_t old = static_cast<size_t>(part.domain);
    pods_[old] -= part.pod_count;
    total_ -= part.pod_count;
    if (--nodes_[old] == 0) --domain_count_;
  }
  part = Part{.domain = domain, .pod_count = pod_count};
  if (domain == kNoDomain) return;
  const size_t at = static_cast<size_t>(domain);
  if (at >= pods_.size()) {
    pods_.resize(at + 1);
    nodes_.resize(at + 1);
  }
  pods_[at] += pod_count;
  total_ += pod_count;
  if (nodes_[at]++ == 0) ++domain_count_;
}

void DomainCounts::Clear() { *this = DomainCounts(); }

void ChangedCounts::KeepNumbers() {
  auto kept = std::make_shared<std::vector<std::vector<int32_t>>>();
  kept->reserve(bases_.size());
  for (const std::vector<int32_t>*& base : bases_) {
    kept->push_back(*base);
    base = &kept->back();
  }
  kept_ = std::move(kept);
}

std::optional<CountBounds> ChangedCounts::BoundsFor(size_t node_count) const {
  const size_t domain_count = static_cast<size_t>(domains_->count());
  if (!changes_.empty() || !domains_->EachNodeHasOne() || domain_count > node_count) return std::nullopt;
  CountBounds bounds;
  for (const std::vector<int32_t>* base : bases_) {
    if (base->empty()) continue;
    const auto [least, most] = std::minmax_element(base->begin(), base->end());
    if (base->size() >= domain_count) bounds.least += *least;
    bounds.most += *most;
  }
  return bounds;
}

void ChangedCounts::MarkPods(const framework::NodeColumns& columns, size_t first, uint8_t verdict,
                             absl::Span<uint8_t> verdicts) const {
  const std::optional<CountBounds> bounds = BoundsFor(verdicts.size());
  if (bounds.has_value() && bounds->most <= 0) return;
  const absl::Span<const int32_t> indices =
      absl::MakeConstSpan(columns.indices).subspan(first, verdicts.size());
  if (!changes_.empty()) {
    ForEach(indices, [&](size_t i, int32_t /*domain*/, int64_t count) {
      if (count > 0 && verdicts[i] == 0) verdicts[i] = verdict;
    });
    return;
  }
  const std::optional<int32_t> run = domains_->RunAt(columns, first, verdicts.size());
  // Numbers of pods are not negative, so each base can be looked at alone.
  for (const std::vector<int32_t>* base : bases_) {
    if (run.has_value()) {
      const size_t begin = std::min(static_cast<size_t>(*run), base->size());
      MarkPositive(base->data() + begin, verdict, verdicts.data(),
                   std::min(verdicts.size(), base->size() - begin));
      continue;
    }
    for (size_t i = 0; i < indices.size(); ++i) {
      const bool has_pods = CountIn(*base, domains_->OfIndex(indices[i])) > 0;
      if (has_pods && verdicts[i] == 0) verdicts[i] = verdict;
    }
  }
}

void LeastCount::Count(const DomainCounts& counts, int32_t domain, int32_t delta) {
  const size_t at = static_cast<size_t>(domain);
  if (domain == kNoDomain || at >= counts.nodes().size() || counts.nodes()[at] == 0) return;
  const int32_t pods = counts.pods()[at];
  if (pods >= kBucketsMax) return;
  if (static_cast<size_t>(pods) >= domains_.size()) domains_.resize(static_cast<size_t>(pods) + 1);
  domains_[static_cast<size_t>(pods)] += delta;
  if (delta > 0) least_ = std::min(least_, pods);
}

int64_t LeastCount::Get(const DomainCounts& counts, const ChangedCounts& changed) const {
  const int32_t end = static_cast<int32_t>(domains_.size());
  while (least_ < end && domains_[static_cast<size_t>(least_)] == 0) ++least_;
  int64_t least = std::numeric_limits<int32_t>::max();
  const auto is_changed = [&changed](int32_t domain) {
    return std::any_of(changed.changes().begin(), changed.changes().end(),
                       [domain](const ChangedCounts::Change& change) { return change.domain == domain; });
  };
  int32_t pods = least_;
  for (; pods < end; ++pods) {
    // Without the domains that have another number now.
    int64_t others = domains_[static_cast<size_t>(pods)];
    for (const ChangedCounts::Change& change : changed.changes()) {
      if (counts.pods()[static_cast<size_t>(change.domain)] == pods) --others;
    }
    if (others > 0) break;
  }
  if (pods < end) {
    least = pods;
  } else {
    for (size_t domain = 0; domain < counts.pods().size(); ++domain) {
      if (counts.nodes()[domain] == 0 || is_changed(static_cast<int32_t>(domain))) continue;
      least = std::min<int64_t>(least, counts.pods()[domain]);
    }
  }
  for (const ChangedCounts::Change& change : changed.changes()) {
    least = std::min(least, changed.At(change.domain));
  }
  return least;
}

}  // namespace schedsim::plugins
