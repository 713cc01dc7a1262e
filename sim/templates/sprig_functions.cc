#include "sim/templates/sprig_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/api/go_text.h"
#include "core/base/status_macros.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/value.h"
#include "core/codec/text/writer.h"
#include "sim/templates/sprig_regex.h"

namespace schedsim::sim {
namespace {

using Arguments = GoArguments;

// Longer texts and lists are a mistake, or an attack.
constexpr int64_t kSizeMax = 1'000'000;

absl::Status Invalid(absl::string_view what) { return absl::InvalidArgumentError(what); }

// Whether `count` times `size` bytes are more than a value may have.
bool IsTooLong(size_t count, size_t size) {
  return size > 0 && count > GoTemplateFunctions::kValueSizeMax / size;
}

// How often `part`, which is not empty, is in `text`.
size_t CountOf(absl::string_view part, absl::string_view text) {
  size_t count = 0;
  for (size_t at = text.find(part); at != absl::string_view::npos; at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

// Sprig's strval.
std::string TextOf(const GoValue& value) { return value.is_nil() ? "<nil>" : value.Text(); }

// What is no number counts as zero, as sprig has it.
int64_t IntOf(const GoValue& value) {
  if (const int64_t* number = value.AsInt()) return *number;
  if (const bool* truth = value.AsBool()) return *truth ? 1 : 0;
  if (const double* number = value.AsFloat()) {
    return std::isfinite(*number) && std::abs(*number) < 9.2e18 ? static_cast<int64_t>(*number) : 0;
  }
  int64_t number = 0;
  if (value.AsString() == nullptr) return 0;
  if (absl::SimpleAtoi(*value.AsString(), &number)) return number;
  return absl::SimpleHexAtoi(*value.AsString(), &number) ? number : 0;
}

double FloatOf(const GoValue& value) {
  if (const double* number = value.AsFloat()) return *number;
  double number = 0;
  if (value.AsString() != nullptr) return absl::SimpleAtod(*value.AsString(), &number) ? number : 0;
  return static_cast<double>(IntOf(value));
}

bool Same(const GoValue& a, const GoValue& b) { return a.TypeName() == b.TypeName() && a.Json() == b.Json(); }

absl::StatusOr<std::string> StringAt(const Arguments& arguments, size_t index) {
  if (const std::string* text = arguments[index].AsString()) return *text;
  return Invalid(absl::StrCat("expected a string, got a value of type ", arguments[index].TypeName()));
}

absl::StatusOr<GoValue::List> ListAt(const Arguments& arguments, size_t index) {
  if (const GoValue::List* list = arguments[index].AsList()) return *list;
  return Invalid(absl::StrCat("expected a list, got a value of type ", arguments[index].TypeName()));
}

absl::StatusOr<GoValue::Map> MapAt(const Arguments& arguments, size_t index) {
  if (const GoValue::Map* map = arguments[index].AsMap()) return *map;
  return Invalid(absl::StrCat("expected a dict, got a value of type ", arguments[index].TypeName()));
}

// Functions of one text.
template <std::string (*kFunction)(absl::string_view)>
GoResult OfText(const Arguments& arguments) {
  std::string text;
  ASSIGN_OR_RETURN(text, StringAt(arguments, 0));
  return GoValue(kFunction(text));
}

// Functions of a word and a text, the text last.
template <std::string (*kFunction)(absl::string_view, absl::string_view)>
GoResult OfWordAndText(const Arguments& arguments) {
  std::string word;
  ASSIGN_OR_RETURN(word, StringAt(arguments, 0));
  std::string text;
  ASSIGN_OR_RETURN(text, StringAt(arguments, 1));
  return GoValue(kFunction(word, text));
}

template <bool (*kHolds)(absl::string_view, absl::string_view)>
GoResult WordAndTextHold(const Arguments& arguments) {
  std::string word;
  ASSIGN_OR_RETURN(word, StringAt(arguments, 0));
  std::string text;
  ASSIGN_OR_RETURN(text, StringAt(arguments, 1));
  return GoValue(kHolds(text, word));
}

bool HasPart(absl::string_view text, absl::string_view part) { return absl::StrContains(text, part); }
bool HasStart(absl::string_view text, absl::string_view part) { return absl::StartsWith(text, part); }
bool HasEnd(absl::string_view text, absl::string_view part) { return absl::EndsWith(text, part); }

std::string Upper(absl::string_view text) { return absl::AsciiStrToUpper(text); }
std::string Lower(absl::string_view text) { return absl::AsciiStrToLower(text); }
std::string Trim(absl::string_view text) { return std::string(absl::StripAsciiWhitespace(text)); }
std::string NoSpace(absl::string_view text) {
  return absl::StrReplaceAll(text, {{" ", ""}, {"\t", ""}, {"\n", ""}, {"\r", ""}});
}
std::string Title(absl::string_view text) {
  std::string out(text);
  for (size_t i = 0; i < out.size(); ++i) {
    if (i == 0 || absl::ascii_isspace(static_cast<unsigned char>(out[i - 1])))
      out[i] = absl::ascii_toupper(static_cast<unsigned char>(out[i]));
  }
  return out;
}
std::string TrimPrefix(absl::string_view word, absl::string_view text) {
  return std::string(absl::StripPrefix(text, word));
}
std::string TrimSuffix(absl::string_view word, absl::string_view text) {
  return std::string(absl::StripSuffix(text, word));
}
std::string TrimAll(absl::string_view cutset, absl::string_view text) {
  while (!text.empty() && absl::StrContains(cutset, text.front())) text.remove_prefix(1);
  while (!text.empty() && absl::StrContains(cutset, text.back())) text.remove_suffix(1);
  return std::string(text);
}
std::string Base64(absl::string_view text) { return absl::Base64Escape(text); }

GoResult Base64Decode(const Arguments& arguments) {
  std::string text;
  ASSIGN_OR_RETURN(text, StringAt(arguments, 0));
  std::string out;
  if (!absl::Base64Unescape(text, &out)) return Invalid("no base64");
  return GoValue(std::move(out));
}

GoResult Repeat(const Arguments& arguments) {
  const int64_t count = IntOf(arguments[0]);
  std::string text;
  ASSIGN_OR_RETURN(text, StringAt(arguments, 1));
  if (text.empty() && count >= 0) return GoValue(std::move(text));
  if (count < 0 || count > kSizeMax / static_cast<int64_t>(text.size())) return Invalid("too long a text");
  std::string out;
  for (int64_t i = 0; i < count; ++i) out += text;
  return GoValue(std::move(out));
}

GoResult Trunc(const Arguments& arguments) {
  const int64_t count = IntOf(arguments[0]);
  std::string text;
  ASSIGN_OR_RETURN(text, StringAt(arguments, 1));
  const int64_t size = static_cast<int64_t>(text.size());
  if (count < 0 && size + count > 0) return GoValue(text.substr(static_cast<size_t>(size + count)));
  if (count >= 0 && size > count) return GoValue(text.substr(0, static_cast<size_t>(count)));
  return GoValue(std::move(text));
}

GoResult Substr(const Arguments& arguments) {
  std::string text;
  ASSIGN_OR_RETURN(text, StringAt(arguments, 2));
  const int64_t size = static_cast<int64_t>(text.size());
  const int64_t start = std::clamp<int64_t>(IntOf(arguments[0]), 0, size);
  const int64_t wanted = IntOf(arguments[1]);
  const int64_t end = wanted < 0 || wanted > size ? size : wanted;
  if (end < start) return Invalid("slice bounds out of range");
  return GoValue(text.substr(static_cast<size_t>(start), static_cast<size_t>(end - start)));
}

GoResult Replace(const Arguments& arguments) {
  std::array<std::string, 3> texts;
  for (size_t i = 0; i < 3; ++i) {
    ASSIGN_OR_RETURN(texts[i], StringAt(arguments, i));
  }
  if (texts[0].empty()) return Invalid("expected a text to replace, got an empty one");
  if (IsTooLong(CountOf(texts[0], texts[2]), texts[1].size())) return Invalid("too long a text");
  return GoValue(absl::StrReplaceAll(texts[2], {{texts[0], texts[1]}}));
}

constexpr int64_t kIndentMax = 1000;

std::string Indented(int64_t width, absl::string_view text) {
  const std::string pad(static_cast<size_t>(std::clamp<int64_t>(width, 0, kIndentMax)), ' ');
  return pad + absl::StrReplaceAll(text, {{"\n", "\n" + pad}});
}

template <bool kOnNewLine>
GoResult Indent(const Arguments& arguments) {
  std::string text;
  ASSIGN_OR_RETURN(text, StringAt(arguments, 1));
  const int64_t width = IntOf(arguments[0]);
  if (IsTooLong(CountOf("\n", text), static_cast<size_t>(std::clamp<int64_t>(width, 0, kIndentMax))))
    return Invalid("too long a text");
  return GoValue((kOnNewLine ? "\n" : "") + Indented(width, text));
}

// Those of the arguments that are there, each made by `kText`, with spaces between.
template <std::string (*kText)(const GoValue&)>
GoResult Joined(const Arguments& arguments) {
  std::vector<std::string> texts;
  for (const GoValue& argument : arguments) {
    if (!argument.is_nil()) texts.push_back(kText(argument));
  }
  return GoValue(absl::StrJoin(texts, " "));
}
std::string Quoted(const GoValue& value) { return api::GoQuote(TextOf(value)); }
std::string SingleQuoted(const GoValue& value) { return absl::StrCat("'", value.Text(), "'"); }

GoResult ToString(const Arguments& arguments) { return GoValue(TextOf(arguments[0])); }

GoResult ToStrings(const Arguments& arguments) {
  GoValue::List list;
  ASSIGN_OR_RETURN(list, ListAt(arguments, 0));
  for (GoValue& item : list) item = GoValue(TextOf(item));
  return GoValue(std::move(list));
}

GoResult Join(const Arguments& arguments) {
  std::string separator;
  ASSIGN_OR_RETURN(separator, StringAt(arguments, 0));
  if (arguments[1].AsList() == nullptr) return GoValue(TextOf(arguments[1]));
  std::vector<std::string> texts;
  for (const GoValue& item : *arguments[1].AsList()) {
    if (!item.is_nil()) texts.push_back(TextOf(item));
  }
  if (IsTooLong(texts.size(), separator.size())) return Invalid("too long a text");
  return GoValue(absl::StrJoin(texts, separator));
}

absl::StatusOr<std::vector<std::string>> Parts(const Arguments& arguments) {
  std::string separator;
  ASSIGN_OR_RETURN(separator, StringAt(arguments, 0));
  std::string text;
  ASSIGN_OR_RETURN(text, StringAt(arguments, 1));
  if (separator.empty()) return Invalid("expected a separator");
  std::vector<std::string> parts = absl::StrSplit(text, separator);
  return parts;
}

GoResult SplitList(const Arguments& arguments) {
  std::vector<std::string> parts;
  ASSIGN_OR_RETURN(parts, Parts(arguments));
  GoValue::List list;
  for (std::string& part : parts) list.emplace_back(std::move(part));
  return GoValue(std::move(list));
}

// `_0`, `_1` and so on.
GoResult Split(const Arguments& arguments) {
  std::vector<std::string> parts;
  ASSIGN_OR_RETURN(parts, Parts(arguments));
  GoValue::Map map;
  for (size_t i = 0; i < parts.size(); ++i) map.emplace_back(absl::StrCat("_", i), GoValue(parts[i]));
  return GoValue(std::move(map));
}

GoResult Default(const Arguments& arguments) {
  const bool is_given = arguments.size() > 1 && arguments[1].IsTrue();
  return is_given ? arguments[1] : arguments[0];
}
GoResult Empty(const Arguments& arguments) { return GoValue(!arguments[0].IsTrue()); }
GoResult Coalesce(const Arguments& arguments) {
  for (const GoValue& argument : arguments) {
    if (argument.IsTrue()) return argument;
  }
  return GoValue();
}
GoResult Ternary(const Arguments& arguments) {
  if (arguments[2].AsBool() == nullptr) return Invalid("expected a bool as the last argument");
  return *arguments[2].AsBool() ? arguments[0] : arguments[1];
}
GoResult Fail(const Arguments& arguments) { return Invalid(TextOf(arguments[0])); }

GoResult ToInt(const Arguments& arguments) { return GoValue(IntOf(arguments[0])); }
GoResult ToFloat(const Arguments& arguments) { return GoValue(FloatOf(arguments[0])); }

GoResult Add(const Arguments& arguments) {
  uint64_t sum = 0;
  for (const GoValue& argument : arguments) sum += static_cast<uint64_t>(IntOf(argument));
  return GoValue(static_cast<int64_t>(sum));
}
GoResult Add1(const Arguments& arguments) {
  return GoValue(static_cast<int64_t>(static_cast<uint64_t>(IntOf(arguments[0])) + 1));
}
GoResult Sub(const Arguments& arguments) {
  return GoValue(static_cast<int64_t>(static_cast<uint64_t>(IntOf(arguments[0])) -
                                      static_cast<uint64_t>(IntOf(arguments[1]))));
}
GoResult Mul(const Arguments& arguments) {
  uint64_t product = 1;
  for (const GoValue& argument : arguments) product *= static_cast<uint64_t>(IntOf(argument));
  return GoValue(static_cast<int64_t>(product));
}
GoResult Div(const Arguments& arguments) {
  const int64_t by = IntOf(arguments[1]);
  if (by == 0) return Invalid("integer divide by zero");
  if (by == -1) return Sub({GoValue(int64_t{0}), arguments[0]});
  return GoValue(IntOf(arguments[0]) / by);
}
GoResult Mod(const Arguments& arguments) {
  const int64_t by = IntOf(arguments[1]);
  if (by == 0) return Invalid("integer divide by zero");
  return GoValue(by == -1 ? int64_t{0} : IntOf(arguments[0]) % by);
}
GoResult Max(const Arguments& arguments) {
  int64_t most = IntOf(arguments[0]);
  for (const GoValue& argument : arguments) most = std::max(most, IntOf(argument));
  return GoValue(most);
}
GoResult Min(const Arguments& arguments) {
  int64_t least = IntOf(arguments[0]);
  for (const GoValue& argument : arguments) least = std::min(least, IntOf(argument));
  return GoValue(least);
}
GoResult Floor(const Arguments& arguments) { return GoValue(std::floor(FloatOf(arguments[0]))); }
GoResult Ceil(const Arguments& arguments) { return GoValue(std::ceil(FloatOf(arguments[0]))); }
GoResult Round(const Arguments& arguments) {
  const double scale = std::pow(10, static_cast<double>(std::clamp<int64_t>(IntOf(arguments[1]), 0, 15)));
  return GoValue(std::floor(FloatOf(arguments[0]) * scale + 0.5) / scale);
}

GoResult Steps(int64_t from, int64_t to, int64_t step) {
  GoValue::List list;
  if (step == 0 || to == from || (step > 0) != (to > from)) return GoValue(std::move(list));
  // Without a sign no distance is too large.
  const auto start = static_cast<uint64_t>(from);
  const auto stride = static_cast<uint64_t>(step);
  const uint64_t distance = step > 0 ? static_cast<uint64_t>(to) - start : start - static_cast<uint64_t>(to);
  const uint64_t count = (distance - 1) / (step > 0 ? stride : -stride) + 1;
  if (count > static_cast<uint64_t>(kSizeMax)) return Invalid("too long a list");
  for (uint64_t i = 0; i < count; ++i) list.emplace_back(static_cast<int64_t>(start + i * stride));
  return GoValue(std::move(list));
}
GoResult Until(const Arguments& arguments) {
  const int64_t to = IntOf(arguments[0]);
  return Steps(0, to, to < 0 ? -1 : 1);
}
GoResult UntilStep(const Arguments& arguments) {
  return Steps(IntOf(arguments[0]), IntOf(arguments[1]), IntOf(arguments[2]));
}

GoResult List(const Arguments& arguments) { return GoValue(GoValue::List(arguments)); }
GoResult First(const Arguments& arguments) {
  GoValue::List list;
  ASSIGN_OR_RETURN(list, ListAt(arguments, 0));
  return list.empty() ? GoValue() : list.front();
}
GoResult Last(const Arguments& arguments) {
  GoValue::List list;
  ASSIGN_OR_RETURN(list, ListAt(arguments, 0));
  return list.empty() ? GoValue() : list.back();
}
GoResult Rest(const Arguments& arguments) {
  GoValue::List list;
  ASSIGN_OR_RETURN(list, ListAt(arguments, 0));
  if (!list.empty()) list.erase(list.begin());
  return GoValue(std::move(list));
}
GoResult Initial(const Arguments& arguments) {
  GoValue::List list;
  ASSIGN_OR_RETURN(list, ListAt(arguments, 0));
  if (!list.empty()) list.pop_back();
  return GoValue(std::move(list));
}
GoResult Append(const Arguments& arguments) {
  GoValue::List list;
  ASSIGN_OR_RETURN(list, ListAt(arguments, 0));
  list.push_back(arguments[1]);
  return GoValue(std::move(list));
}
GoResult Prepend(const Arguments& arguments) {
  GoValue::List list;
  ASSIGN_OR_RETURN(list, ListAt(arguments, 0));
  list.insert(list.begin(), arguments[1]);
  return GoValue(std::move(list));
}
GoResult Concat(const Arguments& arguments) {
  GoValue::List all;
  for (size_t i = 0; i < arguments.size(); ++i) {
    GoValue::List list;
    ASSIGN_OR_RETURN(list, ListAt(arguments, i));
    all.insert(all.end(), list.begin(), list.end());
  }
  return GoValue(std::move(all));
}
GoResult Reverse(const Arguments& arguments) {
  GoValue::List list;
  ASSIGN_OR_RETURN(list, ListAt(arguments, 0));
  std::reverse(list.begin(), list.end());
  return GoValue(std::move(list));
}

bool Contains(const GoValue::List& list, const GoValue& value) {
  return std::any_of(list.begin(), list.end(), [&](const GoValue& item) { return Same(item, value); });
}
GoResult Has(const Arguments& arguments) {
  if (arguments[1].is_nil()) return GoValue(false);
  GoValue::List list;
  ASSIGN_OR_RETURN(list, ListAt(arguments, 1));
  return GoValue(Contains(list, arguments[0]));
}
// The items of the list, the first argument, that are to stay.
GoResult Filtered(const Arguments& arguments, absl::FunctionRef<bool(const GoValue&)> stays) {
  GoValue::List list;
  ASSIGN_OR_RETURN(list, ListAt(arguments, 0));
  GoValue::List out;
  for (const GoValue& item : list) {
    if (stays(item)) out.push_back(item);
  }
  return GoValue(std::move(out));
}
GoResult Uniq(const Arguments& arguments) {
  std::set<std::pair<absl::string_view, std::string>> seen;
  return Filtered(arguments,
                  [&](const GoValue& item) { return seen.emplace(item.TypeName(), item.Json()).second; });
}
GoResult Without(const Arguments& arguments) {
  const GoValue::List left_out(arguments.begin() + 1, arguments.end());
  return Filtered(arguments, [&](const GoValue& item) { return !Contains(left_out, item); });
}
GoResult Compact(const Arguments& arguments) {
  return Filtered(arguments, [](const GoValue& item) { return item.IsTrue(); });
}
GoResult SortAlpha(const Arguments& arguments) {
  GoValue::List list;
  ASSIGN_OR_RETURN(list, ListAt(arguments, 0));
  std::vector<std::string> texts;
  for (const GoValue& item : list) texts.push_back(TextOf(item));
  std::sort(texts.begin(), texts.end());
  GoValue::List out;
  for (std::string& text : texts) out.emplace_back(std::move(text));
  return GoValue(std::move(out));
}

// A key without a value gets an empty text.
GoResult Dict(const Arguments& arguments) {
  GoValue::Map map;
  for (size_t i = 0; i < arguments.size(); i += 2) {
    const std::string key = TextOf(arguments[i]);
    const GoValue value = i + 1 < arguments.size() ? arguments[i + 1] : GoValue(std::string());
    const auto found = std::find_if(map.begin(), map.end(), [&](const auto& e) { return e.first == key; });
    if (found != map.end()) {
      found->second = value;
    } else {
      map.emplace_back(key, value);
    }
  }
  return GoValue(std::move(map));
}
GoResult Get(const Arguments& arguments) {
  GoValue::Map map;
  ASSIGN_OR_RETURN(map, MapAt(arguments, 0));
  std::string key;
  ASSIGN_OR_RETURN(key, StringAt(arguments, 1));
  for (const auto& [name, value] : map) {
    if (name == key) return value;
  }
  return GoValue(std::string());
}
GoResult HasKey(const Arguments& arguments) {
  GoValue::Map map;
  ASSIGN_OR_RETURN(map, MapAt(arguments, 0));
  std::string key;
  ASSIGN_OR_RETURN(key, StringAt(arguments, 1));
  return GoValue(std::any_of(map.begin(), map.end(), [&](const auto& entry) { return entry.first == key; }));
}
// Go's order of a map's keys is free; here it is that of the keys.
GoResult Keys(const Arguments& arguments) {
  GoValue::List keys;
  for (size_t i = 0; i < arguments.size(); ++i) {
    GoValue::Map map;
    ASSIGN_OR_RETURN(map, MapAt(arguments, i));
    for (const auto& [key, value] : map) keys.emplace_back(key);
  }
  return GoValue(std::move(keys));
}
GoResult Values(const Arguments& arguments) {
  GoValue::Map map;
  ASSIGN_OR_RETURN(map, MapAt(arguments, 0));
  GoValue::List values;
  for (const auto& [key, value] : map) values.push_back(value);
  return GoValue(std::move(values));
}
// The entries of the map whose keys are among the other arguments, or are not.
template <bool kAmong>
GoResult Select(const Arguments& arguments) {
  GoValue::Map map;
  ASSIGN_OR_RETURN(map, MapAt(arguments, 0));
  const GoValue::List keys(arguments.begin() + 1, arguments.end());
  GoValue::Map out;
  for (const auto& [key, value] : map) {
    if (Contains(keys, GoValue(key)) == kAmong) out.emplace_back(key, value);
  }
  return GoValue(std::move(out));
}
// The keys, then the default, then the map.
GoResult Dig(const Arguments& arguments) {
  GoValue value = arguments.back();
  for (size_t i = 0; i + 2 < arguments.size(); ++i) {
    std::string key;
    ASSIGN_OR_RETURN(key, StringAt(arguments, i));
    value = value.Find(key);
    if (value.is_nil()) return arguments[arguments.size() - 2];
  }
  return value;
}

GoResult KindOf(const Arguments& arguments) {
  const absl::string_view type = arguments[0].TypeName();
  if (type == "nil") return GoValue(std::string("invalid"));
  if (type == "json.Number") return GoValue(std::string("string"));
  return GoValue(std::string(type == "list" ? "slice" : type));
}
GoResult KindIs(const Arguments& arguments) {
  GoValue kind;
  ASSIGN_OR_RETURN(kind, KindOf({arguments[1]}));
  return GoValue(arguments[0].AsString() != nullptr && *arguments[0].AsString() == *kind.AsString());
}

GoResult ToJson(const Arguments& arguments) { return GoValue(arguments[0].Json()); }
GoResult FromJson(const Arguments& arguments) {
  std::string text;
  ASSIGN_OR_RETURN(text, StringAt(arguments, 0));
  GoValue value;
  RETURN_IF_ERROR(codec::ReadText(text, "fromJson.json", {}, [&](const codec::Document& document) {
    value = GoValueOf(document.root);
    return absl::OkStatus();
  }));
  return value;
}

// As time.Time prints itself.
constexpr char kTimeText[] = "%Y-%m-%d %H:%M:%E*S +0000 UTC";

absl::StatusOr<absl::Time> TimeOf(const GoValue& value) {
  if (const int64_t* seconds = value.AsInt()) return absl::FromUnixSeconds(*seconds);
  absl::Time time;
  if (value.AsString() != nullptr) {
    if (absl::ParseTime(kTimeText, *value.AsString(), &time, nullptr)) return time;
    if (const std::optional<absl::Time> parsed = api::ParseRfc3339(*value.AsString())) return *parsed;
  }
  return Invalid(absl::StrCat("expected a time, got ", value.Text()));
}

GoResult Date(const Arguments& arguments) {
  std::string layout;
  ASSIGN_OR_RETURN(layout, StringAt(arguments, 0));
  ASSIGN_OR_RETURN(const absl::Time time, TimeOf(arguments[1]));
  return GoValue(FormatGoTime(layout, time));
}
GoResult UnixEpoch(const Arguments& arguments) {
  ASSIGN_OR_RETURN(const absl::Time time, TimeOf(arguments[0]));
  return GoValue(absl::StrCat(absl::ToUnixSeconds(time)));
}
GoResult DateModify(const Arguments& arguments) {
  std::string text;
  ASSIGN_OR_RETURN(text, StringAt(arguments, 0));
  ASSIGN_OR_RETURN(const absl::Time time, TimeOf(arguments[1]));
  const std::optional<absl::Duration> duration = api::ParseGoDuration(text);
  if (!duration.has_value()) return arguments[1];
  return GoValue(absl::FormatTime(kTimeText, time + *duration, absl::UTCTimeZone()));
}

constexpr char kDigits[] = "0123456789";
constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

// So many letters of an alphabet.
GoResult RandomText(absl::string_view alphabet, const Arguments& arguments, Rng& rng) {
  const int64_t size = IntOf(arguments[0]);
  if (size < 0 || size > kSizeMax) return Invalid("too long a text");
  std::string out;
  for (int64_t i = 0; i < size; ++i) {
    out += alphabet[static_cast<size_t>(rng.Below(static_cast<int64_t>(alphabet.size())))];
  }
  return GoValue(std::move(out));
}

GoResult RandomInt(const Arguments& arguments, Rng& rng) {
  const int64_t from = IntOf(arguments[0]);
  const int64_t to = IntOf(arguments[1]);
  if (to <= from || (from < 0 && to > INT64_MAX + from)) return Invalid("invalid argument to Intn");
  return GoValue(from + rng.Below(to - from));
}

GoResult Uuid(Rng& rng) {
  uint64_t high = rng.Next();
  uint64_t low = rng.Next();
  high = (high & ~uint64_t{0xf000}) | 0x4000;
  low = (low & ~(uint64_t{3} << 62)) | (uint64_t{1} << 63);
  return GoValue(absl::StrFormat("%08x-%04x-%04x-%04x-%012x", high >> 32, (high >> 16) & 0xffff,
                                 high & 0xffff, low >> 48, low & 0xffffffffffff));
}

struct Row {
  const char* name;
  size_t argument_count_min;
  std::optional<size_t> argument_count_max;
  GoResult (*call)(const Arguments&);
};

const Row kFunctions[] = {
    {"add", 0, std::nullopt, Add},
    {"add1", 1, 1, Add1},
    {"append", 2, 2, Append},
    {"atoi", 1, 1, ToInt},
    {"b64dec", 1, 1, Base64Decode},
    {"b64enc", 1, 1, OfText<Base64>},
    {"biggest", 1, std::nullopt, Max},
    {"cat", 0, std::nullopt, Joined<TextOf>},
    {"ceil", 1, 1, Ceil},
    {"coalesce", 0, std::nullopt, Coalesce},
    {"compact", 1, 1, Compact},
    {"concat", 0, std::nullopt, Concat},
    {"contains", 2, 2, WordAndTextHold<HasPart>},
    {"date", 2, 2, Date},
    {"dateModify", 2, 2, DateModify},
    {"date_modify", 2, 2, DateModify},
    {"default", 1, 2, Default},
    {"dict", 0, std::nullopt, Dict},
    {"dig", 3, std::nullopt, Dig},
    {"div", 2, 2, Div},
    {"empty", 1, 1, Empty},
    {"fail", 1, 1, Fail},
    {"first", 1, 1, First},
    {"float64", 1, 1, ToFloat},
    {"floor", 1, 1, Floor},
    {"fromJson", 1, 1, FromJson},
    {"get", 2, 2, Get},
    {"has", 2, 2, Has},
    {"hasKey", 2, 2, HasKey},
    {"hasPrefix", 2, 2, WordAndTextHold<HasStart>},
    {"hasSuffix", 2, 2, WordAndTextHold<HasEnd>},
    {"indent", 2, 2, Indent<false>},
    {"initial", 1, 1, Initial},
    {"int", 1, 1, ToInt},
    {"int64", 1, 1, ToInt},
    {"join", 2, 2, Join},
    {"keys", 0, std::nullopt, Keys},
    {"kindIs", 2, 2, KindIs},
    {"kindOf", 1, 1, KindOf},
    {"last", 1, 1, Last},
    {"list", 0, std::nullopt, List},
    {"lower", 1, 1, OfText<Lower>},
    {"max", 1, std::nullopt, Max},
    {"min", 1, std::nullopt, Min},
    {"mod", 2, 2, Mod},
    {"mul", 1, std::nullopt, Mul},
    {"nindent", 2, 2, Indent<true>},
    {"nospace", 1, 1, OfText<NoSpace>},
    {"omit", 1, std::nullopt, Select<false>},
    {"pick", 1, std::nullopt, Select<true>},
    {"prepend", 2, 2, Prepend},
    {"push", 2, 2, Append},
    {"quote", 0, std::nullopt, Joined<Quoted>},
    {"repeat", 2, 2, Repeat},
    {"replace", 3, 3, Replace},
    {"rest", 1, 1, Rest},
    {"reverse", 1, 1, Reverse},
    {"round", 2, 2, Round},
    {"sortAlpha", 1, 1, SortAlpha},
    {"split", 2, 2, Split},
    {"splitList", 2, 2, SplitList},
    {"squote", 0, std::nullopt, Joined<SingleQuoted>},
    {"sub", 2, 2, Sub},
    {"substr", 3, 3, Substr},
    {"ternary", 3, 3, Ternary},
    {"title", 1, 1, OfText<Title>},
    {"toJson", 1, 1, ToJson},
    {"toString", 1, 1, ToString},
    {"toStrings", 1, 1, ToStrings},
    {"trim", 1, 1, OfText<Trim>},
    {"trimAll", 2, 2, OfWordAndText<TrimAll>},
    {"trimPrefix", 2, 2, OfWordAndText<TrimPrefix>},
    {"trimSuffix", 2, 2, OfWordAndText<TrimSuffix>},
    {"trunc", 2, 2, Trunc},
    {"tuple", 0, std::nullopt, List},
    {"uniq", 1, 1, Uniq},
    {"unixEpoch", 1, 1, UnixEpoch},
    {"until", 1, 1, Until},
    {"untilStep", 3, 3, UntilStep},
    {"upper", 1, 1, OfText<Upper>},
    {"values", 1, 1, Values},
    {"without", 1, std::nullopt, Without},
};

// Parts of Go's layouts, and how Abseil calls them; of several that fit the first one counts.
struct LayoutPart {
  absl::string_view go;
  absl::string_view ours;
};

const LayoutPart kLayoutParts[] = {
    {"January", "%B"}, {"Monday", "%A"}, {"-07:00", "%Ez"}, {"Z07:00", "Z"}, {"-0700", "%z"}, {"2006", "%Y"},
    {"Jan", "%b"},     {"Mon", "%a"},    {"MST", "UTC"},    {"01", "%m"},    {"02", "%d"},    {"03", "%I"},
    {"04", "%M"},      {"05", "%S"},     {"06", "%y"},      {"15", "%H"},    {"PM", "%p"},    {"_2", "%e"},
};

}  // namespace

std::string FormatGoTime(absl::string_view layout, absl::Time time) {
  std::string ours;
  while (!layout.empty()) {
    const auto* part = std::find_if(std::begin(kLayoutParts), std::end(kLayoutParts),
                                    [&](const auto& p) { return absl::StartsWith(layout, p.go); });
    if (part != std::end(kLayoutParts)) {
      absl::StrAppend(&ours, part->ours);
      layout.remove_prefix(part->go.size());
      continue;
    }
    // Fractions of a second follow the seconds: `.000` has all of its digits, `.999` none that is a zero at
    // the end.
    const size_t digits = layout.find_first_not_of(layout.size() > 1 ? layout.substr(1, 1) : "", 1);
    const size_t count = std::min(digits, layout.size()) - 1;
    if (layout[0] == '.' && count > 0 && (layout[1] == '0' || layout[1] == '9')) {
      const int64_t nanoseconds =
          absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(absl::ToUnixSeconds(time)));
      std::string fraction = absl::StrFormat("%09d", nanoseconds).substr(0, std::min<size_t>(count, 9));
      if (layout[1] == '9') {
        while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
      }
      if (!fraction.empty()) absl::StrAppend(&ours, ".", fraction);
      layout.remove_prefix(count + 1);
      continue;
    }
    absl::StrAppend(&ours, layout[0] == '%' ? "%%" : layout.substr(0, 1));
    layout.remove_prefix(1);
  }
  return absl::FormatTime(ours, time, absl::UTCTimeZone());
}

void AddSprigFunctions(const Clock& clock, Rng& rng, GoTemplateFunctions& functions) {
  for (const Row& row : kFunctions) {
    functions.Add({row.name, row.argument_count_min, row.argument_count_max, row.call});
  }
  AddSprigRegexFunctions(functions);
  functions.Add({"now", 0, 0, [&clock](const Arguments&) -> GoResult {
                   return GoValue(absl::FormatTime(kTimeText, clock.Now(), absl::UTCTimeZone()));
                 }});
  functions.Add({"randAlpha", 1, 1, [&rng](const Arguments& a) { return RandomText(kLetters, a, rng); }});
  functions.Add({"randAlphaNum", 1, 1,
                 [&rng](const Arguments& a) { return RandomText(absl::StrCat(kLetters, kDigits), a, rng); }});
  functions.Add({"randInt", 2, 2, [&rng](const Arguments& a) { return RandomInt(a, rng); }});
  functions.Add({"randNumeric", 1, 1, [&rng](const Arguments& a) { return RandomText(kDigits, a, rng); }});
  functions.Add({"uuidv4", 0, 0, [&rng](const Arguments&) { return Uuid(rng); }});
}

}  // namespace schedsim::sim
