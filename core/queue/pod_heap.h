// A binary heap of queued pods in which each pod knows its place.
#ifndef SCHEDSIM_CORE_QUEUE_POD_HEAP_H_
#define SCHEDSIM_CORE_QUEUE_POD_HEAP_H_

#include <functional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/framework/plugin.h"
#include "core/framework/queued_pod_info.h"

namespace schedsim::queue {

// Orders as Go's container/heap does, also among pods that are neither before the other.
class PodHeap {
 public:
  // The earlier `backoff_end` comes first, then what `sort` says.
  struct Key {
    absl::Time backoff_end = absl::InfinitePast();
    framework::QueueSortKey sort = {};
  };
  struct Entry {
    Key key;
    framework::QueuedPodInfo* pod = nullptr;
  };
  using KeyOf = std::function<Key(framework::QueuedPodInfo&)>;
  // Asked about pods with equal keys.
  using Less = std::function<bool(const framework::QueuedPodInfo&, const framework::QueuedPodInfo&)>;

  PodHeap(KeyOf key_of, Less less) : key_of_(std::move(key_of)), less_(std::move(less)) {}

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  // The pod that comes first; the heap must not be empty.
  framework::QueuedPodInfo* Top() const { return entries_.front().pod; }
  const std::vector<Entry>& entries() const { return entries_; }
  // The pods that no other one comes before, the one that Top returns first, else as the heap has them.
  std::vector<const framework::QueuedPodInfo*> TiedOnTop() const;

  void Push(framework::QueuedPodInfo* pod);
  framework::QueuedPodInfo* Pop();
  // `pod` must be in this heap.
  void Remove(framework::QueuedPodInfo* pod);
  // To be called after something that the order depends on changed in `pod`.
  void Fix(framework::QueuedPodInfo* pod);

 private:
  bool Before(const Entry& a, const Entry& b) const;
  // Puts the entry at the index, and lets its pod know.
  void Place(size_t index, const Entry& entry);
  void Up(size_t index);
  // Returns whether the pod moved.
  bool Down(size_t index, size_t size);

  KeyOf key_of_;
  Less less_;
  // The keys stand here, too: a large heap would otherwise wait for the memory of each pod on its way.
  std::vector<Entry> entries_;
};

}  // namespace schedsim::queue

#endif  // SCHEDSIM_CORE_QUEUE_POD_HEAP_H_
