#include "core/codec/config/strict_reader.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/field_errors.h"
#include "core/api/go_text.h"
#include "core/base/nearest_name.h"
#include "core/base/printable.h"

namespace schedsim::codec {
namespace {

constexpr absl::string_view kADuration = "a duration such as 10s or 1m30s";

// Up to here all integers are exact as double.
constexpr double kExactMax = 9007199254740992;

// The integer that a JSON number stands for; std::nullopt for fractions and anything too big.
std::optional<int64_t> ParseInteger(absl::string_view text) {
  int64_t integer = 0;
  if (absl::SimpleAtoi(text, &integer)) return integer;
  // Notations such as 1.0 and 1e3, as far as they are exact.
  double number = 0;
  if (!absl::SimpleAtod(text, &number) || std::trunc(number) != number) return std::nullopt;
  if (std::fabs(number) > kExactMax) return std::nullopt;
  return static_cast<int64_t>(number);
}

// What a value is, for messages; numbers with their text.
std::string DescribeValue(const Value& value) {
  if (value.type == Value::Type::kNumber)
    return absl::StrCat("the number ", Printable(value.text, kShownBytesMax));
  return std::string(Describe(value.type));
}

// The name at the start of `path` up to the next `.` or `[`, which it removes.
absl::string_view TakeName(absl::string_view& path) {
  const size_t end = std::min(path.find_first_of(".["), path.size());
  const absl::string_view name = path.substr(0, end);
  path.remove_prefix(end);
  if (absl::StartsWith(path, ".")) path.remove_prefix(1);
  return name;
}

}  // namespace

void ErrorList::Add(Position position, absl::string_view what) {
  std::string text(ErrorAt({.file = file_, .position = position}, what).message());
  const bool is_known =
      std::any_of(errors_.begin(), errors_.end(), [&](const Error& error) { return error.text == text; });
  if (!is_known) errors_.push_back({.position = position, .text = std::move(text)});
}

absl::Status ErrorList::ToStatus() const {
  if (errors_.empty()) return absl::OkStatus();
  if (errors_.size() == 1) return absl::InvalidArgumentError(errors_[0].text);
  const auto append = [](std::string* out, const Error& error) { out->append(error.text); };
  return absl::InvalidArgumentError(absl::StrCat("[", absl::StrJoin(errors_, ", ", append), "]"));
}

absl::Status ErrorList::ToStatusByPlace() const {
  if (errors_.empty()) return absl::OkStatus();
  std::vector<Error> sorted = errors_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Error& a, const Error& b) {
    return std::pair(a.position.line, a.position.column) < std::pair(b.position.line, b.position.column);
  });
  const auto append = [](std::string* out, const Error& error) { out->append(error.text); };
  return absl::InvalidArgumentError(absl::StrJoin(sorted, "\n", append));
}

StrictReader::StrictReader(const Value& value, std::string path, ErrorList& errors)
    : value_(value),
      path_(std::move(path)),
      errors_(errors),
      seen_(value.is_object() ? value.members.size() : 0, false) {
  if (value.is_object()) return;
  const std::string prefix = path_.empty() ? "" : absl::StrCat(path_, ": ");
  errors_.Add(value.position, absl::StrCat(prefix, "expected a map, got ", DescribeValue(value)));
}

std::string StrictReader::PathOf(absl::string_view name) const { return api::Child(path_, name); }

bool StrictReader::Has(absl::string_view name) const {
  const Value* value = value_.Find(name);
  return value != nullptr && !value->is_null();
}

const Value* StrictReader::Take(absl::string_view name) {
  known_.push_back(name);
  for (size_t i = 0; i < seen_.size(); ++i) {
    const Member& member = value_.members[i];
    if (member.key != name) continue;
    seen_[i] = true;
    return member.value.is_null() ? nullptr : &member.value;
  }
  return nullptr;
}

const Value* StrictReader::TakeAs(absl::string_view name, Value::Type type, absl::string_view expected) {
  const Value* value = Take(name);
  if (value == nullptr || value->type == type) return value;
  errors_.Add(value->position,
              absl::StrCat(PathOf(name), ": expected ", expected, ", got ", DescribeValue(*value)));
  return nullptr;
}

void StrictReader::ReadInteger(absl::string_view name, int64_t min, int64_t max, absl::string_view expected,
                               absl::FunctionRef<void(int64_t)> set) {
  const Value* value = TakeAs(name, Value::Type::kNumber, expected);
  if (value == nullptr) return;
  const std::optional<int64_t> integer = ParseInteger(value->text);
  if (integer && *integer >= min && *integer <= max) return set(*integer);
  errors_.Add(value->position,
              absl::StrCat(PathOf(name), ": expected ", expected, ", got ", DescribeValue(*value)));
}

