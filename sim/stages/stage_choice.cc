#include "sim/stages/stage_choice.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/base/status_macros.h"

namespace schedsim::sim {
namespace {

using cel::CelValue;
using Operator = StageRequirement::Operator;

absl::Status Failed(const Stage& stage, const StageExpression& expression, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("Stage ", stage.name, " (", stage.file, ":",
                                                 stage.position.line, "): ", expression.path, ": ", what));
}

cel::CelResult EvaluateCel(const StageExpression& expression, const StageObject& object,
                           const StageContext& context) {
  return expression.cel->Evaluate({{"self", object.cel()}}, context.cel_functions);
}

// Numbers that stood in the object never equal a text: kwok compares floats with strings.
bool IsOneOf(const JqOutput& output, const std::vector<std::string>& values) {
  const bool is_comparable = output.type == JqOutput::Type::kString || output.type == JqOutput::Type::kBool ||
                             output.type == JqOutput::Type::kInteger;
  return is_comparable && std::find(values.begin(), values.end(), output.text) != values.end();
}

absl::StatusOr<bool> Holds(const Stage& stage, const StageRequirement& requirement, const StageObject& object,
                           const StageContext& context) {
  const StageExpression& expression = requirement.expression;
  if (!expression.jq.has_value()) {
    const cel::CelResult result = EvaluateCel(expression, object, context);
    if (!result.ok()) return Failed(stage, expression, result.status().message());
    if (result->Is(CelValue::Type::kBool)) return result->AsBool();
    return Failed(stage, expression, absl::StrCat("expected a bool, got ", result->TypeName()));
  }
  const std::vector<JqOutput> outputs = expression.jq->Run(object.root());
  switch (requirement.op) {
    case Operator::kExists:
      return !outputs.empty();
    case Operator::kDoesNotExist:
      return outputs.empty();
    case Operator::kIn:
    case Operator::kNotIn:
      break;
  }
  const bool is_in = std::any_of(outputs.begin(), outputs.end(),
                                 [&](const JqOutput& output) { return IsOneOf(output, requirement.values); });
  return is_in == (requirement.op == Operator::kIn);
}

// As strconv.ParseInt with base 0.
std::optional<int64_t> ParseGoInt(absl::string_view text) {
  const bool negative = absl::StartsWith(text, "-");
  absl::string_view digits = text.substr(!text.empty() && (negative || text[0] == '+') ? 1 : 0);
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    const char prefix = digits[1];
    base = prefix == 'x' || prefix == 'X' ? 16 : (prefix == 'b' || prefix == 'B' ? 2 : 8);
    digits.remove_prefix(base != 8 || prefix == 'o' || prefix == 'O' ? 2 : 1);
  }
  if (digits.empty()) return std::nullopt;
  int64_t number = 0;
  for (const char c : digits) {
    const char lower = static_cast<char>(c | 0x20);
    const int digit = c >= '0' && c <= '9' ? c - '0' : (lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99);
    if (digit >= base || __builtin_mul_overflow(number, base, &number) ||
        __builtin_add_overflow(number, digit, &number)) {
      return std::nullopt;
    }
  }
  return negative ? -number : number;
}

std::optional<int64_t> Truncated(double number) {
  if (!std::isfinite(number) || std::abs(number) > 9.2e18) return std::nullopt;
  return static_cast<int64_t>(number);
}

absl::StatusOr<std::optional<int64_t>> WeightByCel(const Stage& stage, const StageObject& object,
                                                   const StageContext& context) {
  const cel::CelResult result = EvaluateCel(*stage.weight_from, object, context);
  if (!result.ok()) return Failed(stage, *stage.weight_from, result.status().message());
  if (result->Is(CelValue::Type::kBool)) return result->AsBool() ? 1 : 0;
  if (result->Is(CelValue::Type::kDuration)) return absl::ToInt64Nanoseconds(result->AsDuration());
  if (result->Number().has_value()) return Truncated(*result->Number());
  return Failed(stage, *stage.weight_from, absl::StrCat("expected a number, got ", result->TypeName()));
}

absl::StatusOr<std::optional<int64_t>> WeightOf(const Stage& stage, const StageObject& object,
                                                const StageContext& context) {
  if (!stage.weight_from.has_value()) return stage.weight;
  if (stage.weight_from->cel.has_value()) return WeightByCel(stage, object, context);
  const std::vector<JqOutput> outputs = stage.weight_from->jq->Run(object.root());
  if (outputs.empty()) return stage.weight;
  switch (outputs[0].type) {
    case JqOutput::Type::kString:
      return ParseGoInt(outputs[0].text);
    case JqOutput::Type::kInteger:
    case JqOutput::Type::kFloat:
      return Truncated(outputs[0].number);
    default:
      return stage.weight;
  }
}

