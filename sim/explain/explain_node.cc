// Filters that look at the node's object alone.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/scheduler_config.h"
#include "core/api/selector_validation.h"
#include "core/api/taints.h"
#include "core/framework/selector.h"
#include "sim/explain/filter_explainer.h"
#include "sim/explain/selector_text.h"

namespace schedsim::sim {
namespace {

using Type = Change::Type;

constexpr char kHostname[] = "kubernetes.io/hostname";

std::string LabelText(const api::Node& node, const std::string& key) {
  const std::string* const value = node.metadata.labels.Find(key);
  return value == nullptr ? absl::StrCat("no label ", key) : absl::StrCat(key, "=", *value);
}

bool Meets(const api::NodeSelectorTerm& term, const api::StringMap& labels, const RefusedPod& refused) {
  SymbolTable& symbols = refused.handle.symbols();
  return framework::NodeSelectorTermMatcher(term, symbols)
      .Matches(framework::LabelSet(labels, symbols), refused.node.name, symbols);
}

Fact MissedRequirement(const api::NodeSelectorRequirement& requirement, const api::Node& node,
                       const std::string& kind, const std::string& owner, bool is_field) {
  const std::string has =
      is_field ? absl::StrCat("the name ", node.metadata.name) : LabelText(node, requirement.key);
  return {.kind = kind,
          .text = absl::StrCat(owner, " wants ", RequirementText(requirement), ", the node has ", has),
          .fields = {{"wanted", RequirementText(requirement)}, {"key", requirement.key}, {"has", has}}};
}

// Values that may meet the requirement. Those of labels begin with a letter or a digit, so that no label is
// below zero.
std::vector<std::string> ValuesFor(const api::NodeSelectorRequirement& requirement) {
  const std::string& op = requirement.operator_;
  if (op == "In") return requirement.values;
  if (op == "Exists") return {"true"};
  if ((op != "Gt" && op != "Lt") || requirement.values.empty()) return {};
  const std::optional<int64_t> bound = api::ParseLabelNumber(requirement.values[0]);
  if (!bound.has_value()) return {};
  if (op == "Lt") return {absl::StrCat(*bound > 0 ? *bound - 1 : 0)};
  return {absl::StrCat(*bound == std::numeric_limits<int64_t>::max() ? *bound
                                                                     : std::max<int64_t>(*bound + 1, 0))};
}

// The change of the label `key` that meets all that the term asks of it; absent: there is none.
std::optional<Change> LabelFor(const std::string& key, const api::NodeSelectorTerm& term,
                               const RefusedPod& refused) {
  api::NodeSelectorTerm asked;
  std::vector<std::string> values;
  for (const api::NodeSelectorRequirement& requirement : term.match_expressions) {
    if (requirement.key != key) continue;
    asked.match_expressions.push_back(requirement);
    for (std::string& value : ValuesFor(requirement)) values.push_back(std::move(value));
  }
  for (const std::string& value : values) {
    std::optional<Change> change = LabelOf(refused, key, value);
    if (!change.has_value()) continue;
    api::StringMap labels;
    labels.Set(key, *change->value);
    if (Meets(asked, labels, refused)) return change;
  }
  if (key == kHostname || !Meets(asked, {}, refused)) return std::nullopt;
  return Change{.type = Type::kLabel, .name = key};
}

// What a term misses on the node.
struct TermGap {
  std::vector<Fact> facts;
  std::vector<Change> labels;
  bool can_be_met = true;
  bool is_met = false;
};

TermGap GapOf(const api::NodeSelectorTerm& term, const RefusedPod& refused, const std::string& kind,
              const std::string& owner) {
  const api::Node& node = *refused.node.node;
  TermGap gap;
  for (const api::NodeSelectorRequirement& requirement : term.match_fields) {
    if (Meets({.match_expressions = {}, .match_fields = {requirement}}, {}, refused)) continue;
    gap.facts.push_back(MissedRequirement(requirement, node, kind, owner, /*is_field=*/true));
    gap.can_be_met = false;
  }
  for (const api::NodeSelectorRequirement& requirement : term.match_expressions) {
    if (Meets({.match_expressions = {requirement}, .match_fields = {}}, node.metadata.labels, refused))
      continue;
    gap.facts.push_back(MissedRequirement(requirement, node, kind, owner, /*is_field=*/false));
    const bool is_known = std::any_of(gap.labels.begin(), gap.labels.end(),
                                      [&](const Change& change) { return change.name == requirement.key; });
    if (is_known) continue;
    std::optional<Change> label = LabelFor(requirement.key, term, refused);
    gap.can_be_met = gap.can_be_met && label.has_value();
    if (label.has_value()) gap.labels.push_back(*std::move(label));
  }
  const bool is_empty = term.match_fields.empty() && term.match_expressions.empty();
  gap.is_met = gap.facts.empty() && !is_empty;
  if (!is_empty) return gap;
  gap.can_be_met = false;
  gap.facts.push_back({.kind = kind, .text = absl::StrCat(owner, " has a term that matches no node")});
  return gap;
}

}  // namespace

std::optional<Change> LabelOf(const RefusedPod& refused, const std::string& key, const std::string& value) {
  const api::ObjectMeta& node = refused.node.node->metadata;
  const std::string& wanted = key == kHostname ? node.name : value;
  const std::string* const has = node.labels.Find(key);
  if (has != nullptr && *has == wanted) return std::nullopt;
  return Change{.type = Type::kLabel, .name = key, .value = wanted};
}

void ExplainSelector(const api::NodeSelector& selector, const RefusedPod& refused, const std::string& kind,
                     const std::string& owner, Refusal& refusal) {
  const size_t count = selector.node_selector_terms.size();
  for (size_t i = 0; i < count; ++i) {
    const std::string name = count == 1 ? owner : absl::StrCat(owner, " (term ", i + 1, " of ", count, ")");
    TermGap gap = GapOf(selector.node_selector_terms[i], refused, kind, name);
    refusal.facts.insert(refusal.facts.end(), gap.facts.begin(), gap.facts.end());
    if (gap.can_be_met) refusal.remedies.push_back(std::move(gap.labels));
  }
}

Refusal ExplainNodeName(const RefusedPod& refused) {
  const std::string& name = refused.pod.pod->node_name;
  return {.facts = {{.kind = "nodeName",
                     .text = absl::StrCat("the pod names the node ", name),
                     .fields = {{"wanted", name}}}},
          .remedies = {},
          .no_remedy = absl::StrCat("the pod names its node, ", name)};
}

Refusal ExplainNodeUnschedulable(const RefusedPod& /*refused*/) {
  return {.facts = {{.kind = "unschedulable", .text = "the node is cordoned (spec.unschedulable)"}},
          .remedies = {{{.type = Type::kUncordon}}}};
}

Refusal ExplainTaintToleration(const RefusedPod& refused) {
  Refusal refusal;
  std::vector<Change> remedy;
  for (const api::Taint& taint : refused.node.node->spec.taints) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    if (api::TolerationsTolerateTaint(refused.spec().tolerations, taint)) continue;
    refusal.facts.push_back(
        {.kind = "taint",
         .text = absl::StrCat("taint ", TaintText(taint), " is not tolerated"),
         .fields = {{"key", taint.key}, {"value", taint.value}, {"effect", taint.effect}}});
    remedy.push_back({.type = Type::kTolerate, .name = TaintText(taint), .taint = taint});
  }
  refusal.remedies.push_back(std::move(remedy));
  return refusal;
}

