#include "sim/report/pod_story.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/writer.h"
#include "sim/record/fit_error_message.h"
#include "sim/record/records.h"

namespace schedsim::sim {
namespace {

using record::Text;
using record::Texts;

// Source: kubernetes v1.37, scheduler/backend/queue: the flush of unschedulable pods.
constexpr absl::Duration kFlushPeriod = absl::Seconds(30);
constexpr absl::Duration kPoolTimeMax = absl::Seconds(300);

std::vector<std::string> Strings(const Texts& texts) {
  std::vector<std::string> strings;
  for (Text text : texts) strings.emplace_back(text);
  return strings;
}

// ---- What an attempt says ----

void Count(const Texts& reasons, Text plugin, int64_t node_count, std::vector<RejectionFact>& rejections) {
  for (Text reason : reasons) {
    auto known = std::find_if(rejections.begin(), rejections.end(), [&](const RejectionFact& other) {
      return other.reason == reason && other.plugin == plugin;
    });
    if (known == rejections.end()) {
      rejections.push_back({.node_count = 0, .reason = std::string(reason), .plugin = std::string(plugin)});
      known = std::prev(rejections.end());
    }
    known->node_count += node_count;
  }
}

// One entry for each node. A nominated node, or that of a hint, is looked at before the others, and again
// among them if it does not fit; then the second answer is the one that the message counts.
template <typename T>
std::vector<const T*> LastOfEachNode(const std::vector<T>& entries) {
  std::map<Text, size_t> index_of_node;
  std::vector<const T*> last;
  for (const T& entry : entries) {
    const auto [known, is_new] = index_of_node.emplace(entry.node, last.size());
    if (is_new) {
      last.push_back(&entry);
    } else {
      last[known->second] = &entry;
    }
  }
  return last;
}

std::vector<RejectionFact> RejectionsOf(const record::Attempt& attempt,
                                        const std::optional<FitErrorMessage>& message) {
  std::vector<RejectionFact> rejections;
  if (attempt.pre_filter.has_value() && attempt.pre_filter->status.has_value()) {
    const record::Status& status = *attempt.pre_filter->status;
    Count(status.reasons, status.plugin, message.has_value() ? message->node_count : 0, rejections);
  } else if (!attempt.filter.empty()) {
    const auto nodes = LastOfEachNode(attempt.filter);
    for (const record::FilteredNode* node : nodes) Count(node->reasons, node->plugin, 1, rejections);
    // Nodes that PreFilter ruled out are not looked at.
    const int64_t left_out = message.has_value() ? message->node_count - std::ssize(nodes) : 0;
    if (left_out > 0) {
      const Texts plugins = attempt.pre_filter.has_value() ? attempt.pre_filter->plugins : Texts();
      rejections.push_back({.node_count = left_out,
                            .reason = "ruled out before the filters",
                            .plugin = absl::StrJoin(plugins, ", ")});
    }
  } else if (message.has_value()) {
    for (const FitErrorMessage::Reason& reason : message->reasons) {
      rejections.push_back({.node_count = reason.node_count, .reason = reason.reason, .plugin = ""});
    }
  }
  std::sort(rejections.begin(), rejections.end(), [](const RejectionFact& a, const RejectionFact& b) {
    if (a.node_count != b.node_count) return a.node_count > b.node_count;
    return std::tie(a.reason, a.plugin) < std::tie(b.reason, b.plugin);
  });
  return rejections;
}

// With scores in the trace: how far the host is ahead, and by which plugin.
void AddScores(const record::Scores& scores, Text host, LeadFact& lead) {
  const auto host_entry = std::find(scores.nodes.begin(), scores.nodes.end(), host);
  const size_t taken = static_cast<size_t>(host_entry - scores.nodes.begin());
  const record::Column totals = scores.total;
  if (taken >= totals.size() || totals.size() != scores.nodes.size() || totals.size() < 2) return;
  size_t second = taken == 0 ? 1 : 0;
  for (size_t i = 0; i < totals.size(); ++i) {
    if (i != taken && totals[i] > totals[second]) second = i;
  }
  lead.total = totals[taken];
  lead.runner_up = std::string(scores.nodes[second]);
  lead.runner_up_total = totals[second];
  if (totals[second] == totals[taken]) {
    lead.tied_count = std::count(totals.begin(), totals.end(), totals[taken]) - 1;
    return;
  }
  for (const auto& [plugin, weighted] : scores.weighted) {
    if (weighted.size() != totals.size()) continue;
    const int64_t difference = weighted[taken] - weighted[second];
    if (difference <= lead.points) continue;
    lead.points = difference;
    lead.decided_by = std::string(plugin);
  }
}

LeadFact LeadOf(const record::Attempt& attempt) {
  LeadFact lead;
  lead.is_only_node = attempt.feasible == 1;
  if (lead.is_only_node || attempt.host.empty()) return lead;
  if (attempt.best_score.has_value()) {
    lead.total = attempt.best_score;
  } else if (attempt.scores.has_value()) {
    AddScores(*attempt.scores, attempt.host, lead);
  }
  return lead;
}

std::optional<PreemptionFact> PreemptionOf(const record::Attempt& attempt) {
  if (!attempt.post_filter.has_value()) return std::nullopt;
  PreemptionFact fact;
  fact.nominated_node = std::string(attempt.post_filter->nominate.value_or(""));
  for (const record::DryRun* run : LastOfEachNode(attempt.dry_run)) {
    if (record::DryRun::Helps(*run)) {
      fact.candidates.push_back(
          {.node = std::string(run->node), .victims = Strings(run->victims), .violations = run->violations});
    } else {
      Count(run->reasons, "", 1, fact.rejections);
    }
  }
  if (attempt.post_filter->status.has_value()) fact.reasons = Strings(attempt.post_filter->status->reasons);
  return fact;
}

AttemptFact FactOf(const record::Attempt& attempt) {
  const std::optional<FitErrorMessage> message = ReadFitErrorMessage(attempt.error);
  AttemptFact fact;
  fact.number = attempt.attempts;
  fact.host = std::string(attempt.host);
  fact.feasible_count = attempt.feasible;
  fact.evaluated_count = attempt.evaluated;
  if (message.has_value()) fact.node_count = message->node_count;
  fact.error = std::string(attempt.error);
  fact.rejections = RejectionsOf(attempt, message);
  fact.preemption = PreemptionOf(attempt);
  for (const record::Wait& wait : attempt.waits) {
    fact.waits.push_back({.plugin = std::string(wait.plugin), .timeout = wait.timeout});
  }
  if (!fact.host.empty() && attempt.failure.has_value()) fact.failure = std::string(attempt.failure->error);
  return fact;
}

GroupFact::Pod GroupPodOf(const record::Attempt& attempt) {
  AttemptFact fact = FactOf(attempt);
  return {.pod = std::string(attempt.pod),
          .host = std::move(fact.host),
          .rejections = std::move(fact.rejections),
          .error = std::move(fact.error)};
}

// Whether a line, which need not name the pod that is meant, tells of the cycle of a group.
bool IsOfGroupCycle(absl::string_view kind, absl::string_view text) {
  return kind == record::GroupCycle::kKind || kind == record::Placements::kKind ||
         kind == record::GroupPostFilter::kKind ||
         (kind == record::Attempt::kKind && absl::StrContains(text, "\"group\":"));
}

MoveFact FactOf(const record::Move& move) {
  MoveFact fact;
  fact.from = std::string(move.from);
  fact.to = std::string(move.to);
  fact.event = std::string(move.event);
  fact.in_flight_event = std::string(move.in_flight_event);
  fact.object = std::string(move.object);
  for (const record::Hint& hint : move.hints) {
    fact.hints.push_back({.plugin = std::string(hint.plugin), .answer = std::string(hint.answer)});
  }
  fact.gated_by = std::string(move.gated_by);
  fact.backoff_expiration = move.backoff_expiration;
  return fact;
}

// ---- Which pods a record is about ----

// Calls `visit` with each pod that the record says something of; with some of them twice.
void ForEachPod(const record::Record& record, absl::FunctionRef<void(Text pod)> visit) {
  const auto visit_all = [&](const Texts& pods) {
    for (Text pod : pods) visit(pod);
  };
  const auto visit_body = [&](const auto& body) {
    using R = std::decay_t<decltype(body)>;
    if constexpr (requires { body.pod; }) visit(body.pod);
    if constexpr (std::is_same_v<R, record::Attempt>) {
      for (const record::DryRun& run : body.dry_run) visit_all(run.victims);
    } else if constexpr (std::is_same_v<R, record::Queue>) {
      for (const Texts* pods : {&body.active, &body.backoff, &body.unschedulable}) visit_all(*pods);
    } else if constexpr (std::is_same_v<R, record::Final>) {
      for (const auto& [pod, end] : body.pods) visit(pod);
    }
  };
  std::visit(visit_body, record.body);
}

// How many letters must change to get from one to the other.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

// The story of one pod, in the making.
class StoryTeller::Builder {
 public:
  explicit Builder(std::string key) { story_.pod = std::move(key); }

