// What happens to a cluster over time: the timeline of a scenario.
#ifndef SCHEDSIM_SIM_SCENARIO_TIMELINE_H_
#define SCHEDSIM_SIM_SCENARIO_TIMELINE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/api/taints.h"
#include "core/codec/patch/object_patch.h"
#include "sim/cluster/label_selector.h"
#include "sim/cluster/pod_update.h"
#include "sim/formats/snapshot_writer.h"
#include "sim/run/simulation.h"
#include "sim/scenario/drain.h"
#include "sim/stages/scale.h"

namespace schedsim::sim {

// The objects that an action is about: those with these names, or those whose labels match.
struct Target {
  api::Kind kind = api::Kind::kPod;
  std::string kind_name = "Pod";
  // Of names: where they are. Of a selector: only there; "": everywhere.
  std::string name_space;
  std::vector<std::string> names;
  // Absent: `names` count.
  std::optional<LabelSelector> selector;
  // As it is written, for messages.
  std::string selector_text;
  // Of those that match, this many at most, by namespace and name.
  std::optional<int64_t> count;
  // Whether there may be nothing of that name, or nothing that matches.
  bool allow_missing = false;
};

struct CreateObjects {
  std::vector<api::ObjectPtr> objects;
};
struct UpdateObjects {
  std::vector<api::ObjectPtr> objects;
};
struct PatchObjects {
  Target target;
  codec::PatchType type = codec::PatchType::kMerge;
  std::string patch;  // JSON.
  PodSubresource subresource = PodSubresource::kNone;
};
struct DeleteObjects {
  Target target;
  // Whether what the objects own stays, and is nobody's.
  bool orphans = false;
};
struct CompletePods {
  Target target;
  // Succeeded or Failed.
  std::string phase;
};
struct CordonNodes {
  Target nodes;
  bool unschedulable = true;
};
struct TaintNodes {
  Target nodes;
  // Each takes the place of one with the same key and effect.
  std::vector<api::Taint> taints;
  bool remove = false;  // Removes those of the key, and of the effect where it is not "".
};
struct LabelObjects {
  Target target;
  // Absent values remove the label.
  std::vector<std::pair<std::string, std::optional<std::string>>> labels;
};
struct DrainNodes {
  Target nodes;
  DrainOptions options;
};
struct NodeDown {
  Target nodes;
  // Without it, the node says itself that it is not ready.
  bool silent = true;
  absl::Duration grace_period = absl::Seconds(50);
};
struct NodeUp {
  Target nodes;
};
struct ScaleWorkload {
  std::string kind;  // Deployment, ReplicaSet, ReplicationController or StatefulSet.
  std::string name_space;
  std::string name;
  int64_t replicas = 0;
};
// As `kwokctl scale`.
struct ScaleSet {
  std::shared_ptr<const Scaler> scaler;
};
// Hands all objects, as they are now, to whoever keeps them.
struct SaveSnapshot {
  std::string path;
  SnapshotFormat format = SnapshotFormat::kK8s;
};
struct WaitUntil {
  enum class Condition : uint8_t {
    kBound,    // At least `count` pods of the target are bound; without a count: one, and all of them.
    kPending,  // At most `count` pods wait for a node.
    kGone,     // Nothing of the target is left.
    kDrained,  // No pod that was to be evicted is left on the target's nodes.
    kQuiet,    // Nothing is left but what would go on for ever: flushes of the queue.
  };
  Condition condition = Condition::kQuiet;
  Target target;
  std::optional<int64_t> count;
  absl::Duration timeout = absl::Minutes(10);
};

using Action = std::variant<CreateObjects, UpdateObjects, PatchObjects, DeleteObjects, CompletePods,
                            CordonNodes, TaintNodes, LabelObjects, DrainNodes, NodeDown, NodeUp,
                            ScaleWorkload, ScaleSet, SaveSnapshot, WaitUntil>;

struct TimelineEntry {
  // Since virtual zero. Absent: `after` the entry before is done.
  std::optional<absl::Duration> at;
  absl::Duration after;
  // The begin of a round of `repeat`: not before the entry `first` of the timeline has come, and this span
  // has passed since.
  struct Round {
    size_t first = 0;
    absl::Duration span;
  };
  std::optional<Round> round;
  Action action;
  // For messages: `file:line:column: timeline[3].create`.
  std::string place;
};

// Carries out the entries in their order. One whose time has passed comes at once.
class Timeline : public Script {
 public:
  // `simulation` must outlive the timeline. It has the controllers for nodes where an entry is about nodes
  // that fail.
  Timeline(std::vector<TimelineEntry> entries, Simulation& simulation);

  // What takes snapshots, to be given before the run; without it, there are none.
  using SnapshotSink = std::function<void(const SaveSnapshot& snapshot, std::vector<std::string> objects)>;
  void set_snapshot_sink(SnapshotSink sink) { snapshot_sink_ = std::move(sink); }

