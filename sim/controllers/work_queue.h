// What a controller still has to look at.
#ifndef SCHEDSIM_SIM_CONTROLLERS_WORK_QUEUE_H_
#define SCHEDSIM_SIM_CONTROLLERS_WORK_QUEUE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sim/controllers/controller.h"
#include "sim/kernel/event_loop.h"

namespace schedsim::sim {

// Objects by key, each of which waits at most once, however many changes it was added for. A controller looks
// at one some time after the change: its informer has to hear of it first. One that ends with an error is
// looked at again, each time twice as late, until it is forgotten.
// Source: client-go v0.37, util/workqueue: the rate limiter of the controllers, without its limit for all.
class WorkQueue {
 public:
  // Brings the cluster closer to what the object `key` asks for. The message of an error has the object in
  // front, `Deployment default/web: `.
  using Sync = std::function<absl::Status(const std::string& key)>;

  // `delay`: from Add to the call of `sync`. `busy_count` says how much waits by Add; it and `loop` must
  // outlive the queue.
  WorkQueue(EventLoop& loop, absl::Duration delay, int64_t& busy_count, Sync sync)
      : loop_(loop), delay_(delay), busy_count_(busy_count), sync_(std::move(sync)) {}
  WorkQueue(const ControllerContext& context, Sync sync)
      : WorkQueue(context.loop, context.options.delay, context.busy_count, std::move(sync)) {
    faults_ = context.faults;
    context.queues.push_back(this);
  }
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // `at_least`: where the delay is to be longer.
  void Add(const std::string& key, absl::Duration at_least = absl::ZeroDuration());
  // The same at `time`, or now where that is past; only the earliest time that was asked for counts, since a
  // look may ask again. In the background, it is no reason for a run to go on. The infinite future: never.
  void AddAt(const std::string& key, absl::Time time, bool in_background);
  // The same after an error: 5 ms later, then 10 ms, and so on. `error`: as in messages of Sync.
  void AddRateLimited(const std::string& key, absl::string_view error);
  // Goes on with what a look has begun, after `delay`. Until then the controller is busy.
  void Continue(absl::Duration delay, std::function<void()> work);
  // What waits in the background since it was refused has a chance: from now on its next try, which comes
  // when it would have come, is a reason for a run to go on. `is_new_rule`: what refuses it says something
  // else now, rather than that there is room again, which may come and go for ever: then this holds some
  // times for each object, and not for those of CronJobs.
  void AwaitRetries(bool is_new_rule);
  // All is well, or the object is gone: the next error is the first one.
  void Forget(const std::string& key) { retries_.erase(key); }

  // What ended with an error and was not forgotten since.
  struct Retry {
    int count = 0;      // How often in a row.
    std::string error;  // The last one.
    int awaited = 0;    // How often AwaitRetries was for it without a new rule.
  };
  // By key.
  const std::map<std::string, Retry>& retries() const { return retries_; }

 private:
  void Run(const std::string& key);
  // Looks at the object. Aborted where one of the look's updates met a conflict, which not every look minds.
  absl::Status Look(const std::string& key);

  EventLoop& loop_;
  const absl::Duration delay_;
  int64_t& busy_count_;
  const Sync sync_;
  Faults* faults_ = nullptr;
  std::set<std::string> waiting_;
  // The earliest time that was asked for and has not come; in the foreground, in the background.
  std::map<std::string, absl::Time> later_[2];
  std::map<std::string, Retry> retries_;
  // Whose last look met a conflict, and nothing else that it minded.
  std::set<std::string> conflicts_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_WORK_QUEUE_H_
