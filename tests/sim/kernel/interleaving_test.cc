#include "sim/kernel/interleaving.h"

#include <optional>
#include <string>
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
  void Start(std::function<void()> cycle) {
    interleaving_.Start({.can_pop = [this] { return pods_ > 0; },
                         .run_cycle = [this, cycle]() -> std::optional<absl::Time> {
                           if (pods_ == 0) return std::nullopt;
                           --pods_;
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
  EXPECT_EQ(log_, (Strings{"pod", "cycle", "node"}));
}

TEST_F(InterleavingTest, WithTwoHandlersOfPodsAWokenThreadLetsAllEventsGoFirst) {
  Interleaving two({.one_pod_handler = false}, loop_);
  bool popped = false;
  two.Start({.can_pop = [] { return false; },
             .run_cycle = [&]() -> std::optional<absl::Time> {
               log_.push_back("cycle");
               popped = true;
               return std::nullopt;
             }});
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
  EXPECT_EQ(log_, (Strings{"pod", "node", "cycle"}));
}

TEST_F(InterleavingTest, ThreadsOfAWokenCycleComeBeforeWhatInformersHearOfIt) {
  Start([this] {
    Hear("own call");
    Spawn("eviction");
  });
  AtStep(5, [this] { Come(); });
  loop_.Run();
  EXPECT_EQ(log_, (Strings{"pod", "cycle", "eviction", "own call"}));
}

TEST_F(InterleavingTest, ThreadsOfOtherCyclesComeAfterIt) {
  pods_ = 1;
  Start([this] {
    Hear("own call");
    Spawn("eviction");
  });
  loop_.Run();
  EXPECT_EQ(log_, (Strings{"cycle", "own call", "eviction"}));
}

TEST_F(InterleavingTest, AReadyThreadPopsLast) {
  pods_ = 2;
  Start([] {});
  AtStep(1, [this] { Hear("node"); });
  loop_.Run();
  EXPECT_EQ(log_, (Strings{"cycle", "node", "cycle"}));
}

TEST_F(InterleavingTest, ACallWithoutDelayHappensAtOnce) {
  interleaving_.Call(absl::ZeroDuration(), [this] { log_.push_back("call"); });
  log_.push_back("after");
  EXPECT_EQ(log_, (Strings{"call", "after"}));
}

}  // namespace
}  // namespace schedsim::sim
