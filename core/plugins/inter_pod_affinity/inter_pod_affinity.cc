// InterPodAffinity: pods that want to be near other pods, or far from them.
// Source: kubernetes v1.37, plugins/interpodaffinity.
// Extension points: PreFilter, Filter, PreScore, Score.
// Arguments: InterPodAffinityArgs. hardPodAffinityWeight is what required affinity of existing pods
// scores, 0 to 100; ignorePreferredTermsOfExistingPods leaves pods without preferred terms unscored.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/api/scheduler_config.h"
#include "core/base/list_loops.h"
#include "core/base/wrapping.h"
#include "core/framework/plugin.h"
#include "core/plugins/inter_pod_affinity/inter_pod_affinity_events.h"
#include "core/plugins/inter_pod_affinity/inter_pod_affinity_terms.h"
#include "core/plugins/normalize_score.h"
#include "core/plugins/registry.h"
#include "core/plugins/topology_domains.h"

namespace schedsim::plugins {
namespace {

using framework::AffinityTerm;
using framework::CycleState;
using framework::NodeInfo;
using framework::NodeInfos;
using framework::PodInfo;
using framework::Status;

struct FilterState : framework::StateData {
  std::unique_ptr<StateData> Clone() const override { return std::make_unique<FilterState>(*this); }

  // nullptr: the pod has no required terms.
  std::shared_ptr<const IncomingTermCounts> incoming;
  // The pods that match all terms of required affinity, by each key of them; and the sum of these counts.
  std::vector<ChangedCounts> affinity;
  int64_t affinity_total = 0;
  bool matches_own_affinity = false;
  // The pods that match required anti-affinity; one for each term.
  std::vector<ChangedCounts> anti_affinity;
  // The pods whose required anti-affinity means the pod; one for each key.
  std::vector<ChangedCounts> existing;
};

struct ScoreState : framework::StateData {
  struct Weighted {
    const TopologyDomains* domains = nullptr;
    const std::vector<int32_t>* pods = nullptr;  // By domain.
    int64_t weight = 0;
  };

  std::unique_ptr<StateData> Clone() const override { return std::make_unique<ScoreState>(*this); }

