// NodeAffinity: node selectors and node affinity of the pod, and of the profile.
// Source: kubernetes v1.37, plugins/nodeaffinity/node_affinity.go.
// Extension points: PreFilter, Filter, PreScore, Score.
// Arguments: NodeAffinityArgs.addedAffinity, which all pods of the profile have in addition.

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "core/api/scheduler_config.h"
#include "core/api/selector_validation.h"
#include "core/framework/plugin.h"
#include "core/framework/selector.h"
#include "core/plugins/normalize_score.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using framework::NodeSelectorMatcher;
using framework::PodInfo;
using framework::PreferredNodeTerms;
using framework::QueueingHint;
using framework::Status;

const api::NodeAffinity* AffinityOf(const api::PodSpec& spec) {
  if (!spec.affinity.has_value() || !spec.affinity->node_affinity.has_value()) return nullptr;
  return &*spec.affinity->node_affinity;
}

// The names that a term allows; absent: any.
std::optional<std::vector<std::string>> NamesOfTerm(const api::NodeSelectorTerm& term) {
  std::optional<std::vector<std::string>> names;
  for (const api::NodeSelectorRequirement& field : term.match_fields) {
    if (field.key != "metadata.name" || field.operator_ != "In") continue;
    if (!names.has_value()) {
      names = field.values;
      continue;
    }
    std::erase_if(*names, [&field](const std::string& name) {
      return std::find(field.values.begin(), field.values.end(), name) == field.values.end();
    });
  }
  return names;
}

// Requirements, and terms, as texts that are equal where they differ in order only.
std::string Signed(const std::vector<api::NodeSelectorRequirement>& requirements) {
  std::vector<std::string> texts;
  for (const api::NodeSelectorRequirement& requirement : requirements) {
    std::vector<std::string> values = requirement.values;
    std::sort(values.begin(), values.end());
    framework::PodSigner signer;
    signer.Add(requirement.key);
    signer.Add(requirement.operator_);
    signer.Add(values);
    texts.push_back(signer.text());
  }
  std::sort(texts.begin(), texts.end());
  framework::PodSigner signer;
  signer.Add(texts);
  return signer.text();
}

std::string Signed(const api::NodeSelectorTerm& term, int32_t weight) {
  framework::PodSigner signer;
  signer.Add(weight);
  signer.Add(Signed(term.match_expressions));
  signer.Add(Signed(term.match_fields));
  return signer.text();
}

void SignAffinity(const api::NodeAffinity* affinity, framework::PodSigner& signer) {
  signer.Add(affinity == nullptr ? 0 : 1);
  if (affinity == nullptr) return;
  std::vector<std::string> required;
  if (affinity->required_during_scheduling_ignored_during_execution.has_value()) {
    for (const auto& term :
         affinity->required_during_scheduling_ignored_during_execution->node_selector_terms) {
      required.push_back(Signed(term, 0));
    }
  }
  std::vector<std::string> preferred;
  for (const auto& term : affinity->preferred_during_scheduling_ignored_during_execution) {
    preferred.push_back(Signed(term.preference, term.weight));
  }
  std::sort(required.begin(), required.end());
  std::sort(preferred.begin(), preferred.end());
  signer.Add(required);
  signer.Add(preferred);
}

