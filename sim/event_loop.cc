#include "sim/event_loop.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/check.h"

namespace schedsim::sim {

bool EventLoop::Later(const Item& a, const Item& b) {
  return std::tie(b.time, b.phase, b.sequence) < std::tie(a.time, a.phase, a.sequence);
}

void EventLoop::At(absl::Time time, Phase phase, std::function<void()> work) {
  CHECK(time >= now_);
  heap_.push_back(Item{.time = time, .phase = phase, .sequence = ++sequence_, .work = std::move(work)});
  std::push_heap(heap_.begin(), heap_.end(), Later);
}

EventLoop::Item EventLoop::PopItem() {
  std::pop_heap(heap_.begin(), heap_.end(), Later);
  Item item = std::move(heap_.back());
  heap_.pop_back();
  return item;
}

void EventLoop::Run() {
  while (!stopped_ && !heap_.empty()) {
    const Item& next = heap_.front();
    const bool settled = next.time > now_ || next.phase > Phase::kLateDelivery;
    if (settled && on_settled_ != nullptr) on_settled_();
    if (stopped_) return;
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
