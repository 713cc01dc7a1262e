// The metrics of kube-scheduler, over virtual time.
#ifndef SCHEDSIM_SIM_MEASURE_SCHEDULER_METRICS_H_
#define SCHEDSIM_SIM_MEASURE_SCHEDULER_METRICS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/lookup_map.h"
#include "core/queue/queue_observer.h"
#include "core/scheduler/attempt.h"
#include "sim/measure/metric_registry.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

// Counts what the real one counts; docs/metrics.md says what, and what is left out. Names, types, labels and
// buckets are those of the real one. Changes nothing.
// Source: kubernetes v1.37, pkg/scheduler/metrics/metrics.go, and whoever uses it.
class SchedulerMetrics : public SimulationObserver, public scheduler::Observer {
 public:
  // `interval`: how often samples are taken; absent: only at the end.
  explicit SchedulerMetrics(std::optional<absl::Duration> interval);
  SchedulerMetrics(const SchedulerMetrics&) = delete;
  SchedulerMetrics& operator=(const SchedulerMetrics&) = delete;

  // Before the simulation has objects; it must outlive the run.
  void Attach(Simulation& simulation);
  // At virtual zero: takes samples from now on.
  void Start();
  // After the run: takes the last sample.
  void Finish();

  const MetricRegistry& registry() const { return registry_; }

  bool WantsDetails() const override { return false; }
  bool WantsDryRuns() const override { return true; }
  void OnAttempt(const scheduler::Attempt& attempt) override;
  void OnBindFailure(const framework::PodInfo& pod, const scheduler::Attempt::Failure& failure) override;
  void OnInexact(const framework::PodInfo& /*pod*/, absl::string_view /*reason*/) override {}
  void OnMove(const queue::Move& move) override;
  void OnChange(const WatchEvent& event) override;
  void OnRest() override {}

 private:
  // A pod from its pop to its binding, or to the end of its attempt.
  struct InFlight {
    absl::Time popped;
    absl::Duration cycle;
    absl::Time queued;  // When it first entered the active queue.
    int32_t attempts = 0;
    bool was_flushed = false;
    std::string profile;
  };

  void CountFailure(const std::string& uid, const scheduler::Attempt::Failure& failure);
  void CountPreemption(const scheduler::Attempt& attempt);
  void CountBinding(const InFlight& pod);
  void SampleLater();
  void Sample();

  const std::optional<absl::Duration> interval_;
  MetricRegistry registry_;
  ExposedFamily& schedule_attempts_;
  ExposedFamily& attempt_duration_;
  ExposedFamily& algorithm_duration_;
  ExposedFamily& preemption_victims_;
  ExposedFamily& preemption_attempts_;
  ExposedFamily& pending_pods_;
  ExposedFamily& sli_duration_;
  ExposedFamily& scheduling_attempts_;
  ExposedFamily* after_flush_ = nullptr;  // nullptr: the line does not have it.
  ExposedFamily& incoming_pods_;
  ExposedFamily& cache_size_;
  ExposedFamily& unschedulable_pods_;
  Simulation* simulation_ = nullptr;
  LookupMap<std::string, InFlight> in_flight_;  // By uid.
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_MEASURE_SCHEDULER_METRICS_H_
