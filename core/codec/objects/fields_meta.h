// Field tables of metadata, selectors, taints and workload kinds.
// Source of names, numbers and merge keys: k8s.io/api v0.37 and k8s.io/apimachinery v0.37,
// generated.proto and types.go.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_FIELDS_META_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_FIELDS_META_H_

#include <tuple>

#include "core/api/object.h"
#include "core/api/selectors.h"
#include "core/api/taints.h"
#include "core/api/workloads.h"
#include "core/codec/objects/field.h"

namespace schedsim::codec {

inline constexpr absl::string_view kLabelOperators[] = {"In", "NotIn", "Exists", "DoesNotExist"};
inline constexpr absl::string_view kNodeOperators[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
inline constexpr absl::string_view kTolerationOperators[] = {"", "Equal", "Exists", "Lt", "Gt"};
inline constexpr absl::string_view kTaintEffects[] = {"", "NoSchedule", "PreferNoSchedule", "NoExecute"};
inline constexpr absl::string_view kWhenUnsatisfiable[] = {"DoNotSchedule", "ScheduleAnyway"};
inline constexpr absl::string_view kNodeInclusionPolicies[] = {"", "Honor", "Ignore"};
inline constexpr absl::string_view kPreemptionPolicies[] = {"", "PreemptLowerPriority", "Never"};

template <>
struct Fields<api::OwnerReference> {
  using T = api::OwnerReference;
  static constexpr auto kList =
      std::make_tuple(F("apiVersion", 5, &T::api_version), F("kind", 1, &T::kind), F("name", 2, &T::name),
                      F("uid", 4, &T::uid), F("controller", 6, &T::controller));
};

template <>
struct Fields<api::ObjectMeta> {
  using T = api::ObjectMeta;
  static constexpr auto kList =
      std::make_tuple(F("name", 1, &T::name).Live(), F("generateName", 2, &T::generate_name),
                      F("namespace", 3, &T::namespace_), F("uid", 5, &T::uid).Live(),
                      F("resourceVersion", 6, &T::resource_version).Live(),
                      F("creationTimestamp", 8, &T::creation_timestamp).Live(),
                      F("deletionTimestamp", 9, &T::deletion_timestamp).Live(),
                      F("labels", 11, &T::labels).Live(), F("annotations", 12, &T::annotations).Live(),
                      F("ownerReferences", 13, &T::owner_references).MergeBy("uid").Live());
};

template <>
struct Fields<api::LabelSelectorRequirement> {
  using T = api::LabelSelectorRequirement;
  static constexpr auto kList =
      std::make_tuple(F("key", 1, &T::key), F("operator", 2, &T::operator_).OneOf(kLabelOperators),
                      F("values", 3, &T::values));
};

template <>
struct Fields<api::LabelSelector> {
  using T = api::LabelSelector;
  static constexpr auto kList =
      std::make_tuple(F("matchLabels", 1, &T::match_labels), F("matchExpressions", 2, &T::match_expressions));
};

template <>
struct Fields<api::NodeSelectorRequirement> {
  using T = api::NodeSelectorRequirement;
  static constexpr auto kList =
      std::make_tuple(F("key", 1, &T::key), F("operator", 2, &T::operator_).OneOf(kNodeOperators),
                      F("values", 3, &T::values));
};

template <>
struct Fields<api::NodeSelectorTerm> {
  using T = api::NodeSelectorTerm;
  static constexpr auto kList =
      std::make_tuple(F("matchExpressions", 1, &T::match_expressions), F("matchFields", 2, &T::match_fields));
};

template <>
struct Fields<api::NodeSelector> {
  using T = api::NodeSelector;
  static constexpr auto kList = std::make_tuple(F("nodeSelectorTerms", 1, &T::node_selector_terms));
};

template <>
struct Fields<api::PreferredSchedulingTerm> {
  using T = api::PreferredSchedulingTerm;
  static constexpr auto kList =
      std::make_tuple(F("weight", 1, &T::weight), F("preference", 2, &T::preference));
};

template <>
struct Fields<api::NodeAffinity> {
  using T = api::NodeAffinity;
  static constexpr auto kList = std::make_tuple(F("requiredDuringSchedulingIgnoredDuringExecution", 1,
                                                  &T::required_during_scheduling_ignored_during_execution),
                                                F("preferredDuringSchedulingIgnoredDuringExecution", 2,
                                                  &T::preferred_during_scheduling_ignored_during_execution));
};

template <>
struct Fields<api::PodAffinityTerm> {
  using T = api::PodAffinityTerm;
  static constexpr auto kList = std::make_tuple(
      F("labelSelector", 1, &T::label_selector), F("namespaces", 2, &T::namespaces),
      F("topologyKey", 3, &T::topology_key), F("namespaceSelector", 4, &T::namespace_selector),
      F("matchLabelKeys", 5, &T::match_label_keys), F("mismatchLabelKeys", 6, &T::mismatch_label_keys));
};

template <>
struct Fields<api::WeightedPodAffinityTerm> {
  using T = api::WeightedPodAffinityTerm;
  static constexpr auto kList =
      std::make_tuple(F("weight", 1, &T::weight), F("podAffinityTerm", 2, &T::pod_affinity_term));
};

template <>
struct Fields<api::PodAffinity> {
  using T = api::PodAffinity;
  static constexpr auto kList = std::make_tuple(F("requiredDuringSchedulingIgnoredDuringExecution", 1,
                                                  &T::required_during_scheduling_ignored_during_execution),
                                                F("preferredDuringSchedulingIgnoredDuringExecution", 2,
                                                  &T::preferred_during_scheduling_ignored_during_execution));
};

template <>
struct Fields<api::Affinity> {
  using T = api::Affinity;
  static constexpr auto kList =
      std::make_tuple(F("nodeAffinity", 1, &T::node_affinity), F("podAffinity", 2, &T::pod_affinity),
                      F("podAntiAffinity", 3, &T::pod_anti_affinity));
};

template <>
struct Fields<api::TopologySpreadConstraint> {
  using T = api::TopologySpreadConstraint;
  static constexpr auto kList =
      std::make_tuple(F("maxSkew", 1, &T::max_skew), F("topologyKey", 2, &T::topology_key),
                      F("whenUnsatisfiable", 3, &T::when_unsatisfiable).OneOf(kWhenUnsatisfiable),
                      F("labelSelector", 4, &T::label_selector), F("minDomains", 5, &T::min_domains),
                      F("nodeAffinityPolicy", 6, &T::node_affinity_policy).OneOf(kNodeInclusionPolicies),
                      F("nodeTaintsPolicy", 7, &T::node_taints_policy).OneOf(kNodeInclusionPolicies),
                      F("matchLabelKeys", 8, &T::match_label_keys));
};

template <>
struct Fields<api::Taint> {
  using T = api::Taint;
  static constexpr auto kList = std::make_tuple(F("key", 1, &T::key), F("value", 2, &T::value),
                                                F("effect", 3, &T::effect).OneOf(kTaintEffects));
};

template <>
struct Fields<api::Toleration> {
  using T = api::Toleration;
  static constexpr auto kList =
      std::make_tuple(F("key", 1, &T::key), F("operator", 2, &T::operator_).OneOf(kTolerationOperators),
                      F("value", 3, &T::value), F("effect", 4, &T::effect).OneOf(kTaintEffects),
                      F("tolerationSeconds", 5, &T::toleration_seconds));
};

template <>
struct Fields<api::Object> {
  static constexpr auto kList = std::make_tuple();
};

template <>
struct Fields<api::Namespace> {
  static constexpr auto kList = std::make_tuple();
};

template <>
struct Fields<api::Service> {
  static constexpr auto kList = std::make_tuple(F("selector", 2, &api::Service::selector).In("spec", 2));
};

template <>
struct Fields<api::ReplicationController> {
  static constexpr auto kList =
      std::make_tuple(F("selector", 2, &api::ReplicationController::selector).In("spec", 2));
};

template <>
struct Fields<api::ReplicaSet> {
  static constexpr auto kList = std::make_tuple(F("selector", 2, &api::ReplicaSet::selector).In("spec", 2));
};

template <>
struct Fields<api::StatefulSet> {
  static constexpr auto kList = std::make_tuple(F("selector", 2, &api::StatefulSet::selector).In("spec", 2));
};

template <>
struct Fields<api::PodDisruptionBudget> {
  using T = api::PodDisruptionBudget;
  static constexpr auto kList =
      std::make_tuple(F("selector", 2, &T::selector).In("spec", 2),
                      F("disruptionsAllowed", 3, &T::disruptions_allowed).In("status", 3).Live(),
                      F("disruptedPods", 2, &T::disrupted_pods).In("status", 3).As(Form::kKeys));
};

template <>
struct Fields<api::PriorityClass> {
  using T = api::PriorityClass;
  static constexpr auto kList =
      std::make_tuple(F("value", 2, &T::value), F("globalDefault", 3, &T::global_default),
                      F("preemptionPolicy", 5, &T::preemption_policy).OneOf(kPreemptionPolicies));
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_FIELDS_META_H_
