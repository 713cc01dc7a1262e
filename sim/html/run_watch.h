// Looks on at a run for the page about it.
#ifndef SCHEDSIM_SIM_HTML_RUN_WATCH_H_
#define SCHEDSIM_SIM_HTML_RUN_WATCH_H_

#include <string>

#include "core/scheduler/attempt.h"
#include "sim/html/page.h"
#include "sim/plan/plan.h"
#include "sim/series/series_collector.h"

namespace schedsim::sim {

// Changes no decision. For one plan, which may be run again: the last run counts.
class RunWatch : public scheduler::Observer {
 public:
  RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  // Before the plan is run; it must not outlive the watch.
  void AddTo(Plan& plan);
  // After the run, which came to `report`. Once.
  PageRun Take(Report report);

  bool WantsDetails() const override { return false; }
  void OnAttempt(const scheduler::Attempt& attempt) override;
  void OnBindFailure(const framework::PodInfo& /*pod*/,
                     const scheduler::Attempt::Failure& /*failure*/) override {}
  void OnInexact(const framework::PodInfo& /*pod*/, absl::string_view /*reason*/) override {}

 private:
  void OnEnd(const Simulation& simulation);

  SeriesCollector series_;
  Simulation* simulation_ = nullptr;
  PageRun run_;
};

// Rows up to 1, 2 and 5 times powers of ten of a millisecond, from the first one that is not empty to the
// last; the first row may be that of 0.
std::vector<LatencyRow> LatencyRows(const std::vector<absl::Duration>& latencies);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_HTML_RUN_WATCH_H_
