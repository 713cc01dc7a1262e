#include "sim/stages/stage_object.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "core/api/go_text.h"
#include "core/api/quantity.h"
#include "core/base/check.h"
#include "core/codec/objects/api_fields.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/text/reader.h"

namespace schedsim::sim {
namespace {

using cel::CelValue;
using codec::ApiField;
using codec::ApiType;
using codec::Value;

// Copies the whole tree into `document`. Documents are no deeper than codec::kDepthMax.
Value Copy(const Value& value, codec::Document& document) {
  Value copy = value;
  if (value.is_array()) {
    std::vector<Value> items;
    for (const Value& item : value.items) items.push_back(Copy(item, document));
    copy.items = document.CopyItems(items);
  } else if (value.is_object()) {
    std::vector<codec::Member> members;
    for (const codec::Member& member : value.members) {
      members.push_back({.key = document.CopyText(member.key), .value = Copy(member.value, document)});
    }
    copy = document.MakeObject(members, value.position);
  } else {
    copy.text = document.CopyText(value.text);
  }
  return copy;
}

CelValue NumberOf(absl::string_view text) {
  int64_t whole = 0;
  if (absl::SimpleAtoi(text, &whole)) return CelValue::Int(whole);
  double number = 0;
  // What is beyond any double becomes infinite.
  static_cast<void>(absl::SimpleAtod(text, &number));
  return CelValue::Double(number);
}

CelValue Convert(const Value& value, const ApiType* type, absl::string_view field);

CelValue ResourcesOf(const Value& value) {
  CelValue::Map map;
  for (const codec::Member& member : value.members) {
    const absl::StatusOr<api::Quantity> quantity = api::Quantity::Parse(member.value.text);
    map.emplace_back(member.key, quantity.ok() ? CelValue::Of(*quantity) : CelValue());
  }
  return CelValue::Of(std::move(map), CelValue::Type::kResourceList);
}

// A map of which the type is known.
CelValue MessageOf(const Value& value, const ApiType& type) {
  CelValue::Map map;
  for (const codec::Member& member : value.members) {
    const ApiField* field = type.Find(member.key);
    const bool by_key = field != nullptr && field->by_key;
    const ApiType* below = field == nullptr ? nullptr : field->type;
    if (member.value.is_null()) continue;
    if (cel::IsResourceListField(member.key) && member.value.is_object()) {
      map.emplace_back(member.key, ResourcesOf(member.value));
    } else if (by_key) {
      CelValue::Map entries;
      for (const codec::Member& entry : member.value.members) {
        entries.emplace_back(entry.key, Convert(entry.value, below, ""));
      }
      map.emplace_back(member.key, CelValue::Of(std::move(entries)));
    } else {
      map.emplace_back(member.key, Convert(member.value, below, member.key));
    }
  }
  return CelValue::Of(std::move(map), CelValue::Type::kMessage);
}

// `field`: of a message; "": not of one.
CelValue Convert(const Value& value, const ApiType* type, absl::string_view field) {
  switch (value.type) {
    case Value::Type::kNull:
      return {};
    case Value::Type::kBool:
      return CelValue::Bool(value.boolean);
    case Value::Type::kNumber:
      return NumberOf(value.text);
    case Value::Type::kString: {
      const bool is_time = absl::EndsWith(field, "Timestamp") || absl::EndsWith(field, "Time");
      const std::optional<absl::Time> time = is_time ? api::ParseRfc3339(value.text) : std::nullopt;
      return time.has_value() ? CelValue::Of(*time) : CelValue::String(std::string(value.text));
    }
    case Value::Type::kArray: {
      CelValue::List list;
      for (const Value& item : value.items) list.push_back(Convert(item, type, ""));
      return CelValue::Of(std::move(list));
    }
    case Value::Type::kObject:
      break;
  }
  if (type != nullptr) return MessageOf(value, *type);
  CelValue::Map map;
  for (const codec::Member& member : value.members) {
    map.emplace_back(member.key, Convert(member.value, nullptr, ""));
  }
  return CelValue::Of(std::move(map));
}

absl::string_view TextOf(const Value& value, absl::string_view key) {
  const Value* found = value.Find(key);
  return found != nullptr && found->is_string() ? found->text : absl::string_view();
}

}  // namespace

cel::CelValue CelValueOf(const Value& value, bool is_typed) {
  const codec::ApiKind* kind =
      is_typed ? codec::ApiFields::Get().Find(TextOf(value, "apiVersion"), TextOf(value, "kind")) : nullptr;
  return Convert(value, kind == nullptr ? nullptr : kind->type, "");
}

StageObject::StageObject(const api::Object& object) {
  const absl::Status status =
      codec::ReadText(codec::ServedJson(object), "object.json", {}, [this](const codec::Document& document) {
        document_.root = Copy(document.root, document_);
        return absl::OkStatus();
      });
  // The writer writes JSON.
  CHECK(status.ok());
}

StageObject::StageObject(const Value& root) { document_.root = Copy(root, document_); }

absl::string_view StageObject::TextAt(absl::string_view key) const { return TextOf(root(), key); }

absl::string_view StageObject::MetadataText(absl::string_view key) const {
  const Value* metadata = root().Find("metadata");
  return metadata == nullptr ? absl::string_view() : TextOf(*metadata, key);
}

const Value* StageObject::FindInMetadata(absl::string_view map, absl::string_view key) const {
  const Value* metadata = root().Find("metadata");
  const Value* entries = metadata == nullptr ? nullptr : metadata->Find(map);
  return entries == nullptr ? nullptr : entries->Find(key);
}

const cel::CelValue& StageObject::cel() const {
  if (!cel_.has_value()) {
    const bool is_typed = api_version() == "v1" && (kind() == "Pod" || kind() == "Node");
    cel_ = CelValueOf(root(), is_typed);
  }
  return *cel_;
}

const GoValue& StageObject::go() const {
  if (!go_.has_value()) go_ = GoValueOf(root(), GoNumbers::kJsonNumber);
  return *go_;
}

}  // namespace schedsim::sim
