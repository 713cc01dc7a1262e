#include "sim/actors/kubelet_admission.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/api/node.h"
#include "core/base/and_more.h"
#include "core/codec/patch/object_patch.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/reader.h"
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
api::ResourceList RequestsOf(const api::Pod& pod) {
  api::ResourceRequirements amounts = PodAmounts(*pod.spec);
  AddOverhead(pod.spec->overhead, amounts);
  amounts.requests["pods"] = api::Quantity::FromMilli(1000);
  return amounts.requests;
}

int64_t NumberOf(const api::ResourceList& amounts, const std::string& name) {
  const api::Quantity* amount = amounts.Find(name);
  if (amount == nullptr) return 0;
  return name == "cpu" ? amount->MilliValue() : amount->Value();
}

// The first resource that is too short, as kubelets look at them; absent: all is well. A node that says
// nothing of itself gets its amounts from others.
std::optional<KubeletAdmission::Shortage> ShortageOf(const api::ResourceList& requests,
                                                     const api::ResourceList& used,
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
    return KubeletAdmission::Shortage{
        .reason = absl::StrCat("OutOf", name),
        .message = absl::StrCat("Node didn't have enough resource: ", name, ", requested: ", requested,
                                ", used: ", NumberOf(used, name), ", capacity: ", NumberOf(capacity, name))};
  }
  return std::nullopt;
}

void AddTo(api::ResourceList& sum, const api::ResourceList& more) {
  for (const auto& [name, amount] : more) sum[name] += amount;
}

constexpr char kCountsAsBound[] = "; here it counts as bound";

std::string SelfPlacedText(const api::Pod& pod) {
  return absl::StrCat("Pod ", pod.Key(), ": it names its node ", pod.node_name, " itself");
}

std::string RefusalText(const api::Pod& pod, const KubeletAdmission::Shortage& shortage) {
  return absl::StrCat(SelfPlacedText(pod), ", and a real kubelet would refuse it: ", shortage.reason, ": ",
                      shortage.message);
}

}  // namespace

std::vector<std::string> PlacedWithoutRoom(const std::vector<api::ObjectPtr>& objects,
                                           const ApiServer& server) {
  std::vector<std::string> texts;
  const bool any = std::any_of(objects.begin(), objects.end(), [](const api::ObjectPtr& object) {
    return IsPlacedPod(object) && !Admission::PassedBefore(*object);
  });
  if (!any) return texts;
  std::map<std::string, api::ResourceList> used;
  for (const bool passed_before : {true, false}) {
    for (const api::ObjectPtr& object : objects) {
      if (!IsPlacedPod(object) || Admission::PassedBefore(*object) != passed_before) continue;
      // As it was completed.
      const api::PodPtr pod = server.FindPod(object->metadata.namespace_, object->metadata.name);
      if (pod == nullptr || pod->IsTerminal()) continue;
      const api::ObjectPtr node = server.Find(api::Kind::kNode, "Node", "", pod->node_name);
      if (node == nullptr) continue;
      const api::ResourceList& capacity = static_cast<const api::Node&>(*node).status.allocatable;
      const api::ResourceList requests = RequestsOf(*pod);
      api::ResourceList& of_node = used[pod->node_name];
      const auto shortage = passed_before ? std::nullopt : ShortageOf(requests, of_node, capacity);
      if (shortage.has_value()) {
        texts.push_back(absl::StrCat(RefusalText(*pod, *shortage), kCountsAsBound));
        continue;
      }
      AddTo(of_node, requests);
    }
  }
  return texts;
}

