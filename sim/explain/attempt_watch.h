// Looks on at a run, and keeps an attempt of one pod.
#ifndef SCHEDSIM_SIM_EXPLAIN_ATTEMPT_WATCH_H_
#define SCHEDSIM_SIM_EXPLAIN_ATTEMPT_WATCH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "core/api/effective_profile.h"
#include "core/api/pod.h"
#include "core/scheduler/attempt.h"
#include "sim/explain/captured_attempt.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

// The profile of this name, or else the first one.
const api::EffectiveProfile& ProfileOf(const SimulationOptions& options, absl::string_view name);

// Changes no decision. Only cycles that are meant are looked at in detail: all of a pod, of which the last
// attempt is kept, or the one of a number.
class AttemptWatch : public scheduler::Observer {
 public:
  // `pod`: "namespace/name", or a name; "": every pod. `number`: the attempt to keep; absent: the last one.
  AttemptWatch(absl::string_view pod, std::optional<int64_t> number);
  // The last attempt of each of these pods, "namespace/name".
  explicit AttemptWatch(std::set<std::string> keys) : keys_(std::move(keys)) {}
  AttemptWatch(const AttemptWatch&) = delete;
  AttemptWatch& operator=(const AttemptWatch&) = delete;

  // To be called once, when nothing is in the simulation yet, which must outlive the run only.
  void Attach(Simulation& simulation);

  // Hears of each attempt that is meant, when its cycle is over.
  void set_sink(std::function<void(const CapturedAttempt& attempt)> sink) { sink_ = std::move(sink); }

  bool WantsDetails() const override { return in_cycle_; }
  void OnCycle(const framework::PodInfo& pod) override;
  void OnAttempt(const scheduler::Attempt& attempt) override;
  void OnBindFailure(const framework::PodInfo& pod, const scheduler::Attempt::Failure& failure) override;
  void OnGroupFailure(const framework::PodInfo& pod, absl::string_view group,
                      const scheduler::Attempt::Failure& failure) override;
  void OnInexact(const framework::PodInfo& /*pod*/, absl::string_view /*reason*/) override {}

  // What is known of a pod that is meant.
  struct Subject {
    api::PodPtr pod;  // Its last version.
    bool is_gone = false;
    bool is_ours = true;  // Whether one of the profiles is for it.
    // Whether it had its node when it came.
    bool came_with_node = false;
    // How many pods had its name before.
    int64_t namesake_count = 0;
    int64_t attempt_count = 0;
    std::optional<CapturedAttempt> attempt;
    // What kept it unbound that had a node, see BindingHoldText; "": nothing that is known of.
    std::string hold;
    // Of a pod that was never tried: what its claims of devices wait for; "": nothing.
    std::string claim_gate;
  };
  // To be called when the run is over, while the simulation is there.
  void NoteEnd();
  // By "namespace/name".
  std::map<std::string, Subject>& subjects() { return subjects_; }
  // The names of all pods that there ever were.
  const std::set<std::string>& pods() const { return pods_; }

 private:
  bool IsMeant(const api::Pod& pod) const;
  // nullptr where another pod has its name by now.
  Subject* SubjectOf(const api::Pod& pod);
  void OnChange(const WatchEvent& event);
  CapturedCluster Capture(const api::Pod& pod) const;
  void AddScores(const scheduler::Attempt& attempt, CapturedAttempt& captured) const;
  void AddOutcome(const scheduler::Attempt& attempt, CapturedAttempt& captured) const;

  const std::set<std::string> keys_;  // Empty: see `pod_`.
  const std::string pod_;
  const std::optional<int64_t> number_;
  std::function<void(const CapturedAttempt& attempt)> sink_;
  Simulation* simulation_ = nullptr;
  std::map<std::string, Subject> subjects_;
  std::set<std::string> pods_;
  bool in_cycle_ = false;
  CapturedCluster cluster_;  // Of the cycle under way.
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_ATTEMPT_WATCH_H_
