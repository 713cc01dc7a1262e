#include "core/queue/pod_heap.h"

#include "core/base/check.h"

namespace schedsim::queue {

using framework::QueuedPodInfo;

void PodHeap::Swap(size_t a, size_t b) {
  std::swap(pods_[a], pods_[b]);
  pods_[a]->heap_index = a;
  pods_[b]->heap_index = b;
}

// Each step is that of container/heap: which of several equal pods comes out first follows from them.
void PodHeap::Up(size_t index) {
  while (index > 0) {
    const size_t parent = (index - 1) / 2;
    if (!Before(index, parent)) return;
    Swap(index, parent);
    index = parent;
  }
}

bool PodHeap::Down(size_t index, size_t size) {
  const size_t start = index;
  while (2 * index + 1 < size) {
    size_t child = 2 * index + 1;
    if (child + 1 < size && Before(child + 1, child)) ++child;
    if (!Before(child, index)) break;
    Swap(index, child);
    index = child;
  }
  return index > start;
}

void PodHeap::Push(QueuedPodInfo* pod) {
  pod->heap_index = pods_.size();
  pods_.push_back(pod);
  Up(pod->heap_index);
}

QueuedPodInfo* PodHeap::Pop() {
  QueuedPodInfo* top = Top();
  const size_t last = pods_.size() - 1;
  Swap(0, last);
  Down(0, last);
  pods_.pop_back();
  return top;
}

void PodHeap::Remove(QueuedPodInfo* pod) {
  const size_t index = pod->heap_index;
  CHECK(index < pods_.size() && pods_[index] == pod);
  const size_t last = pods_.size() - 1;
  if (index != last) {
    Swap(index, last);
    if (!Down(index, last)) Up(index);
  }
  pods_.pop_back();
}

void PodHeap::Fix(QueuedPodInfo* pod) {
  const size_t index = pod->heap_index;
  CHECK(index < pods_.size() && pods_[index] == pod);
  if (!Down(index, pods_.size())) Up(index);
}

}  // namespace schedsim::queue