  std::shared_ptr<const IncomingTermCounts> incoming;  // nullptr: the pod has no preferred terms.
  std::vector<Weighted> terms;
};

// Puts terms of one key together.
void AddExisting(const std::vector<const ExistingTermCounts::Term*>& terms, FilterState& state) {
  for (const ExistingTermCounts::Term* term : terms) {
    const auto same =
        std::find_if(state.existing.begin(), state.existing.end(),
                     [term](const ChangedCounts& counts) { return &counts.domains() == term->domains; });
    if (same == state.existing.end()) {
      state.existing.emplace_back(*term->domains, &term->pods);
    } else {
      same->AddBase(&term->pods);
    }
  }
}

void KeepNumbers(FilterState& state) {
  for (std::vector<ChangedCounts>* all : {&state.affinity, &state.anti_affinity, &state.existing}) {
    for (ChangedCounts& counts : *all) counts.KeepNumbers();
  }
}

class InterPodAffinity final : public framework::Plugin,
                               public framework::PreFilterPlugin,
                               public framework::FilterPlugin,
                               public framework::PreScorePlugin,
                               public framework::ScorePlugin,
                               public framework::SignPlugin,
                               public framework::EnqueueExtensions {
 public:
  InterPodAffinity(const api::InterPodAffinityArgs& args, framework::Handle& handle)
      : handle_(handle),
        id_(handle.plugin_names().IdOf("InterPodAffinity")),
        ignores_existing_preferences_(args.ignore_preferred_terms_of_existing_pods),
        topology_(handle),
        namespaces_(handle),
        incoming_(topology_, namespaces_, handle),
        existing_anti_affinity_(TermUse::kFilter, 0, topology_, handle),
        existing_scores_(TermUse::kScore, args.hard_pod_affinity_weight, topology_, handle) {}

  absl::string_view Name() const override { return "InterPodAffinity"; }

  // Without affinity of its own, a pod only matters to the terms of others, by its labels.
  bool SignPod(const PodInfo& pod, framework::PodSigner& signer) const override {
    const std::optional<api::Affinity>& affinity = pod.pod->spec->affinity;
    if (affinity.has_value() &&
        (affinity->pod_affinity.has_value() || affinity->pod_anti_affinity.has_value())) {
      return false;
    }
    if (ignores_existing_preferences_ || !signer.Begin("labels")) return true;
    signer.Add(static_cast<int64_t>(pod.pod->metadata.labels.size()));
    for (const auto& [key, value] : pod.pod->metadata.labels) {
      signer.Add(key);
      signer.Add(value);
    }
    return true;
  }
  std::vector<Status> FilterFailures() const override {
    return {affinity_mismatch_, anti_affinity_mismatch_, existing_mismatch_};
  }

  framework::PreFilterResult PreFilter(CycleState& state, const PodInfo& pod, NodeInfos) override {
    framework::PreFilterResult result;
    // Invalid preferred terms, too, reject the pod: upstream parses all four lists at once.
    const framework::PodAffinityTerms& terms = pod.spec_info->affinity_terms;
    if (!terms.error.empty()) {
      result.status =
          Status(framework::Code::kUnschedulableAndUnresolvable, absl::StrCat("parsing pod: ", terms.error));
      return result;
    }
    topology_.Refresh();
    existing_anti_affinity_.Update();
    const std::vector<const ExistingTermCounts::Term*> existing =
        existing_anti_affinity_.Matching(pod, namespaces_);
    const bool has_terms = !terms.required_affinity.empty() || !terms.required_anti_affinity.empty();
    if (existing.empty() && !has_terms) {
      result.status = Status::Skip();
      return result;
    }
    auto data = std::make_unique<FilterState>();
    AddExisting(existing, *data);
    if (has_terms) AddIncoming(pod, *data);
    // The states of a group's pods live side by side, and each is of the snapshot that its pod was tried on.
    if (state.pod_group_cycle != nullptr) KeepNumbers(*data);
    state.Write(id_, CycleState::kFilterSlot, std::move(data));
    return result;
  }

  Status AddPod(CycleState& state, const PodInfo& pod, const PodInfo& other, const NodeInfo& node) override {
    return Change(state, pod, other, node, 1);
  }
  Status RemovePod(CycleState& state, const PodInfo& pod, const PodInfo& other,
                   const NodeInfo& node) override {
    return Change(state, pod, other, node, -1);
  }

  Status Filter(const CycleState& state, const PodInfo&, const NodeInfo& node) override {
    const auto* data = state.Read<FilterState>(id_, CycleState::kFilterSlot);
    if (data == nullptr) return NoFilterState();
    // The order decides the reason, and whether preemption may help: affinity that no pod satisfies is not
    // resolved by evicting pods.
    if (!SatisfiesAffinity(*data, node.index)) return affinity_mismatch_;
    if (AnyPods(data->anti_affinity, node.index)) return anti_affinity_mismatch_;
    if (AnyPods(data->existing, node.index)) return existing_mismatch_;
    return Status();
  }
  bool FilterNodes(const CycleState& state, const PodInfo&, int32_t first,
                   absl::Span<uint8_t> verdicts) override {
    const auto* data = state.Read<FilterState>(id_, CycleState::kFilterSlot);
    if (data == nullptr) return false;
    const absl::Span<const int32_t> indices =
        absl::MakeConstSpan(handle_.snapshot().Columns().indices).subspan(first, verdicts.size());
    // As Filter, with the terms one after the other: the first one that is not met gives the reason.
    const bool needs_pods = !MayBeFirst(*data);
    for (const ChangedCounts& counts : data->affinity) {
      const std::optional<CountBounds> bounds = counts.BoundsFor(verdicts.size());
      if (bounds.has_value() && (!needs_pods || bounds->least > 0)) continue;
      counts.ForEach(indices, [&](size_t i, int32_t domain, int64_t count) {
        if (domain == kNoDomain || (needs_pods && count <= 0)) verdicts[i] = 1;
      });
    }
    const auto keep_away = [&](const std::vector<ChangedCounts>& all, uint8_t verdict) {
      for (const ChangedCounts& counts : all) {
        counts.MarkPods(handle_.snapshot().Columns(), static_cast<size_t>(first), verdict, verdicts);
      }
    };
    keep_away(data->anti_affinity, 2);
    keep_away(data->existing, 3);
    return true;
  }

  Status PreScore(CycleState& state, const PodInfo& pod, NodeInfos) override {
    const bool has_preferences = HasPreferences(*pod.pod->spec);
    if (ignores_existing_preferences_ && !has_preferences) return Status::Skip();
    const framework::PodAffinityTerms& terms = pod.spec_info->affinity_terms;
    if (!terms.error.empty()) return Status::Error(absl::StrCat("failed to parse pod: ", terms.error));
    topology_.Refresh();
    existing_scores_.Update();
    auto data = std::make_unique<ScoreState>();
    for (const ExistingTermCounts::Term* term : existing_scores_.Matching(pod, namespaces_)) {
      data->terms.push_back({.domains = term->domains, .pods = &term->pods, .weight = term->weight});
    }
    if (has_preferences) {
      data->incoming = incoming_.Of(pod, TermUse::kScore);
      for (const IncomingTermCounts::Group& group : data->incoming->groups()) {
        for (const IncomingTermCounts::Column& column : group.columns) {
          if (column.counts.total() == 0) continue;
          data->terms.push_back(
              {.domains = column.domains, .pods = &column.counts.pods(), .weight = group.weight});
        }
      }
    }
    if (data->terms.empty()) return Status::Skip();
    state.Write(id_, CycleState::kScoreSlot, std::move(data));
    return Status();
  }

  Status Score(const CycleState& state, const PodInfo&, const NodeInfo& node, int64_t& score) override {
    score = 0;
    const auto* data = state.Read<ScoreState>(id_, CycleState::kScoreSlot);
    if (data == nullptr) return NoScoreState();
    for (const ScoreState::Weighted& term : data->terms) {
      const int32_t domain = term.domains->Of(node);
      if (domain == kNoDomain || static_cast<size_t>(domain) >= term.pods->size()) continue;
      score += term.weight * (*term.pods)[static_cast<size_t>(domain)];
    }
    return Status();
  }

  bool ScoreNodes(const CycleState& state, const PodInfo&, absl::Span<const int32_t> positions,
                  absl::Span<int64_t> scores) override {
    const auto* data = state.Read<ScoreState>(id_, CycleState::kScoreSlot);
    if (data == nullptr) return false;
    // Nodes up to the end of the list, and those from its start on; a filter may have left out some of them.
    for (size_t begin = 0; begin < positions.size();) {
      const absl::Span<const int32_t> rest = positions.subspan(begin);
      size_t length = rest.size();
      if (!IsRising(rest)) {
        const auto fall = std::adjacent_find(rest.begin(), rest.end(), std::greater_equal<>());
        length = static_cast<size_t>(fall - rest.begin()) + 1;
      }
      ScoreAscending(*data, rest.first(length), scores.subspan(begin, length));
      begin += length;
    }
    return true;
  }

  bool HasNormalizeScore() const override { return true; }
  // The lowest score becomes 0, the highest 100; all 0 where there is no difference.
  Status NormalizeScore(const CycleState& state, const PodInfo&, NodeInfos,
                        absl::Span<int64_t> scores) override {
    if (state.Read<ScoreState>(id_, CycleState::kScoreSlot) == nullptr) return NoScoreState();
    if (scores.empty()) return Status();
    const ScoreRange range = RangeOf(scores);
    const int64_t width = WrappingSubtract(range.most, range.least);
    if (width <= 0) {
      std::fill(scores.begin(), scores.end(), 0);
      return Status();
    }
    if (width <= kFastScoreMax) {
      ScaleBetween(range, scores);
      return Status();
    }
    for (int64_t& score : scores) {
      score = static_cast<int64_t>(static_cast<double>(framework::kMaxNodeScore) *
                                   (static_cast<double>(score - range.least) / static_cast<double>(width)));
    }
    return Status();
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    return InterPodAffinityEvents(handle_);
  }

 private:
  static Status NoFilterState() {
    return Status::Error("error reading \"PreFilterInterPodAffinity\" from cycleState: not found");
  }
  static Status NoScoreState() {
    return Status::Error("failed to read \"PreScoreInterPodAffinity\" from cycleState: not found");
  }

  static bool HasPreferences(const api::PodSpec& spec) {
    if (!spec.affinity.has_value()) return false;
    for (const auto* affinity : {&spec.affinity->pod_affinity, &spec.affinity->pod_anti_affinity}) {
      if (!affinity->has_value()) continue;
      if (!(*affinity)->preferred_during_scheduling_ignored_during_execution.empty()) return true;
    }
    return false;
  }

  // ScoreNodes for positions each of which is above the one before. Where most of the nodes between the first
  // and the last are among them, all of these are scored, which is faster than to leave some out.
  void ScoreAscending(const ScoreState& data, absl::Span<const int32_t> positions,
                      absl::Span<int64_t> scores) {
    const int32_t first = positions.front();
    const size_t extent = static_cast<size_t>(positions.back() - first) + 1;
    if (extent == positions.size() || extent > 2 * positions.size()) {
      AddTerms(data, positions, scores);
      return;
    }
    const std::vector<int32_t>& all = handle_.snapshot().Columns().positions;
    stretch_.resize(extent);
    AddTerms(data, absl::MakeConstSpan(all).subspan(static_cast<size_t>(first), extent),
             absl::MakeSpan(stretch_));
    for (size_t i = 0; i < positions.size(); ++i)
      scores[i] = stretch_[static_cast<size_t>(positions[i] - first)];
  }

  // Sets the scores to the sums over all terms.
  void AddTerms(const ScoreState& data, absl::Span<const int32_t> positions, absl::Span<int64_t> scores) {
    const framework::NodeColumns& columns = handle_.snapshot().Columns();
    std::fill(scores.begin(), scores.end(), 0);
    for (size_t i = 0; i < data.terms.size(); ++i) {
      const TopologyDomains& domains = *data.terms[i].domains;
      const size_t domain_count = static_cast<size_t>(domains.count());
      if (domain_count >= positions.size()) {
        AddWeightedPods(domains, *data.terms[i].pods, data.terms[i].weight, columns, positions, scores);
        continue;
      }
      // Where domains have many nodes, all terms of one key are added up before the nodes are looked at.
      const auto is_same_key = [&domains](const ScoreState::Weighted& term) {
        return term.domains == &domains;
      };
      const auto end = data.terms.begin() + static_cast<std::ptrdiff_t>(i);
      if (domain_count == 0 || std::any_of(data.terms.begin(), end, is_same_key)) continue;
      SumByDomain(data, domains);
      AddSums(domains, columns, positions, scores);
    }
  }

  // Sets `sums_` to what the terms of this key score, by domain, 0 for kNoDomain in front.
  void SumByDomain(const ScoreState& data, const TopologyDomains& domains) {
    sums_.assign(static_cast<size_t>(domains.count()) + 1, 0);
    for (const ScoreState::Weighted& term : data.terms) {
      if (term.domains != &domains) continue;
      for (size_t domain = 0; domain < term.pods->size(); ++domain)
        sums_[domain + 1] += term.weight * (*term.pods)[domain];
    }
  }

  void AddSums(const TopologyDomains& domains, const framework::NodeColumns& columns,
               absl::Span<const int32_t> positions, absl::Span<int64_t> scores) const {
    static_assert(kNoDomain == -1);
    const auto first = sums_.begin() + 1;
    if (domains.EachNodeHasOne() &&
        std::all_of(first, sums_.end(), [&](int64_t sum) { return sum == *first; })) {
      for (int64_t& score : scores) score += *first;
      return;
    }
    for (size_t i = 0; i < positions.size(); ++i) {
      const int32_t domain = domains.OfIndex(columns.indices[static_cast<size_t>(positions[i])]);
      scores[i] += sums_[static_cast<size_t>(domain + 1)];
    }
  }

  void AddIncoming(const PodInfo& pod, FilterState& data) {
    data.incoming = incoming_.Of(pod, TermUse::kFilter);
    const std::vector<IncomingTermCounts::Group>& groups = data.incoming->groups();
    for (size_t i = 0; i < groups.size(); ++i) {
      const bool is_affinity = i == 0 && data.incoming->has_affinity();
      for (const IncomingTermCounts::Column& column : groups[i].columns) {
        (is_affinity ? data.affinity : data.anti_affinity)
            .emplace_back(*column.domains, &column.counts.pods());
        if (is_affinity) data.affinity_total += column.counts.total();
      }
      if (is_affinity) data.matches_own_affinity = data.incoming->Matches(groups[i], pod);
    }
  }

  // The first pod of a group may come where no pod matches yet, if it matches its own terms.
  static bool MayBeFirst(const FilterState& data) {
    return data.affinity_total == 0 && data.matches_own_affinity;
  }

  static bool SatisfiesAffinity(const FilterState& data, int32_t node_index) {
    bool pods_exist = true;
    for (const ChangedCounts& counts : data.affinity) {
      const int32_t domain = counts.DomainOfIndex(node_index);
      if (domain == kNoDomain) return false;
      if (counts.At(domain) <= 0) pods_exist = false;
    }
    return pods_exist || MayBeFirst(data);
  }

  static bool AnyPods(const std::vector<ChangedCounts>& all, int32_t node_index) {
    return std::any_of(all.begin(), all.end(), [node_index](const ChangedCounts& counts) {
      const int32_t domain = counts.DomainOfIndex(node_index);
      return domain != kNoDomain && counts.At(domain) > 0;
    });
  }

  Status Change(CycleState& state, const PodInfo& pod, const PodInfo& other, const NodeInfo& node,
                int64_t delta) {
    auto* data = state.Read<FilterState>(id_, CycleState::kFilterSlot);
    if (data == nullptr) return NoFilterState();
    for (const AffinityTerm& term : other.spec_info->affinity_terms.required_anti_affinity) {
      if (!ExistingTermMatches(term, other.namespace_, pod, namespaces_, handle_.symbols())) continue;
      ChangedCounts& counts = ExistingOf(*data, topology_.Of(term.topology_key));
      if (const int32_t domain = counts.DomainOf(node); domain != kNoDomain) counts.Add(domain, delta);
    }
    if (data->incoming == nullptr) return Status();
    const std::vector<IncomingTermCounts::Group>& groups = data->incoming->groups();
    const size_t first_anti_affinity = data->incoming->has_affinity() ? 1 : 0;
    for (size_t i = 0; i < groups.size(); ++i) {
      if (!data->incoming->Matches(groups[i], other)) continue;
      if (i < first_anti_affinity) {
        for (ChangedCounts& counts : data->affinity) {
          const int32_t domain = counts.DomainOf(node);
          if (domain == kNoDomain) continue;
          counts.Add(domain, delta);
          data->affinity_total += delta;
        }
        continue;
      }
      ChangedCounts& counts = data->anti_affinity[i - first_anti_affinity];
      if (const int32_t domain = counts.DomainOf(node); domain != kNoDomain) counts.Add(domain, delta);
    }
    return Status();
  }

  static ChangedCounts& ExistingOf(FilterState& data, const TopologyDomains& domains) {
    for (ChangedCounts& counts : data.existing) {
      if (&counts.domains() == &domains) return counts;
    }
    return data.existing.emplace_back(domains, nullptr);
  }

  framework::Handle& handle_;
  const framework::PluginId id_;
  const bool ignores_existing_preferences_;
  TopologyIndex topology_;
  NamespaceLabels namespaces_;
  IncomingTermCountsStore incoming_;
  ExistingTermCounts existing_anti_affinity_;
  ExistingTermCounts existing_scores_;
  // Working memory of ScoreNodes: by domain, and by position from the first one on.
  std::vector<int64_t> sums_;
  std::vector<int64_t> stretch_;
  const Status affinity_mismatch_{framework::Code::kUnschedulableAndUnresolvable,
                                  "node(s) didn't match pod affinity rules"};
  const Status anti_affinity_mismatch_{framework::Code::kUnschedulable,
                                       "node(s) didn't match pod anti-affinity rules"};
  const Status existing_mismatch_{framework::Code::kUnschedulable,
                                  "node(s) didn't satisfy existing pods anti-affinity rules"};
};

}  // namespace

PluginOr NewInterPodAffinity(const api::PluginArgs& args, framework::Handle& handle) {
  return std::make_unique<InterPodAffinity>(ArgsOf<api::InterPodAffinityArgs>(args), handle);
}

}  // namespace schedsim::plugins
