// Pods that fitted nowhere, so that an equal pod is tried again on the nodes that changed since.
#ifndef SCHEDSIM_CORE_SCHEDULER_NO_FIT_MEMO_H_
#define SCHEDSIM_CORE_SCHEDULER_NO_FIT_MEMO_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/base/lookup_map.h"
#include "core/framework/cycle_state.h"
#include "core/framework/diagnosis.h"
#include "core/framework/framework.h"
#include "core/framework/handle.h"
#include "core/framework/pod_info.h"

namespace schedsim::scheduler {

// Bounded; forgetting changes no result. Only for cycles in which the answer for a node follows from the
// pod's spec and the node (Framework::FiltersByNodeOnly), nominated pods play no part, and all nodes are
// looked at.
class NoFitMemo {
 public:
  // Whether a pod of this spec fitted nowhere and still does not. `diagnosis` is then what a search over all
  // nodes would make of it, but for the order of the nodes. Otherwise nothing is known, and `diagnosis` is as
  // before.
  bool StillFitsNowhere(framework::Framework& framework, framework::CycleState& state,
                        const framework::PodInfo& pod, const framework::SnapshotLister& snapshot,
                        framework::PluginNames& names, framework::Diagnosis& diagnosis);
  // A search over all nodes, just over, found none.
  void Remember(const framework::Framework& framework, const framework::PodInfo& pod,
                const framework::SnapshotLister& snapshot, const framework::Diagnosis& diagnosis);
  void Clear() { known_.Clear(); }

 private:
  // Bounds the memory to some tens of megabytes.
  static constexpr size_t kStatusesMax = 2'000'000;

  struct Entry {
    // In the snapshot's changes.
    int64_t position = -1;
    framework::Diagnosis diagnosis;
  };
  using Key = std::pair<const framework::Framework*, int32_t>;  // Profile and spec id.

  LookupMap<Key, Entry> known_;
};

}  // namespace schedsim::scheduler

#endif  // SCHEDSIM_CORE_SCHEDULER_NO_FIT_MEMO_H_
