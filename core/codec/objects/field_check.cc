#include "core/codec/objects/field_check.h"

#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/nearest_name.h"
#include "core/base/printable.h"

namespace schedsim::codec {
namespace {

// What a single value of this form is, as the decoder of objects says it; "": anything will do.
absl::string_view ExpectedOf(ProtoForm::Letter letter) {
  switch (letter) {
    case ProtoForm::Letter::kMessage:
      return "a map";
    case ProtoForm::Letter::kString:
    case ProtoForm::Letter::kBytes:
    case ProtoForm::Letter::kTime:
    case ProtoForm::Letter::kMicroTime:
    case ProtoForm::Letter::kDuration:
      return "a string";
    case ProtoForm::Letter::kInteger:
      return "an integer";
    case ProtoForm::Letter::kBool:
      return "true or false";
    case ProtoForm::Letter::kQuantity:
      return "a quantity";
    case ProtoForm::Letter::kIntOrString:
      return "an integer of 32 bits or a string";
    case ProtoForm::Letter::kNone:
    case ProtoForm::Letter::kJson:
      return "";
  }
  return "";
}

bool IsWhole(absl::string_view number) {
  return !HasFractionOrExponent(number) || !WholeDigits(number).empty();
}

bool IsWholeOf32Bits(absl::string_view number) {
  int32_t out = 0;
  return absl::SimpleAtoi(number, &out) || absl::SimpleAtoi(WholeDigits(number), &out);
}

// Whether a single value is of this form. null stands for nothing.
bool IsOfForm(const Value& value, ProtoForm::Letter letter) {
  if (value.is_null()) return true;
  switch (letter) {
    case ProtoForm::Letter::kMessage:
      return value.is_object();
    case ProtoForm::Letter::kInteger:
      return value.type == Value::Type::kNumber && IsWhole(value.text);
    case ProtoForm::Letter::kBool:
      return value.type == Value::Type::kBool;
    case ProtoForm::Letter::kQuantity:
      return value.is_string() || value.type == Value::Type::kNumber;
    case ProtoForm::Letter::kIntOrString:
      return value.is_string() || (value.type == Value::Type::kNumber && IsWholeOf32Bits(value.text));
    case ProtoForm::Letter::kNone:
    case ProtoForm::Letter::kJson:
      return true;
    default:
      return value.is_string();
  }
}

bool IsListOrNull(const Value& value) { return value.is_array() || value.is_null(); }

// Whether all of a field's value is of its form.
bool IsOfForm(const Value& value, const ProtoForm& form) {
  const ProtoForm::Letter letter = form.letter;
  if (letter == ProtoForm::Letter::kNone || value.is_null()) return true;
  switch (form.around) {
    case ProtoForm::Around::kNothing:
      return IsOfForm(value, letter);
    case ProtoForm::Around::kList:
      return value.is_array() &&
             absl::c_all_of(value.items, [letter](const Value& item) { return IsOfForm(item, letter); });
    case ProtoForm::Around::kMap:
      return value.is_object() && absl::c_all_of(value.members, [letter](const Member& member) {
               return IsOfForm(member.value, letter);
             });
    case ProtoForm::Around::kMapOfLists:
      return value.is_object() &&
             absl::c_all_of(value.members, [](const Member& member) { return IsListOrNull(member.value); });
  }
  return true;
}

}  // namespace

MistypedValue FieldCheck::FindMistyped(const Value& value, const ApiField& field, int32_t parent) const {
  const ProtoForm& form = field.proto;
  const auto at = [&](const Value& found, absl::string_view expected, absl::string_view place) {
    return MistypedValue{.value = &found,
                         .expected = expected,
                         .path = absl::StrCat(PathOf(parent, /*with_places=*/true), field.name, place)};
  };
  const absl::string_view expected = ExpectedOf(form.letter);
  if (form.around == ProtoForm::Around::kNothing) return at(value, expected, "");
  if (form.around == ProtoForm::Around::kList) {
    for (size_t i = 0; i < value.items.size(); ++i) {
      if (!IsOfForm(value.items[i], form.letter))
        return at(value.items[i], expected, absl::StrCat("[", i, "]"));
    }
    return at(value, "a list", "");
  }
  const bool is_list = form.around == ProtoForm::Around::kMapOfLists;
  for (const Member& member : value.members) {
    if (is_list ? !IsListOrNull(member.value) : !IsOfForm(member.value, form.letter)) {
      return at(member.value, is_list ? "a list" : expected,
                absl::StrCat("[", Printable(member.key, kShownBytesMax), "]"));
    }
  }
  return at(value, form.letter == ProtoForm::Letter::kQuantity ? "a map of quantities" : "a map", "");
}

void FieldCheck::Run(const Value& object, const ApiType& type,
                     absl::FunctionRef<void(const UnknownField&)> report,
                     absl::FunctionRef<void(const MistypedValue&)> report_type) {
  steps_.clear();
  steps_.push_back({.map = &object, .type = &type});
  // The walk ends: each map of the object is added once, by the map around it.
  for (size_t at = 0; at < steps_.size(); ++at) {
    const Value& map = *steps_[at].map;
    const ApiType& map_type = *steps_[at].type;
    const int32_t place = static_cast<int32_t>(at);
    for (const Member& member : map.members) {
      const ApiField* field = map_type.Find(member.key);
      if (field == nullptr) {
        report({.name = member.key, .position = member.key_position, .step = place});
        continue;
      }
      if (!IsOfForm(member.value, field->proto)) report_type(FindMistyped(member.value, *field, place));
      if (field->type != nullptr) Add(member.value, *field, place);
    }
  }
}

void FieldCheck::Add(const Value& value, const ApiField& field, int32_t parent) {
  Step step = {.type = field.type, .parent = parent, .name = field.name};
  if (field.by_key) {
    for (const Member& member : value.members) {
      step.map = &member.value;
      step.key = member.key;
      if (member.value.is_object()) steps_.push_back(step);
    }
    return;
  }
  if (value.is_object()) {
    step.map = &value;
    steps_.push_back(step);
  }
  for (size_t i = 0; i < value.items.size(); ++i) {
    step.map = &value.items[i];
    step.index = static_cast<int32_t>(i);
    if (value.items[i].is_object()) steps_.push_back(step);
  }
}

std::string FieldCheck::PathOf(int32_t at, bool with_places) const {
  std::vector<const Step*> way;
  for (; at > 0; at = steps_[static_cast<size_t>(at)].parent) way.push_back(&steps_[static_cast<size_t>(at)]);
  std::string path;
  for (size_t i = way.size(); i > 0; --i) {
    const Step& step = *way[i - 1];
    absl::StrAppend(&path, step.name);
    if (step.key.data() != nullptr) {
      absl::StrAppend(&path, "[", with_places ? Printable(step.key, kShownBytesMax) : "", "]");
    }
    if (step.index >= 0) {
      absl::StrAppend(&path, "[", with_places ? absl::StrCat(step.index) : "", "]");
    }
    path += '.';
  }
  return path;
}

std::string FieldCheck::PathOf(const UnknownField& field) const {
  return PathOf(field.step, /*with_places=*/true) + Printable(field.name, kShownBytesMax);
}

std::string FieldCheck::PatternOf(const UnknownField& field) const {
  return PathOf(field.step, /*with_places=*/false) + Printable(field.name, kShownBytesMax);
}

// A name of the same map that is nearly the same, else the very name in a map around it or in one of its own.
std::string FieldCheck::NearestOf(const UnknownField& field) const {
  const int32_t at = field.step;
  const absl::string_view name = field.name;
  const ApiType& type = *steps_[static_cast<size_t>(at)].type;
  std::vector<absl::string_view> names;
  for (const ApiField& known : type.fields) names.push_back(known.name);
  const absl::string_view nearest = NearestName(name, names);
  if (!nearest.empty()) return std::string(nearest);
  for (int32_t around = at; around > 0;) {
    around = steps_[static_cast<size_t>(around)].parent;
    if (steps_[static_cast<size_t>(around)].type->Find(name) != nullptr) {
      return absl::StrCat(PathOf(around, /*with_places=*/false), name);
    }
  }
  for (const ApiField& known : type.fields) {
    if (known.type == nullptr || known.type->Find(name) == nullptr) continue;
    return absl::StrCat(PathOf(at, /*with_places=*/false), known.name, ".", name);
  }
  return "";
}

}  // namespace schedsim::codec
