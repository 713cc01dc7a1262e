#include "core/codec/objects/wrong_type.h"

#include "absl/strings/str_cat.h"
#include "core/base/printable.h"

namespace schedsim::codec {
namespace {

// Of a value of the wrong type.
constexpr size_t kGotBytesMax = 40;

// What a value is, for messages; scalars with their text.
std::string Got(const Value& value) {
  const std::string shown = Printable(value.text, kGotBytesMax);
  switch (value.type) {
    case Value::Type::kBool:
      return absl::StrCat("the boolean ", value.boolean ? "true" : "false");
    case Value::Type::kNumber:
      return absl::StrCat("the number ", shown);
    case Value::Type::kString:
      return absl::StrCat("the string \"", shown, "\"");
    default:
      return std::string(Describe(value.type));
  }
}

}  // namespace

std::string WrongTypeText(absl::string_view expected, const Value& value) {
  return absl::StrCat("expected ", expected, ", got ", Got(value));
}

}  // namespace schedsim::codec
