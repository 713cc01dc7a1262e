// Values from typed structs, driven by the field tables.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_ENCODE_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_ENCODE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/codec/objects/decode.h"
#include "core/codec/objects/field.h"
#include "core/codec/text/value.h"
#include "core/codec/text/writer.h"

namespace schedsim::codec {

// Each gives the value of a member; parts live in `document`. Empty members give std::nullopt, as a
// Go field with omitempty would be left out; items of lists and present optionals are never empty.
std::optional<Value> Encode(const std::string& member, Document& document);
std::optional<Value> Encode(bool member, Document& document);
std::optional<Value> Encode(int32_t member, Document& document);
std::optional<Value> Encode(int64_t member, Document& document);
std::optional<Value> Encode(uint64_t member, Document& document);
std::optional<Value> Encode(absl::Time member, Document& document);
std::optional<Value> Encode(const api::Quantity& member, Document& document);
std::optional<Value> Encode(const api::NotedQuantity& member, Document& document);
std::optional<Value> Encode(const api::DisruptionMode& member, Document& document);
std::optional<Value> Encode(const api::StringMap& member, Document& document);
std::optional<Value> Encode(const api::ResourceList& member, Document& document);
std::optional<Value> Encode(const std::shared_ptr<const api::PodSpec>& member, Document& document);
template <typename T>
std::optional<Value> Encode(const std::optional<T>& member, Document& document);
template <typename T>
std::vector<Value> EncodeItems(const std::vector<T>& list, Document& document) {
  std::vector<Value> items;
  for (const T& item : list) items.push_back(EncodeAlways(item, document));
  return items;
}

template <typename T>
std::optional<Value> Encode(const std::vector<T>& member, Document& document);
template <typename T>
std::optional<Value> Encode(const std::vector<std::pair<std::string, T>>& member, Document& document);
template <typename T>
std::optional<Value> Encode(const api::SharedList<T>& member, Document& document);
template <HasFields T>
std::optional<Value> Encode(const T& member, Document& document);
// The value that a text of JSON says.
std::optional<Value> EncodeJson(const std::string& json, Document& document);

// What an empty member of this type looks like where it must be written.
Value EmptyValue(const std::string&);
Value EmptyValue(bool);
Value EmptyValue(int32_t);
Value EmptyValue(int64_t);
template <typename T>
Value EmptyValue(const T&) {
  Value value;
  value.type = Value::Type::kObject;
  return value;
}

// `root` with the field at `path` set to `value`, or without it for std::nullopt.
Value WithPath(const Value& root, absl::Span<const Segment> path, const std::optional<Value>& value,
               Document& document);

template <typename S, typename T>
std::optional<Value> EncodeField(const Field<S, T>& field, const S& from, Document& document) {
  const T& member = from.*field.member;
  Value map;
  map.type = Value::Type::kObject;
  if constexpr (std::is_same_v<T, bool>) {
    if (field.form == Form::kPresence) return member ? std::optional<Value>(map) : std::nullopt;
  }
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    if (field.form == Form::kKeys) {
      std::vector<Member> members;
      for (const std::string& key : member) {
        members.push_back({.key = document.CopyText(key), .key_position = {}, .value = {}});
      }
      map.members = document.CopyMembers(members);
      return members.empty() ? std::nullopt : std::optional<Value>(map);
    }
  }
  if constexpr (std::is_same_v<T, std::string>) {
    if (field.form == Form::kJson) return EncodeJson(member, document);
  }
  if constexpr (std::is_same_v<T, std::optional<api::NamedVolumeSource>>) {
    if (!member.has_value()) return std::nullopt;
    return WithPath(map, absl::MakeConstSpan(&field.inner, 1), Encode(member->id, document), document);
  } else {
    return Encode(member, document);
  }
}

template <typename S, typename T>
absl::Span<const Segment> PathOf(const Field<S, T>& field) {
  return absl::MakeConstSpan(field.path.data(), static_cast<size_t>(field.depth));
}

// Puts all members of `from` over `root`; members that are empty are taken away.
template <HasFields T>
Value PutAll(const Value& root, const T& from, Document& document) {
  Value out = root;
  out.type = Value::Type::kObject;
  std::apply(
      [&](const auto&... field) {
        ((out = WithPath(out, PathOf(field), EncodeField(field, from, document), document)), ...);
      },
      Fields<T>::kList);
  return out;
}

template <HasFields T>
std::optional<Value> Encode(const T& member, Document& document) {
  const Value value = PutAll(Value(), member, document);
  return value.members.empty() ? std::nullopt : std::optional<Value>(value);
}

template <typename T>
Value EncodeAlways(const T& member, Document& document) {
  return Encode(member, document).value_or(EmptyValue(member));
}

template <typename T>
std::optional<Value> Encode(const std::optional<T>& member, Document& document) {
  if (!member.has_value()) return std::nullopt;
  return EncodeAlways(*member, document);
}

template <typename T>
std::optional<Value> Encode(const std::vector<T>& member, Document& document) {
  if (member.empty()) return std::nullopt;
  Value value;
  value.type = Value::Type::kArray;
  value.items = document.CopyItems(EncodeItems(member, document));
  return value;
}

template <typename T>
std::optional<Value> Encode(const std::vector<std::pair<std::string, T>>& member, Document& document) {
  if (member.empty()) return std::nullopt;
  std::vector<Member> members;
  for (const auto& [key, value] : member) {
    members.push_back(
        {.key = document.CopyText(key), .key_position = {}, .value = EncodeAlways(value, document)});
  }
  return document.MakeObject(members);
}

template <typename T>
std::optional<Value> Encode(const api::SharedList<T>& member, Document& document) {
  return Encode(member.items(), document);
}

