#include "sim/templates/sprig_regex.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "sim/templates/go_regex.h"

namespace schedsim::sim {
namespace {

using Arguments = GoArguments;

constexpr size_t kSizeMax = GoTemplateFunctions::kValueSizeMax;

// Bytes that are no UTF-8 are matched by Go as characters of their own, but not by RE2.
absl::StatusOr<std::string> TextAt(const Arguments& arguments, size_t index) {
  const std::string* text = arguments[index].AsString();
  if (text == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected a string, got a value of type ", arguments[index].TypeName()));
  }
  for (absl::string_view rest = *text; !rest.empty();) {
    const size_t size = Utf8CharacterBytes(rest);
    if (size == 0) return absl::InvalidArgumentError("expected a string in UTF-8");
    rest.remove_prefix(size);
  }
  return *text;
}

absl::StatusOr<int64_t> CountAt(const Arguments& arguments, size_t index) {
  if (const int64_t* count = arguments[index].AsInt()) return *count;
  return absl::InvalidArgumentError(
      absl::StrCat("expected an integer, got a value of type ", arguments[index].TypeName()));
}

// What all of them get: a pattern, a text, and a count or a replacement.
struct Call {
  GoRegex regex;
  std::string text;
};

absl::StatusOr<Call> CallOf(const Arguments& arguments) {
  std::string pattern;
  ASSIGN_OR_RETURN(pattern, TextAt(arguments, 0));
  std::string text;
  ASSIGN_OR_RETURN(text, TextAt(arguments, 1));
  absl::StatusOr<GoRegex> regex = GoRegex::Compile(pattern);
  if (!regex.ok()) return regex.status();
  return Call{.regex = *std::move(regex), .text = std::move(text)};
}

GoValue ListOf(const std::vector<absl::string_view>& parts) {
  GoValue::List list;
  for (const absl::string_view part : parts) list.emplace_back(std::string(part));
  return GoValue(std::move(list));
}

GoResult MustMatch(const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Call call, CallOf(arguments));
  return GoValue(call.regex.Matches(call.text));
}

GoResult Match(const Arguments& arguments) {
  RETURN_IF_ERROR(TextAt(arguments, 1).status());
  std::string pattern;
  ASSIGN_OR_RETURN(pattern, TextAt(arguments, 0));
  if (!GoRegex::Compile(pattern).ok()) return GoValue(false);
  return MustMatch(arguments);
}

GoResult Find(const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Call call, CallOf(arguments));
  const std::vector<absl::string_view> found = call.regex.FindAll(call.text, 1);
  return GoValue(found.empty() ? "" : std::string(found[0]));
}

GoResult FindAll(const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Call call, CallOf(arguments));
  ASSIGN_OR_RETURN(const int64_t count, CountAt(arguments, 2));
  return ListOf(call.regex.FindAll(call.text, count));
}

GoResult Split(const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Call call, CallOf(arguments));
  ASSIGN_OR_RETURN(const int64_t count, CountAt(arguments, 2));
  return ListOf(call.regex.Split(call.text, count));
}

template <auto kReplace>
GoResult Replace(const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Call call, CallOf(arguments));
  std::string replacement;
  ASSIGN_OR_RETURN(replacement, TextAt(arguments, 2));
  std::string out;
  ASSIGN_OR_RETURN(out, (call.regex.*kReplace)(call.text, replacement, kSizeMax));
  return GoValue(std::move(out));
}

GoResult QuoteMeta(const Arguments& arguments) {
  std::string text;
  ASSIGN_OR_RETURN(text, TextAt(arguments, 0));
  return GoValue(GoRegex::QuoteMeta(text));
}

struct Row {
  const char* name;
  size_t argument_count;
  GoResult (*call)(const Arguments&);
};

const Row kFunctions[] = {
    {"mustRegexFind", 2, Find},
    {"mustRegexFindAll", 3, FindAll},
    {"mustRegexMatch", 2, MustMatch},
    {"mustRegexReplaceAll", 3, Replace<&GoRegex::ReplaceAll>},
    {"mustRegexReplaceAllLiteral", 3, Replace<&GoRegex::ReplaceAllLiteral>},
    {"mustRegexSplit", 3, Split},
    {"regexFind", 2, Find},
    {"regexFindAll", 3, FindAll},
    {"regexMatch", 2, Match},
    {"regexQuoteMeta", 1, QuoteMeta},
    {"regexReplaceAll", 3, Replace<&GoRegex::ReplaceAll>},
    {"regexReplaceAllLiteral", 3, Replace<&GoRegex::ReplaceAllLiteral>},
    {"regexSplit", 3, Split},
};

}  // namespace

void AddSprigRegexFunctions(GoTemplateFunctions& functions) {
  for (const Row& row : kFunctions) {
    functions.Add({row.name, row.argument_count, row.argument_count, row.call});
  }
}

}  // namespace schedsim::sim