Refusal ExplainNodeAffinity(const RefusedPod& refused) {
  Refusal refusal;
  const api::Node& node = *refused.node.node;
  const api::PodSpec& spec = refused.spec();
  const bool is_enforced = refused.status.reasons() ==
                           std::vector<std::string>{"node(s) didn't match scheduler-enforced node affinity"};
  if (is_enforced) {
    const auto* const args = refused.profile.FindArgs<api::NodeAffinityArgs>("NodeAffinity");
    if (args != nullptr && args->added_affinity.has_value()) {
      const auto& required = args->added_affinity->required_during_scheduling_ignored_during_execution;
      if (required.has_value()) ExplainSelector(*required, refused, "nodeAffinity", "the profile", refusal);
    }
    refusal.no_remedy = "the profile's own node affinity (addedAffinity) does not let pods there";
    return refusal;
  }
  std::vector<Change> labels;
  std::vector<Change> left_out;
  bool can_be_labelled = true;
  if (spec.node_selector.has_value()) {
    for (const auto& [key, value] : *spec.node_selector) {
      const std::string* const has = node.metadata.labels.Find(key);
      if (has != nullptr && *has == value) continue;
      TermGap gap = GapOf(
          {.match_expressions = {{.key = key, .operator_ = "In", .values = {value}}}, .match_fields = {}},
          refused, "nodeSelector", "the node selector");
      refusal.facts.insert(refusal.facts.end(), gap.facts.begin(), gap.facts.end());
      can_be_labelled = can_be_labelled && gap.can_be_met;
      labels.insert(labels.end(), gap.labels.begin(), gap.labels.end());
      left_out.push_back({.type = Type::kLeaveOut, .name = kNodeSelector, .value = key, .size = 2000});
    }
  }
  Refusal by_affinity;
  if (spec.affinity.has_value() && spec.affinity->node_affinity.has_value()) {
    const auto& required = spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
    if (required.has_value() &&
        std::none_of(
            required->node_selector_terms.begin(), required->node_selector_terms.end(),
            [&](const api::NodeSelectorTerm& term) { return GapOf(term, refused, "", "").is_met; })) {
      ExplainSelector(*required, refused, "nodeAffinity", "the node affinity", by_affinity);
      left_out.push_back({.type = Type::kLeaveOut, .name = kNodeAffinity, .value = "", .size = 2000});
    }
  }
  refusal.facts.insert(refusal.facts.end(), by_affinity.facts.begin(), by_affinity.facts.end());
  if (by_affinity.facts.empty()) by_affinity.remedies.emplace_back();
  for (std::vector<Change>& remedy : by_affinity.remedies) {
    if (!can_be_labelled) continue;
    remedy.insert(remedy.begin(), labels.begin(), labels.end());
    refusal.remedies.push_back(std::move(remedy));
  }
  refusal.remedies.push_back(std::move(left_out));
  return refusal;
}

Refusal ExplainNodeDeclaredFeatures(const RefusedPod& refused) {
  // Which features these are follows from the pod; those that the node lacks are tried one after the other.
  constexpr absl::string_view kFeatures[] = {"RestartAllContainersOnContainerExits",
                                             "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions"};
  const std::vector<std::string>& declared = refused.node.node->status.declared_features;
  Refusal refusal;
  std::vector<Change> remedy;
  for (const absl::string_view feature : kFeatures) {
    if (std::find(declared.begin(), declared.end(), feature) != declared.end()) continue;
    remedy.push_back({.type = Type::kFeature, .name = std::string(feature)});
  }
  refusal.facts.push_back(
      {.kind = "feature",
       .text = absl::StrCat("the pod needs a feature that the node does not declare; it declares ",
                            declared.empty() ? "none" : absl::StrJoin(declared, ", "))});
  refusal.remedies.push_back(std::move(remedy));
  return refusal;
}

}  // namespace schedsim::sim
