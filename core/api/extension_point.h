// Where plugins take part in scheduling.
#ifndef SCHEDSIM_CORE_API_EXTENSION_POINT_H_
#define SCHEDSIM_CORE_API_EXTENSION_POINT_H_

#include <bitset>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/api/kubernetes_line.h"

namespace schedsim::api {

// In the order in which a pod passes them; the last three only concern pod groups.
enum class ExtensionPoint : uint8_t {
  kPreEnqueue,
  kQueueSort,
  kPreFilter,
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kReserve,
  kPermit,
  kPreBind,
  kBind,
  kPostBind,
  kPlacementGenerate,   // From 1.36 on.
  kPlacementScore,      // From 1.36 on.
  kPodGroupPostFilter,  // From 1.37 on.
};
inline constexpr int kExtensionPointCount = static_cast<int>(ExtensionPoint::kPodGroupPostFilter) + 1;

// The field's name in a configuration: "preEnqueue".
absl::string_view ExtensionPointName(ExtensionPoint point);

// The interface's name in error messages: "PreEnqueuePlugin".
absl::string_view ExtensionPointInterface(ExtensionPoint point);

// Whether the line's configuration knows the extension point.
bool HasExtensionPoint(ExtensionPoint point, KubernetesLine line);

// A set of extension points, by the number of each.
using ExtensionPointSet = std::bitset<kExtensionPointCount>;

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_EXTENSION_POINT_H_
