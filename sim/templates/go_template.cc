#include "sim/templates/go_template.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "sim/templates/go_template_parser.h"

namespace schedsim::sim {
namespace {

using Nodes = std::vector<GoTemplateNode>;
using Type = GoTemplateNode::Type;

// Walks over the nodes, no deeper than they were nested when they were parsed.
class Execution {
 public:
  Execution(const GoValue& data, absl::string_view file, const GoTemplateFunctions& functions)
      : file_(file), functions_(functions) {
    variables_.emplace_back("$", data);
  }

  absl::Status Walk(const Nodes& nodes, const GoValue& dot) {
    for (const GoTemplateNode& node : nodes) {
      line_ = node.line;
      RETURN_IF_ERROR(WalkNode(node, dot));
      if (out_.size() <= GoTemplate::kOutputBytesMax) continue;
      return absl::ResourceExhaustedError(
          absl::StrCat(file_, ":", line_, ": template: more than ", GoTemplate::kOutputBytesMax, " bytes"));
    }
    return absl::OkStatus();
  }

  std::string& out() { return out_; }

 private:
  // So many rounds of loops; they may be without output.
  static constexpr int64_t kRoundsMax = 1'000'000;
  // So many bytes of arguments and results of functions, as GoValue counts them.
  static constexpr size_t kWorkMax = 250'000'000;

  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(file_, ":", line_, ": template: ", what));
  }

  absl::Status WalkNode(const GoTemplateNode& node, const GoValue& dot) {
    if (node.type == Type::kText) {
      out_ += node.text;
      return absl::OkStatus();
    }
    GoValue value;
    ASSIGN_OR_RETURN(value, Evaluate(node.pipeline, dot));
    if (node.type == Type::kAction) {
      if (!node.pipeline.variables.empty()) return SetVariables(node.pipeline, {value});
      out_ += value.Text();
      return absl::OkStatus();
    }
    // What is declared inside is gone behind the end.
    const size_t variable_count = variables_.size();
    const absl::Status status = WalkControl(node, value, dot);
    variables_.resize(variable_count);
    return status;
  }

  absl::Status WalkControl(const GoTemplateNode& node, const GoValue& value, const GoValue& dot) {
    if (node.type == Type::kRange) return WalkRange(node, value, dot);
    RETURN_IF_ERROR(SetVariables(node.pipeline, {value}));
    if (!value.IsTrue()) return Walk(node.otherwise, dot);
    return Walk(node.body, node.type == Type::kWith ? value : dot);
  }

  absl::Status WalkRange(const GoTemplateNode& node, const GoValue& value, const GoValue& dot) {
    GoValue::Map entries;
    if (value.AsInt() != nullptr) {
      if (*value.AsInt() > kRoundsMax) return Error("too many rounds of a range");
      for (int64_t i = 0; i < *value.AsInt(); ++i) entries.emplace_back("", GoValue(i));
    } else if (value.AsList() != nullptr) {
      for (const GoValue& item : *value.AsList()) entries.emplace_back("", item);
    } else if (value.AsMap() != nullptr) {
      entries = *value.AsMap();
    } else if (!value.is_nil()) {
      return Error(absl::StrCat("range can't iterate over ", value.Text()));
    }
    const bool is_map = value.AsMap() != nullptr;
    const size_t variable_count = variables_.size();
    for (size_t i = 0; i < entries.size(); ++i) {
      if (++rounds_ > kRoundsMax) return Error("too many rounds of ranges");
      const GoValue key = is_map ? GoValue(entries[i].first) : GoValue(static_cast<int64_t>(i));
      // One variable is the element, of two the first one is its place.
      GoValue::List values = {key, entries[i].second};
      if (node.pipeline.variables.size() < 2) values.erase(values.begin());
      RETURN_IF_ERROR(SetVariables(node.pipeline, values));
      RETURN_IF_ERROR(Walk(node.body, entries[i].second));
      variables_.resize(variable_count);
    }
    return entries.empty() ? Walk(node.otherwise, dot) : absl::OkStatus();
  }

  absl::Status SetVariables(const GoTemplatePipeline& pipeline, const GoValue::List& values) {
    if (pipeline.variables.size() > values.size()) return Error("too many variables");
    for (size_t i = 0; i < pipeline.variables.size(); ++i) {
      const std::string& name = pipeline.variables[i];
      if (pipeline.declares) {
        variables_.emplace_back(name, values[i]);
        continue;
      }
      GoValue* variable = FindVariable(name);
      if (variable == nullptr) return Error(absl::StrCat("undefined variable \"", name, "\""));
      *variable = values[i];
    }
    return absl::OkStatus();
  }

