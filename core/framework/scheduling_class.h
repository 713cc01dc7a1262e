// What plugins read of a pod's spec, in a canonical form: equal forms mean pods that no plugin can tell
// apart.
#ifndef SCHEDSIM_CORE_FRAMEWORK_SCHEDULING_CLASS_H_
#define SCHEDSIM_CORE_FRAMEWORK_SCHEDULING_CLASS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "core/api/pod.h"

namespace schedsim::framework {

// A part of a spec that some plugins read and the others do not. What a plugin of one concern answers can
// serve all pods that are alike in it.
enum class Concern : uint8_t {
  kRequests,       // What containers and pod ask for.
  kTolerations,    // spec.tolerations.
  kNodeSelection,  // spec.nodeSelector and node affinity.
  kHostPorts,      // Container ports, with hostNetwork.
  kImages,         // Images of containers and of image volumes.
  kSpreading,      // spec.topologySpreadConstraints.
  kPodAffinity,    // Pod affinity and anti-affinity.
  kOther,          // Priority, preemption policy, gates, restart rules and whatever else is read.
  kVolumes,        // Volumes and resource claims that a plugin looks at.
};
inline constexpr size_t kConcernCount = 9;

// One spec in canonical form. Names of containers and volume mounts, and volumes that no plugin looks at
// (tokens, config maps, empty directories), are not in it: dumps of live clusters have a volume with a name
// of its own for nearly every pod.
class SchedulingKey {
 public:
  explicit SchedulingKey(const api::PodSpec& spec);

  absl::string_view Part(Concern concern) const {
    const size_t index = static_cast<size_t>(concern);
    const size_t begin = index == 0 ? 0 : ends_[index - 1];
    return absl::string_view(text_).substr(begin, ends_[index] - begin);
  }
  // All parts but kVolumes. StatefulSets give each pod claims of its own, which say nothing of its room.
  absl::string_view WithoutVolumes() const {
    return absl::string_view(text_).substr(0, ends_[static_cast<size_t>(Concern::kVolumes) - 1]);
  }

 private:
  // Bytes that can be compared and hashed, not read.
  std::string text_;
  std::array<size_t, kConcernCount> ends_;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_SCHEDULING_CLASS_H_