void StrictReader::Read(absl::string_view name, bool& target) {
  const Value* value = TakeAs(name, Value::Type::kBool, "true or false");
  if (value != nullptr) target = value->boolean;
}

void StrictReader::Read(absl::string_view name, int32_t& target) {
  using Limits = std::numeric_limits<int32_t>;
  ReadInteger(name, Limits::min(), Limits::max(), "a 32-bit integer",
              [&](int64_t integer) { target = static_cast<int32_t>(integer); });
}

void StrictReader::Read(absl::string_view name, int64_t& target) {
  using Limits = std::numeric_limits<int64_t>;
  ReadInteger(name, Limits::min(), Limits::max(), "an integer", [&](int64_t integer) { target = integer; });
}

void StrictReader::Read(absl::string_view name, double& target) {
  const Value* value = TakeAs(name, Value::Type::kNumber, "a number");
  if (value == nullptr || absl::SimpleAtod(value->text, &target)) return;
  errors_.Add(value->position,
              absl::StrCat(PathOf(name), ": expected a number, got ", DescribeValue(*value)));
}

void StrictReader::Read(absl::string_view name, std::string& target) {
  const Value* value = TakeAs(name, Value::Type::kString, "a string");
  if (value != nullptr) target = std::string(value->text);
}

void StrictReader::Read(absl::string_view name, absl::Duration& target) {
  const Value* value = TakeAs(name, Value::Type::kString, kADuration);
  if (value == nullptr) return;
  if (const std::optional<absl::Duration> duration = api::ParseGoDuration(value->text)) {
    target = *duration;
  } else {
    errors_.Add(value->position,
                absl::StrCat(PathOf(name), ": expected ", kADuration, ", got ", api::GoQuote(value->text)));
  }
}

bool StrictReader::ReadList(absl::string_view name, ItemReader read) {
  const Value* value = TakeAs(name, Value::Type::kArray, "a list");
  if (value == nullptr) return false;
  for (size_t i = 0; i < value->items.size(); ++i) {
    read(value->items[i], api::Index(PathOf(name), i));
  }
  return true;
}

bool StrictReader::ReadMap(absl::string_view name, ItemReader read) {
  const Value* value = TakeAs(name, Value::Type::kObject, "a map");
  if (value == nullptr) return false;
  read(*value, PathOf(name));
  return true;
}

void StrictReader::ReadStrings(absl::string_view name, std::vector<std::string>& target) {
  ReadList(name, [&](const Value& item, const std::string& path) {
    if (item.is_string()) {
      target.emplace_back(item.text);
    } else {
      errors_.Add(item.position, absl::StrCat(path, ": expected a string, got ", DescribeValue(item)));
    }
  });
}

void StrictReader::Finish() {
  for (size_t i = 0; i < seen_.size(); ++i) {
    if (seen_[i]) continue;
    const Member& member = value_.members[i];
    const absl::string_view nearest = NearestName(member.key, known_);
    errors_.Add(member.key_position,
                absl::StrCat("unknown field ", api::GoQuote(PathOf(member.key)),
                             nearest.empty() ? "" : absl::StrCat(", did you mean ", nearest, "?")));
  }
}

Position FindPosition(const Value& root, absl::string_view path) {
  const Value* value = &root;
  Position position = root.position;
  while (!path.empty()) {
    const Value* next = nullptr;
    Position key_position;
    if (path[0] == '[') {
      const size_t end = path.find(']');
      size_t index = 0;
      if (end == absl::string_view::npos || !value->is_array() ||
          !absl::SimpleAtoi(path.substr(1, end - 1), &index) || index >= value->items.size()) {
        break;
      }
      next = &value->items[index];
      key_position = next->position;
      path.remove_prefix(end + 1);
      if (absl::StartsWith(path, ".")) path.remove_prefix(1);
    } else if (value->is_object()) {
      const absl::string_view name = TakeName(path);
      for (const Member& member : value->members) {
        if (member.key != name) continue;
        next = &member.value;
        key_position = member.key_position;
      }
    }
    if (next == nullptr) break;
    value = next;
    // A list or map in block style starts on the line below its name.
    position = value->is_array() || value->is_object() ? key_position : value->position;
  }
  return position;
}

}  // namespace schedsim::codec
