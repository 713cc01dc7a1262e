#include "core/plugins/pod_topology_spread/pod_topology_spread_constraints.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/api/selector_validation.h"
#include "core/api/workloads.h"

namespace schedsim::plugins {
namespace {

using framework::LabelMatcher;
using framework::PodInfo;

absl::string_view ActionOf(SpreadUse use) {
  return use == SpreadUse::kFilter ? "DoNotSchedule" : "ScheduleAnyway";
}

std::vector<api::TopologySpreadConstraint> SystemDefaults() {
  std::vector<api::TopologySpreadConstraint> defaults(2);
  for (api::TopologySpreadConstraint& constraint : defaults) constraint.when_unsatisfiable = "ScheduleAnyway";
  defaults[0].topology_key = "kubernetes.io/hostname";
  defaults[0].max_skew = 3;
  defaults[1].topology_key = "topology.kubernetes.io/zone";
  defaults[1].max_skew = 5;
  return defaults;
}

// Whether any of the constraints is of this kind.
bool HasAny(const std::vector<api::TopologySpreadConstraint>& constraints, SpreadUse use) {
  const absl::string_view action = ActionOf(use);
  return std::any_of(constraints.begin(), constraints.end(),
                     [action](const api::TopologySpreadConstraint& constraint) {
                       return constraint.when_unsatisfiable == action;
                     });
}

SpreadConstraint Compile(const api::TopologySpreadConstraint& constraint, LabelMatcher selector,
                         SymbolTable& symbols) {
  return SpreadConstraint{.max_skew = constraint.max_skew,
                          .min_domains = constraint.min_domains.value_or(1),
                          .topology_key = symbols.Intern(constraint.topology_key),
                          .selector = std::move(selector),
                          .honors_affinity = constraint.node_affinity_policy != "Ignore",
                          .honors_taints = constraint.node_taints_policy == "Honor"};
}

// The pod's own values join the selector; keys that the pod lacks are left out.
void MergeMatchLabelKeys(const std::vector<std::string>& keys, const PodInfo& pod, SymbolTable& symbols,
                         LabelMatcher& selector) {
  if (selector.matches_nothing()) return;
  for (const std::string& key : keys) {
    const std::string* value = pod.pod->metadata.labels.Find(key);
    if (value != nullptr) selector.Require(symbols.Intern(key), symbols.Intern(*value));
  }
}

bool HasAll(const api::StringMap& labels, const api::StringMap& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&labels](const api::StringMap::Entry& entry) {
    const std::string* value = labels.Find(entry.first);
    return value != nullptr && *value == entry.second;
  });
}

void Merge(const api::StringMap& from, api::StringMap& into) {
  for (const auto& [key, value] : from) into.Set(key, value);
}

// The selectors of the services that select the pod, as one.
api::StringMap ServiceSelectors(const api::Pod& pod, const framework::InformerCache& informers) {
  api::StringMap merged;
  const auto& services = informers.List(api::Kind::kService);
  if (services.empty()) return merged;
  const std::string& name_space = pod.metadata.namespace_;
  for (auto at = services.lower_bound(absl::StrCat(name_space, "/")); at != services.end(); ++at) {
    const auto& service = static_cast<const api::Service&>(*at->second);
    if (service.metadata.namespace_ != name_space) break;
    if (!service.selector.has_value() || !HasAll(pod.metadata.labels, *service.selector)) continue;
    Merge(*service.selector, merged);
  }
  return merged;
}

}  // namespace

SpreadConstraintsFactory::SpreadConstraintsFactory(const api::PodTopologySpreadArgs& args,
                                                   framework::Handle& handle)
    : handle_(handle),
      system_defaulted_(args.defaulting_type == "System"),
      defaults_(system_defaulted_ ? SystemDefaults() : args.default_constraints),
      filters_by_default_(HasAny(defaults_, SpreadUse::kFilter)),
      scores_by_default_(HasAny(defaults_, SpreadUse::kScore)),
      none_(std::make_shared<const std::vector<SpreadConstraint>>()) {}

