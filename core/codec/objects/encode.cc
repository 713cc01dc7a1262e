#include "core/codec/objects/encode.h"

#include "absl/strings/str_cat.h"

namespace schedsim::codec {
namespace {

Value Text(absl::string_view text, Document& document) {
  Value value;
  value.type = Value::Type::kString;
  value.text = document.CopyText(text);
  return value;
}

Value Number(int64_t number, Document& document) {
  Value value;
  value.type = Value::Type::kNumber;
  value.text = document.CopyText(absl::StrCat(number));
  return value;
}

template <typename Map, typename ToText>
std::optional<Value> EncodeMap(const Map& map, Document& document, const ToText& to_text) {
  if (map.empty()) return std::nullopt;
  std::vector<Member> members;
  for (const auto& [key, entry] : map) {
    members.push_back(
        {.key = document.CopyText(key), .key_position = {}, .value = Text(to_text(entry), document)});
  }
  return document.MakeObject(members);
}

}  // namespace

std::optional<Value> Encode(const std::string& member, Document& document) {
  if (member.empty()) return std::nullopt;
  return Text(member, document);
}

std::optional<Value> Encode(bool member, Document&) {
  if (!member) return std::nullopt;
  Value value;
  value.type = Value::Type::kBool;
  value.boolean = true;
  return value;
}

std::optional<Value> Encode(int32_t member, Document& document) { return Encode(int64_t{member}, document); }

std::optional<Value> Encode(int64_t member, Document& document) {
  if (member == 0) return std::nullopt;
  return Number(member, document);
}

std::optional<Value> Encode(uint64_t member, Document& document) {
  if (member == 0) return std::nullopt;
  return Text(absl::StrCat(member), document);
}

std::optional<Value> Encode(absl::Time member, Document& document) {
  return Text(absl::FormatTime("%E4Y-%m-%dT%H:%M:%E*SZ", member, absl::UTCTimeZone()), document);
}

std::optional<Value> Encode(const api::Quantity& member, Document& document) {
  return Text(QuantityText(member), document);
}

std::optional<Value> Encode(const api::StringMap& member, Document& document) {
  return EncodeMap(member, document, [](const std::string& text) { return text; });
}

std::optional<Value> Encode(const api::ResourceList& member, Document& document) {
  return EncodeMap(member, document, [](const api::Quantity& quantity) { return QuantityText(quantity); });
}

std::optional<Value> Encode(const std::shared_ptr<const api::PodSpec>& member, Document& document) {
  return member == nullptr ? std::nullopt : Encode(*member, document);
}

Value PutAmounts(const Value* old, const api::ResourceList& now, Document& document) {
  std::vector<Member> members;
  for (const auto& [name, quantity] : now) {
    const Value* known = old == nullptr ? nullptr : old->Find(name);
    const bool is_same = known != nullptr && DecodeLeniently<api::Quantity>(known) == quantity;
    members.push_back({.key = document.CopyText(name),
                       .key_position = {},
                       .value = is_same ? *known : Text(QuantityText(quantity), document)});
  }
  return document.MakeObject(members);
}

Value EmptyValue(const std::string&) {
  Value value;
  value.type = Value::Type::kString;
  return value;
}

Value EmptyValue(bool) {
  Value value;
  value.type = Value::Type::kBool;
  return value;
}

Value EmptyValue(int32_t) { return EmptyValue(int64_t{0}); }

Value EmptyValue(int64_t) {
  Value value;
  value.type = Value::Type::kNumber;
  value.text = "0";
  return value;
}

Value WithPath(const Value& root, absl::Span<const Segment> path, const std::optional<Value>& value,
               Document& document) {
  while (!path.empty() && path[0].name.empty()) path.remove_prefix(1);
  if (path.empty()) return value.value_or(root);
  const absl::string_view name = path[0].name;
  const Value* known = root.Find(name);
  if (known == nullptr && !value.has_value()) return root;
  std::vector<Member> members(root.members.begin(), root.members.end());
  if (path.size() == 1 && !value.has_value()) {
    std::erase_if(members, [name](const Member& member) { return member.key == name; });
  } else {
    // Tables have at most three levels, which bounds the recursion.
    static const Value kEmpty = EmptyValue(Value());
    const Value child = WithPath(known == nullptr ? kEmpty : *known, path.subspan(1), value, document);
    if (known != nullptr && child.members.data() == known->members.data() && !value.has_value()) return root;
    if (known == nullptr)
      members.push_back({.key = document.CopyText(name), .key_position = {}, .value = {}});
    for (Member& member : members) {
      if (member.key == name) member.value = child;
    }
  }
  Value out = root;
  out.type = Value::Type::kObject;
  out.members = document.CopyMembers(members);
  return out;
}

std::string QuantityText(const api::Quantity& quantity) {
  const api::Quantity whole = api::Quantity::FromValue(quantity.Value());
  if (whole == quantity) return absl::StrCat(quantity.Value());
  const api::Quantity milli = api::Quantity::FromMilli(quantity.MilliValue());
  if (milli == quantity) return absl::StrCat(quantity.MilliValue(), "m");
  // Finer than a thousandth: a fraction of nine digits, found from the rest in steps of 10^-9.
  const bool negative = quantity.IsNegative();
  const api::Quantity size = negative ? api::Quantity() - quantity : quantity;
  const int64_t units = size.Value() - 1;
  api::Quantity rest = size - api::Quantity::FromValue(units);
  int64_t nano = 0;
  for (int64_t step = 1'000'000'000; step > 0; step /= 10) {
    const api::Quantity part = *api::Quantity::Parse(absl::StrCat(step, "n"));
    for (; rest >= part; nano += step) rest -= part;
  }
  std::string fraction = absl::StrCat(1'000'000'000 + nano).substr(1);
  while (fraction.back() == '0') fraction.pop_back();
  return absl::StrCat(negative ? "-" : "", units, ".", fraction);
}

}  // namespace schedsim::codec
