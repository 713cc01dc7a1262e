#include "core/codec/protobuf/proto_writer.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/api/go_text.h"
#include "core/codec/text/writer.h"
#include "protozero/pbf_writer.hpp"

namespace schedsim::codec {
namespace {

using Around = ProtoForm::Around;
using Letter = ProtoForm::Letter;
using Presence = ProtoForm::Presence;

// A field of an object and its value; sorted by the path of the field.
struct Part {
  const ApiField* field;
  const Value* value;
};

int64_t Integer(absl::string_view text) {
  int64_t number = 0;
  double decimal = 0;
  if (absl::SimpleAtoi(text, &number)) return number;
  // JSON may say a whole number as 1e3 or 2.0.
  constexpr double kLimit = 9e18;
  if (!absl::SimpleAtod(text, &decimal) || !(decimal > -kLimit && decimal < kLimit)) return 0;
  return static_cast<int64_t>(decimal);
}

std::string TimeBytes(absl::string_view text) {
  std::string bytes;
  const std::optional<absl::Time> time = api::ParseRfc3339(text);
  if (!time.has_value()) return bytes;
  const int64_t seconds = absl::ToUnixSeconds(*time);
  protozero::pbf_writer writer(bytes);
  writer.add_int64(1, seconds);
  const int64_t nanoseconds = absl::ToInt64Nanoseconds(*time - absl::FromUnixSeconds(seconds));
  writer.add_int32(2, static_cast<int32_t>(nanoseconds));
  return bytes;
}

std::string IntOrStringBytes(const Value& value) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_int64(1, value.is_string() ? 1 : 0);
  writer.add_int32(2, value.is_string() ? 0 : static_cast<int32_t>(Integer(value.text)));
  writer.add_string(3, value.is_string() ? std::string(value.text) : "");
  return bytes;
}

// A message that has bytes as its only field.
std::string Wrapped(absl::string_view inner) {
  std::string bytes;
  AppendProtoBytes(1, inner, bytes);
  return bytes;
}

bool IsText(const Value& value) { return value.is_string() || value.type == Value::Type::kNumber; }

// The bytes of a value that is neither a number nor a truth value in protobuf; absent: it does not fit.
std::optional<std::string> BytesOf(const ApiField& field, const Value& value) {
  switch (field.proto.letter) {
    case Letter::kMessage:
      if (!value.is_object() || field.type == nullptr) return std::nullopt;
      return WriteProto(value, *field.type);
    case Letter::kString:
      if (!IsText(value)) return std::nullopt;
      return std::string(value.text);
    case Letter::kQuantity:
      if (!IsText(value)) return std::nullopt;
      return Wrapped(value.text);
    case Letter::kBytes: {
      std::string bytes;
      if (!value.is_string() || !absl::Base64Unescape(value.text, &bytes)) return std::nullopt;
      return bytes;
    }
    case Letter::kTime:
    case Letter::kMicroTime:
      if (!value.is_string()) return std::nullopt;
      return TimeBytes(value.text);
    case Letter::kIntOrString:
      if (!IsText(value)) return std::nullopt;
      return IntOrStringBytes(value);
    case Letter::kDuration: {
      const std::optional<absl::Duration> duration = api::ParseGoDuration(value.text);
      if (!duration.has_value()) return std::nullopt;
      std::string bytes;
      protozero::pbf_writer(bytes).add_int64(1, absl::ToInt64Nanoseconds(*duration));
      return bytes;
    }
    case Letter::kJson:
      return Wrapped(ToJson(value));
    case Letter::kNone:
    case Letter::kInteger:
    case Letter::kBool:
      break;
  }
  return std::nullopt;
}

// Appends one value of the field. `is_part`: it is an item of a list or an entry of a map, and is written
// also where it is empty.
void AppendScalar(const ApiField& field, uint32_t number, const Value& value, bool is_part,
                  std::string& out) {
  const bool always = is_part || field.proto.presence != Presence::kIfNotEmpty;
  protozero::pbf_writer writer(out);
  if (field.proto.letter == Letter::kInteger) {
    if (value.type != Value::Type::kNumber) return;
    const int64_t integer = Integer(value.text);
    if (always || integer != 0) writer.add_int64(number, integer);
    return;
  }
  if (field.proto.letter == Letter::kBool) {
    if (value.type != Value::Type::kBool) return;
    if (always || value.boolean) writer.add_bool(number, value.boolean);
    return;
  }
  const std::optional<std::string> bytes = BytesOf(field, value);
  if (!bytes.has_value()) return;
  const bool is_message = field.proto.letter == Letter::kMessage;
  if (always || is_message || !bytes->empty()) writer.add_bytes(number, bytes->data(), bytes->size());
}

void AppendMap(const ApiField& field, uint32_t number, const Value& map, std::string& out) {
  std::vector<const Member*> entries;
  for (const Member& member : map.members) entries.push_back(&member);
  std::sort(entries.begin(), entries.end(), [](const Member* a, const Member* b) { return a->key < b->key; });
  for (const Member* const entry : entries) {
    std::string bytes = Wrapped(entry->key);
    if (field.proto.around == Around::kMap) {
      AppendScalar(field, 2, entry->value, /*is_part=*/true, bytes);
    } else {
      std::string list;
      for (const Value& item : entry->value.items) AppendScalar(field, 1, item, /*is_part=*/true, list);
      AppendProtoBytes(2, list, bytes);
    }
    AppendProtoBytes(number, bytes, out);
  }
}

void AppendField(const Part& part, uint32_t number, std::string& out) {
  const ApiField& field = *part.field;
  switch (field.proto.around) {
    case Around::kNothing:
      AppendScalar(field, number, *part.value, /*is_part=*/false, out);
      break;
    case Around::kList:
      for (const Value& item : part.value->items) {
        AppendScalar(field, number, item, /*is_part=*/true, out);
      }
      break;
    case Around::kMap:
    case Around::kMapOfLists:
      AppendMap(field, number, *part.value, out);
      break;
  }
}

// The number at place `depth` of a path.
uint32_t NumberAt(uint32_t path, int depth) {
  return path >> (ProtoForm::kNumberBits * (ProtoForm::kDepthMax - 1 - depth)) &
         ((1u << ProtoForm::kNumberBits) - 1);
}

// Appends parts whose paths agree in the first `depth` numbers: those of a struct that Go embeds stand
// together in a message of their own. No deeper than kDepthMax.
void AppendParts(absl::Span<const Part> parts, int depth, std::string& out) {
  for (size_t at = 0; at < parts.size();) {
    const uint32_t path = parts[at].field->proto.path;
    const uint32_t number = NumberAt(path, depth);
    const bool is_embedded = depth + 1 < ProtoForm::kDepthMax && NumberAt(path, depth + 1) != 0;
    if (!is_embedded) {
      AppendField(parts[at++], number, out);
      continue;
    }
    const size_t first = at;
    while (at < parts.size() && NumberAt(parts[at].field->proto.path, depth) == number) ++at;
    std::string inner;
    AppendParts(parts.subspan(first, at - first), depth + 1, inner);
    AppendProtoBytes(number, inner, out);
  }
}

}  // namespace

void AppendProtoBytes(uint32_t number, absl::string_view bytes, std::string& out) {
  protozero::pbf_writer(out).add_bytes(number, bytes.data(), bytes.size());
}

// Messages are as deep as the reader of text lets a document be.
std::string WriteProto(const Value& object, const ApiType& type) {
  std::vector<Part> parts;
  for (const Member& member : object.members) {
    const ApiField* const field = type.Find(member.key);
    if (field == nullptr || field->proto.letter == Letter::kNone || member.value.is_null()) continue;
    parts.push_back({.field = field, .value = &member.value});
  }
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.field->proto.path < b.field->proto.path; });
  std::string out;
  AppendParts(parts, /*depth=*/0, out);
  return out;
}

}  // namespace schedsim::codec
