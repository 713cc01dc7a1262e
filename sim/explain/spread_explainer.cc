#include "sim/explain/spread_explainer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/scheduler_config.h"

namespace schedsim::sim {
namespace {

using Type = Change::Type;
using plugins::SpreadConstraint;
using plugins::SpreadCounts;

api::PodTopologySpreadArgs ArgsOf(const api::EffectiveProfile& profile) {
  const auto* const args = profile.FindArgs<api::PodTopologySpreadArgs>("PodTopologySpread");
  return args == nullptr ? api::PodTopologySpreadArgs() : *args;
}

}  // namespace

SpreadExplainer::SpreadExplainer(const api::EffectiveProfile& profile, framework::Handle& handle)
    : handle_(handle), constraints_(ArgsOf(profile), handle), counts_(handle) {}

std::string SpreadExplainer::FirstDomain(const SpreadCounts& counts, size_t constraint,
                                         const plugins::ChangedCounts& pods, int64_t count) {
  const Symbol key = counts.constraints()[constraint].topology_key;
  Domains& domains = domains_[key];
  plugins::FollowSnapshot(
      handle_.snapshot(), domains.position, [] {},
      [&](const framework::NodeInfo& node) {
        const Symbol* const value = node.labels.Find(key);
        if (value == nullptr) return;
        domains.by_name.emplace(handle_.symbols().Text(*value), counts.domains(constraint).Of(node));
      });
  const std::vector<int32_t>& nodes = counts.counts(constraint).nodes();
  for (const auto& [name, domain] : domains.by_name) {
    const size_t place = static_cast<size_t>(domain);
    if (place < nodes.size() && nodes[place] > 0 && pods.At(domain) == count) return name;
  }
  return "";
}

void SpreadExplainer::ExplainConstraint(const RefusedPod& refused, const SpreadCounts& counts,
                                        size_t constraint, Refusal& refusal) {
  const SpreadConstraint& rule = counts.constraints()[constraint];
  const std::string key(handle_.symbols().Text(rule.topology_key));
  const int32_t domain = counts.domains(constraint).Of(refused.node);
  if (domain == plugins::kNoDomain) {
    refusal.facts.push_back({.kind = "spreadLabel",
                             .text = absl::StrCat("the node has no label ", key, ", over which pods spread"),
                             .fields = {{"topologyKey", key}}});
    plugins::ChangedCounts pods(counts.domains(constraint), &counts.counts(constraint).pods());
    const std::string least = FirstDomain(counts, constraint, pods, counts.LeastPods(constraint, pods));
    std::optional<Change> label = LabelOf(refused, key, least.empty() ? kSomeValue : least);
    if (label.has_value()) refusal.remedies[0].push_back(*std::move(label));
    return;
  }
  // Pods that are nominated to the node count there, as for the plugin.
  plugins::ChangedCounts pods(counts.domains(constraint), &counts.counts(constraint).pods());
  const int32_t counted_domain = counts.counts(constraint).DomainOf(refused.node);
  for (const framework::PodInfoPtr& nominated : refused.Nominated()) {
    if (counted_domain != plugins::kNoDomain && counts.Means(constraint, *nominated))
      pods.Add(counted_domain, 1);
  }
  const int64_t domain_count = counts.counts(constraint).domain_count();
  const bool too_few = domain_count < rule.min_domains;
  const int64_t minimum = too_few ? 0 : counts.LeastPods(constraint, pods);
  const int64_t count = pods.At(domain);
  const int64_t self = rule.selector.Matches(refused.pod.labels, handle_.symbols()) ? 1 : 0;
  const int64_t skew = count + self - minimum;
  if (skew <= rule.max_skew) return;
  const std::string name(refused.Text(*refused.node.labels.Find(rule.topology_key)));
  const std::string least = too_few ? "" : FirstDomain(counts, constraint, pods, minimum);
  const std::string where =
      too_few ? absl::StrCat("there are ", domain_count, " domains of at least ", rule.min_domains)
              : absl::StrCat("the least is ", minimum, " in ", least);
  refusal.facts.push_back(
      {.kind = "spread",
       .text = absl::StrCat(key, "=", name, " has ", count, " such pod", count == 1 ? "" : "s", ", ", where,
                            "; with this pod the skew is ", skew, ", allowed is ", rule.max_skew),
       .fields = {{"topologyKey", key},
                  {"domain", name},
                  {"count", count},
                  {"minimum", minimum},
                  {"minimumDomain", least},
                  {"domains", domain_count},
                  {"minDomains", int64_t{rule.min_domains}},
                  {"skew", skew},
                  {"maxSkew", int64_t{rule.max_skew}}}});
  refusal.remedies[0].push_back({.type = Type::kMaxSkew,
                                 .name = key,
                                 .value = absl::StrCat(skew),
                                 .size = 1000 + std::min<int64_t>(1000, 10 * (skew - rule.max_skew))});
}

Refusal SpreadExplainer::Explain(const RefusedPod& refused) {
  Refusal refusal;
  refusal.remedies.emplace_back();
  const plugins::SpreadConstraints constraints = constraints_.Of(refused.pod, plugins::SpreadUse::kFilter);
  if (constraints.list->empty()) return refusal;
  const std::shared_ptr<const SpreadCounts> counts =
      counts_.Of(refused.pod, plugins::SpreadUse::kFilter, constraints.list, /*requires_all_keys=*/true);
  for (size_t i = 0; i < constraints.list->size(); ++i) ExplainConstraint(refused, *counts, i, refusal);
  const bool is_own = !refused.spec().topology_spread_constraints.empty();
  if (!is_own) {
    std::erase_if(refusal.remedies[0], [](const Change& change) { return change.type == Type::kMaxSkew; });
    refusal.no_remedy = "the constraint is the profile's, for all pods that have none themselves";
  }
  return refusal;
}

}  // namespace schedsim::sim
