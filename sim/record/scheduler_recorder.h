// Puts on record what a scheduler does beside the first one of a run.
#ifndef SCHEDSIM_SIM_RECORD_SCHEDULER_RECORDER_H_
#define SCHEDSIM_SIM_RECORD_SCHEDULER_RECORDER_H_

#include "absl/strings/string_view.h"
#include "core/scheduler/attempt.h"
#include "sim/record/trace.h"

namespace schedsim::sim {

// The trace writes the same records of it as of the first scheduler: an attempt says which profile it was
// of. Of its queue there are none.
class SchedulerRecorder : public scheduler::Observer {
 public:
  // `trace` must outlive it.
  explicit SchedulerRecorder(Trace& trace) : trace_(trace) {}
  SchedulerRecorder(const SchedulerRecorder&) = delete;
  SchedulerRecorder& operator=(const SchedulerRecorder&) = delete;

  // Whom it hears; before it hears anything.
  void set_scheduler(const scheduler::Scheduler* scheduler) { source_.scheduler = scheduler; }

  // As Trace::Registrations.
  void Registrations(const queue::SchedulingQueue& queue, const api::LineBehavior& line);

  bool WantsDetails() const override { return trace_.WantsDetails(); }
  bool WantsDryRuns() const override { return trace_.WantsDryRuns(); }
  void OnCycle(const framework::PodInfo& pod) override;
  void OnAttempt(const scheduler::Attempt& attempt) override;
  void OnBindFailure(const framework::PodInfo& pod, const scheduler::Attempt::Failure& failure) override;
  void OnGroupCycle(const scheduler::GroupCycle& cycle) override;
  void OnGroupPlacements(const scheduler::GroupPlacements& placements) override;
  void OnGroupPlacementScores(const scheduler::GroupPlacementScores& scores) override;
  void OnGroupPostFilter(const scheduler::GroupPostFilter& post_filter) override;
  void OnGroupFailure(const framework::PodInfo& pod, absl::string_view group,
                      const scheduler::Attempt::Failure& failure) override;
  void OnInexact(const framework::PodInfo& pod, absl::string_view reason) override;
  void OnPluginNote(const framework::PluginNote& note) override;

 private:
  Trace& trace_;
  Trace::Source source_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RECORD_SCHEDULER_RECORDER_H_
