#include "sim/record/scheduler_recorder.h"

namespace schedsim::sim {

void SchedulerRecorder::Registrations(const queue::SchedulingQueue& queue, const api::LineBehavior& line) {
  trace_.HearFrom(source_, [&] { trace_.Registrations(queue, line); });
}

void SchedulerRecorder::OnCycle(const framework::PodInfo& pod) {
  trace_.HearFrom(source_, [&] { trace_.OnCycle(pod); });
}

void SchedulerRecorder::OnAttempt(const scheduler::Attempt& attempt) {
  trace_.HearFrom(source_, [&] { trace_.OnAttempt(attempt); });
}

void SchedulerRecorder::OnBindFailure(const framework::PodInfo& pod,
                                      const scheduler::Attempt::Failure& failure) {
  trace_.HearFrom(source_, [&] { trace_.OnBindFailure(pod, failure); });
}

void SchedulerRecorder::OnGroupCycle(const scheduler::GroupCycle& cycle) {
  trace_.HearFrom(source_, [&] { trace_.OnGroupCycle(cycle); });
}

void SchedulerRecorder::OnGroupPlacements(const scheduler::GroupPlacements& placements) {
  trace_.HearFrom(source_, [&] { trace_.OnGroupPlacements(placements); });
}

void SchedulerRecorder::OnGroupPlacementScores(const scheduler::GroupPlacementScores& scores) {
  trace_.HearFrom(source_, [&] { trace_.OnGroupPlacementScores(scores); });
}

void SchedulerRecorder::OnGroupPostFilter(const scheduler::GroupPostFilter& post_filter) {
  trace_.HearFrom(source_, [&] { trace_.OnGroupPostFilter(post_filter); });
}

void SchedulerRecorder::OnGroupFailure(const framework::PodInfo& pod, absl::string_view group,
                                       const scheduler::Attempt::Failure& failure) {
  trace_.HearFrom(source_, [&] { trace_.OnGroupFailure(pod, group, failure); });
}

void SchedulerRecorder::OnInexact(const framework::PodInfo& pod, absl::string_view reason) {
  trace_.HearFrom(source_, [&] { trace_.OnInexact(pod, reason); });
}

void SchedulerRecorder::OnPluginNote(const framework::PluginNote& note) {
  trace_.HearFrom(source_, [&] { trace_.OnPluginNote(note); });
}

}  // namespace schedsim::sim
