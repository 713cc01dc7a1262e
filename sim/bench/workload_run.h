// One workload: its operations, carried out on a simulation.
#ifndef SCHEDSIM_SIM_BENCH_WORKLOAD_RUN_H_
#define SCHEDSIM_SIM_BENCH_WORKLOAD_RUN_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/digest.h"
#include "core/codec/objects/objects.h"
#include "sim/bench/bench_client.h"
#include "sim/bench/object_template.h"
#include "sim/bench/throughput.h"
#include "sim/bench/workload_file.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

// Carries out operations one after the other, as scheduler_perf does: the cluster is empty and the scheduler
// runs when the first one begins. Calls of the API server are kCallInterval apart. What scheduler_perf
// waits for it asks once a second, so that is when an operation ends. It is the simulation's script.
// Source: kubernetes v1.37, test/integration/scheduler_perf/executor.go.
class WorkloadRun : public Script {
 public:
  // scheduler_perf's client is limited to 5,000 calls a second.
  static constexpr absl::Duration kCallInterval = absl::Microseconds(200);
  // How long it waits for pods.
  static constexpr absl::Duration kTimeout = absl::Minutes(10);

  // The arguments must outlive the run. `steps`: as ResolveSteps has them.
  WorkloadRun(const std::vector<WorkloadStep>& steps, Simulation& simulation, const ReadRealTime& read);
  ~WorkloadRun() override;

  void Start() override;
  void OnSettled() override {}
  bool Done() const override { return done_; }
  bool Waits() const override { return false; }

  // What was measured, in order.
  const std::vector<Measurement>& measurements() const { return measurements_; }
  // What went wrong, `place: what`; "" where all was carried out.
  const std::string& failure() const { return failure_; }
  // After the run: adds a failure if it ended before the operations did.
  void Finish();

  int64_t bound_count() const { return bound_count_; }
  // Over all bindings in their order: time, pod and node.
  std::string PlacementDigest() const { return placements_.Hex(); }

 private:
  // Work that comes again and again, `interval` apart, until it says that it is done.
  using Work = std::function<bool()>;

  void RunStep();
  // The operation at hand is done: the next one begins at this same instant.
  void Next();
  // Ends the run.
  void Fail(const absl::Status& status);
  void FailAt(absl::string_view place, const absl::Status& status);
  // Carries `work` out now and then every `interval`.
  void Repeat(absl::Duration interval, Work work);
  // The same, beginning one interval from now.
  void RepeatLater(absl::Duration interval, Work work);
  // Calls `work` for 0 to count - 1, one call of the API server after the other, then `then`.
  void ForEach(int64_t count, const std::function<absl::Status(int64_t)>& work, std::function<void()> then);
  // Asks for the condition now and then every second, then calls `then`. `what`: for the failure.
  void WaitFor(std::function<bool()> holds, std::function<std::string()> what, std::function<void()> then);

  void Begin(const UnsimulatedOp& op);
  void Begin(const CreateNodesOp& op);
  void Begin(const CreateNamespacesOp& op);
  void Begin(const CreatePodsOp& op);
  void Begin(const CreatePodSetsOp& op);
  void Begin(const DeletePodsOp& op);
  void Begin(const ChurnOp& op);
  void Begin(const AnyObjectOp& op);
  void Begin(const BarrierOp& op);
  void Begin(const SleepOp& op);
  void Begin(const StartCollectingMetricsOp& op);
  void Begin(const StopCollectingMetricsOp& op);

  absl::StatusOr<std::vector<TemplateObject>> MakeNodes(const CreateNodesOp& op);
  void PrepareNodes(const CreateNodesOp& op);
  absl::Status PrepareNode(const NodeStrategy& strategy, const std::string& name, int64_t index);
  absl::Status PrepareCsiNode(const NodeAllocatableStrategy& strategy, const std::string& name);

  // The objects of an operation in the order in which they are created: of each pod its claim, its volume
  // and itself.
  absl::StatusOr<std::vector<TemplateObject>> MakePods(const CreatePodsOp& op, const std::string& name_space,
                                                       int64_t count);
  absl::Status MakeVolume(const CreatePodsOp& op, const std::string& name_space, int64_t index,
                          std::vector<TemplateObject>& objects);
  void FinishPods(const CreatePodsOp& op, const std::string& name_space);
  void RunSteadily(const CreatePodsOp& op, const std::string& name_space);
  void ReplacePod(const api::Pod& bound);
  void StartCollecting(const StartCollectingMetricsOp& op);
  void StopCollecting();

  void WaitForNamespaces(const BarrierOp& op, std::vector<std::string> namespaces, size_t index);
  absl::Status ChurnOnce(const ChurnOp& op, size_t template_index, std::string& name);
  bool DeleteNext(const std::vector<std::string>& names, const std::string& name_space, size_t& next);

  // Makes the namespace known, and creates it where it is not there.
  absl::Status EnsureNamespace(const std::string& name);
  // The template of this file; each file is read once.
  absl::StatusOr<ObjectTemplate*> Template(const std::string& path, ObjectTemplate::Reading reading);
  struct Stages {
    int64_t scheduled = 0;
    int64_t attempted = 0;
    int64_t unattempted = 0;
    std::string pending;  // A pod that is not scheduled, for messages.
  };
  Stages CountPods(const std::string& name_space, const Labels& labels) const;
  void OnEvent(const WatchEvent& event);
  int64_t attempt_count() const { return simulation_.trace().attempt_count(); }

  const std::vector<WorkloadStep>& steps_;
  Simulation& simulation_;
  ApiServer& server_;
  EventLoop& loop_;
  BenchClient client_;
  ThroughputCollector collector_;
  codec::ObjectReader objects_;
  std::map<std::string, ObjectTemplate> templates_;  // By path and reading.
  size_t index_ = 0;                                 // Of the operation at hand.
  bool done_ = false;
  std::string failure_;
  std::vector<Measurement> measurements_;
  Digest placements_;
  int64_t bound_count_ = 0;
  // How many nodes operations created so far.
  int64_t node_count_ = 0;
  // Pods that no operation has waited for, by namespace.
  std::map<std::string, int64_t> pod_counts_;
  // The steady state that lasts: where, and what takes the place of bound pods; nullptr: none.
  struct Steady {
    const CreatePodsOp* op = nullptr;
    std::string name_space;
    int64_t scheduled = 0;
  };
  std::unique_ptr<Steady> steady_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_BENCH_WORKLOAD_RUN_H_
