#include "sim/record/record_reader.h"

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/json_reader.h"

namespace schedsim::sim {
namespace {

using codec::Value;
using record::Body;
using record::Column;
using record::Fields;
using record::HasFields;
using record::Map;
using record::Presence;
using record::SparseColumn;
using record::Text;
using record::Texts;

// Virtual times end long before; what is beyond would not fit into whole microseconds.
constexpr absl::Duration kTimeMax = absl::Seconds(1'000'000'000'000);

// A JSON number of seconds, to the microsecond. False for anything else.
bool ReadSeconds(absl::string_view number, absl::Duration& out) {
  if (number.find_first_not_of("0123456789.+-eE") != absl::string_view::npos) return false;
  double seconds = 0;
  // Decimal digits are read as they are. Other programs may write an exponent.
  if (!absl::ParseDuration(absl::StrCat(number, "s"), &out)) {
    if (!absl::SimpleAtod(number, &seconds)) return false;
    out = absl::Seconds(seconds);
  }
  if (absl::AbsDuration(out) > kTimeMax) return false;
  out = absl::Microseconds(
      absl::ToInt64Microseconds(out + absl::Nanoseconds(out < absl::ZeroDuration() ? -500 : 500)));
  return true;
}

// Decodes values into members. An error names the path below the record, `failure.status: expected ...`.
class Decoder {
 public:
  explicit Decoder(RecordMemory& memory) : memory_(memory) {}

  absl::Status Read(const Value& value, Text& out) {
    if (value.type != Value::Type::kString) return Expected("a string", value);
    out = memory_.Keep(value.text);
    return absl::OkStatus();
  }

  absl::Status Read(const Value& value, bool& out) {
    if (value.type != Value::Type::kBool) return Expected("true or false", value);
    out = value.boolean;
    return absl::OkStatus();
  }

  absl::Status Read(const Value& value, int64_t& out) {
    if (value.type != Value::Type::kNumber || !absl::SimpleAtoi(value.text, &out)) {
      return Expected("an integer", value);
    }
    return absl::OkStatus();
  }

  absl::Status Read(const Value& value, absl::Duration& out) {
    if (value.type == Value::Type::kNumber && ReadSeconds(value.text, out)) return absl::OkStatus();
    return Expected("a number of seconds", value);
  }

  absl::Status Read(const Value& value, Texts& out) {
    if (value.type != Value::Type::kArray) return Expected("a list of strings", value);
    out.reserve(value.items.size());
    for (const Value& item : value.items) {
      if (item.type != Value::Type::kString) return Expected("a list of strings", item);
      out.push_back(memory_.Keep(item.text));
    }
    return absl::OkStatus();
  }

  absl::Status Read(const Value& value, Column& out) {
    if (value.type != Value::Type::kArray) return Expected("a list of integers", value);
    std::vector<int64_t> column(value.items.size());
    for (size_t i = 0; i < column.size(); ++i) RETURN_IF_ERROR(Read(value.items[i], column[i]));
    out = memory_.Keep(std::move(column));
    return absl::OkStatus();
  }

  absl::Status Read(const Value& value, SparseColumn& out) {
    if (value.type != Value::Type::kArray) return Expected("a list of integers", value);
    out.resize(value.items.size());
    for (size_t i = 0; i < out.size(); ++i) {
      if (!value.items[i].is_null()) RETURN_IF_ERROR(Read(value.items[i], out[i]));
    }
    return absl::OkStatus();
  }

  template <typename T>
  absl::Status Read(const Value& value, std::optional<T>& out) {
    return Read(value, out.emplace());
  }

  template <typename S>
  absl::Status Read(const Value& value, std::vector<S>& out) requires HasFields<S> {
    if (value.type != Value::Type::kArray) return Expected("a list of maps", value);
    out.resize(value.items.size());
    for (size_t i = 0; i < out.size(); ++i) {
      RETURN_IF_ERROR(Below(absl::StrCat("[", i, "]"), Read(value.items[i], out[i])));
    }
    return absl::OkStatus();
  }

  template <typename T>
  absl::Status Read(const Value& value, Map<T>& out) {
    if (value.type != Value::Type::kObject) return Expected("a map", value);
    out.reserve(value.members.size());
    for (const codec::Member& member : value.members) {
      out.emplace_back(memory_.Keep(member.key), T());
      RETURN_IF_ERROR(Below(Printable(member.key, kShownBytesMax), Read(member.value, out.back().second)));
    }
    return absl::OkStatus();
  }

  template <typename S>
  absl::Status Read(const Value& value, S& out) requires HasFields<S> {
    if (value.type != Value::Type::kObject) return Expected("a map", value);
    absl::Status status;
    const auto read = [&](const auto& field) {
      status = ReadField(value, field, out.*field.member);
      return status.ok();
    };
    std::apply([&](const auto&... fields) { (void)(read(fields) && ...); }, Fields<S>::kList);
    return status;
  }

  // The body of the record `root`, whose kind is known.
  absl::Status ReadBody(const Value& root, record::Record& out) {
    return ReadAlternative<0>(root, out.kind, out.body);
  }

 private:
  template <size_t kIndex>
  absl::Status ReadAlternative(const Value& root, Text kind, Body& out) {
    using R = std::variant_alternative_t<kIndex, Body>;
    if constexpr (HasFields<R>) {
      if (kind == R::kKind) return Read(root, out.emplace<R>());
      return ReadAlternative<kIndex + 1>(root, kind, out);
    } else {
      out.emplace<R>();
      return absl::OkStatus();
    }
  }

