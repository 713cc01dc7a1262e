#include "sim/report/pod_story_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/base/printable.h"
#include "core/base/wrapped_text.h"
#include "core/codec/text/json_writer.h"
#include "sim/record/record_writer.h"
#include "sim/record/records.h"

namespace schedsim::sim {
namespace {

using codec::JsonWriter;

// At most this many nodes on which preemption would help are named.
constexpr int kCandidatesShown = 5;
// And so many pods of a group that do not fit.
constexpr int kRefusedShown = 5;

std::string PodsText(std::ptrdiff_t count) { return absl::StrCat(count, count == 1 ? " pod" : " pods"); }

// ---- Text ----

absl::string_view PlaceText(absl::string_view place) {
  if (place == record::kActive) return "in the active queue";
  if (place == record::kBackoff) return "in the backoff queue";
  if (place == record::kErrorBackoff) return "in the backoff queue for errors";
  if (place == record::kUnschedulable) return "in the pool of unschedulable pods";
  if (place == record::kInFlight) return "being tried";
  return "not in the queue";
}

absl::string_view WayText(absl::string_view place) {
  if (place == record::kActive) return "to the active queue";
  if (place == record::kBackoff) return "to the backoff queue";
  if (place == record::kErrorBackoff) return "to the backoff queue for errors";
  if (place == record::kUnschedulable) return "to the pool of unschedulable pods";
  return "taken for an attempt";
}

// An event with its object and what plugins said.
std::string EventText(const MoveFact& move, const std::string& event) {
  std::string text = event;
  if (!move.object.empty()) absl::StrAppend(&text, " of ", move.object);
  std::vector<std::string> hints;
  for (const MoveFact::Hint& hint : move.hints) {
    const bool has_none = hint.answer == record::Hint::kNone;
    hints.push_back(absl::StrCat(hint.plugin, has_none ? " takes every such event" : " says ",
                                 has_none ? "" : hint.answer));
  }
  if (!hints.empty()) absl::StrAppend(&text, ": ", absl::StrJoin(hints, ", "));
  return text;
}

std::string CauseText(const MoveFact& move) {
  const std::string& event = move.event;
  if (event == "UnscheduledPodAdd" || event == "UnschedulablePodAdd") return "it is new";
  if (event == "UnscheduledPodDelete" || event == "UnschedulablePodDelete")
    return "it is deleted, or has a node";
  if (event == "BackoffComplete") return "its backoff is over";
  if (event == "PopFromBackoffQ")
    return "the active queue is empty, so it need not wait for the end of its backoff";
  if (event == "UnschedulableTimeout") return "five minutes are over without an event that helps";
  if (event == "ForceActivate") return "a plugin asks for it";
  if (event != "ScheduleAttemptFailure") return EventText(move, event);
  if (move.in_flight_event.empty()) return "the attempt failed";
  return absl::StrCat("the attempt failed, but meanwhile came ", EventText(move, move.in_flight_event));
}

// One fact in words: a sentence without a full stop, and what belongs below it, the rejections first.
struct Telling {
  std::string text;
  std::vector<std::string> details;
  std::vector<std::string> rejections = {};
};

void TellPreemption(const PreemptionFact& fact, Telling& telling) {
  int count = 0;
  for (const PreemptionFact::Candidate& candidate : fact.candidates) {
    const bool is_taken = candidate.node == fact.nominated_node;
    if (++count > kCandidatesShown && !is_taken) continue;
    telling.details.push_back(absl::StrCat("preemption ", is_taken ? "takes " : "could take ", candidate.node,
                                           ", victims: ", absl::StrJoin(candidate.victims, ", "),
                                           "; beyond disruption budgets: ", candidate.violations));
  }
  if (count > kCandidatesShown) {
    telling.details.push_back(absl::StrCat("preemption could help on ", NodesText(count), " in all"));
  }
  for (const RejectionFact& rejection : fact.rejections) {
    telling.details.push_back(absl::StrCat("preemption would not help on ", NodesText(rejection.node_count),
                                           ": ", rejection.reason));
  }
  if (!telling.details.empty()) return;
  telling.details.insert(telling.details.end(), fact.reasons.begin(), fact.reasons.end());
}

Telling Tell(const AttemptFact& fact) {
  Telling telling;
  telling.text = AttemptText(fact);
  for (const RejectionFact& rejection : fact.rejections)
    telling.rejections.push_back(RejectionText(rejection));
  if (fact.preemption.has_value()) TellPreemption(*fact.preemption, telling);
  std::vector<std::string> waits;
  for (const AttemptFact::Wait& wait : fact.waits) {
    waits.push_back(absl::StrCat(wait.plugin, ", for at most ", TimeText(wait.timeout), " s"));
  }
  if (!waits.empty()) {
    telling.details.push_back(absl::StrCat("then waits on Permit: ", absl::StrJoin(waits, "; ")));
  }
  if (!fact.failure.empty()) telling.details.push_back(absl::StrCat("then fails: ", fact.failure));
  return telling;
}

Telling Tell(const MoveFact& fact) {
  const std::string& gate = fact.gated_by;
  if (fact.from_states) {
    return {absl::StrCat(PlaceText(fact.to), gate.empty() ? "" : absl::StrCat(", gated by ", gate)), {}};
  }
  if (!gate.empty() && fact.from == record::kUnschedulable) {
    return {absl::StrCat("still gated by ", gate, " after ", CauseText(fact)), {}};
  }
  if (!gate.empty()) return {absl::StrCat("gated by ", gate, ": ", CauseText(fact)), {}};
  if (fact.to.empty()) return {absl::StrCat("leaves the queue: ", CauseText(fact)), {}};
  const std::string until = fact.backoff_expiration.has_value()
                                ? absl::StrCat(" until ", TimeText(*fact.backoff_expiration), " s")
                                : "";
  return {absl::StrCat(WayText(fact.to), until, ": ", CauseText(fact)), {}};
}

Telling Tell(const NominationFact& fact) {
  if (!fact.node.empty()) return {absl::StrCat("nominated to ", fact.node), {}};
  return {absl::StrCat("the nomination to ", fact.node_before, " is withdrawn"), {}};
}

Telling Tell(const VictimFact& fact) {
  const std::string by = fact.preemptor.empty() ? "" : absl::StrCat(" for ", fact.preemptor);
  return {absl::StrCat("deleted as a victim of preemption", by), {}};
}

std::string LeadText(const LeadFact& lead) {
  if (lead.is_only_node) return "it is the only node that was found to fit";
  if (!lead.total.has_value()) return "";
  std::string text = absl::StrCat("total ", *lead.total);
  if (lead.runner_up.empty()) return text;
  if (lead.tied_count > 0) {
    const std::string others =
        lead.tied_count == 1 ? lead.runner_up : absl::StrCat(lead.tied_count, " other nodes");
    return absl::StrCat(text, ", as ", others, ": the scheduler's rule for ties decides");
  }
  absl::StrAppend(&text, ", ", *lead.total - lead.runner_up_total, " ahead of ", lead.runner_up);
  if (lead.decided_by.empty()) return text;
  return absl::StrCat(text, "; most of it is ", lead.decided_by, "'s: +", lead.points);
}

Telling Tell(const BindFact& fact) {
  Telling telling = {absl::StrCat("bound to ", fact.node), {}};
  std::string lead = LeadText(fact.lead);
  if (!lead.empty()) telling.details.push_back(std::move(lead));
  return telling;
}

Telling Tell(const BindFailureFact& fact) { return {absl::StrCat("could not be bound: ", fact.error), {}}; }

std::string RefusalText(const GroupFact::Pod& pod) {
  if (pod.rejections.empty()) return absl::StrCat(pod.pod, ": ", pod.error);
  std::vector<std::string> reasons;
  for (const RejectionFact& rejection : pod.rejections) {
    reasons.emplace_back(absl::StripLeadingAsciiWhitespace(RejectionText(rejection)));
  }
  return absl::StrCat(pod.pod, ": ", absl::StrJoin(reasons, "; "));
}

void TellTry(const GroupFact& fact, const GroupFact::Try& tried, std::vector<std::string>& details) {
  const int64_t fit_count = tried.FitCount();
  std::string text = tried.placement.empty() ? "" : absl::StrCat("in placement ", tried.placement, ": ");
  absl::StrAppend(&text, fit_count, " of ", PodsText(std::ssize(tried.pods)), " that ",
                  tried.pods.size() == 1 ? "was" : "were", " tried ", fit_count == 1 ? "fits" : "fit");
  if (fact.scheduled_count > 0) absl::StrAppend(&text, ", beside ", fact.scheduled_count, " with a node");
  if (fact.min_count.has_value()) absl::StrAppend(&text, "; minCount is ", *fact.min_count);
  details.push_back(std::move(text));
  int shown = 0;
  for (const GroupFact::Pod& pod : tried.pods) {
    if (!pod.host.empty() || ++shown > kRefusedShown) continue;
    details.push_back(RefusalText(pod));
  }
  if (shown > kRefusedShown) {
    details.push_back(absl::StrCat("and ", PodsText(shown - kRefusedShown), " more that do not fit"));
  }
  const std::ptrdiff_t left = std::ssize(fact.pods) - std::ssize(tried.pods);
  if (left > 0) details.push_back(absl::StrCat(PodsText(left), " not tried"));
}

Telling Tell(const GroupFact& fact) {
  const std::string why = fact.error.empty() ? "" : absl::StrCat(": ", fact.error);
  Telling telling = {absl::StrCat("stays behind with its group ", fact.group, why), {}};
  for (const GroupFact::Try& tried : fact.tries) TellTry(fact, tried, telling.details);
  for (const std::string& reason : fact.preemption)
    telling.details.push_back(absl::StrCat("to make room for the group: ", reason));
  return telling;
}

Telling Tell(const InexactFact& fact) {
  return {absl::StrCat("from here on the result may differ from the real scheduler's: ", fact.reason), {}};
}

Telling Tell(const RefusalFact& fact) {
  return {absl::StrCat("the kubelet refuses the pod, which is Failed: ", fact.reason, ": ", fact.message),
          {}};
}

Telling Tell(const GoneFact&) { return {"gone: its termination time is over", {}}; }

Telling Tell(const StoryEntry& entry) {
  return std::visit([](const auto& fact) { return Tell(fact); }, entry.fact);
}

// ---- The last sentence ----

std::string PendingText(const PodStory& story) {
  const PendingFact& pending = story.pending;
  if (!pending.other_scheduler.empty()) {
    return absl::StrCat("Pending: it is for another scheduler, ", pending.other_scheduler,
                        ", which is none of the profiles of this run.");
  }
  std::string text = absl::StrCat("Pending after ", story.attempt_count,
                                  story.attempt_count == 1 ? " attempt" : " attempts");
  if (!pending.place.has_value()) return text + ".";
  absl::StrAppend(&text, ", ", PlaceText(*pending.place), " since ", TimeText(pending.since), " s");
  if (*pending.place != record::kUnschedulable) {
    return absl::StrCat(text, "; the trace ends at ", TimeText(story.end), " s.");
  }
  const bool is_gated = !pending.gate.empty();
  absl::StrAppend(&text, is_gated ? ", gated by " : ", rejected by ", absl::StrJoin(pending.rejectors, ", "),
                  ". ");
  std::vector<std::string> wakers;
  for (const auto& [plugin, events] : pending.wakers) {
    wakers.push_back(absl::StrCat(absl::StrJoin(events, ", "), " (", plugin, ")"));
  }
  absl::StrAppend(&text, "What could wake it: ", absl::StrJoin(wakers, "; "));
  // The trace has not what a claim lacks.
  constexpr absl::string_view kDevices = "DynamicResources";
  const bool lacks_devices =
      pending.gate == kDevices ||
      std::find(pending.rejectors.begin(), pending.rejectors.end(), kDevices) != pending.rejectors.end();
  const std::string advice =
      lacks_devices ? absl::StrCat(" `schedsim explain ", story.pod,
                                   "` names the claim and the request, and what becomes of the devices.")
                    : "";
  if (is_gated) return absl::StrCat(text, wakers.empty() ? "the end of the gate." : ".", advice);
  return absl::StrCat(text, wakers.empty() ? "an event that these plugins wait for" : "",
                      "; otherwise the flush at ", TimeText(pending.flush), " s. The trace ends at ",
                      TimeText(story.end), " s.", advice);
}

std::string SummaryText(const PodStory& story) {
  const std::string& node = story.node;
  if (story.state == PodStory::State::kGone) {
    return absl::StrCat("Gone",
                        node.empty() ? "; it never had a node." : absl::StrCat("; it was on ", node, "."));
  }
  if (story.state != PodStory::State::kBound) return PendingText(story);
  if (!story.bound.has_value()) {
    return absl::StrCat("On ", node, " from the start: it was not scheduled in this run.");
  }
  const std::string after = story.queued.has_value() ? absl::StrCat(TimeText(*story.bound - *story.queued),
                                                                    " s after it came into the queue")
                                                     : absl::StrCat("at ", TimeText(*story.bound), " s");
  return absl::StrCat("Bound to ", node, " ", after, ", in attempt ", story.attempt_count, ".");
}

// What the trace does not have, a sentence each.
std::vector<absl::string_view> MissingTexts(const PodStory& story) {
  std::vector<absl::string_view> texts;
  if (story.missing == PodStory::Missing::kMoves) {
    texts.push_back("The trace has no moves in the queue: what woke the pod is not known.");
  } else if (story.missing == PodStory::Missing::kMovesAndStatuses) {
    texts.push_back(
        "The trace has neither moves in the queue nor each node's status: it was not written with "
        "--trace-level full.");
  }
  if (story.is_cut_off) {
    texts.push_back(
        "The trace does not reach the end of the run: it has no record `final`, so what came later "
        "is not known.");
  }
  return texts;
}

absl::string_view StateText(PodStory::State state) {
  switch (state) {
    case PodStory::State::kUnknown:
      return "Unknown";
    case PodStory::State::kPending:
      return "Pending";
    case PodStory::State::kBound:
      return "Bound";
    case PodStory::State::kGone:
      return "Gone";
  }
  return "";
}

// ---- JSON: an entry's kind and its own fields ----

void WriteFact(const AttemptFact& fact, JsonWriter& json) {
  json.Field("attempts", fact.number).Field("host", fact.host).Key("reasons").BeginArray();
  for (const RejectionFact& rejection : fact.rejections) {
    json.BeginObject().Field("nodes", rejection.node_count).Field("reason", rejection.reason);
    json.Field("plugin", rejection.plugin).EndObject();
  }
  json.EndArray();
  if (!fact.host.empty()) {
    json.Field("feasible", fact.feasible_count).Field("evaluated", fact.evaluated_count);
  }
  if (fact.waits.empty()) return;
  json.Key("waits").BeginArray();
  for (const AttemptFact::Wait& wait : fact.waits) {
    json.BeginObject().Field("plugin", wait.plugin).Key("timeout").Raw(SecondsText(wait.timeout)).EndObject();
  }
  json.EndArray();
}

void WriteFact(const MoveFact& fact, JsonWriter& json) {
  if (fact.from_states) {
    json.Field("to", fact.to);
    return;
  }
  json.Field("from", fact.from).Field("to", fact.to).Field("event", fact.event);
  if (!fact.in_flight_event.empty()) json.Field("inFlightEvent", fact.in_flight_event);
  if (!fact.object.empty()) json.Field("object", fact.object);
  if (!fact.hints.empty()) {
    json.Key("hints").BeginArray();
    for (const MoveFact::Hint& hint : fact.hints) {
      json.BeginObject().Field("plugin", hint.plugin).Field("answer", hint.answer).EndObject();
    }
    json.EndArray();
  }
  if (!fact.gated_by.empty()) json.Field("gatedBy", fact.gated_by);
  if (fact.backoff_expiration.has_value()) {
    json.Key("backoffExpiration").Raw(SecondsText(*fact.backoff_expiration));
  }
}

void WriteFact(const NominationFact& fact, JsonWriter& json) { json.Field("node", fact.node); }

void WriteFact(const VictimFact& fact, JsonWriter& json) {
  if (!fact.preemptor.empty()) json.Field("preemptor", fact.preemptor);
}

void WriteFact(const BindFact& fact, JsonWriter& json) {
  json.Field("node", fact.node);
  const LeadFact& lead = fact.lead;
  if (!lead.total.has_value()) return;
  json.Field("total", *lead.total);
  if (lead.runner_up.empty()) return;
  json.Field("runnerUp", lead.runner_up).Field("runnerUpTotal", lead.runner_up_total);
  if (!lead.decided_by.empty()) json.Field("decidedBy", lead.decided_by).Field("points", lead.points);
}

void WriteFact(const GroupFact& fact, JsonWriter& json) {
  json.Field("group", fact.group);
  if (fact.min_count.has_value()) json.Field("minCount", *fact.min_count);
  json.Field("scheduled", fact.scheduled_count).Key("tries").BeginArray();
  for (const GroupFact::Try& tried : fact.tries) {
    json.BeginObject().Field("placement", tried.placement).Field("fit", tried.FitCount());
    json.Key("pods").BeginArray();
    for (const GroupFact::Pod& pod : tried.pods) {
      json.BeginObject().Field("pod", pod.pod).Field("host", pod.host);
      if (pod.host.empty()) json.Field("refusal", RefusalText(pod));
      json.EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray();
}

void WriteFact(const RefusalFact& fact, JsonWriter& json) {
  json.Field("reason", fact.reason).Field("message", fact.message);
}

// What the text says is all that there is.
void WriteFact(const BindFailureFact&, JsonWriter&) {}
void WriteFact(const InexactFact&, JsonWriter&) {}
void WriteFact(const GoneFact&, JsonWriter&) {}

absl::string_view KindOf(const AttemptFact&) { return "attempt"; }
absl::string_view KindOf(const MoveFact&) { return "move"; }
absl::string_view KindOf(const NominationFact&) { return "nomination"; }
absl::string_view KindOf(const VictimFact&) { return "victim"; }
absl::string_view KindOf(const BindFact&) { return "bind"; }
absl::string_view KindOf(const BindFailureFact&) { return "bindFailure"; }
absl::string_view KindOf(const GroupFact&) { return "group"; }
absl::string_view KindOf(const RefusalFact&) { return "refusal"; }
absl::string_view KindOf(const InexactFact&) { return "inexact"; }
absl::string_view KindOf(const GoneFact&) { return "gone"; }

// How many digits the time has behind the point.
size_t DigitsOf(absl::string_view time) { return time.size() - time.find('.') - 1; }

}  // namespace

std::string NodesText(int64_t count) { return absl::StrCat(count, count == 1 ? " node" : " nodes"); }

std::string TimeText(absl::Duration time) {
  std::string text = absl::StrFormat("%.6f", static_cast<double>(absl::ToInt64Microseconds(time)) / 1e6);
  while (text.back() == '0' && text[text.size() - 4] != '.') text.pop_back();
  return text;
}

std::string AttemptText(const AttemptFact& fact) {
  const std::string number = absl::StrCat("attempt ", fact.number, ": ");
  if (!fact.host.empty()) {
    return absl::StrCat(number, "fits on ", fact.feasible_count, " of ", NodesText(fact.evaluated_count),
                        " looked at, takes ", fact.host);
  }
  if (fact.node_count.has_value())
    return absl::StrCat(number, "fits on none of ", NodesText(*fact.node_count));
  return absl::StrCat(number, "ends with an error: ", fact.error);
}

std::string RejectionText(const RejectionFact& rejection) {
  const std::string plugin = rejection.plugin.empty() ? "" : absl::StrCat(" (", rejection.plugin, ")");
  return absl::StrFormat("%11s  %s%s", NodesText(rejection.node_count), rejection.reason, plugin);
}

std::string StoryText(const PodStory& story) {
  // All times have as many digits behind the point, so that they are in step.
  size_t digits = 0;
  for (const StoryEntry& entry : story.entries) digits = std::max(digits, DigitsOf(TimeText(entry.time)));
  std::string text = absl::StrCat(Printable(story.pod), "\n\n");
  for (const StoryEntry& entry : story.entries) {
    const Telling telling = Tell(entry);
    std::string time = TimeText(entry.time);
    time.append(digits - DigitsOf(time), '0');
    AppendWrapped(absl::StrFormat("%12s s  %s", time, Printable(telling.text)), 0, 16, kTextColumns, text);
    for (const std::string& rejection : telling.rejections)
      AppendWrapped(Printable(rejection), 18, 31, kTextColumns, text);
    for (const std::string& detail : telling.details)
      AppendWrapped(Printable(detail), 18, 20, kTextColumns, text);
  }
  if (!story.entries.empty()) text += "\n";
  AppendWrapped(Printable(SummaryText(story)), 0, 0, kTextColumns, text);
  for (absl::string_view missing : MissingTexts(story)) AppendWrapped(missing, 0, 0, kTextColumns, text);
  return text;
}

std::string StoryJson(const PodStory& story) {
  JsonWriter json;
  json.BeginObject().Field("apiVersion", "schedsim/v1").Field("kind", "PodStory").Field("pod", story.pod);
  json.Field("state", StateText(story.state)).Field("node", story.node);
  if (!story.pending.other_scheduler.empty()) json.Field("otherScheduler", story.pending.other_scheduler);
  json.Field("summary", SummaryText(story)).Key("missing").BeginArray();
  for (absl::string_view missing : MissingTexts(story)) json.String(missing);
  json.EndArray().Key("entries").BeginArray();
  for (const StoryEntry& entry : story.entries) {
    const Telling telling = Tell(entry);
    const auto kind = std::visit([](const auto& fact) { return KindOf(fact); }, entry.fact);
    json.BeginObject().Key("timeSeconds").Raw(TimeText(entry.time));
    json.Field("kind", kind).Field("text", telling.text).Key("details").BeginArray();
    for (const std::string& rejection : telling.rejections)
      json.String(absl::StripLeadingAsciiWhitespace(rejection));
    for (const std::string& detail : telling.details) json.String(detail);
    json.EndArray();
    std::visit([&](const auto& fact) { WriteFact(fact, json); }, entry.fact);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.text() + "\n";
}

}  // namespace schedsim::sim
