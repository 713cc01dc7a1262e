#include "sim/cluster/admission/validation_errors.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/api/dns_name.h"
#include "core/api/label_name.h"
#include "core/codec/text/writer.h"

namespace schedsim::sim {
namespace {

using codec::Value;

const Value* PresentOrNull(const Value* value) {
  return value == nullptr || value->is_null() ? nullptr : value;
}

// The digits of a percentage; std::nullopt for all else.
std::optional<absl::string_view> PercentDigits(const FieldAt& number) {
  if (!number.is_present() || !number.value->is_string()) return std::nullopt;
  absl::string_view digits = number.value->text;
  const bool is_percentage =
      absl::ConsumeSuffix(&digits, "%") && !digits.empty() && absl::c_all_of(digits, absl::ascii_isdigit);
  if (!is_percentage) return std::nullopt;
  return digits;
}

// Whether a value is what Go's zero values are in JSON.
bool IsEmptyText(absl::string_view json) {
  constexpr absl::string_view kEmpty[] = {"null", "{}", "[]", "\"\"", "0", "false"};
  return absl::c_linear_search(kEmpty, json);
}

// The nesting of a document has a limit, so that this ends. `drops_empty`: leaves members out that are empty.
void AppendSorted(const Value& value, bool drops_empty, std::string& out) {
  if (value.is_array()) {
    absl::string_view comma = "";
    out += '[';
    for (const Value& item : value.items) {
      absl::StrAppend(&out, std::exchange(comma, ","));
      AppendSorted(item, drops_empty, out);
    }
    out += ']';
    return;
  }
  if (!value.is_object()) {
    out += codec::ToJson(value);
    return;
  }
  std::map<absl::string_view, const Value*> members;
  for (const codec::Member& member : value.members) members[member.key] = &member.value;
  absl::string_view comma = "";
  out += '{';
  for (const auto& [key, member] : members) {
    std::string text;
    AppendSorted(*member, drops_empty, text);
    if (drops_empty && IsEmptyText(text)) continue;
    absl::StrAppend(&out, std::exchange(comma, ","), api::GoJsonQuote(key), ":", text);
  }
  out += '}';
}

}  // namespace

FieldAt FieldAt::Child(absl::string_view name) const {
  return {value == nullptr ? nullptr : PresentOrNull(value->Find(name)), api::Child(path, name)};
}

FieldAt FieldAt::Item(size_t index) const {
  return {index < size() ? PresentOrNull(&value->items[index]) : nullptr, api::Index(path, index)};
}

std::string FieldAt::Text() const {
  return value == nullptr || !value->is_string() ? "" : std::string(value->text);
}

std::optional<int64_t> FieldAt::Number() const {
  int64_t number = 0;
  if (value == nullptr || value->type != Value::Type::kNumber) return std::nullopt;
  if (!absl::SimpleAtoi(value->text, &number)) return std::nullopt;
  return number;
}

FieldAt RootOf(const Value& document) { return {&document, ""}; }

std::string SortedJson(const FieldAt& field) {
  if (!field.is_present()) return "null";
  std::string out;
  AppendSorted(*field.value, false, out);
  return out;
}

std::string SelectorJson(const FieldAt& selector) {
  if (!selector.is_present()) return "null";
  std::vector<std::string> parts;
  for (const absl::string_view name : {"matchLabels", "matchExpressions"}) {
    const FieldAt part = selector.Child(name);
    // Keys, operators and values are in the order of their names.
    if (part.is_present() && !IsEmptyText(SortedJson(part)))
      parts.push_back(absl::StrCat(api::GoJsonQuote(name), ":", SortedJson(part)));
  }
  return absl::StrCat("{", absl::StrJoin(parts, ","), "}");
}

bool HoldTheSame(const FieldAt& a, const FieldAt& b) {
  std::string texts[2];
  for (const int i : {0, 1}) {
    const FieldAt& field = i == 0 ? a : b;
    if (field.is_present()) AppendSorted(*field.value, true, texts[i]);
    if (IsEmptyText(texts[i])) texts[i].clear();
  }
  return texts[0] == texts[1];
}

void ValidationErrors::DnsLabel(const std::string& field, const std::string& text) {
  for (const std::string& why : api::DnsLabelErrors(text)) Invalid(field, text, why);
}

void ValidationErrors::DnsSubdomain(const std::string& field, const std::string& text) {
  for (const std::string& why : api::DnsSubdomainErrors(text)) Invalid(field, text, why);
}

void ValidationErrors::LabelName(const std::string& field, const std::string& name) {
  for (const std::string& why : api::LabelKeyErrors(name, line_)) Invalid(field, name, why);
}

void ValidationErrors::LabelValue(const std::string& field, const std::string& value) {
  for (const std::string& why : api::LabelValueErrors(value, line_)) Invalid(field, value, why);
}

void ValidationErrors::Labels(const std::string& field, const api::StringMap& labels) {
  for (const auto& [key, value] : labels) {
    LabelName(field, key);
    LabelValue(field, value);
  }
}

void ValidationErrors::Labels(const FieldAt& labels) { Labels(labels.path, ReadTexts(labels)); }

void ValidationErrors::LabelSelector(const FieldAt& selector) {
  if (!selector.is_present()) return;
  Labels(selector.Child("matchLabels"));
  const FieldAt expressions = selector.Child("matchExpressions");
  for (size_t i = 0; i < expressions.size(); ++i) {
    const FieldAt expression = expressions.Item(i);
    const FieldAt values = expression.Child("values");
    const std::string operator_text = expression.Child("operator").Text();
    if (operator_text == "In" || operator_text == "NotIn") {
      if (values.size() == 0) Required(values.path, "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (operator_text == "Exists" || operator_text == "DoesNotExist") {
      if (values.size() > 0)
        Forbidden(values.path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else {
      Invalid(expression.Child("operator").path, operator_text, "not a valid selector operator");
    }
    const FieldAt key = expression.Child("key");
    LabelName(key.path, key.Text());
    for (size_t j = 0; j < values.size(); ++j) LabelValue(values.Item(j).path, values.Item(j).Text());
  }
}

void ValidationErrors::NotNegative(const FieldAt& number) {
  const std::optional<int64_t> value = number.Number();
  if (value.has_value() && *value < 0) Invalid(number.path, *value, "must be greater than or equal to 0");
}

void ValidationErrors::IntOrPercent(const FieldAt& number) {
  if (!number.is_present() || !number.value->is_string()) return NotNegative(number);
  if (PercentDigits(number).has_value()) return;
  Invalid(number.path, number.Text(),
          "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
          "'93%', regex used for validation is '[0-9]+%')");
}

void ValidationErrors::AtMost100Percent(const FieldAt& number) {
  if (PercentDigits(number).has_value() && IntOrPercentValue(number) > 100)
    Invalid(number.path, number.Text(), "must not be greater than 100%");
}

void ValidationErrors::OneOf(const FieldAt& text, absl::Span<const absl::string_view> values) {
  if (!text.is_present() || absl::c_linear_search(values, text.Text())) return;
  NotSupported(text.path, text.Text(), values);
}

void ValidationErrors::TextRequired(const FieldAt& text) {
  if (text.Text().empty()) Required(text.path, "");
}

void ValidationErrors::NotFound(std::string field, absl::string_view value) {
  Add(std::move(field), absl::StrCat("Not found: ", api::GoQuote(value)));
}

void ValidationErrors::TooMany(std::string field, size_t count, size_t most) {
  Add(std::move(field),
      absl::StrCat("Too many: ", count, ": must have at most ", most, most == 1 ? " item" : " items"));
}

void ValidationErrors::TooLong(std::string field, size_t most_bytes) {
  Add(std::move(field), absl::StrCat("Too long: may not be more than ", most_bytes, " bytes"));
}

std::vector<std::string> ValidationErrors::TakeTexts() {
  std::vector<std::string> texts;
  for (const api::FieldError& error : Take()) texts.push_back(absl::StrCat(error.field, ": ", error.body));
  return texts;
}

int64_t IntOrPercentValue(const FieldAt& number) {
  const std::optional<absl::string_view> digits = PercentDigits(number);
  if (!digits.has_value()) return number.Number().value_or(0);
  int64_t value = 0;
  // More digits than a number has are more than any limit.
  return absl::SimpleAtoi(*digits, &value) ? value : INT64_MAX;
}

std::optional<api::LabelSelector> ReadLabelSelector(const FieldAt& selector) {
  if (!selector.is_present()) return std::nullopt;
  api::LabelSelector read;
  read.match_labels = ReadTexts(selector.Child("matchLabels"));
  const FieldAt expressions = selector.Child("matchExpressions");
  for (size_t i = 0; i < expressions.size(); ++i) {
    const FieldAt expression = expressions.Item(i);
    api::LabelSelectorRequirement requirement = {.key = expression.Child("key").Text(),
                                                 .operator_ = expression.Child("operator").Text(),
                                                 .values = {}};
    const FieldAt values = expression.Child("values");
    for (size_t j = 0; j < values.size(); ++j) requirement.values.push_back(values.Item(j).Text());
    read.match_expressions.push_back(std::move(requirement));
  }
  return read;
}

api::StringMap ReadTexts(const FieldAt& map) {
  api::StringMap texts;
  if (!map.is_present()) return texts;
  for (const codec::Member& member : map.value->members) texts.Set(member.key, member.value.text);
  return texts;
}

}  // namespace schedsim::sim
