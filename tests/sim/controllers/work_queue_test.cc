#include "sim/controllers/work_queue.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace schedsim::sim {
namespace {

// A queue whose syncs are written down with their time.
class WorkQueueTest : public testing::Test {
 protected:
  std::string Syncs() {
    loop_.Run();
    return absl::StrCat(text_);
  }

  EventLoop loop_{absl::UnixEpoch()};
  // How many of the next syncs fail.
  int failures_ = 0;
  std::string text_;
  int64_t busy_count_ = 0;
  WorkQueue queue_{loop_, absl::Milliseconds(1), busy_count_, [this](const std::string& key) {
                     absl::StrAppend(&text_, key, "@", absl::FormatDuration(loop_.Now() - absl::UnixEpoch()),
                                     " ");
                     return failures_-- > 0 ? absl::UnavailableError("not yet") : absl::OkStatus();
                   }};
};

TEST_F(WorkQueueTest, LooksOnceAtWhatWasAddedTwice) {
  queue_.Add("a");
  queue_.Add("b");
  queue_.Add("a");
  EXPECT_EQ(busy_count_, 2);
  EXPECT_EQ(Syncs(), "a@1ms b@1ms ");
  EXPECT_EQ(busy_count_, 0);
}

TEST_F(WorkQueueTest, LooksAgainAtWhatWasAddedMeanwhile) {
  queue_.Add("a");
  loop_.At(absl::UnixEpoch() + absl::Milliseconds(2), EventLoop::Phase::kWork, [this] { queue_.Add("a"); });
  EXPECT_EQ(Syncs(), "a@1ms a@3ms ");
}

TEST_F(WorkQueueTest, TriesAgainTwiceAsLateAfterEachError) {
  failures_ = 3;
  queue_.Add("a");
  EXPECT_EQ(Syncs(), "a@1ms a@6ms a@16ms a@36ms ");
  text_.clear();
  failures_ = 1;
  queue_.Forget("a");
  queue_.Add("a");
  EXPECT_EQ(Syncs(), "a@37ms a@42ms ");
}

TEST_F(WorkQueueTest, LooksAtTheEarliestTimeThatWasAskedFor) {
  queue_.AddAt("a", absl::UnixEpoch() + absl::Seconds(5), /*in_background=*/false);
  queue_.AddAt("a", absl::UnixEpoch() + absl::Seconds(5), /*in_background=*/false);
  queue_.AddAt("a", absl::UnixEpoch() + absl::Seconds(3), /*in_background=*/false);
  EXPECT_EQ(Syncs(), "a@3s ");
}

TEST_F(WorkQueueTest, KnowsTheLastErrorUntilItIsForgotten) {
  failures_ = 1;
  queue_.Add("a");
  queue_.Add("b");
  Syncs();
  ASSERT_EQ(queue_.retries().size(), 1U);
  EXPECT_EQ(queue_.retries().at("a").error, "not yet");
  queue_.AddRateLimited("a", "not now");
  EXPECT_EQ(queue_.retries().at("a").error, "not now");
  queue_.Forget("a");
  EXPECT_TRUE(queue_.retries().empty());
}

// The fourteenth error comes after 41 s; the next wait, of 41 s, is in the background.
TEST_F(WorkQueueTest, GoesOnForWhatWasRefusedWhereItHasAChance) {
  failures_ = 14;
  queue_.Add("a");
  size_t before = 0;
  size_t after = 0;
  loop_.At(absl::UnixEpoch() + absl::Seconds(60), EventLoop::Phase::kStep, [&] {
    before = loop_.foreground_count();
    text_.clear();
    queue_.AwaitRetries(/*is_new_rule=*/true);
    after = loop_.foreground_count();
  });
  EXPECT_EQ(Syncs(), "a@1m21.916s ") << "once, at the time of its retry";
  EXPECT_EQ(before, 0U);
  EXPECT_EQ(after, 1U);
}

TEST_F(WorkQueueTest, GoesOnForRoomThatComesAndGoesSomeTimesOnly) {
  failures_ = 1000;
  queue_.Add("a");
  for (int i = 1; i <= 40; ++i) {
    loop_.AtInBackground(absl::UnixEpoch() + absl::Minutes(60 * i), EventLoop::Phase::kStep,
                         [&] { queue_.AwaitRetries(/*is_new_rule=*/false); });
  }
  loop_.At(absl::UnixEpoch() + absl::Hours(50), EventLoop::Phase::kStep, [this] { loop_.Stop(); });
  loop_.Run();
  EXPECT_EQ(queue_.retries().at("a").awaited, 10);
}

}  // namespace
}  // namespace schedsim::sim
