// What the schedulers of one cluster did, and where they got into each other's way.
#ifndef SCHEDSIM_SIM_RUN_SCHEDULER_CONFLICTS_H_
#define SCHEDSIM_SIM_RUN_SCHEDULER_CONFLICTS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/scheduler/attempt.h"
#include "core/scheduler/scheduler.h"
#include "sim/actors/kubelet_admission.h"
#include "sim/cluster/api_server.h"

namespace schedsim::sim {

// Looks on at a run of several schedulers, and changes nothing.
class SchedulerConflicts : public scheduler::Observer {
 public:
  // Of one scheduler.
  struct Counts {
    std::vector<std::string> profiles;  // Its schedulerNames.
    int64_t attempts = 0;
    int64_t bound = 0;     // Pods that it bound in the run, also those that were refused.
    int64_t rejected = 0;  // Pods that kubelets refused.
  };
  // A pod that the kubelet refused.
  struct Rejection {
    absl::Time at;
    std::string pod;  // "namespace/name".
    std::string node;
    std::string scheduler;  // The schedulerName by which it was bound; "": the pod names its node itself.
    std::string reason;
    std::string message;
    // Names of other schedulers, sorted, whose pods were on the node by then, and of which the pod's
    // scheduler had not heard when it chose the node.
    std::vector<std::string> unheard;
  };

  // What is borrowed must outlive it. `schedulers`: the first one in front.
  SchedulerConflicts(std::vector<scheduler::Scheduler*> schedulers, const Clock& clock, ApiServer& server,
                     KubeletAdmission& admission);
  SchedulerConflicts(const SchedulerConflicts&) = delete;
  SchedulerConflicts& operator=(const SchedulerConflicts&) = delete;

  // Shape: one for each scheduler, the first one in front.
  const std::vector<Counts>& counts() const { return counts_; }
  // In the order in which they were refused.
  const std::vector<Rejection>& rejections() const { return rejections_; }

  bool WantsDetails() const override { return false; }
  void OnAttempt(const scheduler::Attempt& attempt) override;
  void OnBindFailure(const framework::PodInfo& /*pod*/,
                     const scheduler::Attempt::Failure& /*failure*/) override {}
  void OnInexact(const framework::PodInfo& /*pod*/, absl::string_view /*reason*/) override {}

 private:
  // What a scheduler did not know when it chose a node.
  struct Choice {
    uint64_t admitted_count = 0;    // How many pods nodes had admitted by then.
    std::set<std::string> unheard;  // Whose pods were on the node without its knowledge.
  };

  // The index of the scheduler that is responsible for the pod; -1: there is none.
  int IndexOf(const api::Pod& pod) const;
  void OnChange(const WatchEvent& event);
  void OnDecision(const api::Pod& pod, const KubeletRefusal* refusal);

  const std::vector<scheduler::Scheduler*> schedulers_;
  const Clock& clock_;
  KubeletAdmission& admission_;
  std::vector<Counts> counts_;
  std::map<std::string, Choice> choices_;  // By the pod's uid; of those that no kubelet has looked at yet.
  std::vector<Rejection> rejections_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RUN_SCHEDULER_CONFLICTS_H_
