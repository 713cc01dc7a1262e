#include "sim/jq/jq_library.h"

#include <algorithm>
#include <optional>
#include <utility>

// libjq is C, and its headers do not say so.
extern "C" {
#include <jv.h>  // Before jq.h, which needs it.

#include <jq.h>
}

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "sim/jq/sorted_json.h"

namespace schedsim::sim {
namespace {

using Type = JqOutput::Type;

void KeepFirstMessage(void* target, jv message) {
  auto& text = *static_cast<std::string*>(target);
  if (text.empty() && jv_get_kind(message) == JV_KIND_STRING) text = jv_string_value(message);
  jv_free(message);
}

std::string JsonOf(jv value) {
  const jv text = jv_dump_string(value, JV_PRINT_SORTED);
  std::string out = jv_string_value(text);
  jv_free(text);
  return out;
}

// Takes `output`: what made the program fail.
std::string CauseOf(jv output) {
  const jv message = jv_invalid_get_msg(output);
  if (jv_get_kind(message) != JV_KIND_STRING) return JsonOf(message);
  std::string text = jv_string_value(message);
  jv_free(message);
  return text;
}

// Takes `value`; absent for null.
std::optional<JqOutput> OutputOf(jv value) {
  JqOutput output;
  switch (jv_get_kind(value)) {
    case JV_KIND_NULL:
      jv_free(value);
      return std::nullopt;
    case JV_KIND_TRUE:
    case JV_KIND_FALSE:
      output = {.type = Type::kBool, .text = jv_get_kind(value) == JV_KIND_TRUE ? "true" : "false"};
      break;
    case JV_KIND_STRING:
      output.type = Type::kString;
      output.text =
          std::string(jv_string_value(value), static_cast<size_t>(jv_string_length_bytes(jv_copy(value))));
      break;
    case JV_KIND_NUMBER:
      output = {.type = Type::kFloat, .number = jv_number_value(value)};
      return output.text = JsonOf(value), output;
    default:
      return output.text = JsonOf(value), output;
  }
  jv_free(value);
  return output;
}

}  // namespace

absl::StatusOr<std::unique_ptr<JqLibrary>> JqLibrary::Compile(absl::string_view program) {
  std::unique_ptr<JqLibrary> library(new JqLibrary());
  library->state_ = jq_init();
  if (library->state_ == nullptr) return absl::ResourceExhaustedError("no memory for jq");
  std::string message;
  jq_set_error_cb(library->state_, KeepFirstMessage, &message);
  const bool compiles = jq_compile(library->state_, std::string(program).c_str()) != 0;
  jq_set_error_cb(library->state_, nullptr, nullptr);
  if (compiles) return library;
  absl::string_view first = absl::string_view(message).substr(0, message.find('\n'));
  absl::ConsumePrefix(&first, "jq: error: ");
  const size_t place = first.find(" at <top-level>");
  return absl::InvalidArgumentError(absl::StrCat("no jq expression: ", first.substr(0, place)));
}

JqLibrary::~JqLibrary() {
  if (state_ != nullptr) jq_teardown(&state_);
}

absl::StatusOr<std::vector<JqOutput>> JqLibrary::Run(const codec::Value& object) {
  std::vector<JqOutput> outputs;
  ASSIGN_OR_RETURN(outputs, RunText(SortedJson(object)));
  const auto is_number = [](const JqOutput& output) { return output.type == Type::kFloat; };
  if (std::none_of(outputs.begin(), outputs.end(), is_number)) return outputs;
  // libjq has one kind of numbers. Those that stay the same when every number of the object is another one
  // were computed by the program.
  const absl::StatusOr<std::vector<JqOutput>> others = RunText(SortedJson(object, 0.5));
  if (!others.ok() || others->size() != outputs.size()) return outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    JqOutput& output = outputs[i];
    int64_t whole = 0;
    const bool is_same = (*others)[i].type == Type::kFloat && (*others)[i].text == output.text;
    if (is_number(output) && is_same && absl::SimpleAtoi(output.text, &whole)) output.type = Type::kInteger;
  }
  return outputs;
}

absl::StatusOr<std::vector<JqOutput>> JqLibrary::RunText(const std::string& json) {
  const jv input = jv_parse_sized(json.data(), static_cast<int>(json.size()));
  if (!jv_is_valid(input)) {
    jv_free(input);
    return absl::InvalidArgumentError("the object is nothing that jq reads");
  }
  jq_start(state_, input, 0);
  std::vector<JqOutput> outputs;
  for (size_t count = 0;; ++count) {
    const jv output = jq_next(state_);
    if (!jv_is_valid(output)) {
      const bool failed = jv_invalid_has_msg(jv_copy(output)) != 0;
      if (failed) return absl::InvalidArgumentError(CauseOf(output));
      jv_free(output);
      return outputs;
    }
    std::optional<JqOutput> made = OutputOf(output);
    if (made.has_value()) outputs.push_back(*std::move(made));
    if (count >= JqProgram::kOutputsMax) return absl::ResourceExhaustedError("too many outputs");
  }
}

}  // namespace schedsim::sim
