#include "sim/report/pod_story.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/base/status_macros.h"
#include "core/codec/text/json_writer.h"

namespace schedsim::sim {
namespace {

using Json = nlohmann::json;

// Source: kubernetes v1.37, scheduler/backend/queue: the flush of unschedulable pods.
constexpr double kFlushPeriodSeconds = 30;
constexpr double kPoolTimeMaxSeconds = 300;

// "0.001", with three digits behind the point, or as many as there are, up to microseconds.
std::string SecondsText(double seconds) {
  std::string text = absl::StrFormat("%.6f", seconds);
  while (text.back() == '0' && text[text.size() - 4] != '.') text.pop_back();
  return text;
}

// Throws Json::exception where a member has another type, as all that reads records here does.
std::string Text(const Json& object, const char* key) { return object.value(key, std::string()); }

std::vector<std::string> Texts(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  return found->get<std::vector<std::string>>();
}

std::string Quoted(absl::string_view text) {
  codec::JsonWriter json;
  json.String(text);
  return json.text();
}

// Nodes that were rejected for one reason.
struct Reason {
  int64_t node_count = 0;
  std::string reason;
  std::string plugin;
};

// "4 Insufficient cpu, 1 node(s) ..." of a message, for traces without each node's status.
std::vector<Reason> ReasonsOfMessage(absl::string_view message) {
  std::vector<Reason> reasons;
  constexpr absl::string_view kStart = "nodes are available: ";
  const size_t start = message.find(kStart);
  if (start == absl::string_view::npos) return reasons;
  message.remove_prefix(start + kStart.size());
  message = message.substr(0, message.find(". "));
  for (absl::string_view part : absl::StrSplit(message, ", ")) {
    const std::pair<absl::string_view, absl::string_view> split =
        absl::StrSplit(part, absl::MaxSplits(' ', 1));
    int64_t count = 0;
    if (absl::SimpleAtoi(split.first, &count)) {
      reasons.push_back({.node_count = count, .reason = std::string(split.second), .plugin = ""});
    } else if (!reasons.empty()) {
      absl::StrAppend(&reasons.back().reason, ", ", part);  // A comma within a reason.
    }
  }
  if (!reasons.empty() && absl::EndsWith(reasons.back().reason, ".")) reasons.back().reason.pop_back();
  return reasons;
}

// N of "0/N nodes are available", -1 where there is no such message.
int64_t NodeCountOfMessage(absl::string_view message) {
  int64_t count = -1;
  if (!absl::StartsWith(message, "0/")) return count;
  const absl::string_view rest = message.substr(2);
  return absl::SimpleAtoi(rest.substr(0, rest.find(' ')), &count) ? count : -1;
}

void Count(const Json& status, int64_t node_count, std::vector<Reason>& reasons) {
  const std::string plugin = Text(status, "plugin");
  for (const std::string& reason : Texts(status, "reasons")) {
    auto known = std::find_if(reasons.begin(), reasons.end(), [&](const Reason& other) {
      return other.reason == reason && other.plugin == plugin;
    });
    if (known == reasons.end()) {
      reasons.push_back({.node_count = 0, .reason = reason, .plugin = plugin});
      known = std::prev(reasons.end());
    }
    known->node_count += node_count;
  }
}

// Why nodes were rejected, the most frequent reason first. A node may have several, as in the message.
std::vector<Reason> ReasonsOf(const Json& attempt) {
  std::vector<Reason> reasons;
  const std::string error = Text(attempt, "error");
  const int64_t node_count = NodeCountOfMessage(error);
  const Json pre_filter = attempt.value("preFilter", Json::object());
  if (pre_filter.contains("status") && !pre_filter["status"].is_null()) {
    Count(pre_filter["status"], std::max<int64_t>(node_count, 0), reasons);
  } else if (attempt.contains("filter")) {
    const Json& nodes = attempt["filter"];
    for (const Json& node : nodes) Count(node, 1, reasons);
    // Nodes that PreFilter ruled out are not looked at.
    const int64_t left_out = node_count - static_cast<int64_t>(nodes.size());
    if (left_out > 0) {
      const std::vector<std::string> plugins = Texts(pre_filter, "plugins");
      reasons.push_back({.node_count = left_out,
                         .reason = "ruled out before the filters",
                         .plugin = absl::StrJoin(plugins, ", ")});
    }
  } else {
    reasons = ReasonsOfMessage(error);
  }
  std::sort(reasons.begin(), reasons.end(), [](const Reason& a, const Reason& b) {
    if (a.node_count != b.node_count) return a.node_count > b.node_count;
    return std::tie(a.reason, a.plugin) < std::tie(b.reason, b.plugin);
  });
  return reasons;
}

std::string Nodes(int64_t count) { return absl::StrCat(count, count == 1 ? " node" : " nodes"); }

std::string ReasonLine(const Reason& reason) {
  const std::string plugin = reason.plugin.empty() ? "" : absl::StrCat(" (", reason.plugin, ")");
  return absl::StrFormat("%11s  %s%s", Nodes(reason.node_count), reason.reason, plugin);
}

std::string ReasonsJson(const std::vector<Reason>& reasons) {
  codec::JsonWriter json;
  json.BeginArray();
  for (const Reason& reason : reasons) {
    json.BeginObject().Field("nodes", reason.node_count).Field("reason", reason.reason);
    json.Field("plugin", reason.plugin).EndObject();
  }
  json.EndArray();
  return json.text();
}

// Why this node and no other.
struct Lead {
  std::string text;
  std::string fields;
};

Lead LeadOf(const Json& attempt) {
  const std::string host = Text(attempt, "host");
  const int64_t feasible = attempt.value("feasible", int64_t{0});
  if (feasible == 1) return {.text = "it is the only node that fits", .fields = ""};
  if (attempt.contains("bestScore")) {
    const int64_t best = attempt["bestScore"].get<int64_t>();
    return {.text = absl::StrCat("total ", best), .fields = absl::StrCat("\"total\":", best)};
  }
  const auto found = attempt.find("scores");
  if (found == attempt.end() || found->is_null()) return {};
  const auto nodes = found->at("nodes").get<std::vector<std::string>>();
  const auto totals = found->at("total").get<std::vector<int64_t>>();
  const size_t taken = static_cast<size_t>(std::find(nodes.begin(), nodes.end(), host) - nodes.begin());
  if (taken >= totals.size() || totals.size() != nodes.size() || totals.size() < 2) return {};
  size_t second = taken == 0 ? 1 : 0;
  for (size_t i = 0; i < totals.size(); ++i) {
    if (i != taken && totals[i] > totals[second]) second = i;
  }
  Lead lead = {.text = absl::StrCat("total ", totals[taken]),
               .fields = absl::StrCat("\"total\":", totals[taken], ",\"runnerUp\":", Quoted(nodes[second]),
                                      ",\"runnerUpTotal\":", totals[second])};
  if (totals[second] == totals[taken]) {
    const auto equal = std::count(totals.begin(), totals.end(), totals[taken]) - 1;
    absl::StrAppend(&lead.text, ", as ", equal == 1 ? nodes[second] : absl::StrCat(equal, " other nodes"),
                    ": the scheduler's rule for ties decides");
    return lead;
  }
  std::string best_plugin;
  int64_t best_difference = 0;
  for (const auto& [plugin, weighted] : found->at("weighted").items()) {
    const int64_t difference = weighted.at(taken).get<int64_t>() - weighted.at(second).get<int64_t>();
    if (difference <= best_difference) continue;
    best_difference = difference;
    best_plugin = plugin;
  }
  absl::StrAppend(&lead.text, ", ", totals[taken] - totals[second], " ahead of ", nodes[second]);
  if (best_plugin.empty()) return lead;
  absl::StrAppend(&lead.text, "; most of it is ", best_plugin, "'s: +", best_difference);
  absl::StrAppend(&lead.fields, ",\"decidedBy\":", Quoted(best_plugin), ",\"points\":", best_difference);
  return lead;
}

// What preemption tried, a line each.
std::vector<std::string> PreemptionLines(const Json& attempt) {
  std::vector<std::string> lines;
  const Json post_filter = attempt.value("postFilter", Json());
  if (post_filter.is_null()) return lines;
  const std::string nominated = Text(post_filter, "nominate");
  std::vector<Reason> reasons;
  constexpr int kShown = 5;
  int helpful = 0;
  for (const Json& run : attempt.value("dryRun", Json::array())) {
    if (!run.contains("victims")) {
      Count(run, 1, reasons);
      continue;
    }
    const std::string node = Text(run, "node");
    if (++helpful > kShown && node != nominated) continue;
    lines.push_back(absl::StrCat("preemption ", node == nominated ? "takes " : "could take ", node,
                                 ", victims: ", absl::StrJoin(Texts(run, "victims"), ", "),
                                 "; beyond disruption budgets: ", run.value("violations", int64_t{0})));
  }
  if (helpful > kShown) lines.push_back(absl::StrCat("preemption could help on ", Nodes(helpful), " in all"));
  for (const Reason& reason : reasons) {
    lines.push_back(
        absl::StrCat("preemption would not help on ", Nodes(reason.node_count), ": ", reason.reason));
  }
  const Json status = post_filter.value("status", Json());
  if (!lines.empty() || status.is_null()) return lines;
  for (const std::string& reason : Texts(status, "reasons")) lines.push_back(reason);
  return lines;
}

std::string PlaceText(absl::string_view place) {
  if (place == "active") return "in the active queue";
  if (place == "backoff") return "in the backoff queue";
  if (place == "errorBackoff") return "in the backoff queue for errors";
  if (place == "unschedulable") return "in the pool of unschedulable pods";
  if (place == "inFlight") return "being tried";
  return "not in the queue";
}

std::string HintsText(const Json& move) {
  std::vector<std::string> parts;
  for (const Json& hint : move.value("hints", Json::array())) {
    const std::string answer = Text(hint, "answer");
    parts.push_back(answer == "none" ? absl::StrCat(Text(hint, "plugin"), " takes every such event")
                                     : absl::StrCat(Text(hint, "plugin"), " says ", answer));
  }
  return absl::StrJoin(parts, ", ");
}

// An event with its object and what plugins said.
std::string EventText(const Json& move, const std::string& event) {
  std::string text = event;
  const std::string object = Text(move, "object");
  if (!object.empty()) absl::StrAppend(&text, " of ", object);
  const std::string hints = HintsText(move);
  if (!hints.empty()) absl::StrAppend(&text, ": ", hints);
  return text;
}

std::string CauseText(const Json& move) {
  const std::string event = Text(move, "event");
  const std::string in_flight = Text(move, "inFlightEvent");
  if (event == "UnscheduledPodAdd" || event == "UnschedulablePodAdd") return "it is new";
  if (event == "UnscheduledPodDelete" || event == "UnschedulablePodDelete")
    return "it is deleted, or has a node";
  if (event == "BackoffComplete") return "its backoff is over";
  if (event == "PopFromBackoffQ")
    return "the active queue is empty, so it need not wait for the end of its backoff";
  if (event == "UnschedulableTimeout") return "five minutes are over without an event that helps";
  if (event == "ForceActivate") return "a plugin asks for it";
  if (event != "ScheduleAttemptFailure") return EventText(move, event);
  if (!in_flight.empty())
    return absl::StrCat("the attempt failed, but meanwhile came ", EventText(move, in_flight));
  return "the attempt failed";
}

std::string MoveText(const Json& move) {
  const std::string to = Text(move, "to");
  const std::string gate = Text(move, "gatedBy");
  if (!gate.empty() && Text(move, "from") == "unschedulable") {
    return absl::StrCat("still gated by ", gate, " after ", CauseText(move));
  }
  if (!gate.empty()) return absl::StrCat("gated by ", gate, ": ", CauseText(move));
  if (to.empty()) return absl::StrCat("leaves the queue: ", CauseText(move));
  std::string text = to == "active"          ? "to the active queue"
                     : to == "backoff"       ? "to the backoff queue"
                     : to == "errorBackoff"  ? "to the backoff queue for errors"
                     : to == "unschedulable" ? "to the pool of unschedulable pods"
                                             : "taken for an attempt";
  const auto expiration = move.find("backoffExpiration");
  if (expiration != move.end())
    absl::StrAppend(&text, " until ", SecondsText(expiration->get<double>()), " s");
  return absl::StrCat(text, ": ", CauseText(move));
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

  void Add(const Json& record) {
    time_seconds_ = record.at("t").get<double>();
    const std::string kind = record.at("ev").get<std::string>();
    if (kind == "final") {
      AddFinal(record);
    } else if (kind == "queue") {
      AddQueue(record);
    } else if (Text(record, "pod") == story_.pod) {
      AddOwn(kind, record);
    } else if (kind == "attempt") {
      AddOtherAttempt(record);
    }
  }

  // Whether the trace has anything about a pod of this name.
  bool IsPod() const { return !story_.entries.empty() || final_.has_value(); }

  PodStory Finish(const Facts& facts) {
    story_.summary = Summary(facts);
    if (!facts.has_moves) {
      story_.missing.push_back(facts.has_queue
                                   ? "The trace has no moves in the queue: what woke the pod is not known."
                                   : "The trace has neither moves in the queue nor each node's status: it "
                                     "was not written with --trace-level full.");
    }
    return std::move(story_);
  }

 private:
  StoryEntry& Push(std::string kind, std::string text, std::string fields = "") {
    story_.entries.push_back({.time_seconds = time_seconds_,
                              .kind = std::move(kind),
                              .text = std::move(text),
                              .details = {},
                              .fields = std::move(fields)});
    return story_.entries.back();
  }

  void AddOwn(const std::string& kind, const Json& record) {
    if (kind == "attempt") {
      AddAttempt(record);
    } else if (kind == "move") {
      AddMove(record);
    } else if (kind == "status") {
      AddStatus(record);
    } else if (kind == "bind") {
      bound_seconds_ = time_seconds_;
      node_ = Text(record, "node");
      StoryEntry& entry =
          Push("bind", absl::StrCat("bound to ", node_), absl::StrCat("\"node\":", Quoted(node_)));
      if (!lead_.text.empty()) entry.details.push_back(lead_.text);
      if (!lead_.fields.empty()) absl::StrAppend(&entry.fields, ",", lead_.fields);
    } else if (kind == "bindFailure") {
      Push("bindFailure", absl::StrCat("could not be bound: ", Text(record, "error")));
      rejectors_ = Texts(record, "unschedulablePlugins");
    } else if (kind == "delete") {
      const std::string by = preemptor_.empty() ? "" : absl::StrCat(" for ", preemptor_);
      Push("victim", absl::StrCat("deleted as a victim of preemption", by),
           preemptor_.empty() ? "" : absl::StrCat("\"preemptor\":", Quoted(preemptor_)));
    } else if (kind == "gone") {
      Push("gone", "gone: its termination time is over");
    } else if (kind == "inexact") {
      Push("inexact", absl::StrCat("from here on the result may differ from the real scheduler's: ",
                                   Text(record, "reason")));
    }
  }

  // The move back into the queue is on record before the attempt that it ends.
  void AddAttempt(const Json& record) {
    attempts_ = record.at("attempts").get<int64_t>();
    const std::string host = Text(record, "host");
    const std::string error = Text(record, "error");
    const std::vector<Reason> reasons = ReasonsOf(record);
    std::string text = absl::StrCat("attempt ", attempts_, ": ");
    std::string fields = absl::StrCat("\"attempts\":", attempts_, ",\"host\":", Quoted(host),
                                      ",\"reasons\":", ReasonsJson(reasons));
    lead_ = Lead();
    if (!host.empty()) {
      const int64_t feasible = record.value("feasible", int64_t{0});
      const int64_t evaluated = record.value("evaluated", int64_t{0});
      absl::StrAppend(&text, "fits on ", feasible, " of ", Nodes(evaluated), " looked at, takes ", host);
      absl::StrAppend(&fields, ",\"feasible\":", feasible, ",\"evaluated\":", evaluated);
      lead_ = LeadOf(record);
    } else if (NodeCountOfMessage(error) >= 0) {
      absl::StrAppend(&text, "fits on none of ", Nodes(NodeCountOfMessage(error)));
      rejectors_ = Texts(record, "unschedulablePlugins");
    } else {
      absl::StrAppend(&text, "ends with an error: ", error);
      rejectors_.clear();
    }
    StoryEntry entry = {
        .time_seconds = time_seconds_, .kind = "attempt", .text = text, .details = {}, .fields = fields};
    for (const Reason& reason : reasons) entry.details.push_back(ReasonLine(reason));
    for (std::string& line : PreemptionLines(record)) entry.details.push_back(std::move(line));
    AddWaits(record, entry);
    AddFailure(record, entry);
    const auto at = std::min(attempt_index_.value_or(story_.entries.size()), story_.entries.size());
    story_.entries.insert(story_.entries.begin() + static_cast<int64_t>(at), std::move(entry));
    attempt_index_.reset();
  }

  static void AddWaits(const Json& record, StoryEntry& entry) {
    const auto waits = record.find("waits");
    if (waits == record.end()) return;
    std::vector<std::string> plugins;
    for (const Json& wait : *waits) {
      plugins.push_back(absl::StrCat(Text(wait, "plugin"), ", for at most ",
                                     SecondsText(wait.at("timeout").get<double>()), " s"));
    }
    entry.details.push_back(absl::StrCat("then waits on Permit: ", absl::StrJoin(plugins, "; ")));
    absl::StrAppend(&entry.fields, ",\"waits\":", waits->dump());
  }

  // A pod that had a node, but was refused by Reserve or Permit.
  void AddFailure(const Json& record, StoryEntry& entry) {
    const Json failure = record.value("failure", Json());
    if (failure.is_null() || Text(record, "host").empty()) return;
    rejectors_ = Texts(failure, "unschedulablePlugins");
    entry.details.push_back(absl::StrCat("then fails: ", Text(failure, "error")));
  }

  void AddMove(const Json& record) {
    place_ = Text(record, "to");
    place_seconds_ = time_seconds_;
    gate_ = Text(record, "gatedBy");
    if (!queued_seconds_.has_value() || (Text(record, "from").empty() && bound_seconds_.has_value())) {
      queued_seconds_ = std::max(time_seconds_, 0.0);
      bound_seconds_.reset();
    }
    const std::string event = Text(record, "event");
    if (event != "Pop" || place_ != "inFlight") {
      std::string fields = absl::StrCat("\"from\":", Quoted(Text(record, "from")),
                                        ",\"to\":", Quoted(*place_), ",\"event\":", Quoted(event));
      for (const char* key : {"inFlightEvent", "object", "hints", "gatedBy", "backoffExpiration"}) {
        if (record.contains(key)) absl::StrAppend(&fields, ",\"", key, "\":", record[key].dump());
      }
      Push("move", MoveText(record), std::move(fields));
    }
    if (place_ == "inFlight") attempt_index_ = story_.entries.size();
  }

  void AddStatus(const Json& record) {
    const std::string nominated = Text(record, "nominated");
    if (nominated == nominated_) return;
    Push("nomination",
         nominated.empty() ? absl::StrCat("the nomination to ", nominated_, " is withdrawn")
                           : absl::StrCat("nominated to ", nominated),
         absl::StrCat("\"node\":", Quoted(nominated)));
    nominated_ = nominated;
  }

  // Another pod's attempt, which may take this one for a victim.
  void AddOtherAttempt(const Json& record) {
    const std::string node = Text(record.value("postFilter", Json::object()), "nominate");
    if (node.empty()) return;
    for (const Json& run : record.value("dryRun", Json::array())) {
      if (Text(run, "node") != node) continue;
      const std::vector<std::string> victims = Texts(run, "victims");
      if (std::find(victims.begin(), victims.end(), story_.pod) != victims.end())
        preemptor_ = Text(record, "pod");
    }
  }

  // The only source for traces without moves.
  void AddQueue(const Json& record) {
    if (queued_seconds_.has_value() && !from_queue_states_) return;
    for (const char* place : {"active", "backoff", "unschedulable"}) {
      const std::vector<std::string> pods = Texts(record, place);
      if (std::find(pods.begin(), pods.end(), story_.pod) == pods.end()) continue;
      const Json info = record.value("info", Json::object()).value(story_.pod, Json::object());
      gate_ = Text(info, "gatedBy");
      if (!from_queue_states_) queued_seconds_ = std::max(time_seconds_, 0.0);
      const bool moved = !from_queue_states_ || place_ != place;
      from_queue_states_ = true;
      if (!moved) return;
      place_ = place;
      place_seconds_ = time_seconds_;
      Push("move", absl::StrCat(PlaceText(place), gate_.empty() ? "" : absl::StrCat(", gated by ", gate_)),
           absl::StrCat("\"to\":", Quoted(*place_)));
      return;
    }
  }

  void AddFinal(const Json& record) {
    const Json& pods = record.at("pods");
    const auto found = pods.find(story_.pod);
    if (found == pods.end()) return;
    final_ = *found;
    if (Text(*final_, "node").empty()) return;
    node_ = Text(*final_, "node");
  }

  std::string Summary(const Facts& facts) {
    const bool deleted = final_.has_value() && final_->value("deleted", false);
    story_.state = deleted ? "Gone" : !node_.empty() ? "Bound" : IsPod() ? "Pending" : "Unknown";
    story_.node = node_;
    if (deleted)
      return absl::StrCat(
          "Gone", node_.empty() ? "; it never had a node." : absl::StrCat("; it was on ", node_, "."));
    if (!node_.empty()) {
      if (!bound_seconds_.has_value())
        return absl::StrCat("On ", node_, " from the start: it was not scheduled in this run.");
      const std::string after = queued_seconds_.has_value()
                                    ? absl::StrCat(SecondsText(*bound_seconds_ - *queued_seconds_),
                                                   " s after it came into the queue")
                                    : absl::StrCat("at ", SecondsText(*bound_seconds_), " s");
      return absl::StrCat("Bound to ", node_, " ", after, ", in attempt ", attempts_, ".");
    }
    return PendingSummary(facts);
  }

  std::string PendingSummary(const Facts& facts) const {
    std::string text = absl::StrCat("Pending after ", attempts_, attempts_ == 1 ? " attempt" : " attempts");
    if (!place_.has_value()) return text + ".";
    absl::StrAppend(&text, ", ", PlaceText(*place_), " since ", SecondsText(place_seconds_), " s");
    if (*place_ != "unschedulable")
      return absl::StrCat(text, "; the trace ends at ", SecondsText(facts.end_seconds), " s.");
    std::vector<std::string> plugins = rejectors_;
    if (!gate_.empty()) plugins = {gate_};
    absl::StrAppend(&text, gate_.empty() ? ", rejected by " : ", gated by ", absl::StrJoin(plugins, ", "),
                    ". ");
    std::vector<std::string> waits;
    for (const std::string& plugin : plugins) {
      auto events = facts.registrations.find(plugin);
      if (events == facts.registrations.end()) continue;
      waits.push_back(absl::StrCat(absl::StrJoin(events->second, ", "), " (", plugin, ")"));
    }
    absl::StrAppend(&text, "What could wake it: ");
    if (!waits.empty()) absl::StrAppend(&text, absl::StrJoin(waits, "; "));
    if (!gate_.empty()) return absl::StrCat(text, waits.empty() ? "the end of the gate." : ".");
    const double flush =
        (std::floor((place_seconds_ + kPoolTimeMaxSeconds) / kFlushPeriodSeconds) + 1) * kFlushPeriodSeconds;
    return absl::StrCat(text, waits.empty() ? "an event that these plugins wait for" : "",
                        "; otherwise the flush at ", SecondsText(flush), " s. The trace ends at ",
                        SecondsText(facts.end_seconds), " s.");
  }

  PodStory story_;
  double time_seconds_ = 0;
  int64_t attempts_ = 0;
  // Where the next attempt belongs: behind the move that began it.
  std::optional<size_t> attempt_index_;
  std::vector<std::string> rejectors_;
  std::string nominated_;
  std::string preemptor_;
  Lead lead_;
  std::string node_;
  std::optional<double> queued_seconds_;
  std::optional<double> bound_seconds_;
  // Absent: not known.
  std::optional<std::string> place_;
  double place_seconds_ = 0;
  std::string gate_;
  bool from_queue_states_ = false;
  std::optional<Json> final_;
};

StoryTeller::StoryTeller(absl::string_view pod)
    : pod_(pod),
      needle_(absl::StrContains(pod, '/') ? absl::StrCat("\"", pod, "\"") : absl::StrCat("/", pod, "\"")) {}

StoryTeller::~StoryTeller() = default;

// What can be seen without parsing: most lines are about other pods.
void StoryTeller::NoteFacts(absl::string_view record) {
  constexpr absl::string_view kTime = "{\"t\":";
  if (absl::StartsWith(record, kTime)) {
    double time = 0;
    if (absl::SimpleAtod(record.substr(kTime.size(), record.find(',') - kTime.size()), &time))
      facts_.end_seconds = time;
  }
  facts_.has_moves = facts_.has_moves || absl::StrContains(record, "\"ev\":\"move\"");
  facts_.has_queue = facts_.has_queue || absl::StrContains(record, "\"ev\":\"queue\"");
  constexpr absl::string_view kPod = "\"pod\":\"";
  const size_t pod = record.find(kPod);
  if (pod == absl::string_view::npos) return;
  const absl::string_view rest = record.substr(pod + kPod.size());
  pods_.insert(std::string(rest.substr(0, rest.find('"'))));
}

absl::Status StoryTeller::Add(absl::string_view record, absl::string_view place) {
  NoteFacts(record);
  const bool about_all =
      absl::StrContains(record, "\"ev\":\"registrations\"") || absl::StrContains(record, "\"ev\":\"final\"");
  if (!about_all && !absl::StrContains(record, needle_)) return absl::OkStatus();
  return AddTo(record, place);
}

absl::Status StoryTeller::AddTo(absl::string_view record, absl::string_view place) {
  try {
    const Json json = Json::parse(record.begin(), record.end());
    const std::string kind = json.at("ev").get<std::string>();
    if (kind == "registrations") {
      for (const auto& [plugin, events] : json.at("events").items()) {
        for (const Json& event : events) facts_.registrations[plugin].insert(event.get<std::string>());
      }
      return absl::OkStatus();
    }
    if (kind == "final") {
      facts_.end_seconds = json.at("t").get<double>();
      for (const auto& [key, pod] : json.at("pods").items()) pods_.insert(key);
    }
    std::set<std::string> keys;
    for (size_t at = record.find(needle_); at != absl::string_view::npos; at = record.find(needle_, at + 1)) {
      const size_t end = at + needle_.size() - 1;
      const size_t quote = record.rfind('"', end - 1);
      keys.insert(std::string(record.substr(quote + 1, end - quote - 1)));
    }
    for (const std::string& key : keys) {
      std::unique_ptr<Builder>& builder = builders_[key];
      if (builder == nullptr) builder = std::make_unique<Builder>(key);
      builder->Add(json);
    }
    return absl::OkStatus();
  } catch (const Json::parse_error& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, ":", error.byte, ": no JSON, expected a record of a trace on one line"));
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(place, ": not as docs/trace.md has it: ", error.what()));
  }
}

