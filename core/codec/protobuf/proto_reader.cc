#include "core/codec/protobuf/proto_reader.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/api/go_text.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/api_fields.h"
#include "core/codec/protobuf/wire_reader.h"
#include "core/codec/text/reader.h"

namespace schedsim::codec {
namespace {

using Around = ProtoForm::Around;
using Letter = ProtoForm::Letter;
using Presence = ProtoForm::Presence;

// Where a message stands in its object: a chain that lives on the stack.
struct Place {
  const Place* parent = nullptr;
  absl::string_view name;

  std::string ToString() const {
    const std::string before = parent == nullptr ? "" : parent->ToString();
    return absl::StrCat(before, before.empty() || name.empty() ? "" : ".", name);
  }
};

absl::Status Error(const Place& place, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(place.ToString(), place.name.empty() ? "" : ": ", what));
}

bool IsUtf8(absl::string_view text) {
  size_t at = 0;
  // Nearly all texts are ASCII.
  constexpr uint64_t kHighBits = 0x8080'8080'8080'8080;
  for (uint64_t bytes = 0; at + sizeof(bytes) <= text.size(); at += sizeof(bytes)) {
    std::memcpy(&bytes, text.data() + at, sizeof(bytes));
    if ((bytes & kHighBits) != 0) break;
  }
  while (at < text.size()) {
    const bool is_ascii = static_cast<unsigned char>(text[at]) < 0x80;
    const size_t bytes = is_ascii ? 1 : Utf8CharacterBytes(text.substr(at));
    if (!is_ascii && bytes < 2) return false;
    at += bytes;
  }
  return true;
}

// Reads one object. Messages within messages are bounded by kDepthMax.
class ObjectBytes {
 public:
  ObjectBytes(Document& document, KnownJson& known_json) : document_(document), known_json_(known_json) {}

  // Appends the members of a message to `members_`. `path` and `depth` say through which embedded structs the
  // message was reached.
  absl::Status ReadMembers(absl::string_view bytes, const ApiType& type, uint32_t path, int depth,
                           const Place& place);
  absl::Status ReadMessage(absl::string_view bytes, const ApiType& type, const Place& place, Value& out);

  std::vector<Member>& members() { return members_; }

 private:
  // The item of a list or the entry of a map of a message, with its field.
  struct Part {
    const ApiField* field = nullptr;
    absl::string_view whole;  // See WireValue; empty for packed numbers.
    Member entry;             // Without a key for a list.
  };

  // ForEachField with errors that name the place.
  static absl::Status ForEach(absl::string_view bytes, const Place& place,
                              absl::FunctionRef<absl::Status(uint32_t number, const WireValue& value)> visit);
  absl::Status ReadField(const ApiField& field, const WireValue& wire, const Place& place);
  absl::Status ReadPackedItems(const ApiField& field, absl::string_view bytes, const Place& place);
  absl::Status ReadEntry(const ApiField& field, absl::string_view bytes, const Place& place, Member& out);
  absl::Status ReadListOf(const ApiField& field, absl::string_view bytes, const Place& place, Value& out);
  absl::Status ReadScalar(const ApiField& field, const WireValue& wire, const Place& place, Value& out);
  absl::Status ReadText(absl::string_view bytes, const Place& place, Value& out);
  absl::Status ReadTime(absl::string_view bytes, bool micro, const Place& place, Value& out);
  absl::Status ReadIntOrString(absl::string_view bytes, const Place& place, Value& out);
  // The value of field 1 of a message that has this one alone.
  absl::Status ReadOnlyField(absl::string_view bytes, const Place& place, WireValue& out);
  absl::Status ReadJsonBytes(absl::string_view bytes, const Place& place, Value& out);
  Value Number(int64_t number);
  // Gives the list or map its source.
  static void SetSource(absl::string_view source, Value& value);
  // The bytes of the parts, if one stands behind the other; else "".
  static absl::string_view SourceOf(absl::Span<const Part> parts);
  // Puts the items or entries of a field that were gathered since `start` into its member.
  void CloseLists(size_t start);
  Value TakeEntries(std::vector<Member>& entries);
  absl::Status CheckDepth(const Place& place) const;

