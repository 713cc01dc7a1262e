// Label selectors in the notation of kubectl.
#ifndef SCHEDSIM_SIM_CLUSTER_LABEL_SELECTOR_H_
#define SCHEDSIM_SIM_CLUSTER_LABEL_SELECTOR_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"

namespace schedsim::sim {

// `app=web,tier!=db,critical,!old`: all parts must hold. An empty one selects everything.
class LabelSelector {
 public:
  // InvalidArgument, naming what is expected.
  static absl::StatusOr<LabelSelector> Parse(absl::string_view text);

  bool Matches(const api::StringMap& labels) const;

 private:
  struct Requirement {
    std::string key;
    // Absent: only whether the label is there counts.
    std::optional<std::string> value;
    bool negated = false;
  };

  std::vector<Requirement> requirements_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_LABEL_SELECTOR_H_
