// What became of each pod and of each node of a run.
#ifndef SCHEDSIM_SIM_MEASURE_RUN_HISTORY_H_
#define SCHEDSIM_SIM_MEASURE_RUN_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/pod.h"
#include "core/base/lookup_map.h"
#include "core/scheduler/attempt.h"
#include "sim/measure/measured_window.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

// Amounts by resource, sorted by name. Units: cpu in thousandths of a core, memory and storage in bytes,
// others in wholes.
using Amounts = std::vector<std::pair<std::string, int64_t>>;

// One pod: another one of its name, made anew, has a row of its own. Times are since virtual zero; what was
// there before has 0s.
struct PodRow {
  std::string name_space;
  std::string name;
  absl::Duration created;
  std::optional<absl::Duration> first_attempt;
  std::optional<absl::Duration> bound;
  std::optional<absl::Duration> gone;
  int64_t attempts = 0;
  std::string node;  // The one it is or was on; "": none.
  // How it went: Deleted, Evicted, Succeeded or Failed; "": it is there.
  std::string ending;
  std::shared_ptr<const Amounts> requests;
  // Whether a profile is responsible for it.
  bool is_ours = false;
  bool came_with_node = false;  // It was on its node when it was created.
};

// One node, or what was one. Another one of its name goes on with its row.
struct NodeRow {
  struct Use {
    // What pods ask for may come to more than 64 bits hold.
    __int128 requested = 0;  // At the end.
    int64_t allocatable = 0;
    // In the window, while the node was there.
    __int128 requested_max = 0;
    // The same; sums. Unit: amounts times nanoseconds.
    __int128 requested_time = 0;
    __int128 allocatable_time = 0;

    // How much was requested on average, in hundredths of a percent, cut; absent: nothing was allocatable.
    std::optional<int64_t> MeanShare() const;
  };
  std::string name;
  absl::Duration created;
  std::optional<absl::Duration> gone;
  int64_t pods = 0;        // At the end.
  int64_t pods_bound = 0;  // In all, those of the input included.
  std::map<std::string, Use, std::less<>> uses;
  absl::Duration noted;  // Up to when the sums are.
};

// What the window came to. Pods are those that were created in it, without a node.
struct WindowSummary {
  absl::Duration from;
  absl::Duration until;
  int64_t created = 0;
  int64_t bound = 0;     // Of these, also those that are gone since.
  int64_t gone = 0;      // Of these.
  int64_t waiting = 0;   // Of these: without a node, and not gone.
  int64_t bindings = 0;  // In the window, of whatever pods.
  // From the creation to the binding, of those that were bound; zeros where none was.
  absl::Duration latency_p50, latency_p90, latency_p99, latency_max;
  // Sums over all nodes, by resource.
  std::map<std::string, NodeRow::Use, std::less<>> uses;
};

// Looks on at a run; changes nothing.
class RunHistory : public scheduler::Observer {
 public:
  explicit RunHistory(std::optional<MeasuredWindow> window) : window_(window) {}
  RunHistory(const RunHistory&) = delete;
  RunHistory& operator=(const RunHistory&) = delete;

  // Before the simulation has objects; it must outlive the run.
  void Attach(Simulation& simulation);
  // After the run.
  void Finish();

  const std::vector<PodRow>& pods() const { return pods_; }               // In the order of their creation.
  const std::map<std::string, NodeRow>& nodes() const { return nodes_; }  // By name.
  // Whether the pod counts: it was created in the window, and there was something to decide.
  bool IsMeasured(const PodRow& pod) const;
  WindowSummary Summary() const;

  bool WantsDetails() const override { return false; }
  void OnAttempt(const scheduler::Attempt& attempt) override;
  void OnBindFailure(const framework::PodInfo& pod, const scheduler::Attempt::Failure& failure) override;
  void OnInexact(const framework::PodInfo& pod, absl::string_view reason) override;

 private:
  absl::Duration Now() const;
  void OnChange(const WatchEvent& event);
  void OnNode(const api::Object* before, const api::Object* after);
  void OnPod(const api::Pod* before, const api::Pod* after);
  // Adds what a pod asks for to its node, or takes it away.
  void Count(const PodRow& pod, int64_t sign);
  // Brings the sums of a node up to now.
  void Note(NodeRow& node);
  std::shared_ptr<const Amounts> RequestsOf(const api::Pod& pod);

  std::optional<MeasuredWindow> window_;
  Simulation* simulation_ = nullptr;
  std::vector<PodRow> pods_;
  LookupMap<std::string, size_t> places_;  // By uid, in pods_.
  std::map<std::string, NodeRow> nodes_;
  // By spec, which is kept, so that no other one has its place.
  struct Known {
    std::shared_ptr<const api::PodSpec> spec;
    std::shared_ptr<const Amounts> amounts;
  };
  LookupMap<const api::PodSpec*, Known> known_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_MEASURE_RUN_HISTORY_H_
