#include "core/codec/text/value.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/printable.h"

namespace schedsim::codec {
namespace {

// The arena never runs destructors, so that Clear costs nothing.
static_assert(std::is_trivially_destructible_v<Value> && std::is_trivially_destructible_v<Member>);

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Moves `at` behind the digits from there on; returns whether there was one.
bool SkipDigits(absl::string_view text, size_t& at) {
  const size_t start = at;
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at > start;
}

// Whether the two are alike without a look at their children; pushes the pairs of children that
// remain to be compared.
bool SameNode(const Value& a, const Value& b, std::vector<std::pair<const Value*, const Value*>>& rest) {
  if (a.type != b.type || a.boolean != b.boolean || a.text != b.text) return false;
  if (a.items.size() != b.items.size() || a.members.size() != b.members.size()) return false;
  for (size_t i = 0; i < a.items.size(); ++i) rest.emplace_back(&a.items[i], &b.items[i]);
  if (a.members.empty()) return true;
  absl::flat_hash_map<absl::string_view, const Value*> by_key;
  for (const Member& member : b.members) by_key[member.key] = &member.value;
  for (const Member& member : a.members) {
    auto found = by_key.find(member.key);
    if (found == by_key.end()) return false;
    rest.emplace_back(&member.value, found->second);
  }
  return true;
}

}  // namespace

absl::Status ErrorAt(const Location& location, absl::string_view what) {
  // Whoever says what is wrong shortens names and values; this is for what was overlooked.
  constexpr size_t kMessageBytesMax = 4000;
  std::string message = Printable(location.file);
  if (location.position.line > 0) {
    absl::StrAppend(&message, ":", location.position.line, ":", location.position.column);
  }
  return absl::InvalidArgumentError(absl::StrCat(message, ": ", Printable(what, kMessageBytesMax)));
}

const Value* Value::Find(absl::string_view key) const {
  for (const Member& member : members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

absl::string_view Describe(Value::Type type) {
  switch (type) {
    case Value::Type::kNull:
      return "null";
    case Value::Type::kBool:
      return "a boolean";
    case Value::Type::kNumber:
      return "a number";
    case Value::Type::kString:
      return "a string";
    case Value::Type::kArray:
      return "a list";
    case Value::Type::kObject:
      return "a map";
  }
  return "";
}

bool IsJsonNumber(absl::string_view text) {
  size_t at = 0;
  if (at < text.size() && text[at] == '-') ++at;
  const size_t first = at;
  if (!SkipDigits(text, at)) return false;
  if (text[first] == '0' && at > first + 1) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!SkipDigits(text, at)) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!SkipDigits(text, at)) return false;
  }
  return at == text.size();
}

bool HasFractionOrExponent(absl::string_view number) {
  return std::any_of(number.begin(), number.end(), [](char c) { return c == '.' || c == 'e' || c == 'E'; });
}

std::string WholeDigits(absl::string_view number) {
  const bool negative = absl::ConsumePrefix(&number, "-");
  int64_t exponent = 0;
  const size_t e = number.find_first_of("eE");
  if (e != absl::string_view::npos) {
    constexpr int64_t kExponentMax = 1000;
    if (!absl::SimpleAtoi(number.substr(e + 1), &exponent) || exponent > kExponentMax ||
        exponent < -kExponentMax)
      exponent = kExponentMax;
    number = number.substr(0, e);
  }
  const size_t point = std::min(number.find('.'), number.size());
  const absl::string_view fraction = point < number.size() ? number.substr(point + 1) : absl::string_view();
  std::string digits = absl::StrCat(number.substr(0, point), fraction);
  exponent -= static_cast<int64_t>(fraction.size());
  while (digits.size() > 1 && digits.back() == '0') {
    digits.pop_back();
    ++exponent;
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return "0";
  constexpr int64_t kDigitsMax = 30;
  if (exponent < 0 || static_cast<int64_t>(digits.size()) + exponent > kDigitsMax) return "";
  digits.append(static_cast<size_t>(exponent), '0');
  return absl::StrCat(negative ? "-" : "", digits);
}

bool SameTree(const Value& a, const Value& b) {
  std::vector<std::pair<const Value*, const Value*>> rest = {{&a, &b}};
  while (!rest.empty()) {
    const auto [left, right] = rest.back();
    rest.pop_back();
    if (!SameNode(*left, *right, rest)) return false;
  }
  return true;
}

void* Document::Allocate(size_t size_bytes, size_t alignment) {
  if (size_bytes > kBlockBytes / 4) {
    large_.emplace_back(new char[size_bytes]);
    return large_.back().get();
  }
  size_t start = (block_used_bytes_ + alignment - 1) / alignment * alignment;
  if (blocks_.empty() || start + size_bytes > kBlockBytes) {
    if (!blocks_.empty()) ++block_index_;
    // Not make_unique, which would clear the block.
    if (block_index_ == blocks_.size()) blocks_.emplace_back(new char[kBlockBytes]);
    start = 0;
  }
  block_used_bytes_ = start + size_bytes;
  return blocks_[block_index_].get() + start;
}

absl::string_view Document::CopyText(absl::string_view text) {
  if (text.empty()) return {};
  char* copy = static_cast<char*>(Allocate(text.size(), 1));
  std::memcpy(copy, text.data(), text.size());
  return {copy, text.size()};
}

absl::Span<Value> Document::CopyItems(absl::Span<const Value> items) {
  if (items.empty()) return {};
  Value* copy = static_cast<Value*>(Allocate(items.size() * sizeof(Value), alignof(Value)));
  std::uninitialized_copy(items.begin(), items.end(), copy);
  return {copy, items.size()};
}

Value TextValue(absl::string_view text) {
  Value value;
  value.type = Value::Type::kString;
  value.text = text;
  return value;
}

Value Document::MakeObject(absl::Span<const Member> members, Position position) {
  Value object;
  object.type = Value::Type::kObject;
  object.position = position;
  object.members = CopyMembers(members);
  return object;
}

absl::Span<Member> Document::CopyMembers(absl::Span<const Member> members) {
  if (members.empty()) return {};
  Member* copy = static_cast<Member*>(Allocate(members.size() * sizeof(Member), alignof(Member)));
  std::uninitialized_copy(members.begin(), members.end(), copy);
  return {copy, members.size()};
}

void Document::Clear() {
  root = Value();
  list_kind.clear();
  list_api_version.clear();
  is_entry = false;
  block_index_ = 0;
  block_used_bytes_ = 0;
  large_.clear();
}

}  // namespace schedsim::codec
