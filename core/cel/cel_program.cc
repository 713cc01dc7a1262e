#include "core/cel/cel_program.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "core/cel/cel_checker.h"
#include "core/cel/cel_evaluation.h"
#include "core/cel/cel_parser.h"

namespace schedsim::cel {
namespace {

using Type = CelNode::Type;

absl::Status ErrorAt(absl::string_view text, int32_t position, absl::string_view what) {
  const int64_t column = CountCodePoints(text.substr(0, static_cast<size_t>(position))) + 1;
  return absl::InvalidArgumentError(absl::StrCat("column ", column, ": ", what));
}

// Whether all names are known, for expressions without static types.
class NameCheck {
 public:
  NameCheck(absl::string_view text, const CelFunctions& functions,
            const std::vector<absl::string_view>& variables)
      : text_(text), functions_(functions), variables_(variables.begin(), variables.end()) {}

  // Trees are no deeper than the parser lets them be.
  absl::Status Check(CelNode& node) {
    MakeQualifiedCall(node, [this](const std::string& name) { return functions_.Has(name); });
    if (node.type == Type::kCall && !functions_.Has(node.name)) {
      return Unknown(node, absl::StrCat("function ", node.name), functions_.Names());
    }
    const bool is_local = std::find(variables_.begin(), variables_.end(), node.name) != variables_.end();
    if (node.type == Type::kVariable && !is_local) {
      return Unknown(node, absl::StrCat("variable ", node.name), variables_);
    }
    const size_t outside = variables_.size();
    for (size_t i = 0; i < node.children.size(); ++i) {
      if (i == 1 && !node.variable.empty()) {
        variables_.push_back(node.variable);
        if (!node.second_variable.empty()) variables_.push_back(node.second_variable);
      }
      RETURN_IF_ERROR(Check(node.children[i]));
    }
    variables_.resize(outside);
    return absl::OkStatus();
  }

 private:
  absl::Status Unknown(const CelNode& node, absl::string_view what, const std::vector<std::string>& known) {
    return ErrorAt(text_, node.position,
                   absl::StrCat(what, " is not known, expected one of ", absl::StrJoin(known, ", ")));
  }

  const absl::string_view text_;
  const CelFunctions& functions_;
  std::vector<std::string> variables_;
};

bool IsConversion(absl::string_view name) {
  constexpr absl::string_view kConversions[] = {"bool", "bytes",  "double",    "duration", "dyn",
                                                "int",  "string", "timestamp", "type",     "uint"};
  return std::find(std::begin(kConversions), std::end(kConversions), name) != std::end(kConversions);
}

// Converts constants, as cel-go does before it runs anything: what cannot be converted is an error then.
void FoldConstants(CelNode& node, const CelFunctions& functions, std::string& error) {
  for (CelNode& child : node.children) FoldConstants(child, functions, error);
  if (!error.empty() || node.type != Type::kCall) return;
  const bool is_find = (node.name == "find" || node.name == "findAll") && node.children.size() > 1;
  if (is_find && node.children[1].type == Type::kLiteral) {
    error = RegexError(node.children[1].literal.AsString());
    if (!error.empty()) return;
  }
  const bool is_constant = node.children.size() == 1 && node.children[0].type == Type::kLiteral;
  if (!is_constant || !IsConversion(node.name)) return;
  CelResult value = functions.Call(node.name, {node.children[0].literal});
  if (!value.ok()) {
    error = std::string(value.status().message());
    return;
  }
  node.type = Type::kLiteral;
  node.literal = *std::move(value);
  node.children.clear();
}

// Whether the text of a mistake is ours, of what we don't know, and not cel-go's.
bool IsUnbuilt(absl::string_view message) {
  return message.find("not known here") != absl::string_view::npos || message == "nested too deep" ||
         message.find("in a row") != absl::string_view::npos;
}

}  // namespace

absl::StatusOr<CelProgram> CelProgram::Parse(absl::string_view text, const CelFunctions& functions,
                                             const std::vector<absl::string_view>& variables) {
  CelNode root;
  CelError error;
  if (!ParseCel(text, root, error)) return ErrorAt(text, error.position, error.message);
  RETURN_IF_ERROR(NameCheck(text, functions, variables).Check(root));
  return CelProgram(std::make_shared<const CelNode>(std::move(root)));
}

absl::StatusOr<CelProgram> CelProgram::Compile(absl::string_view text, const CelDeclarations& declarations,
                                               CelType& type) {
  CelNode root;
  CelError error;
  if (!ParseCel(text, root, error)) {
    if (IsUnbuilt(error.message)) return absl::UnimplementedError(error.message);
    return absl::InvalidArgumentError(CelErrorsText(text, {error}));
  }
  CelCheck check = CheckCel(root, declarations);
  if (!check.unbuilt.empty()) {
    return absl::UnimplementedError(absl::StrCat(check.unbuilt, " is not known here"));
  }
  if (!check.errors.empty()) return absl::InvalidArgumentError(CelErrorsText(text, check.errors));
  std::string constant_error;
  FoldConstants(root, *declarations.functions, constant_error);
  if (!constant_error.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(kProgramError, constant_error));
  }
  type = std::move(check.type);
  return CelProgram(std::make_shared<const CelNode>(std::move(root)));
}

CelResult CelProgram::Evaluate(const CelVariables& variables, const CelFunctions& functions,
                               int64_t cost_limit) const {
  return CelEvaluation(variables, functions, cost_limit).Evaluate(*root_);
}

}  // namespace schedsim::cel
