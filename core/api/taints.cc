#include "core/api/taints.h"

#include <algorithm>

namespace schedsim::api {

bool Tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.operator_.empty() || toleration.operator_ == "Equal") return toleration.value == taint.value;
  return toleration.operator_ == "Exists";
}

const Toleration* FindToleration(const std::vector<Toleration>& tolerations, const Taint& taint) {
  const auto found =
      std::find_if(tolerations.begin(), tolerations.end(),
                   [&taint](const Toleration& toleration) { return Tolerates(toleration, taint); });
  return found == tolerations.end() ? nullptr : &*found;
}

bool TolerationsTolerateTaint(const std::vector<Toleration>& tolerations, const Taint& taint) {
  return FindToleration(tolerations, taint) != nullptr;
}

bool HasUntoleratedTaint(const std::vector<Taint>& taints, const std::vector<Toleration>& tolerations) {
  return std::any_of(taints.begin(), taints.end(), [&tolerations](const Taint& taint) {
    const bool keeps_away = taint.effect == "NoSchedule" || taint.effect == "NoExecute";
    return keeps_away && !TolerationsTolerateTaint(tolerations, taint);
  });
}

}  // namespace schedsim::api
