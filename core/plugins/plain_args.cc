#include "core/plugins/plain_args.h"

#include <algorithm>
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/printable.h"

namespace schedsim::plugins {

using Type = api::ArgsField::Type;

PlainArgs::PlainArgs(const api::PluginArgs& args) {
  const auto* given = std::get_if<api::UnknownArgs>(&args);
  if (given == nullptr) return;
  fields_ = given->fields;
  const bool is_map = given->json.empty() || given->json == "null" || given->json.front() == '{';
  if (!is_map) error_ = absl::InvalidArgumentError("args: expected a map");
}

const api::ArgsField* PlainArgs::Take(absl::string_view name, Type type, absl::string_view expected) {
  known_.emplace_back(name);
  const auto field = std::find_if(fields_.begin(), fields_.end(),
                                  [name](const api::ArgsField& other) { return other.name == name; });
  if (field == fields_.end()) return nullptr;
  if (field->type == type) return &*field;
  error_.Update(absl::InvalidArgumentError(absl::StrCat("args.", name, ": expected ", expected)));
  return nullptr;
}

void PlainArgs::Read(absl::string_view name, bool& target) {
  const api::ArgsField* const field = Take(name, Type::kBool, "true or false");
  if (field != nullptr) target = field->text == "true";
}

void PlainArgs::Read(absl::string_view name, int64_t& target) {
  constexpr absl::string_view kExpected = "an integer";
  const api::ArgsField* const field = Take(name, Type::kNumber, kExpected);
  if (field == nullptr || absl::SimpleAtoi(field->text, &target)) return;
  error_.Update(absl::InvalidArgumentError(absl::StrCat("args.", name, ": expected ", kExpected)));
}

void PlainArgs::Read(absl::string_view name, std::string& target) {
  const api::ArgsField* const field = Take(name, Type::kString, "a string");
  if (field != nullptr) target = field->text;
}

absl::Status PlainArgs::Finish() const {
  if (!error_.ok()) return error_;
  for (const api::ArgsField& field : fields_) {
    if (std::find(known_.begin(), known_.end(), field.name) != known_.end()) continue;
    return absl::InvalidArgumentError(absl::StrCat("args.", Printable(field.name, kShownBytesMax),
                                                   ": an unknown field, expected one of ",
                                                   absl::StrJoin(known_.begin() + 2, known_.end(), ", ")));
  }
  return absl::OkStatus();
}

}  // namespace schedsim::plugins
