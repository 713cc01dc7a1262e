#include "sim/controllers/pod_template_json.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/codec/text/writer.h"
#include "sim/controllers/pod_template_fields.h"

namespace schedsim::sim {
namespace {

using codec::Value;

// Source: go1.26, encoding/json, appendString with escapes for HTML.
std::string JsonString(absl::string_view text) {
  std::string json;
  codec::AppendJsonString(text, json);
  return absl::StrReplaceAll(
      json,
      {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}, {"\u2028", "\\u2028"}, {"\u2029", "\\u2029"}});
}

std::string Scalar(const Value& value) {
  if (value.is_string()) return JsonString(value.text);
  std::string json;
  codec::AppendJson(value, json);
  return json;
}

// Fields that Go writes also where they have no value, but for those that have one in every valid template.
struct AlwaysWritten {
  absl::string_view type;
  absl::string_view json;
  absl::string_view zero;
};
constexpr AlwaysWritten kAlwaysWritten[] = {
    {"v1.EvictionResponder", "priority", "null"},
    {"v1.HTTPHeader", "value", "\"\""},
    {"v1.ISCSIVolumeSource", "lun", "0"},
    {"v1.SleepAction", "seconds", "0"},
    {"v1.Sysctl", "value", "\"\""},
    {"v1.TypedLocalObjectReference", "apiGroup", "null"},
    {"v1.TypedObjectReference", "apiGroup", "null"},
};

// Writes values of Go's types. The types are nested a dozen deep at most, and so are the calls.
class GoJson {
 public:
  explicit GoJson(std::optional<api::KubernetesLine> line) : line_(line) {}

  std::string Of(absl::string_view type, char kind, const Value& value) const {
    switch (kind) {
      case 'p':
        return Of(type.substr(1), GoKindOf(type.substr(1)), value);
      case 'l':
        return OfList(type.substr(2), value);
      case 'm':
        return OfMap(type, value);
      case 'S':
        return OfStruct(type, value);
      default:
        return Scalar(value);
    }
  }

 private:
  using Fields = std::map<absl::string_view, std::string>;

  static std::string Join(const Fields& fields) {
    std::string out = "{";
    absl::string_view separator = "";
    for (const auto& [key, json] : fields)
      absl::StrAppend(&out, std::exchange(separator, ","), JsonString(key), ":", json);
    return out + "}";
  }

  std::string OfList(absl::string_view item_type, const Value& value) const {
    std::string out = "[";
    absl::string_view separator = "";
    for (const Value& item : value.items)
      absl::StrAppend(&out, std::exchange(separator, ","), Of(item_type, GoKindOf(item_type), item));
    return out + "]";
  }

  static std::string OfMap(absl::string_view type, const Value& value) {
    Fields fields;
    for (const codec::Member& member : value.members) {
      const bool is_amount = type == "v1.ResourceList";
      fields[member.key] = is_amount ? JsonString(StoredQuantity(member.value.text)) : Scalar(member.value);
    }
    return Join(fields);
  }

  std::string OfStruct(absl::string_view type, const Value& value) const {
    if (type == "resource.Quantity") return JsonString(StoredQuantity(value.text));
    if (type == "intstr.IntOrString") return value.is_object() ? "0" : Scalar(value);
    Fields fields;
    if (type != "v1.Time") AddFields(type, value, fields);
    return Join(fields);
  }

  void AddFields(absl::string_view type, const Value& owner, Fields& fields) const {
    for (const GoField& field : FieldsOf(type)) {
      if (!field.IsIn(line_)) continue;
      if (field.json.empty()) {
        AddFields(field.type, owner, fields);
        continue;
      }
      const std::optional<Value> stored = StoredValue(type, owner, field);
      if (stored.has_value() && !IsOmitted(field, *stored))
        fields[field.json] = Of(field.type, field.kind, *stored);
      // A struct is never empty for Go, but a time may be zero.
      const bool is_struct = field.kind == 'S' && field.type != "v1.Time";
      if (!stored.has_value() && is_struct) fields[field.json] = Of(field.type, field.kind, EmptyMap());
    }
    for (const AlwaysWritten& field : kAlwaysWritten) {
      if (field.type == type) fields.emplace(field.json, field.zero);
    }
  }

  static bool IsOmitted(const GoField& field, const Value& value) {
    if (field.type == "v1.Time") return true;
    if (field.kind == 'l') return value.items.empty();
    if (field.kind == 'm') return value.members.empty();
    return field.kind == 'b' && !value.boolean;
  }

  const std::optional<api::KubernetesLine> line_;
};

}  // namespace

std::string PodTemplateJson(const Value& pod_template, std::optional<api::KubernetesLine> line) {
  return GoJson(line).Of(kPodTemplateType, 'S', pod_template);
}

std::string RevisionData(absl::string_view template_json) {
  // The directive comes first: `$` sorts before the letters. There are always fields behind it.
  return absl::StrCat(R"({"spec":{"template":{"$patch":"replace",)", template_json.substr(1), "}}");
}

std::string RevisionHash(absl::string_view data, int64_t collisions) {
  // FNV-1 of 32 bits.
  uint32_t hash = 2166136261U;
  for (const char c : absl::StrCat(data, collisions))
    hash = (hash * 16777619U) ^ static_cast<unsigned char>(c);
  return SafeEncoded(hash);
}

}  // namespace schedsim::sim
