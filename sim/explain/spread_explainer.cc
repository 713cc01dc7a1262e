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

SpreadExplainer::Least SpreadExplainer::LeastOf(const SpreadCounts& counts, size_t constraint,
                                                Symbol key) const {
  const std::vector<int32_t>& pods = counts.counts(constraint).pods();
  Least least;
  std::vector<bool> seen(pods.size());
  for (const framework::NodeInfo* node : handle_.snapshot().List()) {
    const int32_t domain = counts.counts(constraint).DomainOf(*node);
    if (domain == plugins::kNoDomain || seen[static_cast<size_t>(domain)]) continue;
    seen[static_cast<size_t>(domain)] = true;
    const Symbol* const value = node->labels.Find(key);
    if (value == nullptr) continue;
    const std::string name(handle_.symbols().Text(*value));
    const int64_t count = pods[static_cast<size_t>(domain)];
    if (least.domain_count == 0 || count < least.count || (count == least.count && name < least.domain)) {
      least.domain = name;
      least.count = count;
    }
    ++least.domain_count;
  }
  return least;
}

void SpreadExplainer::ExplainConstraint(const RefusedPod& refused, const SpreadCounts& counts,
                                        size_t constraint, Refusal& refusal) const {
  const SpreadConstraint& rule = counts.constraints()[constraint];
  const std::string key(handle_.symbols().Text(rule.topology_key));
  const Least least = LeastOf(counts, constraint, rule.topology_key);
  const Symbol* const value = refused.node.labels.Find(rule.topology_key);
  if (value == nullptr) {
    refusal.facts.push_back({.kind = "spreadLabel",
                             .text = absl::StrCat("the node has no label ", key, ", over which pods spread"),
                             .fields = {{"topologyKey", key}}});
    const std::string domain = least.domain.empty() ? "a" : least.domain;
    refusal.remedies[0].push_back({.type = Type::kLabel, .name = key, .value = domain});
    return;
  }
  const int32_t domain = counts.domains(constraint).Of(refused.node);
  const std::vector<int32_t>& pods = counts.counts(constraint).pods();
  int64_t count = static_cast<size_t>(domain) < pods.size() ? pods[static_cast<size_t>(domain)] : 0;
  // Pods that are nominated to the node count there, too.
  const framework::NodeInfo* const bare = handle_.snapshot().Get(refused.node.name);
  for (size_t i = bare->pods.size(); i < refused.node.pods.size(); ++i) {
    if (counts.Means(constraint, *refused.node.pods[i])) ++count;
  }
  const bool too_few = counts.counts(constraint).domain_count() < rule.min_domains;
  const int64_t minimum = too_few || least.domain_count == 0 ? 0 : least.count;
  const int64_t self = rule.selector.Matches(refused.pod.labels, handle_.symbols()) ? 1 : 0;
  const int64_t skew = count + self - minimum;
  if (skew <= rule.max_skew) return;
  const std::string name(handle_.symbols().Text(*value));
  const std::string where =
      too_few ? absl::StrCat("there are ", least.domain_count, " domains of at least ", rule.min_domains)
              : absl::StrCat("the least is ", minimum, " in ", least.domain);
  refusal.facts.push_back(
      {.kind = "spread",
       .text = absl::StrCat(key, "=", name, " has ", count, " such pod", count == 1 ? "" : "s", ", ", where,
                            "; with this pod the skew is ", skew, ", allowed is ", rule.max_skew),
       .fields = {{"topologyKey", key},
                  {"domain", name},
                  {"count", count},
                  {"minimum", minimum},
                  {"minimumDomain", too_few ? "" : least.domain},
                  {"domains", least.domain_count},
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
