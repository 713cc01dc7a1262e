#include "sim/controllers/work_queue.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace schedsim::sim {
namespace {

constexpr absl::Duration kErrorDelay = absl::Milliseconds(5);
constexpr absl::Duration kErrorDelayMax = absl::Seconds(1000);
// Whoever waits for longer than this for another try does not keep a run from ending.
constexpr absl::Duration kForegroundDelayMax = absl::Seconds(30);
// So many errors in a row reach the longest delay.
constexpr int kErrorCountMax = 18;
// So often room that comes back is a reason to go on for one object.
constexpr int kAwaitedMax = 10;

}  // namespace

void WorkQueue::Add(const std::string& key, absl::Duration at_least) {
  if (!waiting_.insert(key).second) return;
  ++busy_count_;
  loop_.At(loop_.Now() + std::max(delay_, at_least), EventLoop::Phase::kWork, [this, key] { Run(key); });
}

void WorkQueue::AddAt(const std::string& key, absl::Time time, bool in_background) {
  if (time == absl::InfiniteFuture()) return;
  time = std::max(time, loop_.Now());
  std::map<std::string, absl::Time>& later = later_[in_background ? 1 : 0];
  const auto known = later.find(key);
  if (known != later.end() && known->second <= time) return;
  later[key] = time;
  const auto work = [this, key, time, &later] {
    const auto found = later.find(key);
    // An earlier time has taken the place of this one.
    if (found == later.end() || found->second != time) return;
    later.erase(found);
    // One that waits anyway is looked at soon enough.
    if (waiting_.count(key) == 0) Run(key);
  };
  if (in_background) {
    loop_.AtInBackground(time, EventLoop::Phase::kWork, work);
  } else {
    loop_.At(time, EventLoop::Phase::kWork, work);
  }
}

void WorkQueue::AddRateLimited(const std::string& key, absl::string_view error) {
  Retry& retry = retries_[key];
  const absl::Duration delay = std::min(kErrorDelay * (int64_t{1} << retry.count), kErrorDelayMax);
  retry.count = std::min(retry.count + 1, kErrorCountMax);
  retry.error = std::string(error);
  AddAt(key, loop_.Now() + delay, /*in_background=*/delay > kForegroundDelayMax);
}

void WorkQueue::AwaitRetries(bool is_new_rule) {
  std::map<std::string, absl::Time>& in_background = later_[1];
  for (auto& [key, retry] : retries_) {
    const auto found = in_background.find(key);
    if (found == in_background.end()) continue;
    const bool may_go_on_for_ever = retry.awaited == kAwaitedMax || absl::StartsWith(retry.error, "CronJob ");
    if (!is_new_rule && may_go_on_for_ever) continue;
    if (!is_new_rule) ++retry.awaited;
    const absl::Time time = found->second;
    in_background.erase(found);
    AddAt(key, time, /*in_background=*/false);
  }
}

void WorkQueue::Continue(absl::Duration delay, std::function<void()> work) {
  ++busy_count_;
  loop_.At(loop_.Now() + delay, EventLoop::Phase::kWork, [this, work = std::move(work)] {
    --busy_count_;
    work();
  });
}

// Taken out first: what the sync itself sets off is looked at again.
void WorkQueue::Run(const std::string& key) {
  if (waiting_.erase(key) > 0) --busy_count_;
  const absl::Status status = Look(key);
  if (!status.ok()) AddRateLimited(key, status.message());
}

// A real controller returns the error of any of its writes, and looks again. Here a look may take the same
// write for one that cannot fail.
absl::Status WorkQueue::Look(const std::string& key) {
  if (faults_ == nullptr) return sync_(key);
  faults_->BeginLook();
  const absl::Status status = sync_(key);
  const bool met_conflict = faults_->EndLook();
  if (!status.ok()) return status;
  if (met_conflict) {
    conflicts_.insert(key);
    return absl::AbortedError(absl::StrCat(key, ": an update met another version of the object"));
  }
  if (conflicts_.erase(key) > 0) Forget(key);
  return status;
}

}  // namespace schedsim::sim
