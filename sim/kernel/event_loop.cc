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
  if (item.phase == Phase::kStep) step_count_ += comes ? 1 : -1;
}

uint64_t EventLoop::Add(absl::Time time, Phase phase, std::function<void()> work, bool in_background,
                        bool posted) {
  CHECK(time >= now_);
  if (time > kEndOfTime) return ++sequence_;
  Item item = {.time = time,
               .phase = phase,
               .sequence = ++sequence_,
               .in_background = in_background,
               .posted = posted,
               .work = std::move(work)};
  CountForeground(item, /*comes=*/true);
  if (time == now_) {
    now_items_[static_cast<size_t>(phase)].push_back(std::move(item));
  } else {
    heap_.push_back(std::move(item));
    std::push_heap(heap_.begin(), heap_.end(), Later);
  }
  return sequence_;
}

void EventLoop::Cancel(uint64_t id) {
  const auto has_id = [id](const Item& item) { return item.sequence == id; };
  Item* found = nullptr;
  if (const auto at = std::find_if(heap_.begin(), heap_.end(), has_id); at != heap_.end()) found = &*at;
  for (std::deque<Item>& items : now_items_) {
    const auto at = std::find_if(items.begin(), items.end(), has_id);
    if (at != items.end()) found = &*at;
  }
  if (found == nullptr || found->work == nullptr) return;
  CountForeground(*found, /*comes=*/false);
  found->work = nullptr;
  DropCancelled();
  for (std::deque<Item>& items : now_items_) DropCancelled(items);
}

void EventLoop::DropCancelled() {
  while (!heap_.empty() && heap_.front().work == nullptr) {
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    heap_.pop_back();
  }
}

void EventLoop::DropCancelled(std::deque<Item>& items) {
  while (!items.empty() && items.front().work == nullptr) items.pop_front();
}

const EventLoop::Item* EventLoop::Next() const {
  const Item* const next = heap_.empty() ? nullptr : &heap_.front();
  for (const std::deque<Item>& items : now_items_) {
    if (items.empty()) continue;
    return next == nullptr || Later(*next, items.front()) ? &items.front() : next;
  }
  return next;
}

EventLoop::Item EventLoop::PopItem() {
  const Item* const next = Next();
  Item item;
  if (!heap_.empty() && next == &heap_.front()) {
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    item = std::move(heap_.back());
    heap_.pop_back();
    DropCancelled();
  } else {
    std::deque<Item>& items = now_items_[static_cast<size_t>(next->phase)];
    item = std::move(items.front());
    items.pop_front();
    DropCancelled(items);
  }
  CountForeground(item, /*comes=*/false);
  return item;
}

// What is left out has the next work below it in the heap, at one of its two places.
absl::Time EventLoop::NextTimeBut(absl::Span<const uint64_t> ids) const {
  const auto is_left_out = [ids](const Item& item) {
    return std::find(ids.begin(), ids.end(), item.sequence) != ids.end();
  };
  for (const std::deque<Item>& items : now_items_) {
    for (const Item& item : items) {
      if (!is_left_out(item)) return now_;
    }
  }
  absl::Time next = kEndOfTime;
  std::vector<size_t> places = {0};
  while (!places.empty()) {
    const size_t place = places.back();
    places.pop_back();
    if (place >= heap_.size()) continue;
    const Item& item = heap_[place];
    if (is_left_out(item)) {
      places.insert(places.end(), {2 * place + 1, 2 * place + 2});
    } else {
      next = std::min(next, item.time);
    }
  }
  return next;
}

bool EventLoop::PutsOff(uint64_t id) const {
  return std::any_of(before_advance_.begin(), before_advance_.end(),
                     [id](const auto& before_advance) { return before_advance(id); });
}

void EventLoop::Run() {
  RunUntil([] { return false; });
}

void EventLoop::RunUntil(absl::FunctionRef<bool()> is_done) {
  while (!stopped_ && !is_done()) {
    const Item* next = Next();
    if (next == nullptr) return;
    const bool settled = next->time > now_ || next->phase > Phase::kLateDelivery;
    if (settled && on_settled_ != nullptr) on_settled_();
    if (stopped_) return;
    do {
      next = Next();
    } while (next != nullptr && next->time > now_ && PutsOff(next->sequence));
    if (next == nullptr) return;
    Work(PopItem());
  }
}

// Work may run the loop for what it waits for, so that the phase is what it was again afterwards.
void EventLoop::Work(const Item& item) {
  const Phase before = phase_;
  phase_ = item.phase;
  now_ = item.time;
  item.work();
  phase_ = before;
}

void EventLoop::Settle() {
  for (;;) {
    const Item* const next = Next();
    if (next == nullptr || next->time > now_ || next->phase > Phase::kLateDelivery) return;
    Work(PopItem());
  }
}

void EventLoop::AdvanceTo(absl::Time time) {
  CHECK(time >= now_);
  CHECK(Next() == nullptr || Next()->time >= time);
  now_ = time;
}

void EventLoop::RunUntil(absl::Time time) {
  for (const Item* next = Next(); next != nullptr && next->time < time; next = Next()) {
    Work(PopItem());
  }
  AdvanceTo(time);
}

}  // namespace schedsim::sim
