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

struct CelDeclarations;
struct CelNode;
struct CelType;

// What errors start with that are found when a checked expression is made ready to run.
inline constexpr char kProgramError[] = "program instantiation failed: ";

// What an expression may cost by default, as for a selector of devices.
inline constexpr int64_t kCelCostMax = 1'000'000;

// Variables by name, few of them.
using CelVariables = std::vector<std::pair<absl::string_view, CelValue>>;

// A parsed expression. It knows literals, lists and maps, fields, indices, optional ones too, `in`,
// arithmetic, comparisons, logic, `? :`, calls of functions, and the macros has, all, exists, exists_one, map
// and filter, those with two variables, cel.bind, optMap and optFlatMap. There are no bytes, no keys of maps
// but texts, and no messages that are built in the expression. Copies share the tree.
class CelProgram {
 public:
  // Without static checks of types. InvalidArgument, `column N: what`: no expression, or one that names a
  // function that is not among `functions`, or a variable that is not among `variables`.
  static absl::StatusOr<CelProgram> Parse(absl::string_view text, const CelFunctions& functions,
                                          const std::vector<absl::string_view>& variables);

  // With static checks; sets `type`. InvalidArgument: the errors as cel-go prints them, with the line and a
  // caret below. Unimplemented, with its name: the expression uses what the real environment has and we have
  // not.
  static absl::StatusOr<CelProgram> Compile(absl::string_view text, const CelDeclarations& declarations,
                                            CelType& type);

  // InvalidArgument or NotFound for what CEL calls an error: a key that is not there, types that don't suit,
  // a division by zero. ResourceExhausted where it costs more than `cost_limit`.
  // Source: cel-go v0.29, interpreter.
  CelResult Evaluate(const CelVariables& variables, const CelFunctions& functions,
                     int64_t cost_limit = kCelCostMax) const;

 private:
  explicit CelProgram(std::shared_ptr<const CelNode> root) : root_(std::move(root)) {}

  std::shared_ptr<const CelNode> root_;
};

}  // namespace schedsim::cel

#endif  // SCHEDSIM_CORE_CEL_CEL_PROGRAM_H_
