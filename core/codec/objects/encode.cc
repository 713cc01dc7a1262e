#include "core/codec/objects/encode.h"

#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/api/quantity_text.h"
#include "core/base/check.h"
#include "core/codec/text/json_reader.h"

namespace schedsim::codec {
namespace {

Value Number(int64_t number, Document& document) {
  Value value;
  value.type = Value::Type::kNumber;
  value.text = document.CopyText(absl::StrCat(number));
  return value;
}

const std::string& EntryText(const std::string&, const std::string& text) { return text; }
std::string EntryText(const std::string& resource, api::Quantity amount) {
  return api::AmountText(resource, amount);
}

template <typename Map>
std::optional<Value> EncodeMap(const Map& map, Document& document) {
  if (map.empty()) return std::nullopt;
  std::vector<Member> members;
  for (const auto& [key, entry] : map) {
    members.push_back({.key = document.CopyText(key),
                       .key_position = {},
                       .value = document.MakeText(EntryText(key, entry))});
  }
  return document.MakeObject(members);
}

}  // namespace

std::optional<Value> Encode(const std::string& member, Document& document) {
  if (member.empty()) return std::nullopt;
  return document.MakeText(member);
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
  return document.MakeText(absl::StrCat(member));
}

std::optional<Value> Encode(absl::Time member, Document& document) {
  return document.MakeText(api::FormatRfc3339(member));
}

std::optional<Value> Encode(const api::Quantity& member, Document& document) {
  return document.MakeText(api::QuantityText(member));
}

std::optional<Value> Encode(const api::DisruptionMode& member, Document& document) {
  Value empty;
  empty.type = Value::Type::kObject;
  return document.MakeObject({{.key = member.all ? "all" : "single", .key_position = {}, .value = empty}});
}

std::optional<Value> Encode(const api::NotedQuantity& member, Document& document) {
  return document.MakeText(api::NotedQuantityText(member.amount, member.format));
}

namespace {

// A copy of the tree that lives in `document`. Trees are no deeper than the reader lets them be.
Value CopyTree(const Value& tree, Document& document) {
  Value copy = tree;
  copy.text = document.CopyText(tree.text);
  copy.source_bytes = 0;
  std::vector<Value> items;
  for (const Value& item : tree.items) items.push_back(CopyTree(item, document));
  copy.items = document.CopyItems(items);
  std::vector<Member> members;
  for (const Member& member : tree.members) {
    members.push_back({.key = document.CopyText(member.key),
                       .key_position = {},
                       .value = CopyTree(member.value, document)});
  }
  copy.members = document.CopyMembers(members);
  return copy;
}

}  // namespace

std::optional<Value> EncodeJson(const std::string& json, Document& document) {
  if (json.empty()) return std::nullopt;
  std::optional<Value> copy;
  const absl::Status status = ReadJsonText(json, "value", {}, [&](const Document& read) {
    copy = CopyTree(read.root, document);
    return absl::OkStatus();
  });
  CHECK(status.ok());
  return copy;
}

std::optional<Value> Encode(const api::StringMap& member, Document& document) {
  return EncodeMap(member, document);
}

std::optional<Value> Encode(const api::ResourceList& member, Document& document) {
  return EncodeMap(member, document);
}

std::optional<Value> Encode(const std::shared_ptr<const api::PodSpec>& member, Document& document) {
  return member == nullptr ? std::nullopt : Encode(*member, document);
}

std::vector<const Value*> OldItems(const Value* old, const std::vector<Value>& fresh,
                                   absl::string_view merge_key) {
  std::vector<const Value*> found(fresh.size(), nullptr);
  if (old == nullptr) return found;
  std::vector<bool> is_taken(old->items.size(), false);
  const auto take = [&](size_t place, size_t at) {
    if (found[place] != nullptr || at >= old->items.size() || is_taken[at]) return;
    const Value* key = fresh[place].Find(merge_key);
    const Value* old_key = old->items[at].Find(merge_key);
    if (key == nullptr || old_key == nullptr || key->text != old_key->text) return;
    found[place] = &old->items[at];
    is_taken[at] = true;
  };
  for (size_t place = 0; place < fresh.size(); ++place) take(place, place);
  for (size_t place = 0; place < fresh.size(); ++place) {
    for (size_t at = 0; at < old->items.size(); ++at) take(place, at);
  }
  return found;
}

Value PutAmounts(const Value* old, const api::ResourceList& now, Document& document) {
  std::vector<Member> members;
  for (const auto& [name, quantity] : now) {
    const Value* known = old == nullptr ? nullptr : old->Find(name);
    const bool is_same = known != nullptr && DecodeLeniently<api::Quantity>(known) == quantity;
    members.push_back({.key = document.CopyText(name),
                       .key_position = {},
                       .value = is_same ? *known : document.MakeText(api::AmountText(name, quantity))});
  }
  return document.MakeObject(members);
}

Value EmptyValue(const std::string&) { return TextValue(""); }

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

}  // namespace schedsim::codec
