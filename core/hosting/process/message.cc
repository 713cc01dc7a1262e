#include "core/hosting/process/message.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/printable.h"
#include "core/codec/text/input.h"
#include "core/codec/text/json_reader.h"
#include "core/codec/text/reader.h"

namespace schedsim::hosting {
namespace {

using codec::Value;
using framework::Code;

constexpr Code kCodes[] = {
    Code::kSuccess, Code::kError, Code::kUnschedulable, Code::kUnschedulableAndUnresolvable,
    Code::kWait,    Code::kSkip,  Code::kPending};

// What messages call a line.
constexpr char kFile[] = "line";

const Value* FindIn(const Value& map, absl::string_view key) {
  const Value* const found = map.Find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

}  // namespace

Fields::Fields(const Value& map) : map_(map) {
  if (!map.is_object()) error_ = absl::StrCat("expected a map, got ", Describe(map.type));
}

bool Fields::Has(absl::string_view key) const { return FindIn(map_, key) != nullptr; }

void Fields::SetError(std::string error) {
  if (error_.empty()) error_ = std::move(error);
}

void Fields::Expect(absl::string_view key, absl::string_view expected, const Value& value) {
  SetError(absl::StrCat(key, ": expected ", expected, ", got ", Describe(value.type),
                        value.text.empty() || value.is_object() || value.is_array()
                            ? ""
                            : absl::StrCat(" ", Printable(value.text, kShownBytesMax))));
}

std::string Fields::Text(absl::string_view key) {
  const Value* const value = FindIn(map_, key);
  if (value == nullptr) return "";
  if (!value->is_string()) {
    Expect(key, "a string", *value);
    return "";
  }
  return std::string(value->text);
}

int64_t Fields::Int(absl::string_view key) {
  const Value* const value = FindIn(map_, key);
  int64_t number = 0;
  if (value == nullptr) return 0;
  if (value->type != Value::Type::kNumber || !absl::SimpleAtoi(value->text, &number)) {
    Expect(key, "a whole number of 64 bits", *value);
    return 0;
  }
  return number;
}

bool Fields::Bool(absl::string_view key) {
  const Value* const value = FindIn(map_, key);
  if (value == nullptr) return false;
  if (value->type != Value::Type::kBool) Expect(key, "true or false", *value);
  return value->boolean;
}

std::vector<std::string> Fields::Texts(absl::string_view key) {
  std::vector<std::string> texts;
  const Value* const value = FindIn(map_, key);
  if (value == nullptr) return texts;
  if (!value->is_array()) Expect(key, "a list of strings", *value);
  for (const Value& item : value->items) {
    if (!item.is_string()) Expect(key, "a list of strings", item);
    texts.emplace_back(item.is_string() ? item.text : "");
  }
  return texts;
}

const Value* Fields::ListOf(absl::string_view key, size_t count, absl::string_view what) {
  const Value* const value = FindIn(map_, key);
  if (value != nullptr && value->is_array() && value->items.size() == count) return value;
  SetError(absl::StrCat(key, ": expected a list of ", count, what, ", got ",
                        value == nullptr    ? "nothing"
                        : value->is_array() ? absl::StrCat("one of ", value->items.size())
                                            : std::string(Describe(value->type))));
  return nullptr;
}

std::vector<int64_t> Fields::Ints(absl::string_view key, size_t count) {
  std::vector<int64_t> numbers(count);
  const Value* const value = ListOf(key, count, " whole numbers");
  if (value == nullptr) return numbers;
  for (size_t i = 0; i < count; ++i) {
    const Value& item = value->items[i];
    if (item.type != Value::Type::kNumber || !absl::SimpleAtoi(item.text, &numbers[i])) {
      Expect(absl::StrCat(key, "[", i, "]"), "a whole number of 64 bits", item);
    }
  }
  return numbers;
}

framework::Status Fields::StatusOf(absl::string_view key, const Value& value) {
  if (value.is_null()) return framework::Status();
  Fields status(value);
  const std::string name = status.Text("code");
  std::vector<std::string> reasons = status.Texts("reasons");
  if (!status.error().empty()) {
    SetError(absl::StrCat(key, ": ", status.error()));
    return framework::Status();
  }
  for (const Code code : kCodes) {
    if (name != CodeName(code)) continue;
    return code == Code::kSuccess ? framework::Status() : framework::Status(code, std::move(reasons));
  }
  SetError(absl::StrCat(key, ".code: expected Success, Error, Unschedulable, UnschedulableAndUnresolvable, ",
                        "Wait, Skip or Pending, got \"", Printable(name, kShownBytesMax), "\""));
  return framework::Status();
}

framework::Status Fields::Status(absl::string_view key) {
  const Value* const value = FindIn(map_, key);
  return value == nullptr ? framework::Status() : StatusOf(key, *value);
}

std::vector<framework::Status> Fields::Statuses(absl::string_view key, size_t count) {
  std::vector<framework::Status> statuses(count);
  const Value* const value = ListOf(key, count, ", one for each node");
  if (value == nullptr) return statuses;
  for (size_t i = 0; i < count; ++i) {
    // Nearly all nodes pass.
    if (value->items[i].is_null()) continue;
    statuses[i] = StatusOf(absl::StrCat(key, "[", i, "]"), value->items[i]);
  }
  return statuses;
}

void Fields::ForEach(absl::string_view key, absl::FunctionRef<void(Fields& entry)> visit) {
  const Value* const value = FindIn(map_, key);
  if (value == nullptr) return;
  if (!value->is_array()) {
    Expect(key, "a list of maps", *value);
    return;
  }
  for (size_t i = 0; i < value->items.size(); ++i) {
    Fields entry(value->items[i]);
    if (entry.error().empty()) visit(entry);
    if (!entry.error().empty()) SetError(absl::StrCat(key, "[", i, "]: ", entry.error()));
  }
}

void WriteStatus(const framework::Status& status, codec::JsonWriter& writer) {
  if (status.IsSuccess()) {
    writer.Null();
    return;
  }
  writer.BeginObject().Field("code", CodeName(status.code())).Key("reasons").BeginArray();
  for (const std::string& reason : status.reasons()) writer.String(reason);
  writer.EndArray().EndObject();
}

std::string ReadLine(absl::string_view line, absl::FunctionRef<std::string(const Value& map)> visit) {
  std::string text;
  text.reserve(line.size() + codec::kPaddingBytes);
  text.assign(line.data(), line.size());
  std::string error;
  int count = 0;
  const absl::Status read = codec::ReadJson(text, kFile, {}, [&](const codec::Document& document) {
    ++count;
    error = document.root.is_object() ? visit(document.root)
                                      : absl::StrCat("expected a map, got ", Describe(document.root.type));
    return error.empty() ? absl::OkStatus() : absl::CancelledError();
  });
  if (!error.empty()) return error;
  if (!read.ok()) {
    absl::string_view what = read.message();
    const absl::string_view column = absl::ConsumePrefix(&what, "line:1:") ? "column " : "";
    return absl::StrCat(column, what, " in ", Printable(line, kShownBytesMax));
  }
  if (count == 0) return "an empty line, expected a map";
  return count == 1 ? "" : "more than one value in a line";
}

}  // namespace schedsim::hosting
