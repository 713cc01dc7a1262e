#include "core/framework/waiting_pods.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/base/check.h"

namespace schedsim::framework {

// Pods whose wait is over, and which go on at this instant. As in Go's runtime, the one that was woken last
// goes first, and then the others in their order.
class WokenPods {
 public:
  explicit WokenPods(Executor& executor) : executor_(executor) {}

  Executor& executor() { return executor_; }
  void set_free_choice(FreeChoice* choice) { choice_ = choice; }

  void Add(std::shared_ptr<WaitingPod> pod) {
    GiveWay();
    next_ = std::move(pod);
    executor_.Spawn([this] { RunOne(); });
  }

  // What was woken last goes behind the others.
  void GiveWay() {
    if (next_ != nullptr) others_.push_back(std::exchange(next_, nullptr));
  }

 private:
  void RunOne() {
    // In the order in which they go on.
    if (next_ != nullptr) others_.push_front(std::exchange(next_, nullptr));
    const auto first = others_.begin() + static_cast<std::ptrdiff_t>(ChooseFirst());
    const std::shared_ptr<WaitingPod> pod = std::move(*first);
    others_.erase(first);
    pod->waiter_(*pod->result_);
  }

  size_t ChooseFirst() const {
    if (choice_ == nullptr) return 0;
    std::vector<const PodInfo*> pods;
    for (const std::shared_ptr<WaitingPod>& pod : others_) {
      if (pod->result_->IsSuccess()) return 0;
      pods.push_back(&pod->pod());
    }
    return choice_->ChooseRejected(pods);
  }

  Executor& executor_;
  FreeChoice* choice_ = nullptr;
  std::shared_ptr<WaitingPod> next_;
  std::deque<std::shared_ptr<WaitingPod>> others_;
};

std::vector<std::string> WaitingPod::GetPendingPlugins() const {
  std::vector<std::string> plugins;
  for (const Pending& pending : pending_) plugins.push_back(pending.plugin);
  return plugins;
}

void WaitingPod::StartTimers(const std::vector<PermitWait>& waits) {
  // One timer a plugin: whichever ends first rejects the pod for all of them.
  for (const PermitWait& wait : waits) {
    const std::string message = absl::StrCat("rejected due to timeout after waiting ",
                                             api::FormatGoDuration(wait.timeout), " at plugin ", wait.plugin);
    const uint64_t timer = executor_.PostDeadline(
        std::max(wait.timeout, absl::ZeroDuration()),
        [self = shared_from_this(), plugin = wait.plugin, message] { self->Reject(plugin, message); });
    pending_.push_back({.plugin = wait.plugin, .timer = timer});
  }
}

void WaitingPod::Allow(absl::string_view plugin) {
  const auto found = std::find_if(pending_.begin(), pending_.end(),
                                  [plugin](const Pending& pending) { return pending.plugin == plugin; });
  if (found != pending_.end()) {
    executor_.Cancel(found->timer);
    pending_.erase(found);
  }
  if (pending_.empty()) Signal(Status());
}

bool WaitingPod::Reject(absl::string_view plugin, absl::string_view message) {
  return Stop(Code::kUnschedulable, plugin, message);
}

bool WaitingPod::Preempt(absl::string_view plugin, absl::string_view message) {
  return Stop(Code::kError, plugin, message);
}

bool WaitingPod::Stop(Code code, absl::string_view plugin, absl::string_view message) {
  if (result_.has_value()) return false;
  for (const Pending& pending : pending_) executor_.Cancel(pending.timer);
  Status status(code, std::string(message));
  status.SetPluginIfUnset(plugin);
  Signal(std::move(status));
  return true;
}

void WaitingPod::Signal(Status status) {
  // The first result counts. Upstream's channel has room for one, and later ones are dropped.
  if (result_.has_value()) return;
  result_ = std::move(status);
  // A result that comes before the binding cycle waits for it stays here until then.
  if (waiter_ == nullptr) return;
  woken_.Add(shared_from_this());
}

WaitingPods::WaitingPods(Executor& executor) : woken_(std::make_unique<WokenPods>(executor)) {}
WaitingPods::~WaitingPods() = default;

void WaitingPods::set_free_choice(FreeChoice* choice) { woken_->set_free_choice(choice); }

void WaitingPods::StartThread() { woken_->GiveWay(); }

void WaitingPods::Add(PodInfoPtr pod, const std::vector<PermitWait>& waits) {
  const std::string uid(pod->Uid());
  // A binding cycle that failed before it waited leaves its pod behind, here as upstream. The pod's next wait
  // takes the place.
  if (places_.Find(uid) != nullptr) Remove(uid);
  std::shared_ptr<WaitingPod> waiting(new WaitingPod(std::move(pod), woken_->executor(), *woken_));
  waiting->StartTimers(waits);
  places_[uid] = next_;
  pods_.emplace(next_++, std::move(waiting));
}

WaitingPod* WaitingPods::Find(absl::string_view uid) const {
  const uint64_t* place = places_.Find(uid);
  return place == nullptr ? nullptr : pods_.find(*place)->second.get();
}

void WaitingPods::Iterate(const std::function<void(WaitingPod&)>& callback) const {
  for (const auto& [place, pod] : pods_) callback(*pod);
}

void WaitingPods::Wait(absl::string_view uid, std::function<void(const Status&)> done) {
  WaitingPod* pod = Find(uid);
  CHECK(pod != nullptr);
  CHECK(pod->waiter_ == nullptr);
  // The status lives in the pod that Remove destroys.
  auto end = [this, uid = std::string(uid), done = std::move(done)](const Status& status) {
    const Status kept = status;
    Remove(uid);
    done(kept);
  };
  if (pod->result_.has_value()) {
    end(*pod->result_);
  } else {
    pod->waiter_ = std::move(end);
  }
}

void WaitingPods::Remove(absl::string_view uid) {
  const uint64_t* place = places_.Find(uid);
  CHECK(place != nullptr);
  pods_.erase(*place);
  places_.Erase(uid);
}

bool PodInPreBind::CancelPod(absl::string_view message) {
  // Too late: the binding goes on to Bind, which cannot be stopped.
  if (finished_) return false;
  if (canceled_) return true;
  canceled_ = true;
  message_ = std::string(message);
  if (on_cancel_ != nullptr) executor_.Spawn(std::exchange(on_cancel_, nullptr));
  return true;
}

bool PodInPreBind::MarkPrebound() {
  if (canceled_) return false;
  finished_ = true;
  return true;
}

}  // namespace schedsim::framework