  // `cycle`: of the group whose cycle began last.
  void Add(const record::Record& record, const GroupFact& cycle) {
    time_ = record.time;
    if (const auto* failure = record.As<record::GroupFailure>()) {
      AddGroupFailure(*failure, cycle);
      return;
    }
    std::visit([this](const auto& body) { AddBody(body); }, record.body);
  }

  // Whether the trace has anything about a pod of this name.
  bool IsPod() const { return !story_.entries.empty() || has_final_; }

  PodStory Finish(const TraceFacts& facts) {
    using State = PodStory::State;
    story_.state = is_deleted_            ? State::kGone
                   : !story_.node.empty() ? State::kBound
                   : IsPod()              ? State::kPending
                                          : State::kUnknown;
    story_.end = facts.end;
    PendingFact& pending = story_.pending;
    if (!pending.gate.empty()) pending.rejectors = {pending.gate};
    for (const std::string& plugin : pending.rejectors) {
      const auto events = facts.registrations.find(plugin);
      if (events == facts.registrations.end()) continue;
      pending.wakers.emplace_back(plugin,
                                  std::vector<std::string>(events->second.begin(), events->second.end()));
    }
    // The pool is flushed at multiples of the period.
    pending.flush = absl::Floor(pending.since + kPoolTimeMax, kFlushPeriod) + kFlushPeriod;
    if (!facts.has_moves) {
      story_.missing = facts.has_queue ? PodStory::Missing::kMoves : PodStory::Missing::kMovesAndStatuses;
    }
    story_.is_cut_off = !facts.has_final;
    return std::move(story_);
  }

