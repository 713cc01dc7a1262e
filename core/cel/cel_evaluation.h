// Evaluating the tree of an expression.
#ifndef SCHEDSIM_CORE_CEL_CEL_EVALUATION_H_
#define SCHEDSIM_CORE_CEL_CEL_EVALUATION_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/cel/cel_functions.h"
#include "core/cel/cel_node.h"
#include "core/cel/cel_program.h"
#include "core/cel/cel_value.h"

namespace schedsim::cel {

// One evaluation. It walks over the tree, which is no deeper than the parser let it be.
class CelEvaluation {
 public:
  CelEvaluation(const CelVariables& variables, const CelFunctions& functions, int64_t cost_limit)
      : variables_(variables), functions_(functions), cost_limit_(cost_limit) {}

  // Errors: those of CelProgram::Evaluate.
  CelResult Evaluate(const CelNode& node);

 private:
  CelResult OfNode(const CelNode& node);
  CelResult Variable(const std::string& name) const;
  CelResult Select(const CelNode& node);
  CelResult Index(const CelNode& node);
  CelResult Has(const CelNode& node);
  CelResult Call(const CelNode& node);
  CelResult Operator(const CelNode& node);
  CelResult List(const CelNode& node);
  CelResult Map(const CelNode& node);
  CelResult Logic(const CelNode& node);
  CelResult Conditional(const CelNode& node);
  CelResult Bind(const CelNode& node);
  CelResult Macro(const CelNode& node);
  // map, filter, transformList, and all, exists and exists_one, over `items`: pairs of both variables.
  using Items = std::vector<std::pair<CelValue, CelValue>>;
  CelResult Collect(const CelNode& node, const Items& items);
  CelResult CollectMap(const CelNode& node, const Items& items);
  CelResult Count(const CelNode& node, const Items& items);
  void SetItem(const CelNode& node, const std::pair<CelValue, CelValue>& item);
  // Whether the condition of a macro holds for the item that is set.
  absl::StatusOr<bool> Holds(const CelNode& condition);

  // Counts; ResourceExhausted: too much by now.
  absl::Status Spend(int64_t cost);
  // What no cost counts, but takes time and memory here.
  absl::Status Work(const CelValue& value);

  const CelVariables& variables_;
  const CelFunctions& functions_;
  const int64_t cost_limit_;
  std::vector<std::pair<std::string, CelValue>> locals_;
  int64_t cost_ = 0;
  int64_t work_ = 0;
};

}  // namespace schedsim::cel

#endif  // SCHEDSIM_CORE_CEL_CEL_EVALUATION_H_
