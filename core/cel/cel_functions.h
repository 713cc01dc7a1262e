// The functions that an expression may call.
#ifndef SCHEDSIM_CORE_CEL_CEL_FUNCTIONS_H_
#define SCHEDSIM_CORE_CEL_CEL_FUNCTIONS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/cel/cel_value.h"

namespace schedsim::cel {

using CelArguments = std::vector<CelValue>;
using CelResult = absl::StatusOr<CelValue>;

// Functions by name. One that is called as a method, `x.f(y)`, gets the value in front of the dot as its
// first argument. Names are borrowed: string literals.
class CelFunctions {
 public:
  // InvalidArgument: the arguments don't suit, or there is no result.
  using Function = std::function<CelResult(const CelArguments&)>;

  // The standard ones: size, contains, startsWith, endsWith, matches, conversions (bool, int, uint, double,
  // string, duration, timestamp, dyn, type), the parts of times in UTC, and Kubernetes' quantities (Quantity,
  // quantity). Not there: bytes and time zones.
  // Source: cel-spec, doc/langdef.md; the texts of errors are those of cel-go v0.29.
  CelFunctions();

  // Takes the place of one of the same name.
  void Add(absl::string_view name, Function function) { functions_[name] = std::move(function); }
  bool Has(absl::string_view name) const { return functions_.find(name) != functions_.end(); }
  std::vector<std::string> Names() const;
  CelResult Call(absl::string_view name, const CelArguments& arguments) const;

 private:
  std::map<absl::string_view, Function> functions_;
};

// What the base environment of Kubernetes adds for text, regular expressions, lists, sets, optionals,
// quantities and versions, as far as KubernetesCelSignatures has it. Source: apiserver v0.37,
// pkg/cel/library; cel-go v0.29, ext and cel/library.go.
void AddTextFunctions(CelFunctions& functions);
void AddListFunctions(CelFunctions& functions);
void AddOptionalFunctions(CelFunctions& functions);
void AddKubernetesFunctions(CelFunctions& functions);

// What a call costs. Source: cel-go v0.29, interpreter/runtimecost.go; apiserver v0.37,
// pkg/cel/library/cost.go.
int64_t CelCallCost(absl::string_view function, const CelArguments& arguments, const CelValue& result);
// What it costs to go through a text of `length`.
int64_t CelTextCost(int64_t length);

// What Go says of a regular expression that is wrong; "": it is right.
std::string RegexError(const std::string& regex);

// The error of a function that does not take such arguments.
absl::Status NoSuchOverload(absl::string_view function, const CelArguments& arguments);

}  // namespace schedsim::cel

#endif  // SCHEDSIM_CORE_CEL_CEL_FUNCTIONS_H_
