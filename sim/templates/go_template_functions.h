// The functions that a template may call.
#ifndef SCHEDSIM_SIM_TEMPLATES_GO_TEMPLATE_FUNCTIONS_H_
#define SCHEDSIM_SIM_TEMPLATES_GO_TEMPLATE_FUNCTIONS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/templates/go_value.h"

namespace schedsim::sim {

using GoArguments = std::vector<GoValue>;
using GoResult = absl::StatusOr<GoValue>;

// A function with its name and what it may be given.
struct GoTemplateFunction {
  absl::string_view name;
  size_t argument_count_min = 0;
  std::optional<size_t> argument_count_max;  // Absent: any number.
  // Given as many arguments as the counts say. InvalidArgument, without a place: the real one would fail.
  std::function<GoResult(const GoArguments&)> call;
};

// Functions by name. Names are borrowed: string literals.
class GoTemplateFunctions {
 public:
  // Those of Go itself, all but call, html, js, slice and urlquery.
  // Source: go1.26, text/template/funcs.go.
  GoTemplateFunctions();

  // Takes the place of one of the same name.
  void Add(GoTemplateFunction function);

  bool Has(absl::string_view name) const { return functions_.find(name) != functions_.end(); }
  // All of them, sorted, for messages.
  std::vector<std::string> Names() const;

  // InvalidArgument, without a place, for a function that is not there, a wrong number of arguments, and
  // whatever makes the real one fail: types that cannot be compared, a division by zero. ResourceExhausted
  // for results of more than kValueSizeMax bytes, or deeper than kValueDepthMax.
  GoResult Call(absl::string_view name, const GoArguments& arguments) const;

  static constexpr size_t kValueSizeMax = 10'000'000;
  static constexpr int kValueDepthMax = 100;

 private:
  std::map<absl::string_view, GoTemplateFunction> functions_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_TEMPLATES_GO_TEMPLATE_FUNCTIONS_H_
