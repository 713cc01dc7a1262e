// The event loop against a list that is searched in full: random work that sets off, and cancels, more work.
#include "sim/kernel/event_loop.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/rng.h"
#include "gtest/gtest.h"
#include "tests/random_seeds.h"

namespace schedsim::sim {
namespace {

using Phase = EventLoop::Phase;

constexpr uint64_t kSeedCount = 30;
constexpr int kWorkCount = 3000;

class LoopModel {
 public:
  explicit LoopModel(uint64_t seed) : rng_(seed), loop_(absl::FromUnixSeconds(1000)) {}

  void Run() {
    loop_.set_on_settled([this] { OnSettled(); });
    BuildUp();
    while (!testing::Test::HasFailure() && started_count_ < kWorkCount) {
      AddSome(1 + rng_.Below(20));
      loop_.Run();
      EXPECT_EQ(First(), nullptr) << "the loop ended too early";
      EXPECT_EQ(loop_.foreground_count(), 0U);
    }
    AddSome(10);
    loop_.Stop();
    const int64_t started = started_count_;
    loop_.Run();
    EXPECT_EQ(started_count_, started) << "a loop that was stopped runs nothing";
  }

 private:
  struct Work {
    uint64_t id = 0;
    absl::Time time;
    Phase phase = Phase::kWork;
    bool in_background = false;
    bool waits = true;
  };

  // What comes next; nullptr: nothing waits.
  const Work* First() const {
    const Work* first = nullptr;
    for (const Work& work : works_) {
      if (!work.waits) continue;
      const bool before = first == nullptr || std::tie(work.time, work.phase, work.id) <
                                                  std::tie(first->time, first->phase, first->id);
      if (before) first = &work;
    }
    return first;
  }

  bool ComesLater(const Work& work) const {
    return work.time > loop_.Now() || work.phase > Phase::kLateDelivery;
  }

  // Before the run the start is built up by hand: what is due is settled, then the clock moves on.
  void BuildUp() {
    for (int i = 0; i < 20; ++i) {
      AddSome(rng_.Below(3));
      loop_.Settle();
      const Work* next = First();
      EXPECT_TRUE(next == nullptr || ComesLater(*next)) << "something due was not settled";
      absl::Time to = loop_.Now() + absl::Milliseconds(rng_.Below(3));
      if (next != nullptr) to = std::min(to, next->time);
      loop_.AdvanceTo(to);
      EXPECT_EQ(loop_.Now(), to);
    }
    EXPECT_EQ(settled_count_, 0) << "settling by hand calls nobody";
  }

  void AddSome(int64_t count) {
    for (; count > 0; --count) AddOne();
  }

  void AddOne() {
    const absl::Duration delay = absl::Milliseconds(rng_.Below(3) * rng_.Below(4));
    Work work = {.time = loop_.Now() + delay, .phase = static_cast<Phase>(rng_.Below(6))};
    // Known by its place, as its id is not known before it is added.
    const auto run = [this, place = works_.size()] { OnRun(place); };
    switch (rng_.Below(6)) {
      case 0:
      case 1:
        work.id = loop_.At(work.time, work.phase, run);
        break;
      case 2:
        work.in_background = true;
        work.id = loop_.AtInBackground(work.time, work.phase, run);
        break;
      case 3:
        work.phase = Phase::kWork;
        work.id = loop_.Post(delay, run);
        break;
      case 4:
        work.phase = Phase::kWork;
        work.in_background = true;
        work.id = loop_.PostDeadline(delay, run);
        break;
      default:
        // Nobody learns the id of what is spawned; it is the next one.
        work = {.id = last_id_ + 1, .time = loop_.Now(), .phase = Phase::kSpawned};
        loop_.Spawn(run);
    }
    EXPECT_GT(work.id, last_id_);
    last_id_ = work.id;
    works_.push_back(work);
  }

  void CancelOne() {
    // Also what ran already, what was cancelled already, and what never was.
    const uint64_t id = static_cast<uint64_t>(rng_.Below(static_cast<int64_t>(last_id_) + 3));
    const auto by_id = [id](const Work& work) { return work.id == id; };
    const auto found = std::find_if(works_.begin(), works_.end(), by_id);
    loop_.Cancel(id);
    if (found != works_.end()) found->waits = false;
  }

  void CompareCounts() {
    const auto in_foreground = [](const Work& work) { return work.waits && !work.in_background; };
    EXPECT_EQ(loop_.foreground_count(),
              static_cast<size_t>(std::count_if(works_.begin(), works_.end(), in_foreground)));
  }

  void OnSettled() {
    ++settled_count_;
    const Work* next = First();
    ASSERT_NE(next, nullptr) << "settled, but nothing comes";
    EXPECT_TRUE(ComesLater(*next)) << "settled, but work " << next->id << " of this instant waits";
    settled_ = true;
    if (rng_.Below(20) == 0) AddOne();
  }

  void OnRun(size_t place) {
    ++started_count_;
    Work& work = works_[place];
    const Work* first = First();
    ASSERT_NE(first, nullptr) << "work " << work.id << " runs twice or was cancelled";
    EXPECT_EQ(first->id, work.id) << "in the wrong order";
    EXPECT_EQ(loop_.Now(), work.time);
    const bool later = work.time > now_ || work.phase > Phase::kLateDelivery;
    EXPECT_TRUE(!later || settled_ || settled_count_ == 0) << "work " << work.id << " came unsettled";
    work.waits = false;
    settled_ = false;
    now_ = work.time;
    CompareCounts();
    // More than one on average, so that the loop goes on for a while, but not for ever.
    if (started_count_ < kWorkCount) AddSome(rng_.Below(3));
    if (rng_.Below(4) == 0) CancelOne();
    CompareCounts();
  }

  Rng rng_;
  EventLoop loop_;
  std::vector<Work> works_;
  uint64_t last_id_ = 0;
  int64_t started_count_ = 0;
  int64_t settled_count_ = 0;
  // Whether the loop settled since the last work ran, and when that was.
  bool settled_ = false;
  absl::Time now_ = absl::InfinitePast();
};

class EventLoopModelTest : public testing::TestWithParam<uint64_t> {};

TEST_P(EventLoopModelTest, RunsInTheOrderOfTimePhaseAndSequence) {
  SCOPED_TRACE(RepeatCommand(GetParam(), "*EventLoopModelTest*"));
  LoopModel(GetParam()).Run();
}

INSTANTIATE_TEST_SUITE_P(Seeds, EventLoopModelTest, testing::ValuesIn(SeedsToRun(kSeedCount)),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace schedsim::sim
