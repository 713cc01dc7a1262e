#include "sim/cluster/admission/policy_json.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/text/reader.h"

namespace schedsim::sim {
namespace {

// In the largest unit of which the amount is a whole number.
std::string ScaledText(int64_t amount, int64_t base, absl::string_view suffixes, absl::string_view end) {
  size_t scale = 0;
  while (amount != 0 && amount % base == 0 && scale < suffixes.size()) {
    amount /= base;
    ++scale;
  }
  return scale == 0 ? absl::StrCat(amount) : absl::StrCat(amount, suffixes.substr(scale - 1, 1), end);
}

}  // namespace

void ReadPolicy(const api::Object& object, absl::FunctionRef<void(const codec::Value& root)> read) {
  codec::ReadText(codec::ObjectJson(object), object.Key(), {}, [&read](const codec::Document& document) {
    read(document.root);
    return absl::OkStatus();
  }).IgnoreError();
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
    const absl::StatusOr<api::Quantity> amount = api::Quantity::Parse(member.value.text);
    if (amount.ok()) amounts[member.key] = *amount;
  }
  return amounts;
}

std::string AmountText(absl::string_view resource, const api::Quantity& amount) {
  if (!(api::Quantity::FromValue(amount.Value()) == amount)) {
    if (api::Quantity::FromMilli(amount.MilliValue()) == amount)
      return absl::StrCat(amount.MilliValue(), "m");
    const auto nano = static_cast<int64_t>(amount.NanoValue());
    return nano % 1000 == 0 ? absl::StrCat(nano / 1000, "u") : absl::StrCat(nano, "n");
  }
  const std::string decimal = ScaledText(amount.Value(), 1000, "kMGTPE", "");
  const bool is_binary = absl::StrContains(resource, "memory") || absl::StrContains(resource, "storage") ||
                         absl::StrContains(resource, "hugepages-");
  if (!is_binary) return decimal;
  const std::string binary = ScaledText(amount.Value(), 1024, "KMGTPE", "i");
  return binary.size() < decimal.size() ? binary : decimal;
}

}  // namespace schedsim::sim
