#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/types/span.h"
#include "core/cel/cel_functions.h"

namespace schedsim::cel {
namespace {

constexpr absl::string_view kOfFirstText[] = {"lowerAscii", "upperAscii", "substring", "trim",
                                              "quantity",   "isQuantity", "semver",    "isSemver"};
constexpr absl::string_view kOfList[] = {"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"};

bool IsAmong(absl::string_view name, absl::Span<const absl::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A regular expression counts a quarter of its length.
int64_t RegexCost(int64_t text_length, int64_t regex_length) {
  constexpr int64_t kCharactersPerPart = 4;
  return CelTextCost(text_length + 1) * ((regex_length + kCharactersPerPart - 1) / kCharactersPerPart);
}

// What it costs to go through a list, with the texts that are in it.
int64_t TraversalCost(const CelValue& value) {
  if (value.Is(CelValue::Type::kString)) return static_cast<int64_t>(value.AsString().size()) / 10;
  if (!value.Is(CelValue::Type::kList)) return 1;
  int64_t cost = 0;
  for (const CelValue& item : value.AsList()) cost += TraversalCost(item);
  return cost;
}

}  // namespace

int64_t CelTextCost(int64_t length) {
  constexpr int64_t kCharactersPerUnit = 10;
  return (length + kCharactersPerUnit - 1) / kCharactersPerUnit;
}

int64_t CelCallCost(absl::string_view function, const CelArguments& arguments, const CelValue& result) {
  if (arguments.empty()) return 1;
  const int64_t first = arguments[0].Length();
  const int64_t second = arguments.size() > 1 ? arguments[1].Length() : 1;
  if (IsAmong(function, kOfFirstText)) return CelTextCost(first);
  if (IsAmong(function, kOfList)) return TraversalCost(arguments[0]);
  if (function == "startsWith" || function == "endsWith") return CelTextCost(second);
  if (function == "contains") return CelTextCost(first) * CelTextCost(second);
  if (function == "replace" || function == "split") return CelTextCost(2 * first);
  if (function == "join") return CelTextCost(2 * result.Length());
  if (function == "matches" || function == "find" || function == "findAll") return RegexCost(first, second);
  return 1;
}

}  // namespace schedsim::cel
