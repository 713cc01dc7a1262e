// From the text of an expression to its tree.
#ifndef SCHEDSIM_CORE_CEL_CEL_PARSER_H_
#define SCHEDSIM_CORE_CEL_CEL_PARSER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/cel/cel_functions.h"
#include "core/cel/cel_value.h"

namespace schedsim::cel {

// Expressions may be nested this deep.
inline constexpr int kCelDepthMax = 50;

// A part of an expression.
struct CelNode {
  enum class Type : uint8_t {
    kLiteral,
    kVariable,     // `name`.
    kSelect,       // A field `name` of the child.
    kHas,          // Whether the child has a field `name`.
    kIndex,        // The first child at the second one.
    kCall,         // A function `name` of the children.
    kList,         // Of the children.
    kMap,          // Of the children: key, value, key, value.
    kConditional,  // `a ? b : c`.
    kAnd,
    kOr,
    kNot,
    kNegate,
    kOperator,  // Of two children; `name` is "+", "<=", "in" and so on.
    kMacro,     // `name` is "all" and so on: of the first child's items, each of which is `variable` in the
                // second child (and the third one, for a map with a filter).
  };
  Type type = Type::kLiteral;
  CelValue literal;
  std::string name;
  std::string variable;
  std::vector<CelNode> children;
};

// Errors: as CelProgram::Parse has them.
absl::StatusOr<CelNode> ParseCel(absl::string_view text, const CelFunctions& functions,
                                 const std::vector<absl::string_view>& variables);

}  // namespace schedsim::cel

#endif  // SCHEDSIM_CORE_CEL_CEL_PARSER_H_