 private:
  template <typename Fact>
  void Push(Fact fact) {
    story_.entries.push_back({.time = time_, .fact = std::move(fact)});
  }

  bool IsOwn(Text pod) const { return pod == story_.pod; }

  // Kinds that say nothing of a pod.
  template <typename R>
  void AddBody(const R&) {}

  // The move back into the queue is on record before the attempt that it ends.
  void AddBody(const record::Attempt& attempt) {
    if (!IsOwn(attempt.pod)) return AddOtherAttempt(attempt);
    AttemptFact fact = FactOf(attempt);
    story_.attempt_count = fact.number;
    lead_ = LeadOf(attempt);
    if (fact.host.empty()) {
      story_.pending.rejectors =
          fact.node_count.has_value() ? Strings(attempt.unschedulable_plugins) : std::vector<std::string>();
    } else if (attempt.failure.has_value()) {
      story_.pending.rejectors = Strings(attempt.failure->unschedulable_plugins);
    }
    const auto at = std::min(attempt_index_.value_or(story_.entries.size()), story_.entries.size());
    story_.entries.insert(story_.entries.begin() + static_cast<int64_t>(at),
                          {.time = time_, .fact = std::move(fact)});
    attempt_index_.reset();
  }

  // Another pod's attempt, which may take this one for a victim.
  void AddOtherAttempt(const record::Attempt& attempt) {
    if (!attempt.post_filter.has_value()) return;
    const Text node = attempt.post_filter->nominate.value_or("");
    if (node.empty()) return;
    for (const record::DryRun& run : attempt.dry_run) {
      const auto victim = std::find(run.victims.begin(), run.victims.end(), story_.pod);
      if (run.node == node && victim != run.victims.end()) preemptor_ = std::string(attempt.pod);
    }
  }

