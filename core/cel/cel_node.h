// The tree of an expression.
#ifndef SCHEDSIM_CORE_CEL_CEL_NODE_H_
#define SCHEDSIM_CORE_CEL_CEL_NODE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/cel/cel_value.h"

namespace schedsim::cel {

// A part of an expression.
struct CelNode {
  enum class Type : uint8_t {
    kLiteral,
    kVariable,        // `name`.
    kSelect,          // A field `name` of the child.
    kHas,             // Whether the child has a field `name`.
    kOptionalSelect,  // An optional of the field `name` of the child: `a.?b`.
    kIndex,           // The first child at the second one.
    kOptionalIndex,   // The same as an optional: `a[?b]`.
    kCall,            // A function `name` of the children; `is_member`: as `a.f(b)`, the first one is `a`.
    kList,            // Of the children.
    kMap,             // Of the children: key, value, key, value.
    kConditional,     // `a ? b : c`.
    kAnd,
    kOr,
    kNot,
    kNegate,
    kOperator,  // Of two children; `name` is "+", "<=", "in" and so on.
    kMacro,     // `name` is "all" and so on: of the first child's items, each of which is `variable` in the
             // children behind. With `second_variable`: `variable` is the index or key, that one the value.
    kBind,  // The second child, in which `variable` stands for the first one. `name` is "optMap" or
            // "optFlatMap" where the first one is an optional, whose value is meant; else it is "bind".
  };
  Type type = Type::kLiteral;
  CelValue literal;
  std::string name;
  std::string variable;
  std::string second_variable;
  std::vector<CelNode> children;
  bool is_member = false;
  // Where it is in the text, in bytes: of an operator or a call its sign or parenthesis.
  int32_t position = 0;
};

}  // namespace schedsim::cel

#endif  // SCHEDSIM_CORE_CEL_CEL_NODE_H_