  Document& document_;
  KnownJson& known_json_;
  // Of the messages that are being read, one behind the other.
  std::vector<Member> members_;
  // Of a message, taken by CloseLists.
  std::vector<Part> parts_;
  int depth_ = 0;
};

absl::Status ObjectBytes::ForEach(
    absl::string_view bytes, const Place& place,
    absl::FunctionRef<absl::Status(uint32_t number, const WireValue& value)> visit) {
  const absl::Status status = ForEachField(bytes, visit);
  return absl::IsDataLoss(status) ? Error(place, status.message()) : status;
}

Value ObjectBytes::Number(int64_t number) {
  Value value;
  value.type = Value::Type::kNumber;
  value.text = document_.CopyText(absl::AlphaNum(number).Piece());
  return value;
}

absl::Status ObjectBytes::CheckDepth(const Place& place) const {
  if (depth_ < kDepthMax) return absl::OkStatus();
  return Error(place, absl::StrCat("messages nested deeper than ", kDepthMax));
}

absl::Status ObjectBytes::ReadMessage(absl::string_view bytes, const ApiType& type, const Place& place,
                                      Value& out) {
  RETURN_IF_ERROR(CheckDepth(place));
  ++depth_;
  const size_t first_member = members_.size();
  const size_t first_part = parts_.size();
  RETURN_IF_ERROR(ReadMembers(bytes, type, /*path=*/0, /*depth=*/0, place));
  CloseLists(first_part);
  out = document_.MakeObject(absl::MakeConstSpan(members_).subspan(first_member));
  SetSource(bytes, out);
  members_.resize(first_member);
  --depth_;
  return absl::OkStatus();
}

absl::Status ObjectBytes::ReadMembers(absl::string_view bytes, const ApiType& type, uint32_t path, int depth,
                                      const Place& place) {
  const size_t first_member = members_.size();
  return ForEach(bytes, place, [&](uint32_t number, const WireValue& wire) -> absl::Status {
    bool is_embedded = false;
    const ApiField* field = type.FindNumber(path, depth, number, is_embedded);
    if (is_embedded) {
      if (wire.is_number)
        return Error(place, absl::StrCat("field ", number, ": expected a message, got a number"));
      return ReadMembers(wire.bytes, type, ProtoForm::Append(path, depth, number), depth + 1, place);
    }
    if (field == nullptr) return absl::OkStatus();
    const size_t count = members_.size();
    RETURN_IF_ERROR(ReadField(*field, wire, {.parent = &place, .name = field->name}));
    // The last one counts where a field that is no list comes twice.
    if (members_.size() == count) return absl::OkStatus();
    for (size_t i = first_member; i < count; ++i) {
      // Names of fields stand once in the tables.
      if (members_[i].key.data() != field->name.data()) continue;
      members_[i] = members_.back();
      members_.pop_back();
      break;
    }
    return absl::OkStatus();
  });
}

absl::Status ObjectBytes::ReadField(const ApiField& field, const WireValue& wire, const Place& place) {
  Member member;
  member.key = field.name;
  switch (field.proto.around) {
    case Around::kNothing:
      break;
    case Around::kList:
      // Numbers may be packed: several in one field.
      if (!wire.is_number &&
          (field.proto.letter == Letter::kInteger || field.proto.letter == Letter::kBool)) {
        return ReadPackedItems(field, wire.bytes, place);
      }
      member.key = "";
      RETURN_IF_ERROR(ReadScalar(field, wire, place, member.value));
      parts_.push_back({.field = &field, .whole = wire.whole, .entry = member});
      return absl::OkStatus();
    case Around::kMap:
    case Around::kMapOfLists:
      if (wire.is_number) return Error(place, "expected a map, got a number");
      RETURN_IF_ERROR(ReadEntry(field, wire.bytes, place, member));
      parts_.push_back({.field = &field, .whole = wire.whole, .entry = member});
      return absl::OkStatus();
  }
  RETURN_IF_ERROR(ReadScalar(field, wire, place, member.value));
  const Value& value = member.value;
  const bool is_zero = value.is_null() || (value.is_string() && value.text.empty()) ||
                       (value.type == Value::Type::kNumber && value.text == "0") ||
                       (value.type == Value::Type::kBool && !value.boolean);
  if (is_zero && field.proto.presence == Presence::kIfNotEmpty) return absl::OkStatus();
  members_.push_back(member);
  return absl::OkStatus();
}

absl::Status ObjectBytes::ReadPackedItems(const ApiField& field, absl::string_view bytes,
                                          const Place& place) {
  const absl::Status status = ForEachPacked(bytes, [&](uint64_t number) -> absl::Status {
    Member item;
    RETURN_IF_ERROR(ReadScalar(field, {.bytes = {}, .whole = {}, .number = number, .is_number = true}, place,
                               item.value));
    parts_.push_back({.field = &field, .whole = {}, .entry = item});
    return absl::OkStatus();
  });
  return absl::IsDataLoss(status) ? Error(place, status.message()) : status;
}

// An entry of a map is a message: 1 is the key, 2 the value.
absl::Status ObjectBytes::ReadEntry(const ApiField& field, absl::string_view bytes, const Place& place,
                                    Member& out) {
  WireValue value;
  value.is_number = field.proto.letter == Letter::kInteger || field.proto.letter == Letter::kBool;
  Value key;
  RETURN_IF_ERROR(ForEach(bytes, place, [&](uint32_t number, const WireValue& wire) {
    if (number == 2) value = wire;
    return number == 1 ? ReadText(wire.bytes, place, key) : absl::OkStatus();
  }));
  out.key = key.text;
  const Place below = {.parent = &place, .name = out.key};
  if (field.proto.around == Around::kMapOfLists) return ReadListOf(field, value.bytes, below, out.value);
  return ReadScalar(field, value, below, out.value);
}

// A list below a key is a message with the items as its field 1.
absl::Status ObjectBytes::ReadListOf(const ApiField& field, absl::string_view bytes, const Place& place,
                                     Value& out) {
  std::vector<Value> items;
  RETURN_IF_ERROR(ForEach(bytes, place, [&](uint32_t number, const WireValue& wire) {
    return number == 1 ? ReadScalar(field, wire, place, items.emplace_back()) : absl::OkStatus();
  }));
  out.type = Value::Type::kArray;
  out.items = document_.CopyItems(items);
  return absl::OkStatus();
}

// A map of the entries, by key. The last one counts of those with one key.
Value ObjectBytes::TakeEntries(std::vector<Member>& entries) {
  const auto by_key = [](const Member& a, const Member& b) { return a.key < b.key; };
  // Go writes them in this order.
  if (!std::is_sorted(entries.begin(), entries.end(), by_key)) {
    std::stable_sort(entries.begin(), entries.end(), by_key);
  }
  size_t count = 0;
  for (const Member& entry : entries) {
    if (count > 0 && entries[count - 1].key == entry.key) --count;
    entries[count++] = entry;
  }
  entries.resize(count);
  return document_.MakeObject(entries);
}

void ObjectBytes::SetSource(absl::string_view source, Value& value) {
  if (source.size() > std::numeric_limits<uint32_t>::max()) return;
  value.text = absl::string_view(source.data(), 0);
  value.source_bytes = static_cast<uint32_t>(source.size());
}

absl::string_view ObjectBytes::SourceOf(absl::Span<const Part> parts) {
  const char* const begin = parts.front().whole.data();
  const char* end = begin;
  for (const Part& part : parts) {
    if (part.whole.empty() || part.whole.data() != end) return "";
    end += part.whole.size();
  }
  return {begin, static_cast<size_t>(end - begin)};
}

void ObjectBytes::CloseLists(size_t start) {
  const auto begin = parts_.begin() + static_cast<int64_t>(start);
  // Most fields stand together; others are brought together, in their order.
  const auto by_path = [](const Part& a, const Part& b) { return a.field->proto.path < b.field->proto.path; };
  if (!std::is_sorted(begin, parts_.end(), by_path)) std::stable_sort(begin, parts_.end(), by_path);
  std::vector<Value> items;
  std::vector<Member> entries;
  for (size_t at = start; at < parts_.size();) {
    const ApiField* const field = parts_[at].field;
    items.clear();
    entries.clear();
    Member member;
    member.key = field->name;
    const bool is_list = field->proto.around == Around::kList;
    const size_t first = at;
    for (; at < parts_.size() && parts_[at].field == field; ++at) {
      const Member& entry = parts_[at].entry;
      if (is_list) {
        items.push_back(entry.value);
      } else {
        entries.push_back(entry);
      }
    }
    if (is_list) {
      member.value.type = Value::Type::kArray;
      member.value.items = document_.CopyItems(items);
    } else {
      member.value = TakeEntries(entries);
    }
    SetSource(SourceOf(absl::MakeConstSpan(parts_).subspan(first, at - first)), member.value);
    members_.push_back(member);
  }
  parts_.resize(start);
}

absl::Status ObjectBytes::ReadText(absl::string_view bytes, const Place& place, Value& out) {
  if (!IsUtf8(bytes)) return Error(place, "a text that is not UTF-8");
  out = TextValue(bytes);
  return absl::OkStatus();
}

absl::Status ObjectBytes::ReadScalar(const ApiField& field, const WireValue& wire, const Place& place,
                                     Value& out) {
  const Letter letter = field.proto.letter;
  const bool wants_number = letter == Letter::kInteger || letter == Letter::kBool;
  if (wire.is_number != wants_number) {
    return Error(place, wants_number ? "expected a number, got bytes" : "expected bytes, got a number");
  }
  switch (letter) {
    case Letter::kNone:
      break;
    case Letter::kMessage:
      // A type without tables below it cannot be.
      return ReadMessage(wire.bytes, *field.type, place, out);
    case Letter::kString:
      return ReadText(wire.bytes, place, out);
    case Letter::kBytes:
      out = document_.MakeText(absl::Base64Escape(wire.bytes));
      break;
    case Letter::kInteger:
      out = Number(static_cast<int64_t>(wire.number));
      break;
    case Letter::kBool:
      out.type = Value::Type::kBool;
      out.boolean = wire.number != 0;
      break;
    case Letter::kTime:
    case Letter::kMicroTime:
      return ReadTime(wire.bytes, letter == Letter::kMicroTime, place, out);
    case Letter::kIntOrString:
      return ReadIntOrString(wire.bytes, place, out);
    case Letter::kQuantity:
    case Letter::kDuration:
    case Letter::kJson: {
      WireValue inner;
      RETURN_IF_ERROR(ReadOnlyField(wire.bytes, place, inner));
      if (letter == Letter::kQuantity) {
        // Go writes the zero value as 0.
        if (inner.bytes.empty()) inner.bytes = "0";
        return ReadText(inner.bytes, place, out);
      }
      if (letter == Letter::kJson) return ReadJsonBytes(inner.bytes, place, out);
      out = TextValue(
          document_.CopyText(api::FormatGoDuration(absl::Nanoseconds(static_cast<int64_t>(inner.number)))));
      break;
    }
  }
  return absl::OkStatus();
}

absl::Status ObjectBytes::ReadOnlyField(absl::string_view bytes, const Place& place, WireValue& out) {
  return ForEach(bytes, place, [&out](uint32_t number, const WireValue& wire) {
    if (number == 1) out = wire;
    return absl::OkStatus();
  });
}

// Seconds and nanoseconds since 1970; no bytes are no time, which is null in JSON.
absl::Status ObjectBytes::ReadTime(absl::string_view bytes, bool micro, const Place& place, Value& out) {
  if (bytes.empty()) return absl::OkStatus();
  int64_t seconds = 0;
  int64_t nanoseconds = 0;
  RETURN_IF_ERROR(ForEach(bytes, place, [&](uint32_t number, const WireValue& wire) {
    if (number == 1) seconds = static_cast<int64_t>(wire.number);
    if (number == 2) nanoseconds = static_cast<int64_t>(wire.number);
    return absl::OkStatus();
  }));
  // What RFC 3339 can say: the years 0 to 9999.
  constexpr int64_t kSecondsMin = -62'167'219'200;
  constexpr int64_t kSecondsMax = 253'402'300'799;
  if (seconds < kSecondsMin || seconds > kSecondsMax) {
    return Error(place, absl::StrCat("expected a time of the years 0 to 9999, got ", seconds, " s"));
  }
  const absl::Time time = absl::FromUnixSeconds(seconds) + absl::Nanoseconds(nanoseconds % 1'000'000'000);
  out = document_.MakeText(micro ? api::FormatRfc3339Micros(time) : api::FormatRfc3339Seconds(time));
  return absl::OkStatus();
}

// 1 says which of the two it is: 0, the number in 2; 1, the text in 3.
absl::Status ObjectBytes::ReadIntOrString(absl::string_view bytes, const Place& place, Value& out) {
  bool is_text = false;
  WireValue number;
  WireValue text;
  RETURN_IF_ERROR(ForEach(bytes, place, [&](uint32_t field, const WireValue& wire) {
    if (field == 1) is_text = wire.number == 1;
    if (field == 2) number = wire;
    if (field == 3) text = wire;
    return absl::OkStatus();
  }));
  if (is_text) return ReadText(text.bytes, place, out);
  out = Number(static_cast<int32_t>(number.number));
  return absl::OkStatus();
}

absl::Status ObjectBytes::ReadJsonBytes(absl::string_view bytes, const Place& place, Value& out) {
  if (bytes.empty()) return absl::OkStatus();
  absl::StatusOr<Value> json = known_json_.Read(bytes);
  if (!json.ok()) return Error(place, absl::StrCat("expected JSON, got ", Printable(bytes, kShownBytesMax)));
  out = *json;
  return absl::OkStatus();
}

// The envelope: 1 is a message of apiVersion (1) and kind (2), 2 the object.
struct Envelope {
  absl::string_view api_version;
  absl::string_view kind;
  absl::string_view object;
};

absl::Status ReadEnvelope(absl::string_view bytes, Envelope& envelope) {
  return ForEachField(bytes, [&envelope](uint32_t number, const WireValue& wire) {
    if (number == 2) envelope.object = wire.bytes;
    if (number != 1) return absl::OkStatus();
    return ForEachField(wire.bytes, [&envelope](uint32_t field, const WireValue& text) {
      if (field == 1) envelope.api_version = text.bytes;
      if (field == 2) envelope.kind = text.bytes;
      return absl::OkStatus();
    });
  });
}

}  // namespace

Value KnownJson::CopyTree(const Value& value) {
  Value copy = value;
  copy.position = Position();
  copy.source_bytes = 0;
  copy.text = document_.CopyText(value.text);
  std::vector<Value> items;
  for (const Value& item : value.items) items.push_back(CopyTree(item));
  copy.items = document_.CopyItems(items);
  std::vector<Member> members;
  for (const Member& member : value.members) {
    members.push_back(
        {.key = document_.CopyText(member.key), .key_position = {}, .value = CopyTree(member.value)});
  }
  copy.members = document_.CopyMembers(members);
  return copy;
}

absl::StatusOr<Value> KnownJson::Read(absl::string_view text) {
  if (const Value* known = known_.Find(text)) return *known;
  Value tree;
  RETURN_IF_ERROR(codec::ReadText(std::string(text), "value.json", ReadOptions(), [&](const Document& read) {
    tree = CopyTree(read.root);
    return absl::OkStatus();
  }));
  bytes_ += text.size();
  known_[std::string(text)] = tree;
  return tree;
}

void KnownJson::Trim() {
  constexpr size_t kBytesMax = size_t{1} << 20;
  if (bytes_ < kBytesMax) return;
  known_.Clear();
  document_.Clear();
  bytes_ = 0;
}

absl::Status ProtoReader::Read(absl::string_view bytes, Document& document) {
  known_json_.Trim();
  bytes.remove_prefix(std::min(bytes.size(), kProtoMagic.size()));
  Envelope envelope;
  const absl::Status read = ReadEnvelope(bytes, envelope);
  if (!read.ok()) return Error(Place(), read.message());
  const ApiKind* const kind = ApiFields::Get().Find(envelope.api_version, envelope.kind);
  if (kind == nullptr || kind->type == nullptr) {
    return absl::UnimplementedError(absl::StrCat("the fields of ", Printable(envelope.kind, kShownBytesMax),
                                                 " in ", Printable(envelope.api_version, kShownBytesMax),
                                                 " are not known"));
  }
  ObjectBytes object(document, known_json_);
  Value body;
  RETURN_IF_ERROR(object.ReadMessage(envelope.object, *kind->type, Place(), body));
  std::vector<Member> members = {
      {.key = "apiVersion", .key_position = {}, .value = TextValue(kind->api_version)},
      {.key = "kind", .key_position = {}, .value = TextValue(kind->name)}};
  members.insert(members.end(), body.members.begin(), body.members.end());
  document.root = document.MakeObject(members);
  return absl::OkStatus();
}

}  // namespace schedsim::codec