std::string StoryTeller::NotFound() const {
  constexpr size_t kShown = 5;
  std::vector<std::pair<size_t, std::string>> close;
  const bool with_namespace = absl::StrContains(pod_, '/');
  for (const std::string& pod : pods_) {
    const absl::string_view name =
        with_namespace ? absl::string_view(pod) : absl::string_view(pod).substr(pod.find('/') + 1);
    const bool part = absl::StrContains(name, pod_) || absl::StrContains(pod_, name);
    const size_t distance = EditDistance(name, pod_);
    if (part || distance <= std::max<size_t>(2, pod_.size() / 4)) close.emplace_back(distance, pod);
  }
  std::sort(close.begin(), close.end());
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(kShown, close.size()); ++i) names.push_back(close[i].second);
  if (names.empty()) return absl::StrCat("no pod ", pod_, " in the trace, which has ", pods_.size(), " pods");
  return absl::StrCat("no pod ", pod_, " in the trace, expected one such as ", absl::StrJoin(names, ", "));
}

absl::StatusOr<PodStory> StoryTeller::Finish() {
  std::vector<std::string> found;
  for (const auto& [key, builder] : builders_) {
    if (builder->IsPod()) found.push_back(key);
  }
  if (found.empty()) return absl::NotFoundError(NotFound());
  if (found.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "pod ", pod_, " is in several namespaces, expected one of ", absl::StrJoin(found, ", ")));
  }
  return builders_[found[0]]->Finish(facts_);
}

