// Source: kubernetes v1.37, plugins/podtopologyspread/plugin.go; the older lines' rules beside it.

#include "core/plugins/pod_topology_spread/pod_topology_spread_events.h"

#include <algorithm>

#include "core/api/node.h"
#include "core/api/pod.h"

namespace schedsim::plugins {
namespace {

using api::PodTopologySpreadHints;
using framework::LabelSet;
using framework::PodInfo;
using framework::QueueIf;
using framework::QueueingHint;
using Constraints = std::vector<SpreadConstraint>;

bool SameTolerations(const api::PodSpec& a, const api::PodSpec& b) {
  return std::equal(a.tolerations.begin(), a.tolerations.end(), b.tolerations.begin(), b.tolerations.end(),
                    [](const api::Toleration& x, const api::Toleration& y) {
                      return x.key == y.key && x.operator_ == y.operator_ && x.value == y.value &&
                             x.effect == y.effect;
                    });
}

class Hints {
 public:
  Hints(SpreadConstraintsFactory& factory, framework::Handle& handle) : factory_(factory), handle_(handle) {}

  // 1.37: a pod on a node, or nominated to one, was added, changed or deleted.
  QueueingHint AfterAssignedPodChange(const PodInfo& pod, const api::Pod* old_pod, const api::Pod* new_pod) {
    if (!Involved(pod, old_pod) || !Involved(pod, new_pod)) return QueueingHint::kSkip;
    const SpreadConstraints constraints = factory_.Of(pod, SpreadUse::kFilter);
    if (!constraints.error.empty()) return QueueingHint::kQueue;
    if (old_pod != nullptr && new_pod != nullptr)
      return AfterLabelChange(*constraints.list, *old_pod, *new_pod);
    const LabelSet labels = LabelsOf(new_pod != nullptr ? *new_pod : *old_pod);
    return QueueIf(
        std::any_of(constraints.list->begin(), constraints.list->end(),
                    [&](const SpreadConstraint& constraint) { return Matches(constraint, labels); }));
  }

  // 1.37: the waiting pod itself changed.
  QueueingHint AfterTargetPodChange(const PodInfo& pod, const api::Pod& old_pod, const api::Pod& new_pod) {
    const SpreadConstraints constraints = factory_.Of(pod, SpreadUse::kFilter);
    if (!constraints.error.empty()) return QueueingHint::kQueue;
    if (TolerationsMatter(*constraints.list) && !SameTolerations(*old_pod.spec, *new_pod.spec)) {
      return QueueingHint::kQueue;
    }
    return AfterLabelChange(*constraints.list, old_pod, new_pod);
  }

  // Up to 1.36: any pod was added, changed or deleted.
  QueueingHint AfterPodChange(const PodInfo& pod, const api::Pod* old_pod, const api::Pod* new_pod) {
    const bool own_change = old_pod != nullptr && new_pod != nullptr && new_pod->metadata.uid == pod.Uid();
    return own_change ? AfterTargetPodChange(pod, *old_pod, *new_pod)
                      : AfterAssignedPodChange(pod, old_pod, new_pod);
  }

  QueueingHint AfterNodeChange(const PodInfo& pod, const api::Node* old_node, const api::Node* new_node) {
    const SpreadConstraints constraints = factory_.Of(pod, SpreadUse::kFilter);
    if (!constraints.error.empty()) return QueueingHint::kQueue;
    const Constraints& list = *constraints.list;
    const bool old_has_keys = old_node != nullptr && HasKeys(*old_node, list);
    const bool new_has_keys = new_node != nullptr && HasKeys(*new_node, list);
    if (old_node == nullptr || new_node == nullptr) return QueueIf(old_has_keys || new_has_keys);
    if (old_has_keys != new_has_keys) return QueueingHint::kQueue;
    const bool moved = std::any_of(list.begin(), list.end(), [&](const SpreadConstraint& constraint) {
      const absl::string_view key = handle_.symbols().Text(constraint.topology_key);
      const std::string* old_value = old_node->metadata.labels.Find(key);
      const std::string* new_value = new_node->metadata.labels.Find(key);
      return old_value != nullptr && new_value != nullptr && *old_value != *new_value;
    });
    return QueueIf(new_has_keys && (moved || old_node->spec.taints != new_node->spec.taints));
  }