class NodeAffinity final : public framework::Plugin,
                           public framework::PreFilterPlugin,
                           public framework::FilterPlugin,
                           public framework::PreScorePlugin,
                           public framework::ScorePlugin,
                           public framework::SignPlugin,
                           public framework::EnqueueExtensions {
 public:
  NodeAffinity(const std::optional<api::NodeAffinity>& added, framework::Handle& handle) : handle_(handle) {
    if (!added.has_value()) return;
    const auto& required = added->required_during_scheduling_ignored_during_execution;
    const auto& preferred = added->preferred_during_scheduling_ignored_during_execution;
    if (required.has_value()) added_required_.emplace(*required, handle.symbols());
    if (!preferred.empty()) added_preferred_.emplace(preferred, handle.symbols());
  }

  absl::string_view Name() const override { return "NodeAffinity"; }

  bool SignPod(const PodInfo& pod, framework::PodSigner& signer) const override {
    const api::PodSpec& spec = *pod.pod->spec;
    if (signer.Begin("node affinity")) SignAffinity(AffinityOf(spec), signer);
    if (!signer.Begin("node selector")) return true;
    signer.Add(spec.node_selector.has_value() ? static_cast<int64_t>(spec.node_selector->size()) : -1);
    if (!spec.node_selector.has_value()) return true;
    for (const auto& [key, value] : *spec.node_selector) {
      signer.Add(key);
      signer.Add(value);
    }
    return true;
  }

  framework::PreFilterResult PreFilter(framework::CycleState&, const PodInfo& pod,
                                       framework::NodeInfos) override {
    framework::PreFilterResult result;
    const api::NodeAffinity* affinity = AffinityOf(*pod.pod->spec);
    const bool required =
        affinity != nullptr && affinity->required_during_scheduling_ignored_during_execution.has_value();
    if (!required && !added_required_.has_value() && !pod.pod->spec->node_selector.has_value()) {
      result.status = Status::Skip();
      return result;
    }
    if (!required) return result;
    const auto& terms = affinity->required_during_scheduling_ignored_during_execution->node_selector_terms;
    if (terms.empty()) return result;
    std::vector<Symbol> names;
    for (const api::NodeSelectorTerm& term : terms) {
      const std::optional<std::vector<std::string>> of_term = NamesOfTerm(term);
      // One term without names allows every node.
      if (!of_term.has_value()) return result;
      for (const std::string& name : *of_term) names.push_back(handle_.symbols().Intern(name));
    }
    if (names.empty()) {
      result.status = conflict_;
    } else {
      result.node_names = std::move(names);
    }
    return result;
  }
  bool PreFilterFollowsFromClass() const override { return true; }

  Status Filter(const framework::CycleState&, const PodInfo& pod, const framework::NodeInfo& node) override {
    const SymbolTable& symbols = handle_.symbols();
    if (added_required_.has_value() && !added_required_->Matches(node.labels, node.name, symbols)) {
      return enforced_mismatch_;
    }
    return pod.spec_info->required_node_affinity.Matches(node.labels, node.name, symbols) ? Status()
                                                                                          : pod_mismatch_;
  }
  framework::Dependency FilterDependency() const override {
    return {.of = framework::Dependency::Of::kNodeObject, .concern = framework::Concern::kNodeSelection};
  }

  Status PreScore(framework::CycleState&, const PodInfo& pod, framework::NodeInfos) override {
    const api::NodeAffinity* affinity = AffinityOf(*pod.pod->spec);
    const bool preferred =
        affinity != nullptr && !affinity->preferred_during_scheduling_ignored_during_execution.empty();
    if (!preferred && !added_preferred_.has_value()) return Status::Skip();
    if (!pod.spec_info->preferred_node_terms.invalid()) return Status();
    return ParseError(*affinity);
  }
  bool PreScoreFollowsFromClass() const override { return true; }

  Status Score(const framework::CycleState&, const PodInfo& pod, const framework::NodeInfo& node,
               int64_t& score) override {
    const SymbolTable& symbols = handle_.symbols();
    // PreScore refuses such a pod; it comes here only where the profile leaves PreScore out.
    if (pod.spec_info->preferred_node_terms.invalid()) return ParseError(*AffinityOf(*pod.pod->spec));
    score = pod.spec_info->preferred_node_terms.Score(node.labels, node.name, symbols);
    if (added_preferred_.has_value()) score += added_preferred_->Score(node.labels, node.name, symbols);
    return Status();
  }
  framework::Dependency ScoreDependency() const override {
    return {.of = framework::Dependency::Of::kNodeObject, .concern = framework::Concern::kNodeSelection};
  }

  bool HasNormalizeScore() const override { return true; }
  bool NormalizesByScoresOnly() const override { return true; }
  Status NormalizeScore(const framework::CycleState&, const PodInfo&, framework::NodeInfos,
                        absl::Span<int64_t> scores) override {
    DefaultNormalizeScore(/*reverse=*/false, scores);
    return Status();
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    return {{.event = {.resource = framework::EventResource::kNode,
                       .action = framework::kAdd | framework::kUpdateNodeLabel},
             .hint =
                 [this](const PodInfo& pod, const api::Object* old_object, const api::Object* new_object) {
                   return AfterNodeChange(pod, old_object, new_object);
                 },
             .scope = framework::HintScope::kSpecAndLabels}};
  }

 private:
  Status ParseError(const api::NodeAffinity& affinity) const {
    return Status::Error(api::PreferredNodeTermsError(
        affinity.preferred_during_scheduling_ignored_during_execution, handle_.line().line));
  }

  QueueingHint AfterNodeChange(const PodInfo& pod, const api::Object* old_object,
                               const api::Object* new_object) {
    SymbolTable& symbols = handle_.symbols();
    const framework::LabelSet labels(new_object->metadata.labels, symbols);
    const Symbol name = symbols.Intern(new_object->metadata.name);
    if (added_required_.has_value() && !added_required_->Matches(labels, name, symbols))
      return QueueingHint::kSkip;
    const framework::RequiredNodeAffinity& required = pod.spec_info->required_node_affinity;
    // Upstream's hint fails where the affinity cannot be parsed, and a hint that fails means Queue.
    if (required.FailsFor(labels, name, symbols)) return QueueingHint::kQueue;
    if (!required.Matches(labels, name, symbols)) return QueueingHint::kSkip;
    if (old_object == nullptr) return QueueingHint::kQueue;
    const framework::LabelSet old_labels(old_object->metadata.labels, symbols);
    return framework::QueueIf(!required.Matches(old_labels, name, symbols));
  }

  framework::Handle& handle_;
  std::optional<NodeSelectorMatcher> added_required_;
  std::optional<PreferredNodeTerms> added_preferred_;
  const Status conflict_{framework::Code::kUnschedulableAndUnresolvable, "pod affinity terms conflict"};
  const Status enforced_mismatch_{framework::Code::kUnschedulableAndUnresolvable,
                                  "node(s) didn't match scheduler-enforced node affinity"};
  const Status pod_mismatch_{framework::Code::kUnschedulableAndUnresolvable,
                             "node(s) didn't match Pod's node affinity/selector"};
};

}  // namespace

PluginOr NewNodeAffinity(const api::PluginArgs& args, framework::Handle& handle) {
  return std::make_unique<NodeAffinity>(ArgsOf<api::NodeAffinityArgs>(args).added_affinity, handle);
}

}  // namespace schedsim::plugins
