#include "sim/cluster/admission/default_toleration_seconds.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace schedsim::sim {
namespace {

constexpr int64_t kDefaultSeconds = 300;

bool Concerns(const api::Toleration& toleration, absl::string_view taint) {
  return (toleration.key == taint || toleration.key.empty()) &&
         (toleration.effect == "NoExecute" || toleration.effect.empty());
}

}  // namespace

absl::Status DefaultTolerationSecondsPlugin::MutateSpec(absl::string_view /*name_space*/,
                                                        api::PodSpec& spec) const {
  for (const absl::string_view taint : {api::kTaintNodeNotReady, api::kTaintNodeUnreachable}) {
    const bool concerns =
        std::any_of(spec.tolerations.begin(), spec.tolerations.end(),
                    [taint](const api::Toleration& toleration) { return Concerns(toleration, taint); });
    if (concerns) continue;
    api::Toleration toleration;
    toleration.key = std::string(taint);
    toleration.operator_ = "Exists";
    toleration.effect = "NoExecute";
    toleration.toleration_seconds = kDefaultSeconds;
    spec.tolerations.push_back(std::move(toleration));
  }
  return absl::OkStatus();
}

}  // namespace schedsim::sim
