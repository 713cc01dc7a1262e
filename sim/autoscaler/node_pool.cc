#include "sim/autoscaler/node_pool.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/objects/objects.h"
#include "core/codec/patch/merge_patch.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"

namespace schedsim::sim {
namespace {

constexpr char kHostname[] = "kubernetes.io/hostname";

// What one node has alone.
constexpr char kOfOneNode[] =
    R"({"metadata":{"name":"template","generateName":null,"uid":null,"resourceVersion":null,)"
    R"("creationTimestamp":null,"deletionTimestamp":null,"managedFields":null,"ownerReferences":null,)"
    R"("selfLink":null},"spec":{"podCIDR":null,"podCIDRs":null,"providerID":null,"unschedulable":null},)"
    R"("status":{"addresses":null,"images":null,"volumesAttached":null,"volumesInUse":null,)"
    R"("conditions":null}})";

// Whether a taint says how a node is, rather than what it is for.
bool IsOfCondition(const api::Taint& taint) {
  return absl::StartsWith(taint.key, "node.kubernetes.io/") ||
         absl::StartsWith(taint.key, "node.cloudprovider.kubernetes.io/") || taint.key == kToBeDeletedTaint ||
         taint.key == kDeletionCandidateTaint;
}

// The node without what one node has alone.
absl::StatusOr<std::shared_ptr<api::Node>> Sanitized(const api::Node& node, codec::ObjectReader& reader) {
  std::shared_ptr<api::Node> out;
  codec::Document merged;
  RETURN_IF_ERROR(codec::ReadText(codec::ObjectJson(node), "node.json", {}, [&](const codec::Document& base) {
    return codec::ReadText(kOfOneNode, "patch.json", {}, [&](const codec::Document& patch) -> absl::Status {
      api::ObjectPtr object;
      ASSIGN_OR_RETURN(object, reader.Decode(codec::MergePatch(base.root, patch.root, merged), "template"));
      out = std::static_pointer_cast<api::Node>(object->Clone());
      return absl::OkStatus();
    });
  }));
  return out;
}

// The amount `name` of status.capacity; that of allocatable where there is none.
api::Quantity CapacityOf(const codec::Value& root, const api::Node& node, absl::string_view name) {
  const codec::Value* status = root.Find("status");
  const codec::Value* capacity = status == nullptr ? nullptr : status->Find("capacity");
  const codec::Value* given = capacity == nullptr ? nullptr : capacity->Find(name);
  if (given != nullptr) {
    const absl::StatusOr<api::Quantity> amount = api::Quantity::Parse(given->text);
    if (amount.ok() && !amount->IsZero() && !amount->IsNegative()) return *amount;
  }
  const api::Quantity* amount = node.status.allocatable.Find(name);
  return amount == nullptr ? api::Quantity() : *amount;
}

}  // namespace

absl::Status SetTemplate(const api::Node& node, NodePool& pool) {
  for (const char* name : {"cpu", "memory", "pods"}) {
    const api::Quantity* amount = node.status.allocatable.Find(name);
    if (amount != nullptr && !amount->IsZero() && !amount->IsNegative()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(pool.place, ": node pool ", pool.name, ": the template has no ", name,
                     ", expected cpu, memory and pods above zero in status.allocatable or status.capacity"));
  }
  codec::ObjectReader reader;
  std::shared_ptr<api::Node> made;
  ASSIGN_OR_RETURN(made, Sanitized(node, reader));
  codec::VisitObjectTree(node, [&](const codec::Value& root) {
    pool.capacity_milli_cpu = CapacityOf(root, node, "cpu").MilliValue();
    pool.capacity_memory_bytes = CapacityOf(root, node, "memory").Value();
  });
  made->metadata.annotations.Erase(kScaleDownDisabled);
  std::erase_if(made->spec.taints, IsOfCondition);
  for (const auto& [key, value] : pool.labels) made->metadata.labels.Set(key, value);
  for (const api::Taint& taint : pool.taints) {
    std::erase_if(made->spec.taints, [&taint](const api::Taint& other) {
      return other.key == taint.key && other.effect == taint.effect;
    });
    made->spec.taints.push_back(taint);
  }
  pool.node_template = std::move(made);
  return absl::OkStatus();
}

std::shared_ptr<api::Node> MakePoolNode(const NodePool& pool, const std::string& name, bool is_ready) {
  auto node = std::static_pointer_cast<api::Node>(pool.node_template->Clone());
  node->metadata.name = name;
  node->metadata.labels.Set(kHostname, name);
  SetReady(is_ready, *node);
  return node;
}

void SetReady(bool is_ready, api::Node& node) {
  const auto has_type = [](const api::NodeCondition& condition) { return condition.type == "Ready"; };
  auto& conditions = node.status.conditions;
  auto ready = std::find_if(conditions.begin(), conditions.end(), has_type);
  if (ready == conditions.end()) ready = conditions.insert(ready, {.type = "Ready", .status = ""});
  ready->status = is_ready ? "True" : "False";
  std::erase_if(node.spec.taints,
                [](const api::Taint& taint) { return taint.key == api::kTaintNodeNotReady; });
  if (is_ready) return;
  node.spec.taints.push_back(
      {.key = std::string(api::kTaintNodeNotReady), .value = "", .effect = "NoSchedule"});
}

}  // namespace schedsim::sim
