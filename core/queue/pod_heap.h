// A binary heap of queued pods in which each pod knows its place.
#ifndef SCHEDSIM_CORE_QUEUE_POD_HEAP_H_
#define SCHEDSIM_CORE_QUEUE_POD_HEAP_H_

#include <functional>
#include <utility>
#include <vector>

#include "core/framework/queued_pod_info.h"

namespace schedsim::queue {

// Orders as Go's container/heap does, also among pods that are neither before the other.
class PodHeap {
 public:
  using Less = std::function<bool(framework::QueuedPodInfo&, framework::QueuedPodInfo&)>;

  explicit PodHeap(Less less) : less_(std::move(less)) {}

  bool empty() const { return pods_.empty(); }
  // The pod that comes first; the heap must not be empty.
  framework::QueuedPodInfo* Top() const { return pods_.front(); }
  const std::vector<framework::QueuedPodInfo*>& pods() const { return pods_; }

  void Push(framework::QueuedPodInfo* pod);
  framework::QueuedPodInfo* Pop();
  // `pod` must be in this heap.
  void Remove(framework::QueuedPodInfo* pod);
  // To be called after something that the order depends on changed in `pod`.
  void Fix(framework::QueuedPodInfo* pod);

 private:
  bool Before(size_t a, size_t b) const { return less_(*pods_[a], *pods_[b]); }
  void Swap(size_t a, size_t b);
  void Up(size_t index);
  // Returns whether the pod moved.
  bool Down(size_t index, size_t size);

  Less less_;
  std::vector<framework::QueuedPodInfo*> pods_;
};

}  // namespace schedsim::queue

#endif  // SCHEDSIM_CORE_QUEUE_POD_HEAP_H_
