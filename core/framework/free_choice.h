// Choices that the real scheduler leaves to chance.
#ifndef SCHEDSIM_CORE_FRAMEWORK_FREE_CHOICE_H_
#define SCHEDSIM_CORE_FRAMEWORK_FREE_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/framework/pod_info.h"
#include "core/framework/queued_pod_info.h"

namespace schedsim::framework {

// Takes the choices of a run that was recorded, so that the rest of it can be compared.
class FreeChoice {
 public:
  enum class Kind : uint8_t {
    kHost,       // The node taken among those with the highest total.
    kPreemption  // The node to preempt on among the equally good ones.
  };

  virtual ~FreeChoice() = default;

  // The index of the node that was taken, among `nodes`, which are all equally good; absent where the
  // record does not say, or names none of them.
  virtual std::optional<size_t> Choose(Kind kind, const PodInfo& pod, int32_t attempts,
                                       absl::Span<const absl::string_view> nodes) = 0;

  // The order in which nodes were looked at to which PreFilter had narrowed the search, as indices into
  // `nodes`; those that it leaves out come behind. Empty where the record does not say.
  virtual std::vector<size_t> Order(const PodInfo& pod, int32_t attempts,
                                    absl::Span<const absl::string_view> nodes) = 0;

  // Whether the claim, "namespace/name", was bound to the volume: then it comes first among those of one
  // size.
  virtual bool Binds(absl::string_view claim, absl::string_view volume) const = 0;

  // The index of the pod that was popped among `pods`, none of which the queue's order puts before another.
  // The first one is what Go's heap has on top. Also of pods whose group's object has come: the real ones,
  // which are in a map, join their group in any order.
  virtual size_t ChoosePop(absl::Span<const QueuedPodInfo* const> /*pods*/) { return 0; }

  // The index of the pod that goes on first among `pods`, which waited on Permit and were all rejected at
  // this instant; it may be one alone. The first one is what Go's runtime takes.
  virtual size_t ChooseRejected(absl::Span<const PodInfo* const> /*pods*/) { return 0; }
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_FREE_CHOICE_H_
