// Filters that look at the node's object alone.

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/scheduler_config.h"
#include "core/api/taints.h"
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

// A label that says which node this is would be another node's.
bool NamesNode(const std::string& key) { return key == kHostname; }

bool IsIn(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

Fact MissedRequirement(const api::NodeSelectorRequirement& requirement, const api::Node& node,
                       const std::string& kind, const std::string& owner, bool is_field) {
  const std::string has =
      is_field ? absl::StrCat("the name ", node.metadata.name) : LabelText(node, requirement.key);
  return {.kind = kind,
          .text = absl::StrCat(owner, " wants ", RequirementText(requirement), ", the node has ", has),
          .fields = {{"wanted", RequirementText(requirement)}, {"key", requirement.key}, {"has", has}}};
}

// What a term misses on the node.
struct TermGap {
  std::vector<Fact> facts;
  std::vector<Change> labels;
  bool can_be_met = true;
  bool is_met = false;
};

TermGap GapOf(const api::NodeSelectorTerm& term, const api::Node& node, const std::string& kind,
              const std::string& owner) {
  TermGap gap;
  for (const api::NodeSelectorRequirement& requirement : term.match_fields) {
    const bool equal = IsIn(requirement.values, node.metadata.name);
    if (equal == (requirement.operator_ == "In")) continue;
    gap.facts.push_back(MissedRequirement(requirement, node, kind, owner, /*is_field=*/true));
    gap.can_be_met = false;
  }
  for (const api::NodeSelectorRequirement& requirement : term.match_expressions) {
    if (MeetsRequirement(requirement, node)) continue;
    gap.facts.push_back(MissedRequirement(requirement, node, kind, owner, /*is_field=*/false));
    const std::vector<Change> labels = LabelsFor(requirement);
    gap.can_be_met = gap.can_be_met && !labels.empty();
    gap.labels.insert(gap.labels.end(), labels.begin(), labels.end());
  }
  const bool is_empty = term.match_fields.empty() && term.match_expressions.empty();
  gap.is_met = gap.facts.empty() && !is_empty;
  if (!is_empty) return gap;
  gap.can_be_met = false;
  gap.facts.push_back({.kind = kind, .text = absl::StrCat(owner, " has a term that matches no node")});
  return gap;
}

}  // namespace

bool MeetsRequirement(const api::NodeSelectorRequirement& requirement, const api::Node& node) {
  const std::string* const value = node.metadata.labels.Find(requirement.key);
  const std::string& op = requirement.operator_;
  if (op == "In") return value != nullptr && IsIn(requirement.values, *value);
  if (op == "NotIn") return value == nullptr || !IsIn(requirement.values, *value);
  if (op == "Exists") return value != nullptr;
  if (op == "DoesNotExist") return value == nullptr;
  int64_t has = 0;
  int64_t bound = 0;
  if (value == nullptr || requirement.values.empty() || !absl::SimpleAtoi(*value, &has) ||
      !absl::SimpleAtoi(requirement.values[0], &bound)) {
    return false;
  }
  return op == "Gt" ? has > bound : has < bound;
}

std::vector<Change> LabelsFor(const api::NodeSelectorRequirement& requirement) {
  const std::string& op = requirement.operator_;
  if (NamesNode(requirement.key)) return {};
  Change change = {.type = Type::kLabel, .name = requirement.key};
  int64_t bound = 0;
  if (op == "In" && !requirement.values.empty()) {
    change.value = requirement.values[0];
  } else if (op == "Exists") {
    change.value = "true";
  } else if ((op == "Gt" || op == "Lt") && !requirement.values.empty() &&
             absl::SimpleAtoi(requirement.values[0], &bound)) {
    change.value = absl::StrCat(op == "Gt" ? bound + 1 : bound - 1);
  } else if (op != "NotIn" && op != "DoesNotExist") {
    return {};
  }
  return {std::move(change)};
}

void ExplainSelector(const api::NodeSelector& selector, const api::Node& node, const std::string& kind,
                     const std::string& owner, Refusal& refusal) {
  std::vector<std::vector<Change>> remedies;
  const size_t count = selector.node_selector_terms.size();
  for (size_t i = 0; i < count; ++i) {
    const std::string name = count == 1 ? owner : absl::StrCat(owner, " (term ", i + 1, " of ", count, ")");
    TermGap gap = GapOf(selector.node_selector_terms[i], node, kind, name);
    refusal.facts.insert(refusal.facts.end(), gap.facts.begin(), gap.facts.end());
    if (gap.can_be_met) remedies.push_back(std::move(gap.labels));
  }
  std::stable_sort(remedies.begin(), remedies.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  refusal.remedies.insert(refusal.remedies.end(), remedies.begin(), remedies.end());
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
      if (required.has_value()) ExplainSelector(*required, node, "nodeAffinity", "the profile", refusal);
    }
    refusal.no_remedy = "the profile's own node affinity (addedAffinity) does not let pods there";
    return refusal;
  }
  std::vector<Change> labels;
  std::vector<Change> left_out;
  if (spec.node_selector.has_value()) {
    for (const auto& [key, value] : *spec.node_selector) {
      const std::string* const has = node.metadata.labels.Find(key);
      if (has != nullptr && *has == value) continue;
      const api::NodeSelectorRequirement wanted = {.key = key, .operator_ = "In", .values = {value}};
      refusal.facts.push_back(
          MissedRequirement(wanted, node, "nodeSelector", "the node selector", /*is_field=*/false));
      for (Change& change : LabelsFor(wanted)) labels.push_back(std::move(change));
      left_out.push_back({.type = Type::kLeaveOut, .name = kNodeSelector, .value = key, .size = 2000});
    }
  }
  Refusal by_affinity;
  if (spec.affinity.has_value() && spec.affinity->node_affinity.has_value()) {
    const auto& required = spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
    if (required.has_value() &&
        std::none_of(required->node_selector_terms.begin(), required->node_selector_terms.end(),
                     [&](const api::NodeSelectorTerm& term) { return GapOf(term, node, "", "").is_met; })) {
      ExplainSelector(*required, node, "nodeAffinity", "the node affinity", by_affinity);
      left_out.push_back({.type = Type::kLeaveOut, .name = kNodeAffinity, .value = "", .size = 2000});
    }
  }
  refusal.facts.insert(refusal.facts.end(), by_affinity.facts.begin(), by_affinity.facts.end());
  if (by_affinity.remedies.empty()) by_affinity.remedies.push_back({});
  for (const std::vector<Change>& of_term : by_affinity.remedies) {
    std::vector<Change> remedy = labels;
    remedy.insert(remedy.end(), of_term.begin(), of_term.end());
    if (!remedy.empty()) refusal.remedies.push_back(std::move(remedy));
  }
  if (!left_out.empty()) refusal.remedies.push_back(std::move(left_out));
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