std::vector<std::string> PlacedInVain(const std::vector<SelfPlacedPod>& placed, const ApiServer& server) {
  // Those that are still there and not over.
  std::vector<std::pair<api::PodPtr, bool>> pods;
  std::set<std::string> nodes;
  std::set<std::string> uids;
  for (const SelfPlacedPod& own : placed) {
    const auto pod =
        std::static_pointer_cast<const api::Pod>(server.FindByKey(api::Kind::kPod, "Pod", own.key));
    if (pod == nullptr || pod->metadata.uid != own.uid || !IsOnNode(*pod)) continue;
    pods.emplace_back(pod, own.had_node);
    nodes.insert(pod->node_name);
    uids.insert(own.uid);
  }
  if (pods.empty()) return {};
  std::map<std::string, api::ResourceList> used;
  server.ForEachPod([&](const api::Pod& pod) {
    if (IsOnNode(pod) && nodes.count(pod.node_name) > 0 && uids.count(pod.metadata.uid) == 0)
      AddTo(used[pod.node_name], RequestsOf(pod));
  });
  std::vector<std::string> texts;
  for (const auto& [pod, had_node] : pods) {
    if (!had_node)
      texts.push_back(absl::StrCat(SelfPlacedText(*pod), ", which is not there, so that it never runs"));
    const api::ObjectPtr node = server.Find(api::Kind::kNode, "Node", "", pod->node_name);
    if (!had_node || node == nullptr) continue;
    const api::ResourceList requests = RequestsOf(*pod);
    api::ResourceList& of_node = used[pod->node_name];
    const auto shortage =
        ShortageOf(requests, of_node, static_cast<const api::Node&>(*node).status.allocatable);
    if (shortage.has_value()) {
      texts.push_back(RefusalText(*pod, *shortage));
    } else {
      AddTo(of_node, requests);
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
  std::optional<Shortage> shortage;
  // Without its node there is no kubelet.
  if (object != nullptr) {
    const api::ResourceList& capacity = static_cast<const api::Node&>(*object).status.allocatable;
    shortage = ShortageOf(RequestsOf(*pod), node.used, capacity);
  }
  if (on_decision_ != nullptr) on_decision_(*pod, shortage.has_value() ? &*shortage : nullptr);
  if (shortage.has_value()) {
    Reject(*pod, *shortage);
  } else {
    Admit(pod, node);
  }
}

void KubeletAdmission::Admit(const api::PodPtr& pod, Node& node) {
  node.pods.push_back({.pod = pod, .number = ++admitted_count_, .requests = RequestsOf(*pod)});
  for (const auto& [name, amount] : node.pods.back().requests) node.used[name] += amount;
}

void KubeletAdmission::Change(const api::Pod& before, const api::Pod* after) {
  const auto of_node = nodes_.find(before.node_name);
  if (of_node == nodes_.end()) return;
  Node& node = of_node->second;
  const auto found = std::find_if(node.pods.begin(), node.pods.end(), [&](const AdmittedPod& admitted) {
    return admitted.pod->metadata.uid == before.metadata.uid;
  });
  if (found == node.pods.end()) return;
  for (const auto& [name, amount] : found->requests) node.used[name] -= amount;
  if (after == nullptr) {
    node.pods.erase(found);
    return;
  }
  found->requests = RequestsOf(*after);
  for (const auto& [name, amount] : found->requests) node.used[name] += amount;
}

void KubeletAdmission::Reject(const api::Pod& pod, const Shortage& shortage) {
  trace_.Event(pod, {.type = "Warning", .reason = shortage.reason, .action = "", .note = shortage.message},
               "kubelet");
  codec::JsonWriter patch;
  patch.BeginObject().Key("status").BeginObject();
  patch.Field("phase", "Failed").Field("reason", shortage.reason);
  patch.Field("message", absl::StrCat("Pod was rejected: ", shortage.message));
  if (!pod.status.start_time.has_value()) patch.Field("startTime", api::FormatRfc3339Seconds(loop_.Now()));
  patch.EndObject().EndObject();
  const absl::Status status =
      codec::ReadText(patch.text(), "status", {}, [&](const codec::Document& document) {
        return server_.Patch(pod, codec::PatchType::kMerge, document.root).status();
      });
  if (!status.ok()) trace_.ApiError("patch", status.message());
}

}  // namespace schedsim::sim
