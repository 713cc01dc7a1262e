#include "core/api/selector_validation.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/api/go_text.h"
#include "core/api/label_name.h"

namespace schedsim::api {
namespace {

// The values as JSON. An empty list is a nil slice in the real parsers.
std::string JsonList(const std::vector<std::string>& values) {
  if (values.empty()) return "null";
  const auto append = [](std::string* out, const std::string& text) {
    absl::StrAppend(out, GoJsonQuote(text));
  };
  return absl::StrCat("[", absl::StrJoin(values, ",", append), "]");
}

void ValidateValueCount(const std::string& path, absl::string_view operator_name,
                        const std::vector<std::string>& values, FieldErrors& errors) {
  if (operator_name == "In" || operator_name == "NotIn") {
    if (!values.empty()) return;
    errors.InvalidJson(path, JsonList(values), "for 'in', 'notin' operators, values set can't be empty");
  } else if (operator_name == "Exists" || operator_name == "DoesNotExist") {
    if (values.empty()) return;
    errors.InvalidJson(path, JsonList(values), "values set must be empty for exists and does not exist");
  } else if (operator_name == "Gt" || operator_name == "Lt") {
    if (values.size() != 1) {
      errors.InvalidJson(path, JsonList(values), "for 'Gt', 'Lt' operators, exactly one value is required");
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (ParseLabelNumber(values[i]).has_value()) continue;
      errors.Invalid(Index(path, i), values[i], "for 'Gt', 'Lt' operators, the value must be an integer");
    }
  }
}

void ValidateLabelExpression(const std::string& path, const NodeSelectorRequirement& requirement,
                             KubernetesLine line, FieldErrors& errors) {
  static constexpr absl::string_view kOperators[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
  const std::string& name = requirement.operator_;
  if (std::find(std::begin(kOperators), std::end(kOperators), name) == std::end(kOperators)) {
    errors.NotSupported(Child(path, "operator"), name, kOperators);
    return;
  }
  ValidateRequirement(path, requirement.key, name, requirement.values, line, errors);
}

void ValidateFieldExpression(const std::string& path, const NodeSelectorRequirement& requirement,
                             FieldErrors& errors) {
  static constexpr absl::string_view kOperators[] = {"In", "NotIn"};
  if (requirement.operator_ != "In" && requirement.operator_ != "NotIn") {
    errors.NotSupported(Child(path, "operator"), requirement.operator_, kOperators);
  } else if (requirement.values.size() != 1) {
    errors.InvalidJson(Child(path, "values"), JsonList(requirement.values), "must have one element");
  }
}

void ValidateTerm(const std::string& path, const NodeSelectorTerm& term, KubernetesLine line,
                  FieldErrors& errors) {
  for (size_t i = 0; i < term.match_expressions.size(); ++i) {
    ValidateLabelExpression(Index(Child(path, "matchExpressions"), i), term.match_expressions[i], line,
                            errors);
  }
  for (size_t i = 0; i < term.match_fields.size(); ++i) {
    ValidateFieldExpression(Index(Child(path, "matchFields"), i), term.match_fields[i], errors);
  }
}

// The errors as Go's aggregate prints them; "" where there is none.
std::string Text(FieldErrors errors) {
  std::vector<std::string> texts;
  for (const FieldError& error : errors.Take()) texts.push_back(absl::StrCat(error.field, ": ", error.body));
  if (texts.size() == 1) return texts[0];
  return texts.empty() ? "" : absl::StrCat("[", absl::StrJoin(texts, ", "), "]");
}

}  // namespace

std::optional<int64_t> ParseLabelNumber(absl::string_view text) {
  absl::string_view digits = text;
  if (!absl::ConsumePrefix(&digits, "+")) absl::ConsumePrefix(&digits, "-");
  // Abseil reads blanks around a number, which Go does not.
  const bool all_digits = !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
  int64_t number = 0;
  if (!all_digits || !absl::SimpleAtoi(text, &number)) return std::nullopt;
  return number;
}

void ValidateRequirement(absl::string_view path, absl::string_view key, absl::string_view operator_name,
                         const std::vector<std::string>& values, KubernetesLine line, FieldErrors& errors) {
  const std::vector<std::string> key_errors = LabelKeyErrors(key, line);
  if (!key_errors.empty()) errors.Invalid(Child(path, "key"), key, absl::StrJoin(key_errors, "; "));
  const std::string values_path = Child(path, "values");
  ValidateValueCount(values_path, operator_name, values, errors);
  for (size_t i = 0; i < values.size(); ++i) {
    const std::vector<std::string> value_errors = LabelValueErrors(values[i], line);
    if (value_errors.empty()) continue;
    errors.Invalid(absl::StrCat(Index(values_path, i), "[", key, "]"), values[i],
                   absl::StrJoin(value_errors, "; "));
  }
}

std::string LabelSelectorError(const LabelSelector& selector, KubernetesLine line) {
  static constexpr absl::string_view kOperators[] = {"In", "NotIn", "Exists", "DoesNotExist"};
  for (const auto& [key, value] : selector.match_labels) {
    FieldErrors errors;
    ValidateRequirement("", key, "=", {value}, line, errors);
    std::string text = Text(std::move(errors));
    if (!text.empty()) return text;
  }
  for (const LabelSelectorRequirement& expression : selector.match_expressions) {
    const std::string& name = expression.operator_;
    if (std::find(std::begin(kOperators), std::end(kOperators), name) == std::end(kOperators)) {
      return absl::StrCat(GoQuote(name), " is not a valid label selector operator");
    }
    FieldErrors errors;
    ValidateRequirement("", expression.key, name, expression.values, line, errors);
    std::string text = Text(std::move(errors));
    if (!text.empty()) return text;
  }
  return "";
}

void ValidateNodeSelectorTerms(absl::string_view path, const std::vector<NodeSelectorTerm>& terms,
                               KubernetesLine line, FieldErrors& errors) {
  for (size_t i = 0; i < terms.size(); ++i) ValidateTerm(Index(path, i), terms[i], line, errors);
}

std::string NodeSelectorError(const NodeSelector& selector, KubernetesLine line) {
  FieldErrors errors;
  ValidateNodeSelectorTerms("nodeSelectorTerms", selector.node_selector_terms, line, errors);
  return Text(std::move(errors));
}

void ValidatePreferredTerms(absl::string_view path, const std::vector<PreferredSchedulingTerm>& terms,
                            KubernetesLine line, FieldErrors& errors) {
  for (size_t i = 0; i < terms.size(); ++i) {
    // The real one leaves `preference` out of the path.
    if (terms[i].weight != 0) ValidateTerm(Index(path, i), terms[i].preference, line, errors);
  }
}

std::string PreferredNodeTermsError(const std::vector<PreferredSchedulingTerm>& terms, KubernetesLine line) {
  FieldErrors errors;
  ValidatePreferredTerms("", terms, line, errors);
  return Text(std::move(errors));
}

}  // namespace schedsim::api
