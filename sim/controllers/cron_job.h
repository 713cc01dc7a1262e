// CronJobs.
#ifndef SCHEDSIM_SIM_CONTROLLERS_CRON_JOB_H_
#define SCHEDSIM_SIM_CONTROLLERS_CRON_JOB_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/codec/objects/objects.h"
#include "sim/cluster/cron_schedule.h"
#include "sim/controllers/controller.h"
#include "sim/controllers/owned_pods.h"
#include "sim/controllers/work_queue.h"
#include "sim/controllers/workload_fields.h"

namespace schedsim::sim {

struct CronJobSpec {
  CronSchedule schedule;
  bool is_suspended = false;
  std::string concurrency_policy = "Allow";  // Allow, Forbid or Replace.
  std::optional<int64_t> starting_deadline_seconds;
  int64_t successful_jobs_history_limit = 3;
  int64_t failed_jobs_history_limit = 1;

  struct Status {
    std::optional<absl::Time> last_schedule_time;
    std::optional<absl::Time> last_successful_time;
    // Names of jobs that are not over.
    std::vector<std::string> active;

    friend bool operator==(const Status&, const Status&) = default;
  };
  Status status;
};

// InvalidArgument for what is malformed.
absl::Status ReadCronJob(const api::Object& object, CronJobSpec& spec);

// Makes a job whenever the schedule says so. The next time does not keep a run from ending.
// Source: kubernetes v1.37, pkg/controller/cronjob.
class CronJobController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) { return options.workloads; }
  explicit CronJobController(const ControllerContext& context);
  CronJobController(const CronJobController&) = delete;
  CronJobController& operator=(const CronJobController&) = delete;

  // CronJobs and Jobs are among the other kinds.
  std::vector<api::Kind> Watches() const override { return {api::Kind::kOther}; }
  void OnEvent(const WatchEvent& event) override;
  void Start() override;

 private:
  // A job of a CronJob.
  struct OwnJob {
    api::ObjectPtr object;
    bool is_complete = false;
    bool is_failed = false;
    std::optional<absl::Time> completion_time;
  };
  static absl::Status ReadOwnJob(const api::Object& object, OwnJob& job);

  // Warns of active jobs that keep the next one from coming, where the input has them not.
  void WarnOfLostJobs(const api::ObjectPtr& object);
  absl::Status Sync(const std::string& key);
  // When a CronJob was made.
  absl::Time CreatedAt(const api::Object& object) const;
  // The job of this name in the namespace of the CronJob.
  api::ObjectPtr FindJob(const api::Object& object, absl::string_view name) const;
  // By time of creation.
  std::vector<OwnJob> JobsOf(const api::Object& object);
  // Makes the job that is due now or was before, if there is one.
  absl::Status MakeDue(const api::Object& object, const CronJobSpec& spec, absl::Time earliest,
                       const std::vector<OwnJob>& jobs, CronJobSpec::Status& status);
  absl::Status CreateJob(const api::Object& object, absl::Time time, const std::string& name);
  void CleanUp(const CronJobSpec& spec, const std::vector<OwnJob>& jobs);
  void Delete(const api::Object& job);
  void WriteStatus(const api::ObjectPtr& object, CronJobSpec& spec, CronJobSpec::Status status);

  EventLoop& loop_;
  ApiServer& server_;
  std::vector<std::string>& warnings_;
  codec::ObjectReader reader_;
  WorkQueue queue_;
  SpecCache<CronJobSpec> specs_{ReadCronJob};
  SpecCache<OwnJob> jobs_{ReadOwnJob};
  // Names of jobs by the uid of their CronJob.
  std::map<std::string, std::set<std::string>> names_;
  bool started_ = false;
  absl::Time start_;
  // Uids of manifests: they are made some milliseconds before the start, one after the other, but count as
  // made then, so that what is due at the start is not due for them.
  std::set<std::string> new_at_start_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_CRON_JOB_H_