// Constraints of the pod's own follow from its spec, unless matchLabelKeys adds values of its labels.
SpreadConstraints SpreadConstraintsFactory::Of(const PodInfo& pod, SpreadUse use) {
  const std::vector<api::TopologySpreadConstraint>& own = pod.pod->spec->topology_spread_constraints;
  if (own.empty()) return Default(pod, use);
  const bool by_spec = std::all_of(
      own.begin(), own.end(),
      [](const api::TopologySpreadConstraint& constraint) { return constraint.match_label_keys.empty(); });
  if (!by_spec) return Own(pod, use);
  SpreadConstraints& known = own_[{pod.spec_info->spreading_id, use}];
  if (known.list == nullptr) known = Own(pod, use);
  return known;
}

SpreadConstraints SpreadConstraintsFactory::Own(const PodInfo& pod, SpreadUse use) const {
  SymbolTable& symbols = handle_.symbols();
  auto list = std::make_shared<std::vector<SpreadConstraint>>();
  for (const api::TopologySpreadConstraint& constraint : pod.pod->spec->topology_spread_constraints) {
    if (constraint.when_unsatisfiable != ActionOf(use)) continue;
    std::optional<LabelMatcher> selector = LabelMatcher::Make(constraint.label_selector, symbols);
    if (!selector.has_value()) {
      const absl::string_view kind = use == SpreadUse::kFilter ? "hard" : "soft";
      return {
          .list = none_,
          .error = absl::StrCat("obtaining pod's ", kind, " topology spread constraints: ",
                                api::LabelSelectorError(*constraint.label_selector, handle_.line().line))};
    }
    MergeMatchLabelKeys(constraint.match_label_keys, pod, symbols, *selector);
    list->push_back(Compile(constraint, *std::move(selector), symbols));
  }
  return {.list = std::move(list), .error = ""};
}

SpreadConstraints SpreadConstraintsFactory::Default(const PodInfo& pod, SpreadUse use) const {
  SpreadConstraints none = {.list = none_, .error = ""};
  if (!DependsOnOwner(use)) return none;
  // A pod that no service selects and no known controller owns has nothing to spread over.
  const bool is_alone =
      handle_.informers().List(api::Kind::kService).empty() && ControllerOf(*pod.pod) == nullptr;
  if (is_alone) return none;
  const LabelMatcher selector = DefaultSelector(pod);
  if (selector.empty()) return none;
  auto list = std::make_shared<std::vector<SpreadConstraint>>();
  for (const api::TopologySpreadConstraint& constraint : defaults_) {
    if (constraint.when_unsatisfiable != ActionOf(use)) continue;
    list->push_back(Compile(constraint, selector, handle_.symbols()));
  }
  return {.list = std::move(list), .error = ""};
}

// What the pod's services and its controller select.
// Source: kubernetes v1.37, plugins/helper/spread.go, DefaultSelector.
LabelMatcher SpreadConstraintsFactory::DefaultSelector(const PodInfo& pod) const {
  const framework::InformerCache& informers = handle_.informers();
  SymbolTable& symbols = handle_.symbols();
  api::StringMap labels = ServiceSelectors(*pod.pod, informers);
  const api::OwnerReference* owner = ControllerOf(*pod.pod);
  std::optional<LabelMatcher> more;
  if (owner != nullptr) {
    const std::string& name_space = pod.pod->metadata.namespace_;
    auto find = [&](absl::string_view api_version, api::Kind kind) -> api::ObjectPtr {
      if (owner->api_version != api_version || owner->kind != KindName(kind)) return nullptr;
      return informers.Find(kind, name_space, owner->name);
    };
    if (const auto object = find("v1", api::Kind::kReplicationController)) {
      // On a key that both have, the controller's value counts.
      Merge(static_cast<const api::ReplicationController&>(*object).selector, labels);
    } else if (const auto replica_set = find("apps/v1", api::Kind::kReplicaSet)) {
      more = LabelMatcher::Make(static_cast<const api::ReplicaSet&>(*replica_set).selector, symbols);
    } else if (const auto stateful_set = find("apps/v1", api::Kind::kStatefulSet)) {
      more = LabelMatcher::Make(static_cast<const api::StatefulSet&>(*stateful_set).selector, symbols);
    }
  }
  // A selector that cannot be parsed, or that is absent, adds nothing; upstream ignores the error.
  LabelMatcher selector = LabelMatcher::Exactly(labels, symbols);
  if (more.has_value()) selector.RequireAllOf(*more);
  return selector;
}

}  // namespace schedsim::plugins
