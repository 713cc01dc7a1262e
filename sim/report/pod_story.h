// What happened to one pod: facts, from a trace. pod_story_text.h has them as text and as JSON.
#ifndef SCHEDSIM_SIM_REPORT_POD_STORY_H_
#define SCHEDSIM_SIM_REPORT_POD_STORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sim/record/record_reader.h"

namespace schedsim::sim {

// ---- The facts ----

// Nodes that were rejected for one reason. Each node counts once, whatever the number of times that it was
// looked at; a node with several reasons counts for each of them, as in the scheduler's message.
struct RejectionFact {
  int64_t node_count = 0;
  std::string reason;
  // "": the trace does not say who.
  std::string plugin;
};

// What preemption found.
struct PreemptionFact {
  struct Candidate {
    std::string node;
    std::vector<std::string> victims;
    int64_t violations = 0;
  };

  // "": none.
  std::string nominated_node;
  // Nodes on which it would help, in the order in which they were tried.
  std::vector<Candidate> candidates;
  // Why it would not help on the others.
  std::vector<RejectionFact> rejections;
  // What PostFilter says.
  std::vector<std::string> reasons;
};

struct AttemptFact {
  struct Wait {
    std::string plugin;
    absl::Duration timeout;
  };

  int64_t number = 0;
  // "": no node was found.
  std::string host;
  int64_t feasible_count = 0;
  int64_t evaluated_count = 0;
  // Of a pod that fits on no node: how many there are. Absent, and no host: the attempt ended with `error`.
  std::optional<int64_t> node_count;
  std::string error;
  // The most frequent reason first.
  std::vector<RejectionFact> rejections;
  std::optional<PreemptionFact> preemption;
  // The Permit plugins on which it then waits.
  std::vector<Wait> waits;
  // Why a pod with a host got no further; "": it did.
  std::string failure;
};

struct MoveFact {
  struct Hint {
    std::string plugin;
    std::string answer;
  };

  // As in record::Move. Of a trace without moves only `to` and `gated_by` are known, from states of the
  // queue.
  bool from_states = false;
  std::string from;
  std::string to;
  std::string event;
  std::string in_flight_event;
  std::string object;
  std::vector<Hint> hints;
  std::string gated_by;
  std::optional<absl::Duration> backoff_expiration;
};

struct NominationFact {
  // "": it is withdrawn.
  std::string node;
  std::string node_before;
};

// The pod is deleted as a victim.
struct VictimFact {
  // "": not known.
  std::string preemptor;
};

// Why this node and no other. Points; all but `is_only_node` need scores in the trace.
struct LeadFact {
  bool is_only_node = false;
  std::optional<int64_t> total;
  // The best of the other nodes; "": not known.
  std::string runner_up;
  int64_t runner_up_total = 0;
  // How many other nodes have the same total.
  int64_t tied_count = 0;
  // The plugin with the largest part of the lead; "": none is ahead. And how large that part is.
  std::string decided_by;
  int64_t points = 0;
};

struct BindFact {
  std::string node;
  LeadFact lead;
};

struct BindFailureFact {
  std::string error;
};

// The pod stays behind at the end of its group's cycle.
struct GroupFact {
  struct Pod {
    std::string pod;
    // "": no node was found.
    std::string host;
    std::vector<RejectionFact> rejections;
    // Where it ended without rejections.
    std::string error;
  };
  // The pods as they were tried one after the other, up to where the group could not make it any more.
  struct Try {
    // "": on all nodes.
    std::string placement;
    std::vector<Pod> pods;

    int64_t FitCount() const;
  };

