#include "core/queue/pod_heap.h"

#include "core/base/check.h"

namespace schedsim::queue {

using framework::QueuedPodInfo;

bool PodHeap::Before(size_t a, size_t b) const {
  const Key& key_a = entries_[a].key;
  const Key& key_b = entries_[b].key;
  if (key_a.backoff_end != key_b.backoff_end) return key_a.backoff_end < key_b.backoff_end;
  if (key_a.sort.rank != key_b.sort.rank) return key_a.sort.rank < key_b.sort.rank;
  if (key_a.sort.time != key_b.sort.time) return key_a.sort.time < key_b.sort.time;
  return less_(*entries_[a].pod, *entries_[b].pod);
}

void PodHeap::Swap(size_t a, size_t b) {
  std::swap(entries_[a], entries_[b]);
  entries_[a].pod->heap_index = a;
  entries_[b].pod->heap_index = b;
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
  pod->heap_index = entries_.size();
  entries_.push_back({.key = key_of_(*pod), .pod = pod});
  Up(pod->heap_index);
}

QueuedPodInfo* PodHeap::Pop() {
  QueuedPodInfo* top = Top();
  const size_t last = entries_.size() - 1;
  Swap(0, last);
  Down(0, last);
  entries_.pop_back();
  return top;
}

void PodHeap::Remove(QueuedPodInfo* pod) {
  const size_t index = pod->heap_index;
  CHECK(index < entries_.size() && entries_[index].pod == pod);
  const size_t last = entries_.size() - 1;
  if (index != last) {
    Swap(index, last);
    if (!Down(index, last)) Up(index);
  }
  entries_.pop_back();
}

void PodHeap::Fix(QueuedPodInfo* pod) {
  const size_t index = pod->heap_index;
  CHECK(index < entries_.size() && entries_[index].pod == pod);
  entries_[index].key = key_of_(*pod);
  if (!Down(index, entries_.size())) Up(index);
}

}  // namespace schedsim::queue
