#include "sim/actors/kubelet_admission.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "core/api/node.h"
#include "core/api/pod.h"
#include "sim/cluster/admission/admission.h"
#include "sim/cluster/admission/pod_amounts.h"

namespace schedsim::sim {
namespace {

bool IsPlacedPod(const api::ObjectPtr& object) {
  return object->kind == api::Kind::kPod && !static_cast<const api::Pod&>(*object).node_name.empty();
}

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

// The first resource that is too short, as kubelets look at them; "": all is well.
std::string Shortage(const api::ResourceList& requests, const api::ResourceList& used,
                     const api::ResourceList& capacity) {
  std::vector<std::string> names = {"pods", "cpu", "memory", "ephemeral-storage"};
  for (const auto& [name, amount] : requests) {
    const bool is_known = std::find(names.begin(), names.end(), name) != names.end();
    if (!is_known && capacity.Find(name) != nullptr) names.emplace_back(name);
  }
  for (const std::string& name : names) {
    const int64_t requested = NumberOf(requests, name);
    if (requested == 0 || requested <= NumberOf(capacity, name) - NumberOf(used, name)) continue;
    return absl::StrCat("OutOf", name, ": Node didn't have enough resource: ", name,
                        ", requested: ", requested, ", used: ", NumberOf(used, name),
                        ", capacity: ", NumberOf(capacity, name));
  }
  return "";
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
      // A node that says nothing of itself gets its amounts from others.
      const std::string shortage =
          passed_before || capacity.empty() ? "" : Shortage(requests, of_node, capacity);
      if (!shortage.empty()) {
        texts.push_back(absl::StrCat("Pod ", pod->Key(), ": it names its node ", pod->node_name,
                                     " itself, and a real kubelet would refuse it: ", shortage,
                                     "; here it counts as bound"));
        continue;
      }
      for (const auto& [name, amount] : requests) of_node[name] += amount;
    }
  }
  return texts;
}

}  // namespace schedsim::sim
