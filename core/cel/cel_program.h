// Expressions of the Common Expression Language.
#ifndef SCHEDSIM_CORE_CEL_CEL_PROGRAM_H_
#define SCHEDSIM_CORE_CEL_CEL_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/cel/cel_functions.h"
#include "core/cel/cel_value.h"

namespace schedsim::cel {

struct CelNode;

// Variables by name, few of them.
using CelVariables = std::vector<std::pair<absl::string_view, CelValue>>;

// A parsed expression. It knows literals, lists and maps, fields, indices, `in`, arithmetic, comparisons,
// logic, `? :`, calls of functions, and the macros has, all, exists, exists_one, map and filter. There are no
// bytes, no types, and no messages that are built in the expression. Copies share the tree.
class CelProgram {
 public:
  // InvalidArgument, `column N: what`: no expression, or one that names a function that is not among
  // `functions`, or a variable that is not among `variables`.
  static absl::StatusOr<CelProgram> Parse(absl::string_view text, const CelFunctions& functions,
                                          const std::vector<absl::string_view>& variables);

  // InvalidArgument or NotFound for what CEL calls an error: a key that is not there, types that don't suit,
  // a division by zero. ResourceExhausted where it takes too many steps.
  CelResult Evaluate(const CelVariables& variables, const CelFunctions& functions) const;

 private:
  explicit CelProgram(std::shared_ptr<const CelNode> root) : root_(std::move(root)) {}

  std::shared_ptr<const CelNode> root_;
};

}  // namespace schedsim::cel

#endif  // SCHEDSIM_CORE_CEL_CEL_PROGRAM_H_