  void AddBody(const record::Move& move) {
    if (!IsOwn(move.pod)) return;
    PendingFact& pending = story_.pending;
    pending.place = std::string(move.to);
    pending.since = time_;
    pending.gate = std::string(move.gated_by);
    if (!story_.queued.has_value() || (move.from == record::kOutside && story_.bound.has_value())) {
      story_.queued = std::max(time_, absl::ZeroDuration());
      story_.bound.reset();
    }
    const bool is_taken = move.to == record::kInFlight;
    // Popping is told by the attempt, unless the pod was taken out of turn.
    if (!is_taken || move.event != record::Move::kPop) Push(FactOf(move));
    if (is_taken) attempt_index_ = story_.entries.size();
  }

  void AddBody(const record::PodStatus& status) {
    if (!IsOwn(status.pod) || status.nominated == nominated_) return;
    Push(NominationFact{.node = std::string(status.nominated), .node_before = nominated_});
    nominated_ = std::string(status.nominated);
  }

  void AddBody(const record::Bind& bind) {
    if (!IsOwn(bind.pod)) return;
    story_.bound = time_;
    story_.node = std::string(bind.node);
    Push(BindFact{.node = story_.node, .lead = lead_});
  }

  void AddBody(const record::BindFailure& failure) {
    if (!IsOwn(failure.pod)) return;
    Push(BindFailureFact{.error = std::string(failure.error)});
    story_.pending.rejectors = Strings(failure.unschedulable_plugins);
  }

  void AddGroupFailure(const record::GroupFailure& failure, const GroupFact& cycle) {
    if (!IsOwn(failure.pod)) return;
    GroupFact fact = failure.group == cycle.group ? cycle : GroupFact{.group = std::string(failure.group)};
    fact.error = std::string(failure.error);
    for (const GroupFact::Try& tried : fact.tries) {
      for (const GroupFact::Pod& pod : tried.pods) {
        // Its attempt has told that.
        if (IsOwn(pod.pod) && pod.error == fact.error) fact.error.clear();
      }
    }
    Push(std::move(fact));
  }

  void AddBody(const record::Delete& deletion) {
    if (IsOwn(deletion.pod)) Push(VictimFact{.preemptor = preemptor_});
  }

  // Of all events only kubelets tell of what is too short.
  void AddBody(const record::Event& event) {
    if (!IsOwn(event.pod) || !absl::StartsWith(event.reason, "OutOf")) return;
    Push(RefusalFact{.reason = std::string(event.reason), .message = std::string(event.note)});
  }

  void AddBody(const record::Gone& gone) {
    if (IsOwn(gone.pod)) Push(GoneFact{});
  }

  void AddBody(const record::Inexact& inexact) {
    if (IsOwn(inexact.pod)) Push(InexactFact{.reason = std::string(inexact.reason)});
  }

