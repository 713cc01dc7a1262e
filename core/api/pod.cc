#include "core/api/pod.h"

#include <utility>

namespace schedsim::api {

const PodCondition* Pod::FindCondition(absl::string_view type) const {
  for (const PodCondition& condition : status.conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

void Pod::SetCondition(PodCondition condition) {
  for (PodCondition& known : status.conditions.Mutable()) {
    if (known.type == condition.type) {
      known = std::move(condition);
      return;
    }
  }
  status.conditions.push_back(std::move(condition));
}

}  // namespace schedsim::api
