#include "core/queue/pod_heap.h"

#include "core/base/check.h"

namespace schedsim::queue {

using framework::QueuedPodInfo;

bool PodHeap::Before(const Entry& a, const Entry& b) const {
  if (a.key.backoff_end != b.key.backoff_end) return a.key.backoff_end < b.key.backoff_end;
  if (a.key.sort.rank != b.key.sort.rank) return a.key.sort.rank < b.key.sort.rank;
  if (a.key.sort.time != b.key.sort.time) return a.key.sort.time < b.key.sort.time;
  return less_(*a.pod, *b.pod);
}

std::vector<const QueuedPodInfo*> PodHeap::TiedOnTop() const {
  std::vector<const QueuedPodInfo*> tied;
  for (const Entry& entry : entries_) {
    if (!Before(entries_.front(), entry)) tied.push_back(entry.pod);
  }
  return tied;
}

void PodHeap::Place(size_t index, const Entry& entry) {
  entries_[index] = entry;
  entry.pod->heap_index = index;
}

// Each comparison is that of container/heap: which of several equal pods comes out first follows from them.
// What container/heap swaps on the way is put down at the end of it.
void PodHeap::Up(size_t index) {
  const Entry moving = entries_[index];
  while (index > 0) {
    const size_t parent = (index - 1) / 2;
    if (!Before(moving, entries_[parent])) break;
    Place(index, entries_[parent]);
    index = parent;
  }
  Place(index, moving);
}

bool PodHeap::Down(size_t index, size_t size) {
  const size_t start = index;
  const Entry moving = entries_[index];
  while (2 * index + 1 < size) {
    size_t child = 2 * index + 1;
    if (child + 1 < size && Before(entries_[child + 1], entries_[child])) ++child;
    if (!Before(entries_[child], moving)) break;
    Place(index, entries_[child]);
    index = child;
  }
  Place(index, moving);
  return index > start;
}

void PodHeap::Push(QueuedPodInfo* pod) {
  pod->heap_index = entries_.size();
  entries_.push_back({.key = key_of_(*pod), .pod = pod});
  Up(pod->heap_index);
}

QueuedPodInfo* PodHeap::Pop() {
  QueuedPodInfo* top = Top();
  Remove(top);
  return top;
}

void PodHeap::Remove(QueuedPodInfo* pod) {
  const size_t index = pod->heap_index;
  CHECK(index < entries_.size() && entries_[index].pod == pod);
  const size_t last = entries_.size() - 1;
  if (index != last) {
    Place(index, entries_[last]);
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
