// DaemonSets.
#ifndef SCHEDSIM_SIM_CONTROLLERS_DAEMON_SET_H_
#define SCHEDSIM_SIM_CONTROLLERS_DAEMON_SET_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/api/node.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/api/selectors.h"
#include "core/base/rng.h"
#include "core/base/symbol.h"
#include "core/codec/objects/objects.h"
#include "core/framework/selector.h"
#include "sim/controllers/controller.h"
#include "sim/controllers/controller_history.h"
#include "sim/controllers/controller_refs.h"
#include "sim/controllers/owned_pods.h"
#include "sim/controllers/slow_start.h"
#include "sim/controllers/work_queue.h"
#include "sim/controllers/workload_fields.h"

namespace schedsim::sim {

// Whether the object is a DaemonSet of Kubernetes.
bool IsDaemonSet(const api::Object& object);
bool IsDaemonSetPod(const api::Object& pod);

struct DaemonSetSpec {
  int64_t min_ready_seconds = 0;
  int64_t revision_history_limit = 10;
  bool updates_on_delete = false;
  IntOrPercent max_unavailable = {.value = 1};
  IntOrPercent max_surge;
  std::optional<int64_t> generation;
  std::optional<api::LabelSelector> selector;

  struct Status {
    std::optional<int64_t> observed_generation;
    int64_t desired = 0;
    int64_t current = 0;
    int64_t misscheduled = 0;
    int64_t ready = 0;
    int64_t updated = 0;
    int64_t available = 0;

    friend bool operator==(const Status&, const Status&) = default;
  };
  Status status;
};

// InvalidArgument for what is malformed.
absl::Status ReadDaemonSet(const api::Object& object, DaemonSetSpec& spec);

// Keeps a pod on each node that its template allows; the scheduler binds it, since it may go nowhere else.
// Source: kubernetes v1.37, pkg/controller/daemon. Not here: the back-off after pods that failed.
class DaemonSetController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) { return options.workloads; }
  // Names are drawn from a stream of the context's.
  explicit DaemonSetController(const ControllerContext& context);
  DaemonSetController(const DaemonSetController&) = delete;
  DaemonSetController& operator=(const DaemonSetController&) = delete;

  // Nodes; DaemonSets and ControllerRevisions, which are among the other kinds.
  std::vector<api::Kind> Watches() const override { return {api::Kind::kNode, api::Kind::kOther}; }
  void OnEvent(const WatchEvent& event) override;
  void Start() override;

 private:
  using Entry = OwnedPods::Entry;
  // What one node adds to the status.
  struct Share {
    int64_t desired = 0;
    int64_t current = 0;
    int64_t misscheduled = 0;
    int64_t ready = 0;
    int64_t updated = 0;
    int64_t available = 0;
    // Pods of another revision that are not being deleted.
    int64_t old = 0;
  };
  // A node, or a name that a pod is bound to.
  struct Place {
    bool is_node = false;
    bool should_run = false;
    bool should_continue = false;
    std::set<std::string> pods;  // By name.
    Share share;
  };
  // What is known of a set, kept up to date by changes.
  struct State {
    // The version of the set that was looked at.
    api::ObjectPtr seen;
    // Of which template.
    std::string pod_template;
    Revision revision;
    // How many templates the set has had, as its annotation and its pods' labels count them.
    std::optional<int64_t> template_generation;
    // A pod as the template makes it, but for node and name.
    std::shared_ptr<const api::Pod> prototype;
    framework::RequiredNodeAffinity affinity;
    std::map<std::string, Place> places;
    std::set<std::string> changed;  // Places to look at.
    // When a pod of a place will be available, if nothing happens to it until then.
    std::set<std::pair<absl::Time, std::string>> due;
    int64_t min_ready_seconds = 0;  // With which they were looked at.
    Share sum;
    std::set<std::string> missing;  // Nodes for which a pod is to be made.
    bool is_creating = false;
    // While it is: how, the last node for which one was asked for, and for how many more one may be.
    SlowStart batches;
    std::string tried;
    int64_t burst = 0;
  };
  struct Look {
    api::ObjectPtr object;
    DaemonSetSpec* spec = nullptr;
    State* state = nullptr;
  };

  absl::Status Sync(const std::string& key);
  void OnNode(const WatchEvent& event);
  void OnPod(const std::string& key, const WatchEvent& event);
  // Takes up the template, and looks at all nodes anew where it has changed.
  absl::Status TakeTemplate(Look& look);
  void DecideOn(const Look& look, const std::string& name, Place& place);
  // The pods of a place that count, in upstream's order.
  std::vector<Entry> PodsOn(const Look& look, const Place& place) const;
  bool IsUpdated(const State& state, const api::Pod& pod) const;
  bool IsAvailable(const DaemonSetSpec& spec, const Entry& entry) const;
  // Returns whether it changed anything.
  bool Manage(Look& look, const std::string& name, Place& place);
  bool ManageSurge(const Look& look, const std::vector<Entry>& running);
  void AddShare(const Look& look, const std::string& name, Place& place);
  void RollOut(Look& look);
  void RollOutWithSurge(Look& look, int64_t max_surge);
  // Begins to make the pods that are missing, and goes on with it.
  void CreateAll(const std::string& key, State& state);
  void CreateNext(const std::string& key);
  absl::Status CreatePod(const Look& look, const std::string& node_name);
  void Delete(const api::Pod& pod) { server_.DeletePod(pod).IgnoreError(); }
  void WriteStatus(const Look& look);

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
  ControllerHistory history_;
  SpecCache<DaemonSetSpec> specs_{ReadDaemonSet};
  SymbolTable symbols_;
  // By key.
  std::map<std::string, State> states_;
  bool started_ = false;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_DAEMON_SET_H_
