#include "sim/record/record_writer.h"

#include <array>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/record/records.h"

namespace schedsim::sim {
namespace {

using codec::JsonWriter;
using record::Column;
using record::Fields;
using record::HasFields;
using record::Map;
using record::NameOf;
using record::Presence;
using record::Record;
using record::SparseColumn;
using record::Text;
using record::Texts;

// ---- Whether a field with Presence::kSometimes has anything to say ----

bool IsEmpty(bool value) { return !value; }
template <typename T>
bool IsEmpty(const std::optional<T>& value) {
  return !value.has_value();
}
template <typename T>
bool IsEmpty(const T& list_or_text) requires requires {
  list_or_text.empty();
}
{ return list_or_text.empty(); }

// ---- Values ----

void Write(Text value, JsonWriter& json) { json.String(value); }
void Write(bool value, JsonWriter& json) { json.Bool(value); }
void Write(int64_t value, JsonWriter& json) { json.Int(value); }
void Write(absl::Duration value, JsonWriter& json) { json.Raw(SecondsText(value)); }

void Write(const Texts& values, JsonWriter& json) {
  json.BeginArray();
  for (Text value : values) json.String(value);
  json.EndArray();
}

void Write(Column values, JsonWriter& json) {
  json.BeginArray();
  for (int64_t value : values) json.Int(value);
  json.EndArray();
}

void Write(const SparseColumn& values, JsonWriter& json) {
  json.BeginArray();
  for (const std::optional<int64_t>& value : values) value.has_value() ? json.Int(*value) : json.Null();
  json.EndArray();
}

template <typename T>
void Write(const Map<T>& map, JsonWriter& json);
template <typename S>
void Write(const std::vector<S>& list, JsonWriter& json) requires HasFields<S>;
template <typename T>
void Write(const std::optional<T>& value, JsonWriter& json);

// `"name":` of each field of a table. Made once, since names are a good part of a trace.
template <typename S>
const auto& KeysOf() {
  static const auto keys = std::apply(
      [](const auto&... fields) {
        return std::array<std::string, sizeof...(fields)>{absl::StrCat("\"", fields.name, "\":")...};
      },
      Fields<S>::kList);
  return keys;
}

template <typename S>
void WriteFields(const S& record, JsonWriter& json) {
  const auto& keys = KeysOf<S>();
  size_t index = 0;
  const auto write = [&](const auto& field) {
    const std::string& key = keys[index++];
    const auto& value = record.*field.member;
    if (field.presence == Presence::kSometimes) {
      if constexpr (requires { IsEmpty(value); }) {
        if (field.is_there == nullptr && IsEmpty(value)) return;
      }
      if (field.is_there != nullptr && !field.is_there(record)) return;
    }
    json.Raw(key);
    Write(value, json);
  };
  std::apply([&](const auto&... fields) { (write(fields), ...); }, Fields<S>::kList);
}

template <typename S>
void Write(const S& record, JsonWriter& json) requires HasFields<S> {
  json.BeginObject();
  WriteFields(record, json);
  json.EndObject();
}

template <typename T>
void Write(const Map<T>& map, JsonWriter& json) {
  json.BeginObject();
  for (const auto& [key, value] : map) {
    json.Key(key);
    Write(value, json);
  }
  json.EndObject();
}

template <typename S>
void Write(const std::vector<S>& list, JsonWriter& json) requires HasFields<S> {
  json.BeginArray();
  for (const S& entry : list) Write(entry, json);
  json.EndArray();
}

template <typename T>
void Write(const std::optional<T>& value, JsonWriter& json) {
  if (value.has_value()) {
    Write(*value, json);
  } else {
    json.Null();
  }
}

}  // namespace

std::string SecondsText(absl::Duration duration) {
  const int64_t microseconds = absl::ToInt64Microseconds(absl::AbsDuration(duration));
  const bool negative = duration < absl::ZeroDuration();
  std::string text = absl::StrCat(negative ? "-" : "", microseconds / 1'000'000);
  const int64_t rest = microseconds % 1'000'000;
  if (rest == 0) return text;
  // A one in front keeps the zeros behind the point.
  const std::string digits = absl::StrCat(1'000'000 + rest);
  text.append(".").append(digits, 1);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

template <typename R>
absl::string_view RecordWriter::Start(absl::Duration time, const R& body) {
  json_.Clear();
  if (time != time_) {
    time_ = time;
    time_text_ = SecondsText(time);
  }
  json_.BeginObject().Key(NameOf(&Record::time)).Raw(time_text_);
  json_.Field(NameOf(&Record::kind), R::kKind);
  const size_t start = json_.text().size();
  WriteFields(body, json_);
  return absl::string_view(json_.text()).substr(start);
}

const std::string& RecordWriter::Finish(absl::string_view digest) {
  if (!digest.empty()) json_.Field(NameOf(&Record::digest), digest);
  return json_.EndObject().text();
}

// What a trace may have: record::Body without Other.
template absl::string_view RecordWriter::Start(absl::Duration, const record::ApiError&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::Attempt&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::Bind&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::BindFailure&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::Claim&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::ClaimBound&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::ConfigError&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::Delete&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::Event&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::ExtenderCall&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::Final&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::Gone&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::GroupCycle&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::GroupFailure&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::GroupPostFilter&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::Inexact&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::Move&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::Placements&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::PlacementScores&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::PluginNote&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::PodStatus&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::Queue&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::Registrations&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::Run&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::Step&);
template absl::string_view RecordWriter::Start(absl::Duration, const record::Update&);

}  // namespace schedsim::sim
