#include "sim/cluster/admission/policy_json.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "core/api/kinds.h"
#include "core/base/printable.h"
#include "core/codec/objects/object_writer.h"

namespace schedsim::sim {
namespace {

void FindFaults(const codec::Value* map, const std::string& path, std::vector<AmountFault>& faults) {
  if (map == nullptr || map->is_null()) return;
  if (!map->is_object()) {
    faults.push_back({map->position, absl::StrCat(path, ": expected a map of quantities")});
    return;
  }
  for (const codec::Member& member : map->members) {
    const codec::Value& value = member.value;
    if (value.is_null()) continue;
    const std::string name = absl::StrCat(path, ".", Printable(member.key, kShownBytesMax), ": ");
    if (!value.is_string() && value.type != codec::Value::Type::kNumber) {
      faults.push_back({value.position, absl::StrCat(name, "expected a quantity such as 500m or 1.5Gi")});
      continue;
    }
    const absl::Status status = api::Quantity::Parse(value.text).status();
    if (!status.ok()) faults.push_back({value.position, absl::StrCat(name, status.message())});
  }
}

void SetMissing(const api::ResourceList& defaults, api::ResourceList& list) {
  for (const auto& [name, quantity] : defaults) {
    if (list.Find(name) == nullptr) list[name] = quantity;
  }
}

}  // namespace

void ReadPolicy(const api::Object& object, absl::FunctionRef<void(const codec::Value& root)> read) {
  codec::VisitObjectTree(object, [&read](const codec::Value& root) { read(root); });
}

const codec::Value* Below(const codec::Value* root, std::initializer_list<absl::string_view> names) {
  for (const absl::string_view name : names) root = root == nullptr ? nullptr : root->Find(name);
  return root;
}

std::string TextOf(const codec::Value* root, absl::string_view name) {
  const codec::Value* found = Below(root, {name});
  return found == nullptr || !found->is_string() ? "" : std::string(found->text);
}

std::vector<std::string> TextsOf(const codec::Value* list) {
  std::vector<std::string> texts;
  if (list == nullptr || !list->is_array()) return texts;
  for (const codec::Value& item : list->items) texts.emplace_back(item.text);
  return texts;
}

api::ResourceList AmountsOf(const codec::Value* map) {
  api::ResourceList amounts;
  if (map == nullptr || !map->is_object()) return amounts;
  for (const codec::Member& member : map->members) {
    // The API server takes null for zero.
    const absl::StatusOr<api::Quantity> amount =
        member.value.is_null() ? api::Quantity() : api::Quantity::Parse(member.value.text);
    if (amount.ok()) amounts[member.key] = *amount;
  }
  return amounts;
}

std::vector<LimitRangeItem> LimitRangeItems(const codec::Value& root) {
  std::vector<LimitRangeItem> items;
  const codec::Value* list = Below(&root, {"spec", "limits"});
  if (list == nullptr || !list->is_array()) return items;
  for (const codec::Value& item : list->items) {
    items.push_back({.type = TextOf(&item, "type"),
                     .min = AmountsOf(item.Find("min")),
                     .max = AmountsOf(item.Find("max")),
                     .default_limits = AmountsOf(item.Find("default")),
                     .default_requests = AmountsOf(item.Find("defaultRequest")),
                     .max_ratio = AmountsOf(item.Find("maxLimitRequestRatio"))});
    LimitRangeItem& limit = items.back();
    if (limit.type != "Container") continue;
    SetMissing(limit.max, limit.default_limits);
    SetMissing(limit.default_limits, limit.default_requests);
    SetMissing(limit.min, limit.default_requests);
  }
  return items;
}

std::vector<AmountFault> AmountFaults(const codec::Value& root, absl::string_view api_version,
                                      absl::string_view kind) {
  std::vector<AmountFault> faults;
  if (api_version == "v1" && kind == "ResourceQuota") {
    FindFaults(Below(&root, {"spec", "hard"}), "spec.hard", faults);
  } else if (api::GroupOf(api_version) == "node.k8s.io" && kind == "RuntimeClass") {
    FindFaults(Below(&root, {"overhead", "podFixed"}), "overhead.podFixed", faults);
  } else if (api_version == "v1" && kind == "LimitRange") {
    const codec::Value* limits = Below(&root, {"spec", "limits"});
    for (size_t i = 0; limits != nullptr && i < limits->items.size(); ++i) {
      for (const char* name : {"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"})
        FindFaults(limits->items[i].Find(name), absl::StrCat("spec.limits[", i, "].", name), faults);
    }
  }
  return faults;
}

}  // namespace schedsim::sim
