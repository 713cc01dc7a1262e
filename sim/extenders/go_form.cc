#include "sim/extenders/go_form.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/api/go_text.h"
#include "core/api/quantity_text.h"
#include "core/codec/objects/api_fields.h"
#include "core/codec/objects/decode.h"
#include "core/codec/text/input_log.h"

namespace schedsim::sim {
namespace {

using codec::ApiField;
using codec::ApiType;
using codec::Document;
using codec::Member;
using codec::Value;
using Around = codec::ProtoForm::Around;
using Letter = codec::ProtoForm::Letter;
using Presence = codec::ProtoForm::Presence;

Value Constant(Value::Type type, absl::string_view text = "") {
  Value value;
  value.type = type;
  value.text = text;
  return value;
}

// Brings one object into Go's form.
class GoForm {
 public:
  explicit GoForm(Document& document) : document_(document) {}

  Value Object(const ApiType& type, const Value& object) {
    std::vector<Member> members;
    for (const ApiField& field : type.fields) {
      const Value* value = object.Find(field.name);
      if (value != nullptr && value->is_null()) value = nullptr;
      const std::optional<Value> formed = value == nullptr ? Zero(field) : Field(field, *value);
      if (formed.has_value()) members.push_back({.key = field.name, .key_position = {}, .value = *formed});
    }
    return document_.MakeObject(members);
  }

 private:
  // A field that is not there.
  std::optional<Value> Zero(const ApiField& field) {
    if (field.proto.presence != Presence::kAlways || field.proto.letter == Letter::kNone) return std::nullopt;
    if (field.proto.around != Around::kNothing) return Value();
    switch (field.proto.letter) {
      case Letter::kMessage:
        return field.type == nullptr ? Constant(Value::Type::kObject) : Object(*field.type, Value());
      case Letter::kString:
        return codec::TextValue("");
      case Letter::kInteger:
        return Constant(Value::Type::kNumber, "0");
      case Letter::kBool:
        return Constant(Value::Type::kBool);
      case Letter::kQuantity:
        return codec::TextValue("0");
      case Letter::kIntOrString:
        return Constant(Value::Type::kNumber, "0");
      case Letter::kDuration:
        return codec::TextValue("0s");
      case Letter::kNone:
      case Letter::kBytes:
      case Letter::kTime:
      case Letter::kMicroTime:
      case Letter::kJson:
        break;
    }
    return Value();
  }

  std::optional<Value> Field(const ApiField& field, const Value& value) {
    const bool is_left_out = field.proto.presence == Presence::kIfNotEmpty;
    switch (field.proto.around) {
      case Around::kNothing:
        break;
      case Around::kList: {
        if (value.items.empty() && is_left_out) return std::nullopt;
        return List(field, value);
      }
      case Around::kMap:
      case Around::kMapOfLists: {
        if (value.members.empty() && is_left_out) return std::nullopt;
        std::vector<Member> members(value.members.begin(), value.members.end());
        const bool has_lists = field.proto.around == Around::kMapOfLists;
        for (Member& member : members)
          member.value = has_lists ? List(field, member.value) : Scalar(field, member.value);
        std::sort(members.begin(), members.end(),
                  [](const Member& a, const Member& b) { return a.key < b.key; });
        return document_.MakeObject(members);
      }
    }
    const bool is_zero = (value.is_string() && value.text.empty()) ||
                         (value.type == Value::Type::kNumber && value.text == "0") ||
                         (value.type == Value::Type::kBool && !value.boolean);
    if (is_left_out && is_zero) return std::nullopt;
    return Scalar(field, value);
  }

  Value List(const ApiField& field, const Value& list) {
    std::vector<Value> items;
    for (const Value& item : list.items) items.push_back(Scalar(field, item));
    Value value = Constant(Value::Type::kArray);
    value.items = document_.CopyItems(items);
    return value;
  }

  Value Scalar(const ApiField& field, const Value& value) {
    switch (field.proto.letter) {
      case Letter::kMessage:
        if (field.type == nullptr || !value.is_object()) return value;
        return Object(*field.type, value);
      case Letter::kTime:
      case Letter::kMicroTime: {
        const std::optional<absl::Time> time = api::ParseRfc3339(value.text);
        if (!time.has_value()) return value;
        return document_.MakeText(field.proto.letter == Letter::kTime ? api::FormatRfc3339Seconds(*time)
                                                                      : api::FormatRfc3339Micros(*time));
      }
      case Letter::kQuantity: {
        api::NotedQuantity quantity;
        if (!codec::Decode({}, value, codec::Path(), quantity).ok()) return value;
        return document_.MakeText(api::NotedQuantityText(quantity.amount, quantity.format));
      }
      case Letter::kNone:
      case Letter::kString:
      case Letter::kBytes:
      case Letter::kInteger:
      case Letter::kBool:
      case Letter::kIntOrString:
      case Letter::kDuration:
      case Letter::kJson:
        break;
    }
    return value;
  }

  Document& document_;
};

struct JsonStyle {
  bool escapes_html = true;
  bool sorts_keys = false;
};

void AppendText(absl::string_view text, const JsonStyle& style, std::string& out) {
  out.append(api::GoJsonQuote(text, style.escapes_html));
}

void Append(const Value& value, const JsonStyle& style, std::string& out) {
  switch (value.type) {
    case Value::Type::kNull:
      out.append("null");
      break;
    case Value::Type::kBool:
      out.append(value.boolean ? "true" : "false");
      break;
    case Value::Type::kNumber:
      absl::StrAppend(&out, value.text);
      break;
    case Value::Type::kString:
      AppendText(value.text, style, out);
      break;
    case Value::Type::kArray:
      out.push_back('[');
      for (const Value& item : value.items) {
        if (&item != value.items.data()) out.push_back(',');
        Append(item, style, out);
      }
      out.push_back(']');
      break;
    case Value::Type::kObject: {
      std::vector<Member> members(value.members.begin(), value.members.end());
      if (style.sorts_keys) {
        std::sort(members.begin(), members.end(),
                  [](const Member& a, const Member& b) { return a.key < b.key; });
      }
      out.push_back('{');
      for (const Member& member : members) {
        if (&member != members.data()) out.push_back(',');
        AppendText(member.key, style, out);
        out.push_back(':');
        Append(member.value, style, out);
      }
      out.push_back('}');
      break;
    }
  }
}

}  // namespace

Value InGoForm(const Value& object, absl::string_view api_version, absl::string_view kind,
               Document& document) {
  const codec::ApiKind* const known = codec::ApiFields::Get().Find(api_version, kind);
  if (known == nullptr || known->type == nullptr) return object;
  return GoForm(document).Object(*known->type, object);
}

std::string GoJson(const Value& value, bool escapes_html) {
  std::string json;
  Append(value, {.escapes_html = escapes_html, .sorts_keys = false}, json);
  return json;
}

std::string CanonicalGoJson(const Value& value) {
  std::string json;
  Append(value, {.escapes_html = false, .sorts_keys = true}, json);
  return json;
}

std::string ObjectDigest(const Value& object) {
  Document document;
  std::vector<Member> members(object.members.begin(), object.members.end());
  for (Member& member : members) {
    if (member.key != "metadata") continue;
    std::vector<Member> metadata(member.value.members.begin(), member.value.members.end());
    metadata.erase(std::remove_if(metadata.begin(), metadata.end(),
                                  [](const Member& part) { return part.key == "resourceVersion"; }),
                   metadata.end());
    member.value = document.MakeObject(metadata);
  }
  return codec::Sha256Hex(CanonicalGoJson(document.MakeObject(members))).substr(0, 16);
}

}  // namespace schedsim::sim
