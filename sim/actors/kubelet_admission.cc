#include "sim/actors/kubelet_admission.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/api/node.h"
#include "core/api/taints.h"
#include "core/base/and_more.h"
#include "core/codec/patch/object_patch.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/reader.h"
#include "core/framework/host_ports.h"
#include "core/framework/selector.h"
#include "sim/cluster/admission/admission.h"
#include "sim/cluster/admission/pod_amounts.h"

namespace schedsim::sim {
namespace {

bool IsPlacedPod(const api::ObjectPtr& object) {
  return object != nullptr && object->kind == api::Kind::kPod &&
         !static_cast<const api::Pod&>(*object).node_name.empty();
}

bool IsOnNode(const api::Pod& pod) { return !pod.node_name.empty() && !pod.IsTerminal(); }

// What a kubelet counts for the pod, itself included.
PodDemand DemandOf(const api::Pod& pod, SymbolTable& symbols) {
  api::ResourceRequirements amounts = PodAmounts(*pod.spec);
  AddOverhead(pod.spec->overhead, amounts);
  amounts.requests["pods"] = api::Quantity::FromMilli(1000);
  return {.amounts = std::move(amounts.requests), .ports = framework::HostPortsOf(*pod.spec, symbols)};
}

void AddTo(PodDemand& sum, const PodDemand& more) {
  for (const auto& [name, amount] : more.amounts) sum.amounts[name] += amount;
  sum.ports.insert(sum.ports.end(), more.ports.begin(), more.ports.end());
}

void TakeFrom(PodDemand& sum, const PodDemand& less) {
  for (const auto& [name, amount] : less.amounts) sum.amounts[name] -= amount;
  for (const framework::HostPort& port : less.ports) {
    const auto found = std::find(sum.ports.begin(), sum.ports.end(), port);
    if (found != sum.ports.end()) sum.ports.erase(found);
  }
}

int64_t NumberOf(const api::ResourceList& amounts, const std::string& name) {
  const api::Quantity* amount = amounts.Find(name);
  if (amount == nullptr) return 0;
  return name == "cpu" ? amount->MilliValue() : amount->Value();
}

// The first resource that is too short, as kubelets look at them; absent: all is well. A node that says
// nothing of itself gets its amounts from others.
std::optional<KubeletRefusal> ShortageOf(const api::ResourceList& requests, const api::ResourceList& used,
                                         const api::ResourceList& capacity) {
  if (capacity.empty()) return std::nullopt;
  std::vector<std::string> names = {"pods", "cpu", "memory", "ephemeral-storage"};
  for (const auto& [name, amount] : requests) {
    const bool is_known = std::find(names.begin(), names.end(), name) != names.end();
    if (!is_known && capacity.Find(name) != nullptr) names.emplace_back(name);
  }
  for (const std::string& name : names) {
    const int64_t requested = NumberOf(requests, name);
    if (requested == 0 || requested <= NumberOf(capacity, name) - NumberOf(used, name)) continue;
    return KubeletRefusal{
        .reason = absl::StrCat("OutOf", name),
        .message = absl::StrCat("Node didn't have enough resource: ", name, ", requested: ", requested,
                                ", used: ", NumberOf(used, name), ", capacity: ", NumberOf(capacity, name))};
  }
  return std::nullopt;
}

KubeletRefusal PredicateFailed(absl::string_view plugin, absl::string_view why) {
  return {.reason = std::string(plugin), .message = absl::StrCat("Predicate ", plugin, " failed: ", why)};
}

// The first of what a kubelet finds wrong; absent: it admits the pod.
std::optional<KubeletRefusal> RefusalOf(const NodeVerdict& verdict, const PodDemand& wanted,
                                        const PodDemand& used, const api::ResourceList& capacity,
                                        SymbolTable& symbols) {
  std::optional<KubeletRefusal> shortage = ShortageOf(wanted.amounts, used.amounts, capacity);
  if (shortage.has_value()) return shortage;
  if (!verdict.matches)
    return PredicateFailed("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
  if (framework::HostPortsConflict(wanted.ports, used.ports, symbols.Intern("0.0.0.0")))
    return PredicateFailed("NodePorts", "node(s) didn't have free ports for the requested pod ports");
  if (!verdict.tolerates)
    return PredicateFailed("TaintToleration", "node(s) had taints that the pod didn't tolerate");
  return std::nullopt;
}

constexpr char kCountsAsBound[] = "; here it counts as bound";

std::string SelfPlacedText(const api::Pod& pod) {
  return absl::StrCat("Pod ", pod.Key(), ": it names its node ", pod.node_name, " itself");
}

std::string RefusalText(const api::Pod& pod, const KubeletRefusal& refusal) {
  return absl::StrCat(SelfPlacedText(pod), ", and a real kubelet would refuse it: ", refusal.reason, ": ",
                      refusal.message);
}

}  // namespace

NodeVerdict LookAtNode(const api::Pod& pod, const ApiServer& server) {
  const api::ObjectPtr object = server.Find(api::Kind::kNode, "Node", "", pod.node_name);
  if (object == nullptr) return {};
  const auto& node = static_cast<const api::Node&>(*object);
  SymbolTable symbols;
  const framework::RequiredNodeAffinity affinity(*pod.spec, symbols);
  const framework::LabelSet labels(node.metadata.labels, symbols);
  const auto keeps_out = [&pod](const api::Taint& taint) {
    return taint.effect == "NoExecute" && !api::TolerationsTolerateTaint(pod.spec->tolerations, taint);
  };
  return {.has_node = true,
          .matches = affinity.Matches(labels, symbols.Intern(node.metadata.name), symbols),
          .tolerates = std::none_of(node.spec.taints.begin(), node.spec.taints.end(), keeps_out)};
}

std::vector<std::string> PlacedWithoutRoom(const std::vector<api::ObjectPtr>& objects,
                                           const ApiServer& server) {
  std::vector<std::string> texts;
  const bool any = std::any_of(objects.begin(), objects.end(), [](const api::ObjectPtr& object) {
    return IsPlacedPod(object) && !Admission::PassedBefore(*object);
  });
  if (!any) return texts;
  std::map<std::string, PodDemand> used;
  SymbolTable symbols;
  for (const bool passed_before : {true, false}) {
    for (const api::ObjectPtr& object : objects) {
      if (!IsPlacedPod(object) || Admission::PassedBefore(*object) != passed_before) continue;
      // As it was completed.
      const api::PodPtr pod = server.FindPod(object->metadata.namespace_, object->metadata.name);
      if (pod == nullptr || pod->IsTerminal()) continue;
      const api::ObjectPtr node = server.Find(api::Kind::kNode, "Node", "", pod->node_name);
      if (node == nullptr) continue;
      const api::ResourceList& capacity = static_cast<const api::Node&>(*node).status.allocatable;
      const PodDemand demand = DemandOf(*pod, symbols);
      PodDemand& of_node = used[pod->node_name];
      const auto refusal = passed_before
                               ? std::nullopt
                               : RefusalOf(LookAtNode(*pod, server), demand, of_node, capacity, symbols);
      if (refusal.has_value()) {
        texts.push_back(absl::StrCat(RefusalText(*pod, *refusal), kCountsAsBound));
        continue;
      }
      AddTo(of_node, demand);
    }
  }
  return texts;
}

std::vector<std::string> PlacedInVain(const std::vector<SelfPlacedPod>& placed, const ApiServer& server) {
  // Those that are still there and not over.
  std::vector<std::pair<api::PodPtr, NodeVerdict>> pods;
  std::set<std::string> nodes;
  std::set<std::string> uids;
  for (const SelfPlacedPod& own : placed) {
    const auto pod =
        std::static_pointer_cast<const api::Pod>(server.FindByKey(api::Kind::kPod, "Pod", own.key));
    if (pod == nullptr || pod->metadata.uid != own.uid || !IsOnNode(*pod)) continue;
    pods.emplace_back(pod, own.node);
    nodes.insert(pod->node_name);
    uids.insert(own.uid);
  }
  if (pods.empty()) return {};
  std::map<std::string, PodDemand> used;
  SymbolTable symbols;
  server.ForEachPod([&](const api::Pod& pod) {
    if (IsOnNode(pod) && nodes.count(pod.node_name) > 0 && uids.count(pod.metadata.uid) == 0)
      AddTo(used[pod.node_name], DemandOf(pod, symbols));
  });
  std::vector<std::string> texts;
  for (const auto& [pod, verdict] : pods) {
    if (!verdict.has_node)
      texts.push_back(absl::StrCat(SelfPlacedText(*pod), ", which is not there, so that it never runs"));
    const api::ObjectPtr node = server.Find(api::Kind::kNode, "Node", "", pod->node_name);
    if (!verdict.has_node || node == nullptr) continue;
    const PodDemand demand = DemandOf(*pod, symbols);
    PodDemand& of_node = used[pod->node_name];
    const auto refusal =
        RefusalOf(verdict, demand, of_node, static_cast<const api::Node&>(*node).status.allocatable, symbols);
    if (refusal.has_value()) {
      texts.push_back(RefusalText(*pod, *refusal));
    } else {
      AddTo(of_node, demand);
    }
  }
  if (texts.empty()) return texts;
  return {absl::StrCat(texts[0], kCountsAsBound, AndMore(texts.size()))};
}

KubeletAdmission::KubeletAdmission(EventLoop& loop, ApiServer& server, Trace& trace)
    : loop_(loop), server_(server), trace_(trace) {
  server_.Watch([this](const WatchEvent& event) { OnEvent(event); });
}

absl::Span<const KubeletAdmission::AdmittedPod> KubeletAdmission::PodsOn(absl::string_view node_name) const {
  const auto found = nodes_.find(node_name);
  if (found == nodes_.end()) return {};
  return found->second.pods;
}

void KubeletAdmission::OnEvent(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind != api::Kind::kPod) return;
  const auto before = std::static_pointer_cast<const api::Pod>(event.old_object);
  const auto after = std::static_pointer_cast<const api::Pod>(event.new_object);
  const bool was_on_node = before != nullptr && IsOnNode(*before);
  const bool is_on_node = after != nullptr && IsOnNode(*after);
  if (was_on_node) {
    if (!is_on_node) {
      Change(*before, nullptr);
    } else if (before->spec != after->spec) {
      Change(*before, after.get());
    }
    return;
  }
  if (!is_on_node) return;
  Node& node = nodes_[after->node_name];
  if (!started_) return Admit(after, node);
  node.waiting.push_back(after);
  LookLater(after->node_name);
}

void KubeletAdmission::LookLater(const std::string& node_name) {
  loop_.At(loop_.Now(), EventLoop::Phase::kWork, [this, node_name] { Look(node_name); });
}

void KubeletAdmission::Resume(absl::string_view node_name) {
  const auto found = nodes_.find(node_name);
  if (found != nodes_.end() && !found->second.waiting.empty()) LookLater(found->first);
}

void KubeletAdmission::Look(const std::string& node_name) {
  if (is_silent_ != nullptr && is_silent_(node_name)) return;
  Node& node = nodes_[node_name];
  for (const api::PodPtr& came : std::exchange(node.waiting, {})) {
    const api::PodPtr pod = server_.FindPod(came->metadata.namespace_, came->metadata.name);
    const bool is_there = pod != nullptr && pod->metadata.uid == came->metadata.uid && IsOnNode(*pod);
    // A kubelet ends a pod that is being deleted, and starts nothing of it.
    if (is_there && !pod->metadata.deletion_timestamp.has_value()) LookAt(pod, node);
  }
}

void KubeletAdmission::LookAt(const api::PodPtr& pod, Node& node) {
  const api::ObjectPtr object = server_.Find(api::Kind::kNode, "Node", "", pod->node_name);
  std::optional<KubeletRefusal> refusal;
  // Without its node there is no kubelet.
  if (object != nullptr) {
    const api::ResourceList& capacity = static_cast<const api::Node&>(*object).status.allocatable;
    refusal = RefusalOf(LookAtNode(*pod, server_), DemandOf(*pod, symbols_), node.used, capacity, symbols_);
  }
  if (on_decision_ != nullptr) on_decision_(*pod, refusal.has_value() ? &*refusal : nullptr);
  if (refusal.has_value()) {
    Reject(*pod, *refusal);
  } else {
    Admit(pod, node);
  }
}

void KubeletAdmission::Admit(const api::PodPtr& pod, Node& node) {
  node.pods.push_back({.pod = pod, .number = ++admitted_count_, .demand = DemandOf(*pod, symbols_)});
  AddTo(node.used, node.pods.back().demand);
}

void KubeletAdmission::Change(const api::Pod& before, const api::Pod* after) {
  const auto of_node = nodes_.find(before.node_name);
  if (of_node == nodes_.end()) return;
  Node& node = of_node->second;
  const auto found = std::find_if(node.pods.begin(), node.pods.end(), [&](const AdmittedPod& admitted) {
    return admitted.pod->metadata.uid == before.metadata.uid;
  });
  if (found == node.pods.end()) return;
  TakeFrom(node.used, found->demand);
  if (after == nullptr) {
    node.pods.erase(found);
    return;
  }
  found->demand = DemandOf(*after, symbols_);
  AddTo(node.used, found->demand);
}

void KubeletAdmission::Reject(const api::Pod& pod, const KubeletRefusal& refusal) {
  trace_.Event(pod, {.type = "Warning", .reason = refusal.reason, .action = "", .note = refusal.message},
               "kubelet");
  codec::JsonWriter patch;
  patch.BeginObject().Key("status").BeginObject();
  patch.Field("phase", "Failed").Field("reason", refusal.reason);
  patch.Field("message", absl::StrCat("Pod was rejected: ", refusal.message));
  if (!pod.status.start_time.has_value()) patch.Field("startTime", api::FormatRfc3339Seconds(loop_.Now()));
  patch.EndObject().EndObject();
  const absl::Status status =
      codec::ReadText(patch.text(), "status", {}, [&](const codec::Document& document) {
        return server_.Patch(pod, codec::PatchType::kMerge, document.root).status();
      });
  if (!status.ok()) trace_.ApiError("patch", status.message());
}

}  // namespace schedsim::sim
