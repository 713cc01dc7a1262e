// TaintToleration: pods keep away from nodes with taints that they do not tolerate.
// Source: kubernetes v1.37, plugins/tainttoleration/taint_toleration.go.
// Extension points: PreFilter (1.37), Filter, PreScore, Score. Arguments: none.

#include <algorithm>
#include <memory>
#include <vector>

#include "core/api/taints.h"
#include "core/framework/plugin.h"
#include "core/plugins/normalize_score.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using framework::QueueingHint;
using framework::Status;

bool IsTolerated(const std::vector<api::Toleration>& tolerations, const api::Taint& taint) {
  return std::any_of(tolerations.begin(), tolerations.end(), [&taint](const api::Toleration& toleration) {
    return api::Tolerates(toleration, taint);
  });
}

bool HasUntoleratedTaint(const api::Node& node, const api::Pod& pod) {
  return std::any_of(node.spec.taints.begin(), node.spec.taints.end(), [&pod](const api::Taint& taint) {
    const bool keeps_away = taint.effect == "NoSchedule" || taint.effect == "NoExecute";
    return keeps_away && !IsTolerated(pod.spec->tolerations, taint);
  });
}

QueueingHint AfterNodeChange(const framework::PodInfo& pod, const api::Object* old_object,
                             const api::Object* new_object) {
  const auto* old_node = static_cast<const api::Node*>(old_object);
  const auto* new_node = static_cast<const api::Node*>(new_object);
  const bool was_untolerated = old_node == nullptr || HasUntoleratedTaint(*old_node, *pod.pod);
  return was_untolerated && !HasUntoleratedTaint(*new_node, *pod.pod) ? QueueingHint::kQueue
                                                                      : QueueingHint::kSkip;
}

class TaintToleration final : public framework::Plugin,
                              public framework::PreFilterPlugin,
                              public framework::FilterPlugin,
                              public framework::PreScorePlugin,
                              public framework::ScorePlugin,
                              public framework::SignPlugin,
                              public framework::EnqueueExtensions {
 public:
  absl::string_view Name() const override { return "TaintToleration"; }

  bool SignPod(const framework::PodInfo& pod, framework::PodSigner& signer) const override {
    return framework::SignTolerations(pod, signer);
  }

  // Only narrows for pods that are being resized in place, which is off by default.
  framework::PreFilterResult PreFilter(framework::CycleState&, const framework::PodInfo&,
                                       framework::NodeInfos) override {
    return {};
  }

  Status Filter(const framework::CycleState&, const framework::PodInfo& pod,
                const framework::NodeInfo& node) override {
    return HasUntoleratedTaint(*node.node, *pod.pod) ? untolerated_ : Status();
  }
  framework::Dependency FilterDependency() const override { return framework::Dependency::kNode; }

  Status PreScore(framework::CycleState&, const framework::PodInfo&, framework::NodeInfos) override {
    pre_scores_ = true;
    return Status();
  }

  // How many PreferNoSchedule taints are not tolerated; only tolerations for that effect count.
  Status Score(const framework::CycleState&, const framework::PodInfo& pod, const framework::NodeInfo& node,
               int64_t& score) override {
    if (!pre_scores_)
      return Status::Error("failed to read \"PreScoreTaintToleration\" from cycleState: not found");
    score = 0;
    for (const api::Taint& taint : node.node->spec.taints) {
      if (taint.effect == "PreferNoSchedule" && !IsTolerated(pod.pod->spec->tolerations, taint)) ++score;
    }
    return Status();
  }
  framework::Dependency ScoreDependency() const override { return framework::Dependency::kNode; }

  bool HasNormalizeScore() const override { return true; }
  Status NormalizeScore(const framework::CycleState&, const framework::PodInfo&, framework::NodeInfos,
                        absl::Span<int64_t> scores) override {
    DefaultNormalizeScore(/*reverse=*/true, scores);
    return Status();
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    return {{.event = {.resource = framework::EventResource::kNode,
                       .action = framework::kAdd | framework::kUpdateNodeTaint},
             .hint = AfterNodeChange,
             .scope = framework::HintScope::kSpecAndLabels},
            {.event = {.resource = framework::EventResource::kTargetPod,
                       .action = framework::kUpdatePodToleration},
             .hint = nullptr}};
  }

 private:
  // Whether the profile has this plugin at PreScore.
  bool pre_scores_ = false;
  const Status untolerated_{framework::Code::kUnschedulableAndUnresolvable,
                            "node(s) had untolerated taint(s)"};
};

}  // namespace

PluginOr NewTaintToleration(const api::PluginArgs&, framework::Handle&) {
  return std::make_unique<TaintToleration>();
}

}  // namespace schedsim::plugins
