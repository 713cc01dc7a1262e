#include "core/api/extension_point.h"

#include <iterator>

namespace schedsim::api {
namespace {

struct Names {
  absl::string_view field;
  absl::string_view interface;
};

// In the order of ExtensionPoint.
constexpr Names kNames[] = {
    {"preEnqueue", "PreEnqueuePlugin"},
    {"queueSort", "QueueSortPlugin"},
    {"preFilter", "PreFilterPlugin"},
    {"filter", "FilterPlugin"},
    {"postFilter", "PostFilterPlugin"},
    {"preScore", "PreScorePlugin"},
    {"score", "ScorePlugin"},
    {"reserve", "ReservePlugin"},
    {"permit", "PermitPlugin"},
    {"preBind", "PreBindPlugin"},
    {"bind", "BindPlugin"},
    {"postBind", "PostBindPlugin"},
    {"placementGenerate", "PlacementGeneratePlugin"},
    {"placementScore", "PlacementScorePlugin"},
    {"podGroupPostFilter", "PodGroupPostFilterPlugin"},
};
static_assert(std::size(kNames) == kExtensionPointCount);

}  // namespace

absl::string_view ExtensionPointName(ExtensionPoint point) {
  return kNames[static_cast<size_t>(point)].field;
}

absl::string_view ExtensionPointInterface(ExtensionPoint point) {
  return kNames[static_cast<size_t>(point)].interface;
}

bool HasExtensionPoint(ExtensionPoint point, KubernetesLine line) {
  switch (point) {
    case ExtensionPoint::kPlacementGenerate:
    case ExtensionPoint::kPlacementScore:
      return line >= KubernetesLine::k1_36;
    case ExtensionPoint::kPodGroupPostFilter:
      return line >= KubernetesLine::k1_37;
    default:
      return true;
  }
}

}  // namespace schedsim::api