  // Go writes null for a list without entries.
  template <typename F, typename T>
  absl::Status ReadField(const Value& parent, const F& field, T& out) {
    const Value* value = parent.Find(field.name);
    if (value != nullptr && value->type != Value::Type::kNull) return Below(field.name, Read(*value, out));
    if (field.presence != Presence::kRequired) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(field.name, ": missing, expected it in each such record"));
  }

  static absl::Status Expected(absl::string_view what, const Value& value) {
    return absl::InvalidArgumentError(absl::StrCat(": expected ", what, ", got ", Describe(value.type)));
  }

  // With the step of the path before what is said of the part.
  static absl::Status Below(absl::string_view step, const absl::Status& status) {
    if (status.ok()) return status;
    const bool at_end = absl::StartsWith(status.message(), ":") || absl::StartsWith(status.message(), "[");
    return absl::InvalidArgumentError(absl::StrCat(step, at_end ? "" : ".", status.message()));
  }

  RecordMemory& memory_;
};

absl::StatusOr<record::Record> Decode(const Value& root, absl::string_view place, RecordMemory& memory) {
  Decoder decoder(memory);
  record::Record result;
  absl::Status status = decoder.Read(root, result);
  if (status.ok()) status = decoder.ReadBody(root, result);
  if (status.ok()) return result;
  const std::string kind =
      result.kind.empty() ? "expected a record of a trace" : Printable(result.kind, kShownBytesMax);
  const bool is_path = !absl::StartsWith(status.message(), ":");
  return absl::InvalidArgumentError(absl::StrCat(place, ": ", kind, is_path ? ": " : "", status.message()));
}

// Calls `sink` with each JSON value of the text. Errors of the text itself are `:line:column: what`.
absl::Status ReadValues(std::string text, absl::FunctionRef<absl::Status(const Value&)> sink) {
  return codec::ReadJsonText(std::move(text), "", {},
                             [&](const codec::Document& document) { return sink(document.root); });
}

}  // namespace

void RecordMemory::Clear() {
  texts_->Clear();
  columns_.clear();
}

absl::StatusOr<record::Record> ReadRecord(absl::string_view text, absl::string_view place,
                                          RecordMemory& memory) {
  std::optional<absl::StatusOr<record::Record>> result;
  bool has_more = false;
  absl::Status status = ReadValues(std::string(text), [&](const Value& root) {
    has_more = result.has_value();
    if (!has_more) result = Decode(root, place, memory);
    return absl::OkStatus();
  });
  if (!status.ok()) {
    absl::string_view message = status.message();
    absl::ConsumePrefix(&message, ":1");
    return absl::InvalidArgumentError(absl::StrCat(place, message));
  }
  if (!result.has_value() || has_more) {
    return absl::InvalidArgumentError(absl::StrCat(place, ": expected one record of a trace on a line"));
  }
  return *std::move(result);
}

absl::StatusOr<Records> ReadRecords(absl::Span<const std::string> texts, absl::string_view place) {
  const auto place_of = [&](size_t index) { return absl::StrCat(place, ": record ", index + 1); };
  Records records;
  records.list.reserve(texts.size());
  // All at once: setting up a parser costs more than a short record. Each text must be a line with one value.
  bool is_by_line = true;
  absl::Status status = ReadValues(absl::StrJoin(texts, "\n"), [&](const Value& root) -> absl::Status {
    absl::StatusOr<record::Record> record = Decode(root, "", records.memory);
    if (record.ok()) records.list.push_back(*std::move(record));
    is_by_line = is_by_line && root.position.line == std::ssize(records.list);
    return record.status();
  });
  if (status.ok() && is_by_line && records.list.size() == texts.size()) return records;
  // One by one, to find the one that is wrong.
  records.list.clear();
  for (size_t i = 0; i < texts.size(); ++i) {
    record::Record record;
    ASSIGN_OR_RETURN(record, ReadRecord(texts[i], place_of(i), records.memory));
    records.list.push_back(std::move(record));
  }
  return records;
}

std::optional<RecordGlance> GlanceAt(absl::string_view text) {
  RecordGlance glance;
  const auto take = [&text](absl::string_view name, absl::string_view end, absl::string_view& value) {
    if (!absl::ConsumePrefix(&text, "\"") || !absl::ConsumePrefix(&text, name)) return false;
    if (!absl::ConsumePrefix(&text, end == "," ? "\":" : "\":\"")) return false;
    const size_t size = text.find(end);
    if (size == absl::string_view::npos) return false;
    value = text.substr(0, size);
    text.remove_prefix(size + 1);
    // What stands behind an escape is for the reader to say.
    return !absl::StrContains(value, '\\');
  };
  absl::string_view time;
  if (!absl::ConsumePrefix(&text, "{") || !take(NameOf(&record::Record::time), ",", time))
    return std::nullopt;
  if (!take(NameOf(&record::Record::kind), "\"", glance.kind)) return std::nullopt;
  if (!ReadSeconds(time, glance.time)) return std::nullopt;
  if (!absl::ConsumePrefix(&text, ",")) return glance;
  const absl::string_view pod_field = NameOf(&record::Bind::pod);
  if (!absl::StartsWith(text, absl::StrCat("\"", pod_field, "\""))) return glance;
  if (!take(pod_field, "\"", glance.pod)) return std::nullopt;
  return glance;
}

}  // namespace schedsim::sim
