// Static checks of expressions.
#ifndef SCHEDSIM_CORE_CEL_CEL_CHECKER_H_
#define SCHEDSIM_CORE_CEL_CEL_CHECKER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/cel/cel_functions.h"
#include "core/cel/cel_lexer.h"
#include "core/cel/cel_node.h"
#include "core/cel/cel_type.h"

namespace schedsim::cel {

// What an expression may name.
struct CelDeclarations {
  const CelSignatures* signatures = nullptr;
  // Those of the signatures.
  const CelFunctions* functions = nullptr;
  std::vector<std::pair<std::string, CelType>> variables;
  // Fields by the name of a type of object.
  std::map<std::string, std::vector<std::pair<std::string, CelType>>> fields;
};

struct CelCheck {
  CelType type;
  // What is wrong, in the order of the text. Where `unbuilt` is not empty they mean nothing.
  std::vector<CelError> errors;
  // Not empty: the expression uses this, which the real environment has and we have not.
  std::string unbuilt;
};

// Finds the type of the expression, as cel-go does, and makes calls of functions whose name has a dot.
// Source: cel-go v0.29, checker/checker.go.
CelCheck CheckCel(CelNode& root, const CelDeclarations& declarations);

// Calls of functions whose name has a dot, `optional.of(x)`, are read as methods: makes it the call that is
// meant, if `is_function` knows the name.
template <typename IsFunction>
bool MakeQualifiedCall(CelNode& node, const IsFunction& is_function) {
  if (!node.is_member || node.children[0].type != CelNode::Type::kVariable) return false;
  std::string name = node.children[0].name + "." + node.name;
  if (!is_function(name)) return false;
  node.name = std::move(name);
  node.is_member = false;
  node.children.erase(node.children.begin());
  return true;
}

// The errors as cel-go prints them, with the line of `text` and a caret below.
std::string CelErrorsText(absl::string_view text, const std::vector<CelError>& errors);

}  // namespace schedsim::cel

#endif  // SCHEDSIM_CORE_CEL_CEL_CHECKER_H_
