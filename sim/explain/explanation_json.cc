#include <algorithm>
#include <variant>

#include "core/api/quantity_text.h"
#include "core/codec/text/json_writer.h"
#include "sim/explain/explanation_text.h"
#include "sim/report/pod_story_text.h"

namespace schedsim::sim {
namespace {

using codec::JsonWriter;

void WriteTexts(absl::string_view key, const std::vector<std::string>& texts, JsonWriter& json) {
  json.Key(key).BeginArray();
  for (const std::string& text : texts) json.String(text);
  json.EndArray();
}

void WriteChange(const Change& change, JsonWriter& json) {
  json.BeginObject().Field("change", ChangeName(change)).Field("text", ChangeText(change));
  if (!change.name.empty()) json.Field("name", change.name);
  if (change.value.has_value()) json.Field("value", *change.value);
  if (!change.amount.IsZero()) json.Field("amount", api::AmountText(change.name, change.amount));
  json.EndObject();
}

void WriteFact(const Fact& fact, JsonWriter& json) {
  json.BeginObject().Field("kind", fact.kind).Field("text", fact.text);
  for (const auto& [name, value] : fact.fields) {
    if (const auto* const number = std::get_if<int64_t>(&value)) {
      json.Field(name, *number);
    } else {
      json.Field(name, std::get<std::string>(value));
    }
  }
  json.EndObject();
}

void WriteRefused(const RefusedNode& refused, JsonWriter& json) {
  json.BeginObject().Field("node", refused.node).Field("plugin", refused.plugin);
  WriteTexts("reasons", refused.reasons, json);
  json.Key("facts").BeginArray();
  for (const Fact& fact : refused.facts) WriteFact(fact, json);
  json.EndArray();
  if (refused.miss.has_value()) {
    json.Key("miss").BeginObject().Key("changes").BeginArray();
    for (const Change& change : refused.miss->changes) WriteChange(change, json);
    json.EndArray();
    if (!refused.miss->why_not.empty()) json.Field("whyNot", refused.miss->why_not);
    json.EndObject();
  }
  json.EndObject();
}

void WriteScores(const Explanation& explanation, JsonWriter& json) {
  const CapturedAttempt& attempt = explanation.attempt;
  std::vector<size_t> order;
  for (size_t i = 0; i < attempt.totals.size(); ++i) {
    if (explanation.node.empty() || attempt.scored_nodes[i] == explanation.node) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return attempt.totals[a] > attempt.totals[b]; });
  json.Key("scores").BeginArray();
  for (const size_t place : order) {
    json.BeginObject().Field("node", attempt.scored_nodes[place]).Field("total", attempt.totals[place]);
    json.Key("plugins").BeginArray();
    for (const CapturedAttempt::Scores& scores : attempt.scores) {
      json.BeginObject().Field("plugin", scores.plugin).Field("raw", scores.raw[place]);
      json.Field("normalized", scores.weight == 0 ? 0 : scores.weighted[place] / scores.weight);
      json.Field("weight", scores.weight).Field("points", scores.weighted[place]).EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray();
}

void WriteCandidate(const PreemptionChoice::Candidate& candidate, JsonWriter& json) {
  json.BeginObject().Field("node", candidate.node);
  WriteTexts("victims", candidate.victims, json);
  json.Field("violations", candidate.violations).Field("highestPriority", candidate.highest_priority);
  json.Field("prioritySum", candidate.priority_sum).Field("victimCount", candidate.victim_count);
  json.Field("earliestStart", candidate.earliest_start).Field("lowerPods", candidate.lower_count).EndObject();
}

void WritePreemption(const PreemptionChoice& choice, JsonWriter& json) {
  json.Key("preemption").BeginObject().Key("taken");
  WriteCandidate(choice.taken, json);
  json.Field("candidates", choice.candidate_count);
  if (choice.next.has_value()) {
    json.Key("next");
    WriteCandidate(*choice.next, json);
    json.Field("criterion", choice.criterion);
  }
  json.EndObject();
}

void WriteAttempt(const Explanation& explanation, JsonWriter& json) {
  const CapturedAttempt& attempt = explanation.attempt;
  json.Key("timeSeconds").Raw(TimeText(attempt.time));
  json.Field("attempt", int64_t{attempt.number}).Field("text", AttemptText(explanation.fact));
  if (!attempt.bind_failure.empty()) json.Field("bindFailure", attempt.bind_failure);
  if (!attempt.group.empty()) json.Field("group", attempt.group);
  if (!attempt.group_failure.empty()) json.Field("groupFailure", attempt.group_failure);
  if (!explanation.end.empty()) json.Field("end", explanation.end);
  json.Field("message", attempt.message).Field("host", attempt.host).Field("nodes", explanation.node_count);
  json.Key("search").BeginObject().Field("start", int64_t{attempt.start_index});
  json.Field("wanted", int64_t{attempt.wanted_count}).Field("evaluated", int64_t{attempt.evaluated_count});
  json.Field("feasible", int64_t{attempt.feasible_count}).EndObject();
  json.Key("reasons").BeginArray();
  for (const RejectionFact& rejection : explanation.fact.rejections) {
    json.BeginObject().Field("nodes", rejection.node_count).Field("reason", rejection.reason);
    json.Field("plugin", rejection.plugin).EndObject();
  }
  json.EndArray();
  if (!attempt.totals.empty()) {
    const int64_t best = *std::max_element(attempt.totals.begin(), attempt.totals.end());
    json.Field("bestNodes",
               static_cast<int64_t>(std::count(attempt.totals.begin(), attempt.totals.end(), best)));
    WriteScores(explanation, json);
  }
  if (explanation.preemption.has_value()) WritePreemption(*explanation.preemption, json);
  json.Key("refused").BeginArray();
  for (const RefusedNode& refused : explanation.refused) WriteRefused(refused, json);
  json.EndArray();
}

}  // namespace

std::string ExplanationJson(const Explanation& explanation) {
  JsonWriter json;
  json.BeginObject().Field("apiVersion", "schedsim/v1").Field("kind", "Explanation");
  json.Field("pod", explanation.pod).Field("attempts", explanation.attempt_count);
  if (explanation.namesake_count > 0) json.Field("namesakes", explanation.namesake_count);
  if (explanation.no_attempt.empty()) {
    WriteAttempt(explanation, json);
  } else {
    json.Field("noAttempt", explanation.no_attempt);
  }
  json.EndObject();
  return json.text() + "\n";
}

}  // namespace schedsim::sim