  // "namespace/name".
  std::string group;
  // Of a gang: how many of its pods must have a node. Absent: it is no gang, or that is not known.
  std::optional<int64_t> min_count;
  // Pods that had a node before the cycle.
  int64_t scheduled_count = 0;
  // All that take part, in order; empty: not known.
  std::vector<std::string> pods;
  std::vector<Try> tries;
  // What became of the attempt to make room for the group.
  std::vector<std::string> preemption;
  // Why this pod stays behind; "": its attempt says it.
  std::string error;
};

// From here on the result may differ from the real scheduler's.
struct InexactFact {
  std::string reason;
};

// The kubelet has no room for the pod.
struct RefusalFact {
  std::string reason;  // "OutOfcpu".
  std::string message;
};

// The termination time is over.
struct GoneFact {};

struct StoryEntry {
  // Since virtual zero.
  absl::Duration time;
  std::variant<AttemptFact, MoveFact, NominationFact, VictimFact, BindFact, BindFailureFact, GroupFact,
               RefusalFact, InexactFact, GoneFact>
      fact;
};

// Where a pod that is neither bound nor gone stands at the end of the trace.
struct PendingFact {
  // Places as in record::Move; absent: not known.
  std::optional<std::string> place;
  absl::Duration since;
  // The plugin that gates it; "": none does.
  std::string gate;
  // Who rejected it last.
  std::vector<std::string> rejectors;
  // The events for which these plugins are registered.
  // Shape: by plugin, in the order of `rejectors`; plugins without events are left out.
  std::vector<std::pair<std::string, std::vector<std::string>>> wakers;
  // When the queue tries it without any event; meaningful in the pool of unschedulable pods.
  absl::Duration flush;
  // Not "": no profile has this name, so the pod is another scheduler's.
  std::string other_scheduler;
};

struct PodStory {
  enum class State : uint8_t { kUnknown, kPending, kBound, kGone };
  enum class Missing : uint8_t { kNothing, kMoves, kMovesAndStatuses };

  // "namespace/name".
  std::string pod;
  std::vector<StoryEntry> entries;
  State state = State::kUnknown;
  // The node that it is, or was, on.
  std::string node;
  int64_t attempt_count = 0;
  // When it came into the queue, zero at the earliest, and when it was bound. Absent: not in this run.
  std::optional<absl::Duration> queued;
  std::optional<absl::Duration> bound;
  PendingFact pending;
  // The time of the last record.
  absl::Duration end;
  // What the trace does not have.
  Missing missing = Missing::kNothing;
  // It has no record of the end, so the pod may stand elsewhere by then.
  bool is_cut_off = false;
};

// ---- Collecting them ----

// What is said where `asked`, "namespace/name" or a name, is none of `pods`, with those that are close.
// `where`: the "trace", or the "run".
std::string NoSuchPod(absl::string_view asked, const std::set<std::string>& pods, absl::string_view where);
// What is said where it is the name of several pods.
std::string SeveralPods(absl::string_view asked, const std::vector<std::string>& found);

// Takes a trace record by record, keeps what concerns the pods that may be meant, and tells the story.
class StoryTeller {
 public:
  // "namespace/name", or a name.
  explicit StoryTeller(absl::string_view pod);
  ~StoryTeller();

  // In order. `place` is for messages, `file:line`. Errors: those of ReadRecord.
  absl::Status Add(absl::string_view text, absl::string_view place);

  // NotFound where the trace has no such pod, with names that are close; InvalidArgument where a name is that
  // of pods in several namespaces.
  absl::StatusOr<PodStory> Finish();

 private:
  class Builder;
  // What is known of the trace as a whole.
  struct TraceFacts {
    bool has_moves = false;
    bool has_queue = false;
    bool has_final = false;
    absl::Duration end;
    // Plugin to the events that it waits for, all profiles together.
    std::map<std::string, std::set<std::string>> registrations;
  };

  void Note(const RecordGlance& glance);
  void AddRecord(const record::Record& record);
  // What the record says of the cycle of a group.
  void AddToCycle(const record::Record& record);
  void AddTo(absl::string_view pod, const record::Record& record);

  const std::string pod_;
  // What a line has that is about a pod in question.
  const std::string needle_;
  TraceFacts facts_;
  RecordMemory memory_;
  // The cycle of a group that began last; its `error` is not set.
  GroupFact cycle_;
  // Of `cycle_`: the names of its placements.
  std::vector<std::string> placements_;
  // By key.
  std::map<std::string, std::unique_ptr<Builder>> builders_;
  // All pods with a record of their own, for names that are close.
  std::set<std::string> pods_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_POD_STORY_H_
