// The record of a run: every decision as a line of JSON, and digests over them.
#ifndef SCHEDSIM_SIM_RECORD_TRACE_H_
#define SCHEDSIM_SIM_RECORD_TRACE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/devices.h"
#include "core/api/pod.h"
#include "core/api/pod_group.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/lookup_map.h"
#include "core/framework/client.h"
#include "core/framework/plugin_set.h"
#include "core/queue/queue_observer.h"
#include "core/queue/scheduling_queue.h"
#include "core/scheduler/attempt.h"
#include "core/scheduler/scheduler.h"
#include "sim/record/record_writer.h"

namespace schedsim::sim {

namespace record {
struct ExtenderCall;
}  // namespace record

enum class TraceLevel : uint8_t {
  kOff,        // Only the digest over the decisions.
  kDecisions,  // Attempts without what concerns each node; no queue states, no moves.
  kTies,       // The same with the names of the nodes that have the highest total.
  kFull,
};

// Makes records (records.h) of what happens and writes them, one JSON object a line; docs/trace.md describes
// them. Each line ends with `digest`, the running digest over the decisions, which is the same at every
// level.
class Trace : public scheduler::Observer, public queue::QueueObserver {
 public:
  // Called with each line, without the line feed. Not called with kOff.
  using Sink = std::function<void(absl::string_view line)>;

  // `clock` must outlive the trace. Times in it are seconds since `zero`.
  Trace(TraceLevel level, const Clock& clock, Sink sink);

  // The attempts of these numbers, from 1 on, are recorded in full at every level but kOff. Before the first
  // one.
  void set_detailed_attempts(std::set<int64_t> numbers) { detailed_attempts_ = std::move(numbers); }
  // Before the first record.
  void set_zero(absl::Time zero) { zero_ = zero; }
  absl::Time zero() const { return zero_; }
  // What is kept of a scheduler, to make records of what it tells.
  struct Source {
    const scheduler::Scheduler* scheduler = nullptr;
    // The plugins that last answered Skip to PreFilter, and their names, sorted: mostly the same ones.
    framework::PluginSet last_skipped;
    std::vector<std::string> last_skipped_names;
    absl::Time cycle_began;  // That of the last attempt, or of the one under way.
  };
  // The one whose queue is on record, and who tells of whatever is heard without another source.
  void set_scheduler(const scheduler::Scheduler* scheduler) { first_source_.scheduler = scheduler; }
  // What is heard within `tell` comes from `source`.
  void HearFrom(Source& source, absl::FunctionRef<void()> tell) {
    source_ = &source;
    tell();
    source_ = &first_source_;
  }
  // Hears of cycles, attempts and failed bindings of all schedulers, too, and may want details; it must
  // outlive the run.
  void add_listener(scheduler::Observer* listener) { listeners_.push_back(listener); }

  // Hears of events that schedulers and others record; it must outlive the run. `source`: who does; "": the
  // pod's scheduler.
  using EventListener =
      std::function<void(const api::Pod& pod, const framework::PodEvent& event, absl::string_view source)>;
  void set_event_listener(EventListener listener) { event_listener_ = std::move(listener); }
  // Whether anybody wants events.
  bool WantsEvents() const { return is_on() || event_listener_ != nullptr; }

  // Whether records are written.
  bool is_on() const { return level_ != TraceLevel::kOff; }

  // Whether the next attempt is recorded in full, or somebody listens who wants all of it.
  bool WantsDetails() const override {
    return LevelOfNext() == TraceLevel::kFull ||
           std::any_of(listeners_.begin(), listeners_.end(),
                       [](const scheduler::Observer* listener) { return listener->WantsDetails(); });
  }
  bool WantsDryRuns() const override {
    return WantsDetails() ||
           std::any_of(listeners_.begin(), listeners_.end(),
                       [](const scheduler::Observer* listener) { return listener->WantsDryRuns(); });
  }
  // Whether all details are written.
  bool is_full() const { return level_ == TraceLevel::kFull; }
  void OnCycle(const framework::PodInfo& pod) override {
    source_->cycle_began = clock_.Now();
    for (scheduler::Observer* listener : listeners_) listener->OnCycle(pod);
  }
  void OnAttempt(const scheduler::Attempt& attempt) override;
  void OnBindFailure(const framework::PodInfo& pod, const scheduler::Attempt::Failure& failure) override;
  void OnGroupCycle(const scheduler::GroupCycle& cycle) override;
  void OnGroupPlacements(const scheduler::GroupPlacements& placements) override;
  void OnGroupPlacementScores(const scheduler::GroupPlacementScores& scores) override;
  void OnGroupPostFilter(const scheduler::GroupPostFilter& post_filter) override;
  void OnGroupFailure(const framework::PodInfo& pod, absl::string_view group,
                      const scheduler::Attempt::Failure& failure) override;
  void OnInexact(const framework::PodInfo& pod, absl::string_view reason) override;
  // At kFull.
  void OnPluginNote(const framework::PluginNote& note) override;
  // At kFull. Nobody needs to tell of moves at other levels.
  void OnMove(const queue::Move& move) override;

