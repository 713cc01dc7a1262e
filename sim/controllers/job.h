// Jobs.
#ifndef SCHEDSIM_SIM_CONTROLLERS_JOB_H_
#define SCHEDSIM_SIM_CONTROLLERS_JOB_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/base/rng.h"
#include "core/codec/objects/objects.h"
#include "sim/controllers/controller.h"
#include "sim/controllers/controller_refs.h"
#include "sim/controllers/job_fields.h"
#include "sim/controllers/owned_pods.h"
#include "sim/controllers/slow_start.h"
#include "sim/controllers/work_queue.h"
#include "sim/controllers/workload_fields.h"

namespace schedsim::sim {

// Keeps pods running until enough of them have succeeded, or too many failed.
// Source: kubernetes v1.37, pkg/controller/job, and pkg/controller/ttlafterfinished. A pod that is deleted by
// others counts as failed. Not here: restarts of containers.
class JobController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) { return options.workloads; }
  // Names are drawn from a stream of the context's.
  explicit JobController(const ControllerContext& context);
  JobController(const JobController&) = delete;
  JobController& operator=(const JobController&) = delete;

  // Jobs are among the other kinds.
  std::vector<api::Kind> Watches() const override { return {api::Kind::kOther}; }
  void OnEvent(const WatchEvent& event) override;
  void Start() override;

 private:
  // A pod that is over and was not counted yet.
  struct Finished {
    bool succeeded = false;
    int64_t index = -1;         // -1: none.
    int64_t failure_count = 0;  // How often its index had failed before,
    int64_t ignored_count = 0;  // and how often failures of it had been ignored.
    absl::Time time;
    api::PodPtr pod;
  };
  // The last failures, for the back-off.
  struct Backoff {
    int64_t failure_count = 0;
    int64_t ignored_count = 0;  // Of the failures.
    absl::Time last_failure = absl::InfinitePast();

    absl::Time End() const;
  };
  // What is known of a job beside its object.
  struct State {
    // Pods that have been counted, or that were taken away so that they do not count, by uid.
    std::set<std::string> counted;
    std::vector<Finished> finished;
    Backoff backoff;
    std::map<int64_t, Backoff> backoff_by_index;
    // Pods that are still to be made: their indexes, or -1 for each.
    std::vector<int64_t> to_create;  // The last one first.
    bool is_creating = false;
    SlowStart batches;
    // Without a name. nullptr: not made yet.
    std::shared_ptr<const api::Pod> prototype;
  };
  struct Look {
    std::string key;
    api::ObjectPtr object;
    JobSpec* spec = nullptr;
    State* state = nullptr;
    JobSpec::Status status;
    std::vector<api::PodPtr> active;  // By name.
  };

  absl::Status Sync(const std::string& key);
  void OnPod(const std::string& key, const WatchEvent& event);
  // Whether the pod, which is being deleted, does not count as failed until it ends.
  bool WaitsForEnd(const std::string& key, const api::Pod& pod);
  void FindPods(Look& look) const;
  void CountFinished(Look& look);
  void CountFailed(const Finished& pod, Look& look);
  // Adds FailureTarget where the job has failed.
  void CheckFailure(Look& look);
  void Fail(Look& look, absl::string_view reason, std::string message);
  // Adds SuccessCriteriaMet where the success policy says so.
  void CheckSuccess(Look& look);
  void DeleteActive(Look& look, bool counts_them);
  // Brings the number of active pods to what is wanted.
  void Manage(Look& look);
  void DeletePods(Look& look, int64_t count);
  std::vector<int64_t> NextIndexes(const Look& look, int64_t count);
  void SetSuspended(Look& look);
  void Finish(Look& look);
  void DeleteAfterTtl(const Look& look);
  void CreateNext(const std::string& key);
  absl::Status CreatePod(const Look& look, int64_t index);
  void WriteStatus(Look& look);
  WorkloadCondition Condition(absl::string_view type, absl::string_view status, absl::string_view reason,
                              std::string message) const;

  Rng rng_;
  Rng call_rng_;
  const Latency api_call_;
  EventLoop& loop_;
  ApiServer& server_;
  OwnedPods& owned_pods_;
  ControllerRefs& refs_;
  std::vector<std::string>& warnings_;
  codec::ObjectReader reader_;
  WorkQueue queue_;
  SpecCache<JobSpec> specs_{ReadJob};
  // By key.
  std::map<std::string, State> states_;
  bool started_ = false;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_JOB_H_
