// The disruption controller: what PodDisruptionBudgets allow.
#ifndef SCHEDSIM_SIM_CONTROLLERS_DISRUPTION_H_
#define SCHEDSIM_SIM_CONTROLLERS_DISRUPTION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/api/pod.h"
#include "core/api/workloads.h"
#include "core/base/symbol.h"
#include "core/framework/selector.h"
#include "sim/cluster/disruption_budget.h"
#include "sim/controllers/controller.h"

namespace schedsim::sim {

// Writes the status of budgets: at the start that of those which have none, and later that of each whose pods
// change. Preemption and the eviction of pods read it. It counts the pods of each budget as they come and go,
// so that an event costs what the budgets of its namespace cost.
// Source: kubernetes v1.37, pkg/controller/disruption/disruption.go.
// Two things differ, since input is often a part of a cluster. Upstream expects none of the pods that have no
// controller, and fails for those whose controller is not there; here as many are expected as there were at
// most. A controller that was there and is deleted is missing as upstream. The condition DisruptionTarget of
// pods that were not deleted after all is left alone.
class DisruptionController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) { return options.disruption; }
  explicit DisruptionController(const ControllerContext& context)
      : loop_(context.loop),
        server_(context.server),
        warnings_(context.warnings),
        busy_count_(context.busy_count) {}
  DisruptionController(const DisruptionController&) = delete;
  DisruptionController& operator=(const DisruptionController&) = delete;

  // Pods, budgets, and what controls pods.
  std::vector<api::Kind> Watches() const override;
  void OnEvent(const WatchEvent& event) override;
  // To be called before the scheduler starts, so that it finds each budget with a status.
  void Start() override;

 private:
  // The pods of a budget that one object controls.
  struct Owner {
    api::OwnerReference reference;
    int64_t count = 0;
    int64_t count_max = 0;
  };
  // What is known of a budget.
  struct Budget {
    framework::LabelMatcher selector;
    // Why it selects nothing; "": the selector is valid.
    std::string error;
    int64_t pod_count = 0;
    int64_t healthy_count = 0;  // Ready, and not being deleted.
    int64_t bare_count = 0;     // Without a controller.
    int64_t bare_count_max = 0;
    std::map<std::string, Owner> owners;  // By uid.
    bool is_due = false;
    bool is_warned_of = false;
  };
  // How many pods its controllers are to have, or why nobody knows.
  struct Expected {
    int64_t count = 0;
    std::string error;
  };
  // What an object that controls pods is to have.
  struct Scale {
    std::string uid;
    int64_t replicas = 0;
  };

  void OnBudget(const WatchEvent& event);
  void OnPod(const WatchEvent& event);
  void Fill(const std::string& name_space, Budget& budget);
  // Adds the pod to the budget's counts, or takes it out: `by` is 1 or -1.
  static void Count(const api::Pod& pod, int64_t by, Budget& budget);
  bool Covers(const Budget& budget, const api::Pod& pod);
  static void MoveToOwner(const api::Pod& before, const api::Pod& after, Budget& budget);
  void SyncLater(const std::string& name_space, const std::string& name, absl::Duration delay);
  void Sync(const std::string& name_space, const std::string& name);
  // Says that the budget counts otherwise than a real controller would.
  void WarnOfBarePods(const std::string& key, Budget& budget);
  // The status that the budget should have, and when an eviction that has not come about is to be forgotten.
  BudgetStatus StatusOf(const std::string& name_space, const std::string& name,
                        const DisruptionBudget& fields, Budget& budget, absl::Time& recheck);
  Expected ExpectedScale(const std::string& name_space, const Budget& budget) const;
  std::optional<Scale> FindScale(const std::string& name_space, const api::OwnerReference& owner,
                                 std::string& error) const;

  EventLoop& loop_;
  ApiServer& server_;
  std::vector<std::string>& warnings_;
  int64_t& busy_count_;
  SymbolTable symbols_;
  bool started_ = false;
  bool writes_ = false;  // A change of a budget is its own.
  // By namespace and name.
  std::map<std::string, std::map<std::string, Budget>> budgets_;
  // The uids of objects that were deleted and may have controlled pods.
  std::set<std::string> deleted_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_DISRUPTION_H_