  void Bind(const api::Pod& pod, absl::string_view node_name);
  void Status(const api::Pod& pod);
  // What the scheduler writes of the claim for the pod's extended resources; records of its status show it
  // from here on.
  void SetExtendedClaim(const api::Pod& pod, const framework::ExtendedResourceClaimStatus& status) {
    if (is_on()) extended_claims_[pod.metadata.uid] = status;
  }
  // An update of a claim or a volume by the scheduler.
  void Update(const api::Object& object);
  // A write of a claim of devices by the scheduler; `claim` is what is stored then.
  void ClaimWrite(absl::string_view verb, const api::ResourceClaim& claim);
  // A write of a claim of devices by its controller or by a driver; `pod`: that it is made of or reserved
  // for; nullptr: none.
  void Claim(absl::string_view verb, const api::ResourceClaim& claim, const api::Pod* pod = nullptr);
  // A write of a group's status by the scheduler.
  void GroupStatus(const api::PodGroup& group);
  // `claim` was bound by a controller.
  void ClaimBound(const api::Object& claim, absl::string_view volume_name);
  void Delete(const api::Pod& pod);
  void Gone(const api::Pod& pod);
  void Event(const api::Pod& pod, const framework::PodEvent& event, absl::string_view source = "");
  void Step(int64_t index);
  void ApiError(absl::string_view verb, absl::string_view message);
  // At kFull.
  void Extender(const record::ExtenderCall& call);
  // What each profile's plugins wait for, of the source's scheduler.
  void Registrations(const queue::SchedulingQueue& queue, const api::LineBehavior& line);
  // The state of the queue, when it differs from the last one written.
  void Queue(const queue::SchedulingQueue& queue);

  // What became of a pod.
  struct FinalPod {
    std::string key;
    std::string node;
    std::string phase;
    std::string nominated;
    std::string reason;
    std::string message;
    bool deleted = false;
    // Of a pod without a node that is another scheduler's: that one's name; else "".
    std::string other_scheduler = "";
  };
  using FinalClaim = std::shared_ptr<const api::ResourceClaim>;
  // Shape: by key. Ends the trace.
  void Final(const std::vector<FinalPod>& pods, const std::vector<FinalClaim>& claims);

  // Over the decisions: pod, attempt number, host, counts, best total, nomination, message, victims.
  std::string DecisionDigest() const { return decisions_.Hex(); }
  // Over all lines written; only kept at kFull.
  std::string TraceDigest() const { return lines_.Hex(); }

  int64_t attempt_count() const { return attempt_count_; }
  struct InexactPod {
    std::string key;
    std::string reason;
  };
  // Pods whose result is not exact, each pod and reason once, in order of first sight.
  const std::vector<InexactPod>& inexact_pods() const { return inexact_pods_; }

 private:
  TraceLevel LevelOfNext() const {
    const bool is_detailed =
        !detailed_attempts_.empty() && is_on() && detailed_attempts_.count(attempt_count_ + 1) > 0;
    return is_detailed ? TraceLevel::kFull : level_;
  }
  // Writes a record of this time.
  template <typename R>
  void Write(const R& body);
  void End();

  const TraceLevel level_;
  std::set<int64_t> detailed_attempts_;
  const Clock& clock_;
  const Sink sink_;
  absl::Time zero_;
  Source first_source_;
  Source* source_ = &first_source_;
  std::vector<scheduler::Observer*> listeners_;
  EventListener event_listener_;  // May be empty.
  RecordWriter writer_;
  Digest decisions_;
  Digest lines_;
  std::string last_queue_;
  uint64_t last_queue_change_ = UINT64_MAX;
  int64_t attempt_count_ = 0;
  std::vector<InexactPod> inexact_pods_;
  LookupMap<std::string, framework::ExtendedResourceClaimStatus> extended_claims_;  // By the pod's uid.
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RECORD_TRACE_H_
