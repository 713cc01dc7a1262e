#include "sim/kernel/interleaving.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace schedsim::sim {
namespace {

using Phase = EventLoop::Phase;
using Strings = std::vector<std::string>;

// A scheduling thread that writes down what it does; `cycle` is what each cycle does.
class InterleavingTest : public testing::Test {
 protected:
  void Start(std::function<void()> cycle) { Start(interleaving_, std::move(cycle)); }
  void Start(Interleaving& interleaving, std::function<void()> cycle) {
    interleaving.Start({.can_pop = [this] { return pods_ > 0; },
                        .pop =
                            [this] {
                              if (pods_ == 0) return false;
                              --pods_;
                              log_.push_back("pop");
                              return true;
                            },
                        .run_cycle =
                            [this, cycle = std::move(cycle)] {
                              log_.push_back("cycle");
                              cycle();
                              return loop_.Now() + absl::Seconds(1);
                            }});
  }
  void Hear(const std::string& what) {
    interleaving_.Deliver(loop_.Now(), [this, what] {
      log_.push_back(what);
      return true;
    });
  }
  // A pod comes.
  void Come() {
    interleaving_.Deliver(loop_.Now(), [this] {
      log_.push_back("pod");
      ++pods_;
      interleaving_.Wake();
      return true;
    });
  }
  void Spawn(const std::string& what) {
    loop_.Spawn([this, what] { log_.push_back(what); });
  }
  void AtStep(int seconds, std::function<void()> work) {
    loop_.At(absl::UnixEpoch() + absl::Seconds(seconds), Phase::kStep, std::move(work));
  }

  EventLoop loop_{absl::UnixEpoch()};
  Interleaving interleaving_{{}, loop_};
  int pods_ = 0;
  Strings log_;
};

TEST_F(InterleavingTest, AWokenThreadPopsBeforeLaterEventsOfTheInstant) {
  Start([] {});
  AtStep(5, [this] {
    Come();
    Hear("node");
  });
  loop_.Run();
  EXPECT_EQ(log_, (Strings{"pod", "pop", "cycle", "node"}));
}

TEST_F(InterleavingTest, WithTwoHandlersOfPodsAWokenThreadLetsAllEventsGoFirst) {
  Interleaving two({.one_pod_handler = false}, loop_);
  bool popped = false;
  two.Start({.can_pop = [] { return false; },
             .pop =
                 [&] {
                   log_.push_back("pop");
                   popped = true;
                   return false;
                 },
             .run_cycle = [&] { return loop_.Now(); }});
  AtStep(5, [&] {
    two.Deliver(loop_.Now(), [&] {
      log_.push_back("pod");
      two.Wake();
      return true;
    });
    two.Deliver(loop_.Now(), [&] {
      log_.push_back("node");
      return true;
    });
  });
  loop_.Run();
  EXPECT_EQ(log_, (Strings{"pod", "node", "pop"}));
}

TEST_F(InterleavingTest, ThreadsOfAWokenCycleComeBeforeWhatInformersHearOfIt) {
  Start([this] {
    Hear("own call");
    Spawn("eviction");
  });
  AtStep(5, [this] { Come(); });
  loop_.Run();
  EXPECT_EQ(log_, (Strings{"pod", "pop", "cycle", "eviction", "own call"}));
}

TEST_F(InterleavingTest, ThreadsOfOtherCyclesComeAfterIt) {
  pods_ = 1;
  Start([this] {
    Hear("own call");
    Spawn("eviction");
  });
  loop_.Run();
  EXPECT_EQ(log_, (Strings{"pop", "cycle", "own call", "eviction"}));
}

TEST_F(InterleavingTest, AReadyThreadPopsLast) {
  pods_ = 2;
  Start([] {});
  AtStep(1, [this] { Hear("node"); });
  loop_.Run();
  EXPECT_EQ(log_, (Strings{"pop", "cycle", "node", "pop", "cycle"}));
}

TEST_F(InterleavingTest, AHeldCycleBeginsWhenTheRestOfTheInstantIsDone) {
  Interleaving holding({.holds_cycles = true}, loop_);
  Start(holding, [] {});
  AtStep(5, [&] {
    holding.Deliver(loop_.Now(), [&] {
      log_.push_back("pod");
      ++pods_;
      holding.Wake();
      return true;
    });
    holding.Deliver(loop_.Now(), [&] {
      log_.push_back("node");
      return true;
    });
  });
  loop_.Run();
  EXPECT_EQ(log_, (Strings{"pod", "pop", "node", "cycle"}));
}

TEST_F(InterleavingTest, ACallWithoutDelayHappensAtOnce) {
  interleaving_.Call(absl::ZeroDuration(), [this] { log_.push_back("call"); });
  log_.push_back("after");
  EXPECT_EQ(log_, (Strings{"call", "after"}));
}

}  // namespace
}  // namespace schedsim::sim
