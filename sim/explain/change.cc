#include "sim/explain/change.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/quantity_text.h"
#include "core/api/storage.h"
#include "core/base/check.h"
#include "sim/explain/selector_text.h"

namespace schedsim::sim {
namespace {

using Type = Change::Type;

// Takes from the container what is more than `left` of the resource, and what it keeps from `left`.
void Cap(api::Container& container, const std::string& resource, api::Quantity& left) {
  const api::Quantity* const asked = container.resources.requests.Find(resource);
  if (asked == nullptr) return;
  if (*asked > left) container.resources.requests[resource] = left;
  left -= *container.resources.requests.Find(resource);
}

// Whether the pod's own requests stand for those of its containers.
bool HasPodLevel(const api::PodSpec& spec, const std::string& resource) {
  return spec.resources.has_value() && spec.resources->requests.Find(resource) != nullptr;
}

// Lowers requests so that the pod asks for `target`, which is less than before. An init container counts with
// the sidecars before it, and the containers with all of them.
void LowerTo(api::Quantity target, const std::string& resource, api::PodSpec& spec) {
  const api::Quantity* const overhead = spec.overhead.Find(resource);
  if (overhead != nullptr && *overhead > target) spec.overhead[resource] = target;
  if (overhead != nullptr) target -= *spec.overhead.Find(resource);
  if (HasPodLevel(spec, resource)) {
    spec.resources->requests[resource] = std::min(target, *spec.resources->requests.Find(resource));
  }
  api::Quantity left = target;
  for (api::Container& container : spec.init_containers) {
    api::Quantity beside_sidecars = left;
    Cap(container, resource, container.restart_policy == "Always" ? left : beside_sidecars);
  }
  for (api::Container& container : spec.containers) Cap(container, resource, left);
}

api::Quantity RequestOf(const api::PodSpec& spec, const std::string& resource) {
  const api::ResourceList requests = framework::PodRequests(spec, nullptr, {});
  const api::Quantity* const asked = requests.Find(resource);
  return asked == nullptr ? api::Quantity() : *asked;
}

void RemovePort(const std::string& port, api::PodSpec& spec) {
  for (auto* containers : {&spec.containers, &spec.init_containers}) {
    for (api::Container& container : *containers) {
      std::erase_if(container.ports, [&](const api::ContainerPort& other) {
        return HostPortText(other, spec.host_network) == port;
      });
    }
  }
}

void RemoveTerm(const std::string& term, std::optional<api::PodAffinity>& affinity) {
  if (!affinity.has_value()) return;
  std::erase_if(affinity->required_during_scheduling_ignored_during_execution,
                [&](const api::PodAffinityTerm& other) { return AffinityTermText(other) == term; });
}

void LeaveOut(const Change& change, api::PodSpec& spec) {
  const std::string value = change.value.value_or("");
  if (change.name == kHostPort) RemovePort(value, spec);
  if (change.name == kNodeSelector && spec.node_selector.has_value()) spec.node_selector->Erase(value);
  if (!spec.affinity.has_value()) return;
  if (change.name == kNodeAffinity && spec.affinity->node_affinity.has_value())
    spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution.reset();
  if (change.name == kPodAffinity) RemoveTerm(value, spec.affinity->pod_affinity);
  if (change.name == kPodAntiAffinity) RemoveTerm(value, spec.affinity->pod_anti_affinity);
}

void AllowSkew(const Change& change, api::PodSpec& spec) {
  int32_t wanted = 0;
  CHECK(absl::SimpleAtoi(*change.value, &wanted));
  for (api::TopologySpreadConstraint& constraint : spec.topology_spread_constraints) {
    if (constraint.topology_key == change.name && constraint.when_unsatisfiable == "DoNotSchedule")
      constraint.max_skew = std::max(constraint.max_skew, wanted);
  }
}

// Changes come one after the other: less is asked for than by the spec as it is by then.
void ApplyToSpec(const Change& change, api::PodSpec& spec) {
  switch (change.type) {
    case Type::kAskLess:
      // Amounts finer than the scheduler's unit were rounded up.
      LowerTo(std::max(RequestOf(spec, change.name) - change.amount, api::Quantity()), change.name, spec);
      return;
    case Type::kTolerate:
      spec.tolerations.push_back({.key = change.taint.key,
                                  .operator_ = change.taint.key.empty() ? "Exists" : "Equal",
                                  .value = change.taint.value,
                                  .effect = change.taint.effect});
      return;
    case Type::kMaxSkew:
      AllowSkew(change, spec);
      return;
    case Type::kLeaveOut:
      LeaveOut(change, spec);
      return;
    default:
      return;
  }
}

void ApplyToNode(const Change& change, api::Node& node) {
  if (change.type == Type::kLabel && change.value.has_value()) {
    node.metadata.labels.Set(change.name, *change.value);
  } else if (change.type == Type::kLabel) {
    node.metadata.labels.Erase(change.name);
  } else if (change.type == Type::kUncordon) {
    node.spec.unschedulable = false;
    // The node lifecycle controller takes its taint away then.
    std::erase_if(node.spec.taints, [](const api::Taint& taint) {
      return taint.key == api::kTaintNodeUnschedulable && taint.effect == "NoSchedule";
    });
  } else if (change.type == Type::kAllow) {
    node.status.allocatable[change.name] += change.amount;
  } else if (change.type == Type::kFeature) {
    node.status.declared_features.push_back(change.name);
  }
}

bool IsOfNode(const Change& change) {
  return change.type == Type::kLabel || change.type == Type::kUncordon || change.type == Type::kAllow ||
         change.type == Type::kFeature;
}

// The node's CSINode with room for more volumes, or with a driver.
void ApplyToCsiNode(TrialCluster& trial, const std::string& node, const Change& change) {
  const api::ObjectPtr before = trial.Find(api::Kind::kCSINode, node);
  auto after = before == nullptr ? std::make_shared<api::CSINode>()
                                 : std::static_pointer_cast<api::CSINode>(before->Clone());
  after->metadata.name = node;
  if (change.type == Type::kDriver) after->drivers.push_back({.name = change.name});
  for (api::CSINodeDriver& driver : after->drivers) {
    if (driver.name != change.name || change.type != Type::kAllowMore) continue;
    *driver.allocatable_count += static_cast<int32_t>(change.amount.Value());
  }
  trial.Change(before, after);
}

}  // namespace

int64_t SizeOf(const std::vector<Change>& changes) {
  int64_t size = 0;
  for (const Change& change : changes) size += change.size;
  return size;
}

std::string ChangeName(const Change& change) {
  switch (change.type) {
    case Type::kAskLess:
      return "askLess";
    case Type::kTolerate:
      return "tolerate";
    case Type::kMaxSkew:
      return "maxSkew";
    case Type::kLeaveOut:
      return "leaveOut";
    case Type::kLabel:
      return "label";
    case Type::kUncordon:
      return "uncordon";
    case Type::kAllow:
      return "allow";
    case Type::kAllowMore:
      return "attachMore";
    case Type::kFeature:
      return "declareFeature";
    case Type::kDriver:
      return "installDriver";
    case Type::kPodAway:
      return "removePod";
  }
  return "";
}

std::string ChangeText(const Change& change) {
  const std::string& name = change.name;
  const std::string value = change.value.value_or("");
  switch (change.type) {
    case Type::kAskLess:
      return absl::StrCat("ask for ", api::AmountText(name, change.amount), " less ", name);
    case Type::kTolerate:
      return absl::StrCat("tolerate ", TaintText(change.taint));
    case Type::kMaxSkew:
      return absl::StrCat("allow a skew of ", value, " over ", name);
    case Type::kLeaveOut:
      if (name == kHostPort) return absl::StrCat("do without the host port ", value);
      if (name == kNodeSelector) return absl::StrCat("do without the node selector's ", value);
      if (name == kNodeAffinity) return "do without the required node affinity";
      return absl::StrCat("do without the required ", name == kPodAffinity ? "affinity" : "anti-affinity",
                          " to ", value);
    case Type::kLabel:
      return change.value.has_value() ? absl::StrCat("label the node ", name, "=", value)
                                      : absl::StrCat("take the label ", name, " from the node");
    case Type::kUncordon:
      return "uncordon the node";
    case Type::kAllow:
      return absl::StrCat("allow ", api::AmountText(name, change.amount), " more ", name, " on the node");
    case Type::kAllowMore:
      return absl::StrCat("let the node attach ", api::QuantityText(change.amount), " more of ", name);
    case Type::kFeature:
      return absl::StrCat("have the node declare ", name);
    case Type::kDriver:
      return absl::StrCat("install the CSI driver ", name, " on the node");
    case Type::kPodAway:
      return absl::StrCat("remove ", name);
  }
  return "";
}

api::PodPtr PodWith(const api::PodPtr& pod, const std::vector<Change>& changes) {
  if (std::none_of(changes.begin(), changes.end(), [](const Change& change) { return change.IsOfPod(); }))
    return pod;
  auto spec = std::make_shared<api::PodSpec>(*pod->spec);
  for (const Change& change : changes) ApplyToSpec(change, *spec);
  auto changed = std::make_shared<api::Pod>(*pod);
  changed->spec = std::move(spec);
  return changed;
}

void ApplyTo(TrialCluster& trial, const std::string& node, const std::vector<Change>& changes) {
  std::shared_ptr<api::Node> changed;
  const api::NodePtr before = trial.FindNode(node);
  for (const Change& change : changes) {
    if (IsOfNode(change)) {
      if (changed == nullptr) changed = std::static_pointer_cast<api::Node>(before->Clone());
      ApplyToNode(change, *changed);
    } else if (change.type == Type::kAllowMore || change.type == Type::kDriver) {
      ApplyToCsiNode(trial, node, change);
    } else if (change.type == Type::kPodAway) {
      trial.Change(trial.FindPod(change.name), nullptr);
    }
  }
  if (changed != nullptr) trial.Change(before, changed);
}

}  // namespace schedsim::sim