std::string StoryText(const PodStory& story) {
  std::string text = absl::StrCat(story.pod, "\n\n");
  for (const StoryEntry& entry : story.entries) {
    absl::StrAppendFormat(&text, "%12s s  %s\n", SecondsText(entry.time_seconds), entry.text);
    for (const std::string& detail : entry.details)
      absl::StrAppend(&text, std::string(18, ' '), detail, "\n");
  }
  if (!story.entries.empty()) text += "\n";
  absl::StrAppend(&text, story.summary, "\n");
  for (const std::string& missing : story.missing) absl::StrAppend(&text, missing, "\n");
  return text;
}

std::string StoryJson(const PodStory& story) {
  codec::JsonWriter json;
  json.BeginObject().Field("apiVersion", "schedsim/v1").Field("kind", "PodStory").Field("pod", story.pod);
  json.Field("state", story.state).Field("node", story.node).Field("summary", story.summary);
  json.Key("missing").BeginArray();
  for (const std::string& missing : story.missing) json.String(missing);
  json.EndArray().Key("entries").BeginArray();
  for (const StoryEntry& entry : story.entries) {
    json.BeginObject().Key("timeSeconds").Raw(SecondsText(entry.time_seconds));
    json.Field("kind", entry.kind).Field("text", entry.text).Key("details").BeginArray();
    for (const std::string& detail : entry.details) json.String(absl::StripLeadingAsciiWhitespace(detail));
    json.EndArray();
    if (!entry.fields.empty()) json.Raw(entry.fields);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.text() + "\n";
}

}  // namespace schedsim::sim