  // The only source for traces without moves.
  void AddBody(const record::Queue& queue) {
    if (story_.queued.has_value() && !from_states_) return;
    const auto has_pod = [this](const Texts& pods) {
      return std::find(pods.begin(), pods.end(), story_.pod) != pods.end();
    };
    Text place;
    if (has_pod(queue.active)) {
      place = record::kActive;
    } else if (has_pod(queue.backoff)) {
      place = record::kBackoff;
    } else if (has_pod(queue.unschedulable)) {
      place = record::kUnschedulable;
    } else {
      return;
    }
    PendingFact& pending = story_.pending;
    pending.gate.clear();
    for (const auto& [pod, info] : queue.info) {
      if (IsOwn(pod)) pending.gate = std::string(info.gated_by);
    }
    if (!from_states_) story_.queued = std::max(time_, absl::ZeroDuration());
    const bool moved = !from_states_ || pending.place != place;
    from_states_ = true;
    if (!moved) return;
    pending.place = std::string(place);
    pending.since = time_;
    MoveFact fact;
    fact.from_states = true;
    fact.to = std::string(place);
    fact.gated_by = pending.gate;
    Push(std::move(fact));
  }

  void AddBody(const record::Final& final_record) {
    for (const auto& [pod, end] : final_record.pods) {
      if (!IsOwn(pod)) continue;
      has_final_ = true;
      is_deleted_ = end.deleted;
      if (!end.node.empty()) story_.node = std::string(end.node);
      story_.pending.other_scheduler = std::string(end.scheduler);
    }
  }

