#include "core/api/kubernetes_line.h"

#include <cstddef>
#include <iterator>

namespace schedsim::api {
namespace {

struct Names {
  absl::string_view line;
  absl::string_view release;
};

// In the order of KubernetesLine.
constexpr Names kNames[] = {
    {"1.34", "1.34.4"},
    {"1.35", "1.35.4"},
    {"1.36", "1.36.3"},
    {"1.37", "1.37.2"},
};
static_assert(std::size(kNames) == kKubernetesLineCount);

}  // namespace

absl::string_view KubernetesLineName(KubernetesLine line) { return kNames[static_cast<size_t>(line)].line; }

absl::string_view PinnedRelease(KubernetesLine line) { return kNames[static_cast<size_t>(line)].release; }

}  // namespace schedsim::api
