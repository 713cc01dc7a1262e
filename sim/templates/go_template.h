// Go's text/template.
#ifndef SCHEDSIM_SIM_TEMPLATES_GO_TEMPLATE_H_
#define SCHEDSIM_SIM_TEMPLATES_GO_TEMPLATE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/templates/go_template_functions.h"
#include "sim/templates/go_value.h"

namespace schedsim::sim {

// One operand of a command. It may have fields behind it: `.a.b`, `$x.a`, `(f).a`.
struct GoTemplatePipeline;
struct GoTemplateOperand {
  enum class Type : uint8_t { kLiteral, kDot, kField, kVariable, kFunction, kPipeline };
  Type type = Type::kLiteral;
  GoValue literal;
  std::string name;                           // Of a variable, with the $; of a function.
  std::vector<std::string> fields;            // kField, kVariable and kPipeline.
  std::vector<GoTemplatePipeline> pipelines;  // kPipeline: one, in parentheses.
};

// `command | command`: the result of each is the last argument of the next. A command is a value, or a
// function with its arguments.
struct GoTemplatePipeline {
  std::vector<std::string> variables;  // That it sets: `$i, $x := ...`.
  bool declares = false;               // `:=`, otherwise `=`.
  std::vector<std::vector<GoTemplateOperand>> commands;
};

struct GoTemplateNode {
  enum class Type : uint8_t { kText, kAction, kIf, kRange, kWith };
  Type type = Type::kText;
  int32_t line = 0;
  std::string text;
  GoTemplatePipeline pipeline;
  std::vector<GoTemplateNode> body;
  std::vector<GoTemplateNode> otherwise;  // Behind {{else}}.
};

// A parsed template. It knows text, comments, trimming (`{{-`), fields, variables, numbers, strings,
// pipelines, if, range, with and the functions that it is given.
class GoTemplate {
 public:
  // `first_line`: where in `file` the text begins. InvalidArgument, `file:line: what`, for what is no
  // template, for what is left out here (define, template, block, break, continue), and for functions that
  // are not among `functions`.
  static absl::StatusOr<GoTemplate> Parse(absl::string_view text, std::string file,
                                          const GoTemplateFunctions& functions, int32_t first_line = 1);

  // The text for `data`, which the dot is at the start, by calls of `functions`. InvalidArgument, `file:line:
  // what`, where the real one would fail; ResourceExhausted for more than kOutputBytesMax.
  absl::StatusOr<std::string> Execute(const GoValue& data, const GoTemplateFunctions& functions) const;

  // Whether `.name` is mentioned anywhere. A text that mentions no index is the same for all of them.
  bool Mentions(absl::string_view name) const;

  const std::string& file() const { return file_; }

  static constexpr size_t kOutputBytesMax = size_t{64} << 20;

 private:
  GoTemplate(std::vector<GoTemplateNode> nodes, std::vector<std::string> fields, std::string file)
      : nodes_(std::move(nodes)), fields_(std::move(fields)), file_(std::move(file)) {}

  std::vector<GoTemplateNode> nodes_;
  std::vector<std::string> fields_;  // All first fields of chains.
  std::string file_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_TEMPLATES_GO_TEMPLATE_H_
