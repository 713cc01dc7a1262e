// The Kubernetes release lines that can be simulated.
#ifndef SCHEDSIM_CORE_API_KUBERNETES_LINE_H_
#define SCHEDSIM_CORE_API_KUBERNETES_LINE_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace schedsim::api {

// In order, oldest first. Each line stands for one pinned release: see PinnedRelease.
// NOLINTNEXTLINE(readability-identifier-naming): the underscore is the version's dot.
enum class KubernetesLine : uint8_t { k1_34, k1_35, k1_36, k1_37 };
inline constexpr int kKubernetesLineCount = 4;
inline constexpr KubernetesLine kDefaultKubernetesLine = KubernetesLine::k1_37;

// "1.37".
absl::string_view KubernetesLineName(KubernetesLine line);

// The release whose behavior the line has: "1.37.2".
absl::string_view PinnedRelease(KubernetesLine line);

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_KUBERNETES_LINE_H_
