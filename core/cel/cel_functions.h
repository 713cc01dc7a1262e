// The functions that an expression may call.
#ifndef SCHEDSIM_CORE_CEL_CEL_FUNCTIONS_H_
#define SCHEDSIM_CORE_CEL_CEL_FUNCTIONS_H_

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

  // The standard ones for text, sizes and conversions: size, contains, startsWith, endsWith, bool, int, uint,
  // double, string, duration, timestamp, and Kubernetes' quantities (Quantity, quantity). Not there: bytes,
  // dyn, type, matches and the parts of dates.
  // Source: cel-spec, doc/langdef.md.
  CelFunctions();

  // Takes the place of one of the same name.
  void Add(absl::string_view name, Function function) { functions_[name] = std::move(function); }
  bool Has(absl::string_view name) const { return functions_.find(name) != functions_.end(); }
  std::vector<std::string> Names() const;
  CelResult Call(absl::string_view name, const CelArguments& arguments) const;

 private:
  std::map<absl::string_view, Function> functions_;
};

// The error of a function that does not take such arguments.
absl::Status NoSuchOverload(absl::string_view function, const CelArguments& arguments);

}  // namespace schedsim::cel

#endif  // SCHEDSIM_CORE_CEL_CEL_FUNCTIONS_H_
