#include "sim/kernel/event_loop.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/check.h"

namespace schedsim::sim {

bool EventLoop::Later(const Item& a, const Item& b) {
  return std::tie(b.time, b.phase, b.sequence) < std::tie(a.time, a.phase, a.sequence);
}

uint64_t EventLoop::Add(absl::Time time, Phase phase, std::function<void()> work, bool in_background) {
  CHECK(time >= now_);
  heap_.push_back(Item{.time = time,
                       .phase = phase,
                       .sequence = ++sequence_,
                       .in_background = in_background,
                       .work = std::move(work)});
  std::push_heap(heap_.begin(), heap_.end(), Later);
  if (!in_background) ++foreground_count_;
  return sequence_;
}

void EventLoop::Cancel(uint64_t id) {
  auto found =
      std::find_if(heap_.begin(), heap_.end(), [id](const Item& item) { return item.sequence == id; });
  if (found == heap_.end() || found->work == nullptr) return;
  if (!found->in_background) --foreground_count_;
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
  if (!item.in_background) --foreground_count_;
  DropCancelled();
  return item;
}

void EventLoop::Run() {
  while (!stopped_ && !heap_.empty()) {
    const Item& next = heap_.front();
    const bool settled = next.time > now_ || next.phase > Phase::kLateDelivery;
    if (settled && on_settled_ != nullptr) on_settled_();
    if (stopped_ || heap_.empty()) return;
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