  PodStory story_;
  absl::Duration time_;
  // Where the next attempt belongs: behind the move that began it.
  std::optional<size_t> attempt_index_;
  std::string nominated_;
  std::string preemptor_;
  // Of the last attempt.
  LeadFact lead_;
  // The queue's states are the source of moves.
  bool from_states_ = false;
  bool has_final_ = false;
  bool is_deleted_ = false;
};

StoryTeller::StoryTeller(absl::string_view pod)
    : pod_(pod), needle_([pod] {
        std::string quoted;
        codec::AppendJsonString(pod, quoted);
        return absl::StrContains(pod, '/') ? quoted : absl::StrCat("/", quoted.substr(1));
      }()) {}

StoryTeller::~StoryTeller() = default;

void StoryTeller::Note(const RecordGlance& glance) {
  facts_.end = glance.time;
  // A run that writes moves begins with registrations, even if there is no pod to move.
  facts_.has_moves =
      facts_.has_moves || glance.kind == record::Move::kKind || glance.kind == record::Registrations::kKind;
  facts_.has_queue = facts_.has_queue || glance.kind == record::Queue::kKind;
  facts_.has_final = facts_.has_final || glance.kind == record::Final::kKind;
  if (!glance.pod.empty()) pods_.insert(std::string(glance.pod));
}

absl::Status StoryTeller::Add(absl::string_view text, absl::string_view place) {
  // Most lines of a long trace are about other pods: those are not read.
  const std::optional<RecordGlance> glance = GlanceAt(text);
  if (glance.has_value()) {
    Note(*glance);
    const bool is_about_all =
        glance->kind == record::Registrations::kKind || glance->kind == record::Final::kKind;
    if (!is_about_all && !absl::StrContains(text, needle_) && !IsOfGroupCycle(glance->kind, text))
      return absl::OkStatus();
  }
  memory_.Clear();
  record::Record record;
  ASSIGN_OR_RETURN(record, ReadRecord(text, place, memory_));
  if (!glance.has_value()) Note({.time = record.time, .kind = record.kind, .pod = ""});
  AddRecord(record);
  return absl::OkStatus();
}

void StoryTeller::AddRecord(const record::Record& record) {
  if (const auto* registrations = record.As<record::Registrations>()) {
    for (const auto& [plugin, events] : registrations->events) {
      facts_.registrations[std::string(plugin)].insert(events.begin(), events.end());
    }
  }
  AddToCycle(record);
  std::set<Text> pods;
  ForEachPod(record, [&](Text pod) {
    pods_.insert(std::string(pod));
    const bool is_meant =
        absl::StrContains(pod_, '/')
            ? pod == pod_
            : absl::EndsWith(pod, pod_) && absl::EndsWith(pod.substr(0, pod.size() - pod_.size()), "/");
    if (is_meant) pods.insert(pod);
  });
  for (Text pod : pods) AddTo(pod, record);
}

void StoryTeller::AddTo(absl::string_view pod, const record::Record& record) {
  std::unique_ptr<Builder>& builder = builders_[std::string(pod)];
  if (builder == nullptr) builder = std::make_unique<Builder>(std::string(pod));
  builder->Add(record, cycle_);
}

void StoryTeller::AddToCycle(const record::Record& record) {
  if (const auto* group = record.As<record::GroupCycle>()) {
    cycle_ = {.group = std::string(group->group),
              .min_count = group->min_count,
              .scheduled_count = group->scheduled,
              .pods = Strings(group->pods)};
    placements_.clear();
  } else if (const auto* placements = record.As<record::Placements>()) {
    if (cycle_.tries.empty()) placements_ = Strings(placements->names);
  } else if (const auto* post_filter = record.As<record::GroupPostFilter>()) {
    if (post_filter->status.has_value()) cycle_.preemption = Strings(post_filter->status->reasons);
  }
  const auto* attempt = record.As<record::Attempt>();
  if (attempt == nullptr || attempt->group != cycle_.group || !attempt->phase.empty()) return;
  GroupFact::Pod pod = GroupPodOf(*attempt);
  // Each placement begins with the first pod.
  if (cycle_.tries.empty() || cycle_.tries.back().pods[0].pod == pod.pod) {
    const size_t index = cycle_.tries.size();
    cycle_.tries.push_back({.placement = index < placements_.size() ? placements_[index] : "", .pods = {}});
  }
  cycle_.tries.back().pods.push_back(std::move(pod));
}

int64_t GroupFact::Try::FitCount() const {
  return std::count_if(pods.begin(), pods.end(), [](const Pod& pod) { return !pod.host.empty(); });
}

std::string NoSuchPod(absl::string_view asked, const std::set<std::string>& pods, absl::string_view where) {
  constexpr size_t kShown = 5;
  std::vector<std::pair<size_t, std::string>> close;
  const bool with_namespace = absl::StrContains(asked, '/');
  for (const std::string& pod : pods) {
    const absl::string_view name =
        with_namespace ? absl::string_view(pod) : absl::string_view(pod).substr(pod.find('/') + 1);
    const size_t distance_max = std::max<size_t>(2, asked.size() / 4);
    const size_t longer = std::max(name.size(), asked.size());
    const size_t shorter = std::min(name.size(), asked.size());
    // At least as many letters must change, which spares the search with names that are very long.
    const size_t distance = longer - shorter > distance_max ? longer - shorter : EditDistance(name, asked);
    const bool part = absl::StrContains(name, asked) || absl::StrContains(asked, name);
    if (part || distance <= distance_max) close.emplace_back(distance, pod);
  }
  std::sort(close.begin(), close.end());
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(kShown, close.size()); ++i)
    names.push_back(Printable(close[i].second, kShownBytesMax));
  if (names.empty())
    return absl::StrCat("no pod ", asked, " in the ", where, ", which has ", pods.size(), " pods");
  return absl::StrCat("no pod ", asked, " in the ", where, ", expected one such as ",
                      absl::StrJoin(names, ", "));
}

std::string SeveralPods(absl::string_view asked, const std::vector<std::string>& found) {
  return absl::StrCat("pod ", asked, " is in several namespaces, expected one of ",
                      absl::StrJoin(found, ", "));
}

absl::StatusOr<PodStory> StoryTeller::Finish() {
  std::vector<std::string> found;
  for (const auto& [key, builder] : builders_) {
    if (builder->IsPod()) found.push_back(key);
  }
  if (found.empty()) return absl::NotFoundError(NoSuchPod(pod_, pods_, "trace"));
  if (found.size() > 1) {
    return absl::InvalidArgumentError(SeveralPods(pod_, found));
  }
  return builders_[found[0]]->Finish(facts_);
}

}  // namespace schedsim::sim
