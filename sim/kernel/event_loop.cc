#include "sim/kernel/event_loop.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/check.h"

namespace schedsim::sim {

bool EventLoop::Later(const Item& a, const Item& b) {
  return std::tie(b.time, b.phase, b.sequence) < std::tie(a.time, a.phase, a.sequence);
}

void EventLoop::CountForeground(const Item& item, bool comes) {
  if (item.in_background) return;
  foreground_count_ += comes ? 1 : -1;
  if (item.posted) posted_count_ += comes ? 1 : -1;
}

uint64_t EventLoop::Add(absl::Time time, Phase phase, std::function<void()> work, bool in_background,
                        bool posted) {
  CHECK(time >= now_);
  if (time > kEndOfTime) return ++sequence_;
  heap_.push_back(Item{.time = time,
                       .phase = phase,
                       .sequence = ++sequence_,
                       .in_background = in_background,
                       .posted = posted,
                       .work = std::move(work)});
  CountForeground(heap_.back(), /*comes=*/true);
  std::push_heap(heap_.begin(), heap_.end(), Later);
  return sequence_;
}

void EventLoop::Cancel(uint64_t id) {
  auto found =
      std::find_if(heap_.begin(), heap_.end(), [id](const Item& item) { return item.sequence == id; });
  if (found == heap_.end() || found->work == nullptr) return;
  CountForeground(*found, /*comes=*/false);
  found->work = nullptr;
  DropCancelled();
}

void EventLoop::DropCancelled() {
  while (!heap_.empty() && heap_.front().work == nullptr) {
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    heap_.pop_back();
  }
}

EventLoop::Item EventLoop::PopItem() {
  std::pop_heap(heap_.begin(), heap_.end(), Later);
  Item item = std::move(heap_.back());
  heap_.pop_back();
  CountForeground(item, /*comes=*/false);
  DropCancelled();
  return item;
}

// What is left out has the next work below it in the heap, at one of its two places.
absl::Time EventLoop::NextTimeBut(uint64_t id, uint64_t other_id) const {
  absl::Time next = kEndOfTime;
  std::vector<size_t> places = {0};
  while (!places.empty()) {
    const size_t place = places.back();
    places.pop_back();
    if (place >= heap_.size()) continue;
    const Item& item = heap_[place];
    if (item.sequence == id || item.sequence == other_id) {
      places.insert(places.end(), {2 * place + 1, 2 * place + 2});
    } else {
      next = std::min(next, item.time);
    }
  }
  return next;
}

void EventLoop::Run() {
  while (!stopped_ && !heap_.empty()) {
    const Item& next = heap_.front();
    const bool settled = next.time > now_ || next.phase > Phase::kLateDelivery;
    if (settled && on_settled_ != nullptr) on_settled_();
    if (stopped_) return;
    while (!heap_.empty() && heap_.front().time > now_ && before_advance_ != nullptr &&
           before_advance_(heap_.front().sequence)) {
    }
    if (heap_.empty()) return;
    Item item = PopItem();
    now_ = item.time;
    item.work();
  }
}

void EventLoop::Settle() {
  while (!heap_.empty() && heap_.front().time <= now_ && heap_.front().phase <= Phase::kLateDelivery) {
    PopItem().work();
  }
}

void EventLoop::AdvanceTo(absl::Time time) {
  CHECK(time >= now_);
  CHECK(heap_.empty() || heap_.front().time >= time);
  now_ = time;
}

}  // namespace schedsim::sim