// Whether both members are written the same way; `document` takes what is written.
template <typename T>
bool SameMember(const T& a, const T& b, Document& document) {
  const std::optional<Value> left = Encode(a, document);
  const std::optional<Value> right = Encode(b, document);
  if (left.has_value() != right.has_value()) return false;
  return !left.has_value() || SameTree(*left, *right);
}

// What `value` says, as far as it is well-formed.
template <typename T>
T DecodeLeniently(const Value* value) {
  T out{};
  const DecodeContext context = {.validate = false, .is_lenient = true};
  if (value != nullptr) (void)Decode(context, *value, Path(), out);
  return out;
}

// For each item of `fresh`, the item of the list `old` with the same merge key; nullptr: none. The one at the
// same place goes before others, and each old item serves once, since a key may come twice (a port of two
// protocols). `old` may be absent, or no list.
std::vector<const Value*> OldItems(const Value* old, const std::vector<Value>& fresh,
                                   absl::string_view merge_key);

// The list with the items of `now`; those that `old` has (by the merge key, or by being the same)
// keep the fields that T does not know.
template <HasFields T>
Value MergeItems(const Value* old, const std::vector<T>& now, absl::string_view merge_key,
                 Document& document) {
  const auto is_same = [&document](const Value& candidate, const T& item) {
    return SameMember(DecodeLeniently<T>(&candidate), item, document);
  };
  std::vector<Value> items = EncodeItems(now, document);
  const std::vector<const Value*> known = OldItems(old, items, merge_key);
  for (size_t i = 0; i < now.size(); ++i) {
    const Value* before = known[i];
    for (const Value& candidate : old == nullptr ? absl::Span<const Value>() : old->items) {
      if (before != nullptr) break;
      if (is_same(candidate, now[i])) before = &candidate;
    }
    if (before != nullptr) items[i] = is_same(*before, now[i]) ? *before : PutAll(*before, now[i], document);
  }
  Value value;
  value.type = Value::Type::kArray;
  value.items = document.CopyItems(items);
  return value;
}

template <typename T>
inline constexpr bool IsStructList = false;
template <HasFields T>
inline constexpr bool IsStructList<std::vector<T>> = true;
template <HasFields T>
inline constexpr bool IsStructList<api::SharedList<T>> = true;

template <typename T>
const std::vector<T>& ItemsOf(const std::vector<T>& list) {
  return list;
}
template <typename T>
const std::vector<T>& ItemsOf(const api::SharedList<T>& list) {
  return list.items();
}

template <HasFields T>
Value PutChanges(const Value& root, const T& from, Document& document);

// `old`, where it is a list, with the changes of `now` on top of the items that have the same merge key.
template <HasFields T>
Value PutItemChanges(const Value& old, const std::vector<T>& now, absl::string_view merge_key,
                     Document& document) {
  bool is_changed = false;
  std::vector<Value> items(old.items.begin(), old.items.end());
  const std::vector<const Value*> known = OldItems(&old, EncodeItems(now, document), merge_key);
  for (size_t i = 0; i < now.size(); ++i) {
    if (known[i] == nullptr) continue;
    Value& item = items[static_cast<size_t>(known[i] - old.items.data())];
    const Value changed = PutChanges(item, now[i], document);
    is_changed |= changed.members.data() != item.members.data();
    item = changed;
  }
  if (!is_changed) return old;
  Value out = old;
  out.items = document.CopyItems(items);
  return out;
}

// `old` with the amounts that differ from `now` put on top, so that the others keep their notation.
Value PutAmounts(const Value* old, const api::ResourceList& now, Document& document);

template <typename S, typename T>
Value PutChange(const Value& root, const Field<S, T>& field, const S& from, Document& document) {
  if constexpr (std::is_same_v<T, std::optional<api::NamedVolumeSource>>) {
    return root;  // Never live.
  } else {
    const T& now = from.*field.member;
    const Value* broken = nullptr;
    const Value* old = FindPath(root, PathOf(field), broken);
    if (!field.live) {
      if constexpr (std::is_same_v<T, std::shared_ptr<const api::PodSpec>>) {
        if (now == nullptr || old == nullptr) return root;
        const Value after = PutChanges(*old, *now, document);
        if (after.members.data() != old->members.data())
          return WithPath(root, PathOf(field), after, document);
      } else if constexpr (IsStructList<T>) {
        if (!field.live_items || old == nullptr) return root;
        const Value after = PutItemChanges(*old, ItemsOf(now), field.merge_key, document);
        if (after.items.data() != old->items.data()) return WithPath(root, PathOf(field), after, document);
      } else if constexpr (HasFields<T>) {
        static const Value kEmpty = EmptyValue(T());
        const Value& before = old == nullptr ? kEmpty : *old;
        const Value after = PutChanges(before, now, document);
        if (after.members.data() != before.members.data())
          return WithPath(root, PathOf(field), after, document);
      }
      return root;
    }
    if (SameMember(DecodeLeniently<T>(old), now, document)) return root;
    if constexpr (std::is_same_v<T, api::ResourceList>) {
      return WithPath(root, PathOf(field), PutAmounts(old, now, document), document);
    }
    if constexpr (IsStructList<T>) {
      if (!now.empty())
        return WithPath(root, PathOf(field), MergeItems(old, ItemsOf(now), field.merge_key, document),
                        document);
    }
    return WithPath(root, PathOf(field), EncodeField(field, from, document), document);
  }
}

// `root` with the live fields of `from` that differ from what it says put on top. The same members,
// not copies, when nothing differs.
template <HasFields T>
Value PutChanges(const Value& root, const T& from, Document& document) {
  Value out = root;
  std::apply([&](const auto&... field) { ((out = PutChange(out, field, from, document)), ...); },
             Fields<T>::kList);
  return out;
}

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_ENCODE_H_
