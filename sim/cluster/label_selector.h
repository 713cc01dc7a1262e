// Label selectors in the notation of kubectl.
#ifndef SCHEDSIM_SIM_CLUSTER_LABEL_SELECTOR_H_
#define SCHEDSIM_SIM_CLUSTER_LABEL_SELECTOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"

namespace schedsim::sim {

// `app=web,tier!=db,zone in (a, b),critical,!old`: all requirements must hold. An empty selector
// selects everything. `=` and `==` are the same; `!=` and `notin` hold for objects without the label, too;
// `>` and `<` compare whole numbers.
// Source: apimachinery v0.37, pkg/labels/selector.go, Parse and Requirement.Matches.
class LabelSelector {
 public:
  // What a requirement asks of the label `key`.
  enum class Operator : uint8_t { kExists, kDoesNotExist, kIn, kNotIn, kGreaterThan, kLessThan };
  struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    // Of kIn and kNotIn: as written. Of the comparisons: one, a number.
    std::vector<std::string> values;
  };

  // InvalidArgument, `"TEXT": column N: what was found, and what was expected`; columns count from 1.
  static absl::StatusOr<LabelSelector> Parse(absl::string_view text);

  bool Matches(const api::StringMap& labels) const;

 private:
  std::vector<Requirement> requirements_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_LABEL_SELECTOR_H_
