#include "core/plugins/plain_args.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/base/printable.h"

namespace schedsim::plugins {

using Type = api::ArgsField::Type;

namespace {

bool IsTypeMember(const api::ArgsField& field) { return field.name == "kind" || field.name == "apiVersion"; }

bool ParseNumber(const api::ArgsField& field, double& number) {
  double parsed = 0;
  if (field.type != Type::kNumber || !absl::SimpleAtod(field.text, &parsed) || !std::isfinite(parsed)) {
    return false;
  }
  number = parsed;
  return true;
}

}  // namespace

PlainArgs::PlainArgs(const api::PluginArgs& args) {
  const auto* given = std::get_if<api::UnknownArgs>(&args);
  if (given == nullptr) return;
  for (const api::ArgsField& field : given->fields) {
    if (!IsTypeMember(field)) fields_.push_back(field);
  }
  const bool is_map = given->json.empty() || given->json == "null" || given->json.front() == '{';
  if (!is_map) error_ = absl::InvalidArgumentError("args: expected a map");
}

PlainArgs::PlainArgs(std::vector<api::ArgsField> fields, std::string path)
    : fields_(std::move(fields)), path_(std::move(path)) {}

const api::ArgsField* PlainArgs::Find(absl::string_view name) const {
  const auto field = std::find_if(fields_.begin(), fields_.end(),
                                  [name](const api::ArgsField& other) { return other.name == name; });
  return field == fields_.end() ? nullptr : &*field;
}

const api::ArgsField* PlainArgs::Take(absl::string_view name, Type type, absl::string_view expected) {
  known_.emplace_back(name);
  const api::ArgsField* const field = Find(name);
  if (field == nullptr || field->type == type) return field;
  Error(name, expected);
  return nullptr;
}

bool PlainArgs::Is(absl::string_view name, Type type) const {
  const api::ArgsField* const field = Find(name);
  return field != nullptr && field->type == type;
}

bool PlainArgs::Has(absl::string_view name) const { return Find(name) != nullptr; }

void PlainArgs::Error(absl::string_view name, absl::string_view expected) {
  error_.Update(absl::InvalidArgumentError(absl::StrCat(path_, ".", name, ": expected ", expected)));
}

void PlainArgs::Read(absl::string_view name, bool& target) {
  const api::ArgsField* const field = Take(name, Type::kBool, "true or false");
  if (field != nullptr) target = field->text == "true";
}

void PlainArgs::Read(absl::string_view name, int64_t& target) {
  constexpr absl::string_view kExpected = "an integer";
  const api::ArgsField* const field = Take(name, Type::kNumber, kExpected);
  if (field == nullptr || absl::SimpleAtoi(field->text, &target)) return;
  Error(name, kExpected);
}

void PlainArgs::Read(absl::string_view name, double& target) {
  constexpr absl::string_view kExpected = "a number";
  const api::ArgsField* const field = Take(name, Type::kNumber, kExpected);
  if (field != nullptr && !ParseNumber(*field, target)) Error(name, kExpected);
}

void PlainArgs::Read(absl::string_view name, std::string& target) {
  const api::ArgsField* const field = Take(name, Type::kString, "a string");
  if (field != nullptr) target = field->text;
}

void PlainArgs::Read(absl::string_view name, api::Quantity& target) {
  constexpr absl::string_view kExpected = "a quantity";
  const api::ArgsField* const field =
      Take(name, Is(name, Type::kNumber) ? Type::kNumber : Type::kString, kExpected);
  if (field == nullptr) return;
  const absl::StatusOr<api::Quantity> quantity = api::Quantity::Parse(field->text);
  if (quantity.ok()) {
    target = *quantity;
  } else {
    Error(name, kExpected);
  }
}

void PlainArgs::ReadOneOf(absl::string_view name, const std::vector<absl::string_view>& values,
                          std::string& target) {
  Read(name, target);
  if (std::find(values.begin(), values.end(), target) != values.end()) return;
  Error(name, absl::StrJoin(values, values.size() == 2 ? " or " : ", "));
}

std::vector<api::ArgsField> PlainArgs::Below(absl::string_view path) const {
  std::vector<api::ArgsField> below;
  for (const api::ArgsField& field : fields_) {
    absl::string_view rest = field.name;
    if (!absl::ConsumePrefix(&rest, path) || rest.empty() || (rest[0] != '.' && rest[0] != '[')) continue;
    below.push_back({.name = std::string(rest), .type = field.type, .text = field.text});
  }
  return below;
}

void PlainArgs::ReadNumbers(absl::string_view name,
                            const std::function<void(const std::string&, double)>& set) {
  if (Take(name, Type::kOther, "a map of numbers") == nullptr) return;
  for (const api::ArgsField& item : Below(name)) {
    double number = 0;
    if (item.name[0] == '.' && ParseNumber(item, number)) {
      set(item.name.substr(1), number);
    } else {
      Error(absl::StrCat(name, Printable(item.name, kShownBytesMax)), "a number");
    }
  }
}

void PlainArgs::ReadPart(const std::string& path, const std::function<void(PlainArgs&)>& read) {
  std::vector<api::ArgsField> members;
  for (api::ArgsField& field : Below(path)) {
    if (field.name[0] != '.') {
      Error(path, "a map");
      return;
    }
    field.name.erase(0, 1);
    members.push_back(std::move(field));
  }
  PlainArgs part(std::move(members), absl::StrCat(path_, ".", path));
  read(part);
  error_.Update(part.Finish());
}

void PlainArgs::ReadMap(absl::string_view name, const std::function<void(PlainArgs&)>& read) {
  if (Take(name, Type::kOther, "a map") != nullptr) ReadPart(std::string(name), read);
}

void PlainArgs::ReadMaps(absl::string_view name, const std::function<void(PlainArgs&)>& read) {
  if (Take(name, Type::kOther, "a list") == nullptr) return;
  for (size_t i = 0;; ++i) {
    const std::string path = absl::StrCat(name, "[", i, "]");
    const api::ArgsField* const item = Find(path);
    if (item == nullptr) break;
    if (item->type != Type::kOther) {
      Error(path, "a map");
      return;
    }
    ReadPart(path, read);
  }
  const std::vector<api::ArgsField> below = Below(name);
  const bool is_map = std::any_of(below.begin(), below.end(),
                                  [](const api::ArgsField& field) { return field.name[0] == '.'; });
  if (is_map) Error(name, "a list");
}

absl::Status PlainArgs::Finish() const {
  if (!error_.ok()) return error_;
  for (const api::ArgsField& field : fields_) {
    // What is below a member was read with it.
    const bool is_known = std::any_of(known_.begin(), known_.end(), [this, &field](const std::string& name) {
      absl::string_view rest = field.name;
      if (!absl::ConsumePrefix(&rest, name)) return false;
      return rest.empty() || ((rest[0] == '.' || rest[0] == '[') && Is(name, Type::kOther));
    });
    if (is_known) continue;
    const std::string expected =
        known_.empty() ? "none" : absl::StrCat("one of ", absl::StrJoin(known_, ", "));
    return absl::InvalidArgumentError(absl::StrCat(path_, ".", Printable(field.name, kShownBytesMax),
                                                   ": an unknown field, expected ", expected));
  }
  return absl::OkStatus();
}

}  // namespace schedsim::plugins