 private:
  // Whether the change of `other` can move the counts; nothing (nullptr) is in nobody's way. Up to 1.36
  // the pod itself counts; up to 1.35 a nomination does not.
  bool Involved(const PodInfo& pod, const api::Pod* other) const {
    if (other == nullptr) return true;
    const PodTopologySpreadHints rules = handle_.line().pod_topology_spread_hints;
    if (rules != PodTopologySpreadHints::k1_37 && other->metadata.uid == pod.Uid()) return true;
    const bool nominated =
        rules != PodTopologySpreadHints::k1_35 && !other->status.nominated_node_name.empty();
    if (other->node_name.empty() && !nominated) return false;
    return other->metadata.namespace_ == pod.pod->metadata.namespace_;
  }

  QueueingHint AfterLabelChange(const Constraints& constraints, const api::Pod& old_pod,
                                const api::Pod& new_pod) const {
    if (old_pod.metadata.labels == new_pod.metadata.labels) return QueueingHint::kSkip;
    const LabelSet old_labels = LabelsOf(old_pod);
    const LabelSet new_labels = LabelsOf(new_pod);
    return QueueIf(
        std::any_of(constraints.begin(), constraints.end(), [&](const SpreadConstraint& constraint) {
          return Matches(constraint, old_labels) != Matches(constraint, new_labels);
        }));
  }

  static bool TolerationsMatter(const Constraints& constraints) {
    return std::any_of(constraints.begin(), constraints.end(),
                       [](const SpreadConstraint& constraint) { return constraint.honors_taints; });
  }

  bool HasKeys(const api::Node& node, const Constraints& constraints) const {
    return std::all_of(constraints.begin(), constraints.end(), [&](const SpreadConstraint& constraint) {
      return node.metadata.labels.Find(handle_.symbols().Text(constraint.topology_key)) != nullptr;
    });
  }

  bool Matches(const SpreadConstraint& constraint, const LabelSet& labels) const {
    return constraint.selector.Matches(labels, handle_.symbols());
  }
  LabelSet LabelsOf(const api::Pod& pod) const { return LabelSet(pod.metadata.labels, handle_.symbols()); }

  SpreadConstraintsFactory& factory_;
  framework::Handle& handle_;
};

}  // namespace

std::vector<framework::ClusterEventWithHint> PodTopologySpreadEvents(SpreadConstraintsFactory& factory,
                                                                     framework::Handle& handle) {
  using framework::EventResource;
  std::vector<framework::ClusterEventWithHint> events;
  const framework::HintScope scope = factory.DependsOnOwner(SpreadUse::kFilter)
                                         ? framework::HintScope::kPod
                                         : framework::HintScope::kSpecAndLabels;
  auto add = [&](EventResource resource, framework::ActionType action, framework::QueueingHintFn hint) {
    events.push_back(
        {.event = {.resource = resource, .action = action}, .hint = std::move(hint), .scope = scope});
  };
  auto hints = std::make_shared<Hints>(factory, handle);
  constexpr framework::ActionType kOfPods = framework::kAdd | framework::kUpdatePodLabel | framework::kDelete;
  if (handle.line().pod_topology_spread_hints == PodTopologySpreadHints::k1_37) {
    add(EventResource::kAssignedPod, kOfPods,
        [hints](const PodInfo& pod, const api::Object* old_object, const api::Object* new_object) {
          return hints->AfterAssignedPodChange(pod, static_cast<const api::Pod*>(old_object),
                                               static_cast<const api::Pod*>(new_object));
        });
    add(EventResource::kTargetPod, framework::kUpdatePodToleration | framework::kUpdatePodLabel,
        [hints](const PodInfo& pod, const api::Object* old_object, const api::Object* new_object) {
          return hints->AfterTargetPodChange(pod, static_cast<const api::Pod&>(*old_object),
                                             static_cast<const api::Pod&>(*new_object));
        });
  } else {
    add(EventResource::kPod, kOfPods | framework::kUpdatePodToleration,
        [hints](const PodInfo& pod, const api::Object* old_object, const api::Object* new_object) {
          return hints->AfterPodChange(pod, static_cast<const api::Pod*>(old_object),
                                       static_cast<const api::Pod*>(new_object));
        });
  }
  add(EventResource::kNode,
      framework::kAdd | framework::kDelete | framework::kUpdateNodeLabel | framework::kUpdateNodeTaint,
      [hints](const PodInfo& pod, const api::Object* old_object, const api::Object* new_object) {
        return hints->AfterNodeChange(pod, static_cast<const api::Node*>(old_object),
                                      static_cast<const api::Node*>(new_object));
      });
  return events;
}

}  // namespace schedsim::plugins
