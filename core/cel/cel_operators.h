// The operators of expressions.
#ifndef SCHEDSIM_CORE_CEL_CEL_OPERATORS_H_
#define SCHEDSIM_CORE_CEL_CEL_OPERATORS_H_

#include "absl/strings/string_view.h"
#include "core/cel/cel_functions.h"
#include "core/cel/cel_value.h"

namespace schedsim::cel {

// `name` is "+", "<=", "in" and so on. InvalidArgument: the types don't suit, a division by zero, an
// overflow. Source: cel-go v0.29, common/types and common/stdlib/standard.go, for types that only kwok
// combines kwok v0.8.0.
CelResult CelOperator(absl::string_view name, const CelValue& a, const CelValue& b);
CelResult CelNegate(const CelValue& value);

// `container[index]`. NotFound: no such key.
CelResult CelIndex(const CelValue& container, const CelValue& index);

// What the operator costs.
int64_t CelOperatorCost(absl::string_view name, const CelValue& a, const CelValue& b);

}  // namespace schedsim::cel

#endif  // SCHEDSIM_CORE_CEL_CEL_OPERATORS_H_