  // The innermost one.
  GoValue* FindVariable(const std::string& name) {
    for (auto variable = variables_.rbegin(); variable != variables_.rend(); ++variable) {
      if (variable->first == name) return &variable->second;
    }
    return nullptr;
  }

  absl::StatusOr<GoValue> Evaluate(const GoTemplatePipeline& pipeline, const GoValue& dot) {
    std::optional<GoValue> last;
    for (const std::vector<GoTemplateOperand>& command : pipeline.commands) {
      GoArguments arguments;
      const bool is_call = command[0].type == GoTemplateOperand::Type::kFunction;
      bool is_decided = false;
      for (size_t i = is_call ? 1 : 0; i < command.size() && !is_decided; ++i) {
        GoValue argument;
        ASSIGN_OR_RETURN(argument, EvaluateOperand(command[i], dot));
        is_decided = is_call && Decides(command[0].name, argument);
        arguments.push_back(std::move(argument));
      }
      if (!is_call) {
        if (last.has_value()) return Error("can't give argument to non-function");
        last = std::move(arguments[0]);
        continue;
      }
      if (last.has_value() && !is_decided) arguments.push_back(*std::move(last));
      ASSIGN_OR_RETURN(last, Call(command[0].name, arguments));
    }
    return *std::move(last);
  }

  absl::StatusOr<GoValue> Call(const std::string& function, const GoArguments& arguments) {
    GoResult result = functions_.Call(function, arguments);
    if (!result.ok()) return Error(result.status().message());
    size_t size = result->Size();
    for (const GoValue& argument : arguments) size += std::min(argument.Size(), kWorkMax);
    work_ += std::min(size, kWorkMax);
    if (work_ <= kWorkMax) return result;
    return Error(absl::StrCat("functions with more than ", kWorkMax, " bytes of arguments and results"));
  }

  // Whether the arguments behind this one don't count, and are not evaluated either.
  static bool Decides(const std::string& function, const GoValue& argument) {
    return (function == "and" && !argument.IsTrue()) || (function == "or" && argument.IsTrue());
  }

  absl::StatusOr<GoValue> EvaluateOperand(const GoTemplateOperand& operand, const GoValue& dot) {
    switch (operand.type) {
      case GoTemplateOperand::Type::kLiteral:
        return operand.literal;
      case GoTemplateOperand::Type::kDot:
        return dot;
      case GoTemplateOperand::Type::kField:
        return FieldOf(dot, operand.fields);
      case GoTemplateOperand::Type::kVariable: {
        const GoValue* variable = FindVariable(operand.name);
        if (variable == nullptr) return Error(absl::StrCat("undefined variable \"", operand.name, "\""));
        return FieldOf(*variable, operand.fields);
      }
      case GoTemplateOperand::Type::kFunction:
        // A function among arguments is called without any.
        return Call(operand.name, {});
      case GoTemplateOperand::Type::kPipeline: {
        GoValue value;
        ASSIGN_OR_RETURN(value, Evaluate(operand.pipelines[0], dot));
        return FieldOf(value, operand.fields);
      }
    }
    return GoValue();
  }

  absl::StatusOr<GoValue> FieldOf(GoValue value, const std::vector<std::string>& fields) const {
    for (const std::string& field : fields) {
      if (!value.is_nil() && value.AsMap() == nullptr) {
        return Error(absl::StrCat("can't evaluate field ", field, " in type ", value.TypeName()));
      }
      value = GoValue(value.Find(field));
    }
    return value;
  }

  const absl::string_view file_;
  const GoTemplateFunctions& functions_;
  int32_t line_ = 0;
  int64_t rounds_ = 0;
  size_t work_ = 0;
  std::string out_;
  std::vector<std::pair<std::string, GoValue>> variables_;
};

}  // namespace

absl::StatusOr<GoTemplate> GoTemplate::Parse(absl::string_view text, std::string file,
                                             const GoTemplateFunctions& functions, int32_t first_line) {
  ParsedGoTemplate parsed;
  ASSIGN_OR_RETURN(parsed, ParseGoTemplate(text, file, functions, first_line));
  return GoTemplate(std::move(parsed.nodes), std::move(parsed.fields), std::move(file));
}

absl::StatusOr<std::string> GoTemplate::Execute(const GoValue& data,
                                                const GoTemplateFunctions& functions) const {
  Execution execution(data, file_, functions);
  RETURN_IF_ERROR(execution.Walk(nodes_, data));
  return std::move(execution.out());
}

bool GoTemplate::Mentions(absl::string_view name) const {
  return std::find(fields_.begin(), fields_.end(), name) != fields_.end();
}

}  // namespace schedsim::sim
