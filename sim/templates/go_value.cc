#include "sim/templates/go_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/codec/text/writer.h"

namespace schedsim::sim {
namespace {

// The shortest digits that give the number back, as `-1.25e+02`.
std::string Scientific(double number) {
  std::array<char, 64> text = {};
  const std::to_chars_result end =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::scientific);
  return std::string(text.data(), end.ptr);
}

// Without an exponent, with the shortest digits.
std::string Fixed(double number) {
  std::array<char, 512> text = {};
  const std::to_chars_result end =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  return std::string(text.data(), end.ptr);
}

int ExponentOf(const std::string& scientific) {
  return std::atoi(scientific.c_str() + scientific.find('e') + 1);
}

// Go writes floats with an exponent where it is below `exponent_min`, or not below `exponent_max`.
// Source: go1.26, strconv/ftoa.go, formatDigits, and encoding/json/encode.go, floatEncoder.
std::string FloatText(double number, int exponent_min, int exponent_max) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "+Inf" : "-Inf";
  const std::string scientific = Scientific(number);
  const int exponent = number == 0 ? 0 : ExponentOf(scientific);
  return exponent < exponent_min || exponent >= exponent_max ? scientific : Fixed(number);
}

// JSON leaves out a zero that %v has: 1e-9 instead of 1e-09.
std::string JsonFloat(double number) {
  std::string text = FloatText(number, -6, 21);
  const size_t zero = text.find("e-0");
  if (zero != std::string::npos) text.erase(zero + 2, 1);
  return text;
}

}  // namespace

GoValue::GoValue(List value) : type_(Type::kList), depth_(1) {
  for (const GoValue& item : value) AddPart(0, item);
  list_ = std::make_shared<const List>(std::move(value));
}

GoValue::GoValue(Map value) : type_(Type::kMap), depth_(1) {
  for (const auto& [key, member] : value) AddPart(key.size(), member);
  std::sort(value.begin(), value.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  map_ = std::make_shared<const Map>(std::move(value));
}

void GoValue::AddPart(size_t key_size, const GoValue& part) {
  for (const size_t more : {key_size, part.size_}) size_ = size_ > SIZE_MAX - more ? SIZE_MAX : size_ + more;
  if (depth_ <= part.depth_ && part.depth_ < INT_MAX) depth_ = part.depth_ + 1;
}

GoValue GoValue::JsonNumber(std::string literal) {
  GoValue value(std::move(literal));
  value.is_json_number_ = true;
  return value;
}

GoValue GoValue::Find(absl::string_view key) const {
  const Map* map = AsMap();
  if (map == nullptr) return {};
  for (const auto& [name, value] : *map) {
    if (name == key) return value;
  }
  return {};
}

bool GoValue::IsTrue() const {
  if (const bool* truth = AsBool()) return *truth;
  if (const int64_t* number = AsInt()) return *number != 0;
  if (const double* number = AsFloat()) return *number != 0;
  if (const std::string* text = AsString()) return !text->empty();
  if (const List* list = AsList()) return !list->empty();
  if (const Map* map = AsMap()) return !map->empty();
  return false;
}

absl::string_view GoValue::TypeName() const {
  constexpr absl::string_view kNames[] = {"nil", "bool", "int", "float64", "string", "list", "map"};
  if (is_json_number_) return "json.Number";
  return kNames[static_cast<size_t>(type_)];
}

std::string GoValue::Text() const {
  if (const bool* truth = AsBool()) return *truth ? "true" : "false";
  if (const int64_t* number = AsInt()) return absl::StrCat(*number);
  if (const double* number = AsFloat()) return FloatText(*number, -4, 6);
  if (const std::string* text = AsString()) return *text;
  std::string out;
  if (const List* list = AsList()) {
    for (const GoValue& item : *list) absl::StrAppend(&out, out.empty() ? "" : " ", item.Text());
    return absl::StrCat("[", out, "]");
  }
  if (const Map* map = AsMap()) {
    for (const auto& [key, value] : *map)
      absl::StrAppend(&out, out.empty() ? "" : " ", key, ":", value.Text());
    return absl::StrCat("map[", out, "]");
  }
  return "<no value>";
}

std::string GoValue::Json() const {
  std::string out;
  if (const double* number = AsFloat()) return JsonFloat(*number);
  if (is_json_number_) return text_;
  if (const std::string* text = AsString()) {
    codec::AppendJsonString(*text, out);
    return out;
  }
  if (const List* list = AsList()) {
    for (const GoValue& item : *list) absl::StrAppend(&out, out.empty() ? "" : ",", item.Json());
    return absl::StrCat("[", out, "]");
  }
  if (const Map* map = AsMap()) {
    for (const auto& [key, value] : *map) {
      if (!out.empty()) out += ",";
      codec::AppendJsonString(key, out);
      absl::StrAppend(&out, ":", value.Json());
    }
    return absl::StrCat("{", out, "}");
  }
  return is_nil() ? "null" : Text();
}

// Documents are no deeper than codec::kDepthMax.
GoValue GoValueOf(const codec::Value& value, GoNumbers numbers) {
  using Type = codec::Value::Type;
  switch (value.type) {
    case Type::kNull:
      return {};
    case Type::kBool:
      return {value.boolean};
    case Type::kNumber: {
      if (numbers == GoNumbers::kJsonNumber) return GoValue::JsonNumber(std::string(value.text));
      double number = 0;
      // What is beyond any double becomes infinite; the file's reader refuses such numbers.
      static_cast<void>(absl::SimpleAtod(value.text, &number));
      return {number};
    }
    case Type::kString:
      return {std::string(value.text)};
    case Type::kArray: {
      GoValue::List list;
      for (const codec::Value& item : value.items) list.push_back(GoValueOf(item, numbers));
      return {std::move(list)};
    }
    case Type::kObject: {
      GoValue::Map map;
      for (const codec::Member& member : value.members) {
        map.emplace_back(std::string(member.key), GoValueOf(member.value, numbers));
      }
      return {std::move(map)};
    }
  }
  return {};
}

// Values are no deeper than templates make them, which are bounded.
codec::Value DocumentValueOf(const GoValue& value, codec::Document& document) {
  using Type = codec::Value::Type;
  if (const bool* truth = value.AsBool()) return {.type = Type::kBool, .boolean = *truth};
  if (value.AsInt() != nullptr || value.AsFloat() != nullptr || value.is_json_number()) {
    return {.type = Type::kNumber, .text = document.CopyText(value.Json())};
  }
  if (const std::string* text = value.AsString()) {
    return {.type = Type::kString, .text = document.CopyText(*text)};
  }
  if (const GoValue::List* list = value.AsList()) {
    std::vector<codec::Value> items;
    for (const GoValue& item : *list) items.push_back(DocumentValueOf(item, document));
    return {.type = Type::kArray, .items = document.CopyItems(items)};
  }
  if (const GoValue::Map* map = value.AsMap()) {
    std::vector<codec::Member> members;
    for (const auto& [key, item] : *map) {
      members.push_back({.key = document.CopyText(key), .value = DocumentValueOf(item, document)});
    }
    return document.MakeObject(members);
  }
  return {};
}

}  // namespace schedsim::sim