  void Start() override;
  void OnSettled() override;
  bool Done() const override { return done_; }
  bool Waits() const override { return wait_ != nullptr || awaits_controllers_; }

  // After the run: adds failures for what did not come to pass before its end, and warnings.
  void Finish();

  // Each `place: what`. Waits that timed out, which ended the run, and entries that could not be carried out,
  // after which it went on.
  const std::vector<std::string>& failures() const { return failures_; }
  // What may not be what the user meant, each `place: what`.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // What became of drains, in the order in which they were begun.
  std::vector<DrainedNode> Drains() const { return drainer_.Records(); }

 private:
  void Schedule(size_t index);
  void Carry(size_t index);
  void TimeOut();

  // One for each kind of action.
  absl::Status Do(const CreateObjects& action);
  absl::Status Do(const UpdateObjects& action);
  absl::Status Do(const PatchObjects& action);
  absl::Status Do(const DeleteObjects& action);
  absl::Status Do(const CompletePods& action);
  absl::Status Do(const CordonNodes& action);
  absl::Status Do(const TaintNodes& action);
  absl::Status Do(const LabelObjects& action);
  absl::Status Do(const DrainNodes& action);
  absl::Status Do(const NodeDown& action);
  absl::Status Do(const NodeUp& action);
  absl::Status Do(const ScaleWorkload& action);
  absl::Status Do(const ScaleSet& action);
  absl::Status Do(const SaveSnapshot& action);
  absl::Status Do(const WaitUntil& action);

  // Makes a change of each object, as far apart as objects are created at the start.
  void OneByOne(const std::vector<api::ObjectPtr>& objects,
                const std::function<absl::Status(const api::ObjectPtr&)>& change);
  // Adds a failure, if it is one.
  void Note(const std::string& place, const absl::Status& status);
  // Ends the run: what was to come after a wait rests on it.
  void GiveUp(std::string failure);
  // NotFound where the wait can hold only because what it names was never there.
  absl::Status CheckNames(const WaitUntil& wait) const;
  // Notes that what a wait names, so that it be gone, has been there.
  void NoteSeen(const api::ObjectPtr& object);

  absl::Status Patch(const api::Object& object, const PatchObjects& action);
  // Whether the API server lets an update replace the object.
  absl::Status CheckUpdate(const api::Object& before, const api::Object& after) const;
  // Warns of fields that a patch brought in, and that the API server does not know.
  void WarnOfFields(const api::Object& before, const api::Object& after);
  // The objects of a target, by name. Names that are not there go to `missing`, if it is not nullptr.
  std::vector<api::ObjectPtr> Find(const Target& target, std::vector<std::string>* missing) const;
  // Calls `change` for each object of the target. The first error, after all of them.
  // NotFound where there are none, or not all that are named, unless that is allowed.
  template <typename Change>
  absl::Status ForEach(const Target& target, const Change& change);
  bool Holds(const WaitUntil& wait) const;
  // Whether the wait is about all pods, also those that controllers are about to make.
  static bool CountsAll(const WaitUntil& wait);
  bool EnoughBound(const WaitUntil& wait) const;
  // Whether all nodes of the wait are drained.
  bool AllDrained(const WaitUntil& wait) const;
  // Counts the object for the wait: `by` is 1, or -1 for one that changes or goes. nullptr: nothing.
  void Count(const api::ObjectPtr& object, int64_t by);
  // What keeps a wait from ending, for messages.
  std::string StateOf(const WaitUntil& wait) const;

  const std::vector<TimelineEntry> entries_;
  Simulation& simulation_;
  Drainer drainer_;
  SnapshotSink snapshot_sink_;  // May be empty.
  // When the running entry is done with its changes.
  absl::Time busy_until_ = absl::InfinitePast();
  size_t index_ = 0;  // Of the entry that runs, or comes next.
  // Shape: as entries_; when those came that have come.
  std::vector<absl::Time> came_;
  // Whether the entry at index_ comes once the controllers have acted on the one before.
  bool awaits_controllers_ = false;
  const WaitUntil* wait_ = nullptr;
  uint64_t deadline_ = 0;  // What Cancel takes, while there is a wait.
  // What the wait counts, kept up to date by every change, so that looking at it costs nothing.
  struct Tally {
    int64_t matching = 0;  // Objects of the target.
    int64_t bound = 0;     // Pods of the target that have a node.
    int64_t pending = 0;   // Pods of the simulated profiles that have none.
  };
  Tally tally_;
  // Waits for something to be gone that has not been seen yet.
  std::vector<const WaitUntil*> unseen_;
  bool done_ = false;
  std::vector<std::string> failures_;
  std::vector<std::string> warnings_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCENARIO_TIMELINE_H_