// What an expression says of a time; `fallback` where it says nothing of use, and absent where it gives an
// empty text.
std::optional<absl::Duration> TimeFrom(const StageExpression& expression,
                                       std::optional<absl::Duration> fallback, const StageObject& object,
                                       const StageContext& context) {
  if (expression.cel.has_value()) {
    const cel::CelResult result = EvaluateCel(expression, object, context);
    if (!result.ok()) return absl::ZeroDuration();
    if (result->Is(CelValue::Type::kDuration)) return result->AsDuration();
    if (result->Is(CelValue::Type::kString)) {
      return api::ParseGoDuration(result->AsString()).value_or(absl::ZeroDuration());
    }
    if (result->Number().has_value()) return absl::Nanoseconds(Truncated(*result->Number()).value_or(0));
    return absl::ZeroDuration();
  }
  const std::vector<JqOutput> outputs = expression.jq->Run(object.root());
  if (outputs.empty() || outputs[0].type != JqOutput::Type::kString) return fallback;
  const std::string& text = outputs[0].text;
  if (text.empty()) return std::nullopt;
  if (const std::optional<absl::Time> time = api::ParseRfc3339(text)) return *time - context.clock.Now();
  if (const std::optional<absl::Duration> duration = api::ParseGoDuration(text)) return duration;
  return fallback;
}

}  // namespace

absl::StatusOr<bool> StageMatches(const Stage& stage, const StageObject& object,
                                  const StageContext& context) {
  if (!stage.has_selector || stage.kind != object.kind() || stage.api_version != object.api_version()) {
    return false;
  }
  for (const auto& [map, pairs] :
       {std::pair("labels", &stage.match_labels), std::pair("annotations", &stage.match_annotations)}) {
    for (const auto& [key, value] : *pairs) {
      const codec::Value* found = object.FindInMetadata(map, key);
      if (found == nullptr || found->text != value) return false;
    }
  }
  for (const StageRequirement& requirement : stage.match_expressions) {
    ASSIGN_OR_RETURN(const bool holds, Holds(stage, requirement, object, context));
    if (!holds) return false;
  }
  return true;
}

absl::StatusOr<std::vector<StageCandidate>> PossibleStages(const std::vector<Stage>& stages,
                                                           const StageObject& object,
                                                           const StageContext& context) {
  std::vector<StageCandidate> matching;
  for (const Stage& stage : stages) {
    ASSIGN_OR_RETURN(const bool matches, StageMatches(stage, object, context));
    if (!matches) continue;
    ASSIGN_OR_RETURN(const std::optional<int64_t> weight, WeightOf(stage, object, context));
    matching.push_back({.stage = &stage, .weight = weight});
  }
  if (matching.size() <= 1) return matching;
  const auto has_weight = [](const StageCandidate& candidate) { return candidate.weight.has_value(); };
  const auto is_positive = [](const StageCandidate& candidate) { return candidate.weight.value_or(0) > 0; };
  std::vector<StageCandidate> possible;
  if (std::any_of(matching.begin(), matching.end(), is_positive)) {
    std::copy_if(matching.begin(), matching.end(), std::back_inserter(possible), is_positive);
  } else if (std::any_of(matching.begin(), matching.end(), has_weight)) {
    std::copy_if(matching.begin(), matching.end(), std::back_inserter(possible), has_weight);
  } else {
    possible = std::move(matching);
  }
  return possible;
}

const Stage* ChooseStage(const std::vector<StageCandidate>& candidates, Rng& rng) {
  if (candidates.empty()) return nullptr;
  if (candidates.size() == 1) return candidates[0].stage;
  int64_t sum = 0;
  for (const StageCandidate& candidate : candidates) {
    const int64_t weight = std::max<int64_t>(candidate.weight.value_or(0), 0);
    if (__builtin_add_overflow(sum, weight, &sum)) sum = INT64_MAX;
  }
  if (sum == 0) {
    return candidates[static_cast<size_t>(rng.Below(static_cast<int64_t>(candidates.size())))].stage;
  }
  int64_t drawn = rng.Below(sum);
  for (const StageCandidate& candidate : candidates) {
    drawn -= std::max<int64_t>(candidate.weight.value_or(0), 0);
    if (drawn < 0) return candidate.stage;
  }
  return candidates.back().stage;
}

std::optional<DelayRange> DelayOf(const Stage& stage, const StageObject& object,
                                  const StageContext& context) {
  if (!stage.delay.has_value()) return std::nullopt;
  const StageDelay& delay = *stage.delay;
  std::optional<absl::Duration> duration = delay.duration;
  if (delay.duration_from.has_value()) {
    duration = TimeFrom(*delay.duration_from, delay.duration, object, context);
  }
  if (!duration.has_value()) return DelayRange{.from = absl::ZeroDuration()};
  std::optional<absl::Duration> jitter = delay.jitter_duration;
  if (delay.jitter_duration_from.has_value()) {
    jitter = TimeFrom(*delay.jitter_duration_from, delay.jitter_duration, object, context);
  }
  if (!jitter.has_value()) return DelayRange{.from = *duration};
  // A jitter that is no longer than the delay takes its place.
  if (*jitter <= *duration) return DelayRange{.from = *jitter};
  return DelayRange{.from = *duration, .to = jitter};
}

absl::Duration DrawDelay(const DelayRange& range, Rng& rng) {
  absl::Duration drawn = range.from;
  if (range.to.has_value()) {
    const int64_t width = absl::ToInt64Nanoseconds(*range.to - range.from);
    if (width > 0) drawn += absl::Nanoseconds(rng.Below(width));
  }
  return std::max(drawn, absl::ZeroDuration());
}

}  // namespace schedsim::sim
