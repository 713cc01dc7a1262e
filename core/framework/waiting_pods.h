// Pods whose binding cycle can still be stopped: those that wait on Permit, and those in PreBind.
#ifndef SCHEDSIM_CORE_FRAMEWORK_WAITING_PODS_H_
#define SCHEDSIM_CORE_FRAMEWORK_WAITING_PODS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/executor.h"
#include "core/base/lookup_map.h"
#include "core/framework/free_choice.h"
#include "core/framework/pod_info.h"
#include "core/framework/status.h"

namespace schedsim::framework {

// A plugin that asked a pod to wait.
struct PermitWait {
  std::string plugin;
  absl::Duration timeout;  // Then the pod is rejected.
};

class WokenPods;

// A pod that waits until each plugin that asked for it allows the pod, or one of them rejects it. What comes
// first counts; the pod goes on as work of its own, at the same time.
// Source: kubernetes v1.37, scheduler/framework/runtime/waiting_pods_map.go.
class WaitingPod : public std::enable_shared_from_this<WaitingPod> {
 public:
  // With the node's name set.
  const PodInfo& pod() const { return *pod_; }
  // Those that did not allow the pod yet, in the order of the profile.
  std::vector<std::string> GetPendingPlugins() const;

  void Allow(absl::string_view plugin);
  // Makes the pod unschedulable; events for which `plugin` is registered wake it. False: too late, the wait
  // was over already.
  bool Reject(absl::string_view plugin, absl::string_view message);
  // As Reject, but the pod's attempt ends with an error, so that it is tried again after a backoff.
  bool Preempt(absl::string_view plugin, absl::string_view message);

 private:
  friend class WaitingPods;

  struct Pending {
    std::string plugin;
    uint64_t timer = 0;
  };

  friend class WokenPods;

  WaitingPod(PodInfoPtr pod, Executor& executor, WokenPods& woken)
      : pod_(std::move(pod)), executor_(executor), woken_(woken) {}
  void StartTimers(const std::vector<PermitWait>& waits);
  bool Stop(Code code, absl::string_view plugin, absl::string_view message);
  void Signal(Status status);

  const PodInfoPtr pod_;
  Executor& executor_;
  std::vector<Pending> pending_;
  // How the wait ended; absent: it has not.
  std::optional<Status> result_;
  // Who waits for that; nullptr: no one yet.
  std::function<void(const Status&)> waiter_;
  WokenPods& woken_;
};

// The pods of all profiles that wait on Permit.
class WaitingPods {
 public:
  // `executor` must outlive the pods.
  explicit WaitingPods(Executor& executor);
  ~WaitingPods();
  WaitingPods(const WaitingPods&) = delete;
  WaitingPods& operator=(const WaitingPods&) = delete;

  // Who chooses which of several rejected pods goes on first. It must outlive the pods; nullptr: nobody.
  void set_free_choice(FreeChoice* choice);

  // The timeouts count from now on.
  void Add(PodInfoPtr pod, const std::vector<PermitWait>& waits);
  // nullptr: no pod of this uid waits.
  WaitingPod* Find(absl::string_view uid) const;
  // In the order in which they began to wait.
  void Iterate(const std::function<void(WaitingPod&)>& callback) const;
  // Calls `done` with how the wait of this pod ends and takes it out; at once where it is over.
  void Wait(absl::string_view uid, std::function<void(const Status&)> done);
  // The thread that woke pods has started another one, which goes on before them.
  void StartThread();

  bool empty() const { return pods_.empty(); }

 private:
  void Remove(absl::string_view uid);

  const std::unique_ptr<WokenPods> woken_;
  absl::btree_map<uint64_t, std::shared_ptr<WaitingPod>> pods_;  // By the order of coming.
  LookupMap<std::string, uint64_t> places_;                      // By uid.
  uint64_t next_ = 0;
};

// The words with which Go's contexts, and the errors of calls that they end, say that they were cancelled.
inline constexpr char kContextCanceled[] = "context canceled";

// A pod between the start of PreBind and Bind: what Go's context is to upstream's plugins.
// Source: kubernetes v1.37, scheduler/framework/runtime/pods_in_prebind_map.go.
class PodInPreBind {
 public:
  // `executor` must outlive the pod's binding.
  explicit PodInPreBind(Executor& executor) : executor_(executor) {}

  // Ends the binding with an error, `message`. False: too late, PreBind is over.
  bool CancelPod(absl::string_view message);
  // PreBind is over. False: the pod was cancelled.
  bool MarkPrebound();

  bool canceled() const { return canceled_; }
  const std::string& message() const { return message_; }
  // What to do when the pod is cancelled, as work of its own; replaces what was given before.
  void set_on_cancel(std::function<void()> on_cancel) { on_cancel_ = std::move(on_cancel); }

 private:
  Executor& executor_;
  bool canceled_ = false;
  bool finished_ = false;
  std::string message_;
  std::function<void()> on_cancel_;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_WAITING_PODS_H_
