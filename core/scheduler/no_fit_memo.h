// Pods that fitted nowhere, so that an equal pod is tried again on the nodes that changed since.
#ifndef SCHEDSIM_CORE_SCHEDULER_NO_FIT_MEMO_H_
#define SCHEDSIM_CORE_SCHEDULER_NO_FIT_MEMO_H_

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "absl/functional/function_ref.h"
#include "core/base/lookup_map.h"
#include "core/cache/snapshot.h"
#include "core/framework/diagnosis.h"
#include "core/framework/framework.h"
#include "core/framework/node_info.h"
#include "core/framework/pod_info.h"
#include "core/framework/status.h"
#include "core/queue/nominator.h"

namespace schedsim::scheduler {

// Bounded; forgetting changes no result. Only for cycles in which the answer for a node follows from the
// pod's spec, the node and the pods nominated to it (Framework::FiltersByNodeOnly), the pod itself is
// nominated nowhere, and all nodes are looked at.
class NoFitMemo {
 public:
  // Both must outlive the memo.
  NoFitMemo(const cache::Snapshot& snapshot, const queue::Nominator& nominator)
      : snapshot_(snapshot), nominator_(nominator) {}

  // What the filters say of the pod on a node.
  using Filter = absl::FunctionRef<framework::Status(const framework::NodeInfo&)>;

  // Whether a pod of this spec fitted nowhere and still does not. `diagnosis` is then what a search over all
  // nodes would make of it, but for the order of the nodes. Otherwise nothing is known, and `diagnosis` is as
  // before.
  bool StillFitsNowhere(const framework::Framework& framework, const framework::PodInfo& pod, Filter filter,
                        framework::PluginNames& names, framework::Diagnosis& diagnosis);
  // A search over all nodes, just over, found none.
  void Remember(const framework::Framework& framework, const framework::PodInfo& pod,
                const framework::Diagnosis& diagnosis);
  void Clear() { known_.Clear(); }

 private:
  // Bounds the memory to some tens of megabytes.
  static constexpr size_t kStatusesMax = 2'000'000;

  struct Entry {
    // In the snapshot's changes, and in the nominator's.
    int64_t position = -1;
    int64_t nominations_position = -1;
    framework::Diagnosis diagnosis;
  };
  // Profile, spec id and priority, which decides on the nominated pods that count.
  using Key = std::tuple<const framework::Framework*, int32_t, int32_t>;

  // Asks about the node anew; false: the pod may fit now.
  static bool Repair(const framework::NodeInfo& node, Filter filter, framework::Diagnosis& known);

  const cache::Snapshot& snapshot_;
  const queue::Nominator& nominator_;
  LookupMap<Key, Entry> known_;
  int64_t last_content_id_ = 0;  // See NodeToStatus::content_id.
};

}  // namespace schedsim::scheduler

#endif  // SCHEDSIM_CORE_SCHEDULER_NO_FIT_MEMO_H_
