#include "sim/conformance/compare.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "core/codec/text/json_writer.h"
#include "sim/record/record_writer.h"
#include "sim/record/records.h"

namespace schedsim::sim {
namespace {

using codec::JsonWriter;
using record::NameOf;
using record::Record;
using record::Text;
using record::Texts;
using Difference = std::optional<std::string>;

constexpr absl::Duration kTimeTolerance = absl::Microseconds(1500);

// ---- What is compared, as JSON text: equal text is an equal value, and messages show it ----

std::string Show(Text text) {
  JsonWriter json;
  json.String(text);
  return json.text();
}

std::string Show(int64_t number) { return absl::StrCat(number); }

std::string Show(const Texts& texts) {
  JsonWriter json;
  json.BeginArray();
  for (Text text : texts) json.String(text);
  json.EndArray();
  return json.text();
}

std::string List(const std::vector<std::string>& shown) {
  return absl::StrCat("[", absl::StrJoin(shown, ","), "]");
}

Texts Sorted(Texts texts) {
  std::sort(texts.begin(), texts.end());
  return texts;
}

// A field of a record reduced to what is compared: one value, or one for each key.
struct Part {
  std::string field;
  // Absent: there is none.
  std::optional<std::string> value;
  // Shape: by node, plugin or pod.
  std::optional<std::map<std::string, std::string>> values = std::nullopt;

  bool SameAs(const Part& other) const { return value == other.value && values == other.values; }
};

// The telling fields first.
using View = std::vector<Part>;

std::string ShowPart(const Part& part) {
  if (!part.values.has_value()) return part.value.value_or("nothing");
  std::vector<std::string> members;
  for (const auto& [key, value] : *part.values) members.push_back(absl::StrCat(Show(Text(key)), ":", value));
  return absl::StrCat("{", absl::StrJoin(members, ","), "}");
}

// Names the first key that differs where both have keys.
std::string ShowDifference(const Part& expected, const Part& actual) {
  if (expected.values.has_value() && actual.values.has_value()) {
    std::map<std::string, std::string> either = *expected.values;
    either.insert(actual.values->begin(), actual.values->end());
    for (const auto& [key, unused] : either) {
      const auto was_expected = expected.values->find(key);
      const auto is = actual.values->find(key);
      const std::string expected_text =
          was_expected == expected.values->end() ? "nothing" : was_expected->second;
      const std::string actual_text = is == actual.values->end() ? "nothing" : is->second;
      if (expected_text != actual_text) {
        return absl::StrCat(key, ": expected ", expected_text, ", got ", actual_text);
      }
    }
  }
  return absl::StrCat("expected ", ShowPart(expected), ", got ", ShowPart(actual));
}

const Part* FindPart(const View& view, absl::string_view field) {
  const auto found =
      std::find_if(view.begin(), view.end(), [field](const Part& part) { return part.field == field; });
  return found == view.end() ? nullptr : &*found;
}

// ---- Attempts ----

using record::Attempt;
using record::Queue;

// Success without a reason is no status at all where a plugin gives upstream's nil.
std::optional<std::string> ShowStatus(const std::optional<record::Status>& status) {
  if (!status.has_value() || (status->code == "Success" && status->reasons.empty())) return std::nullopt;
  return List({Show(status->code), Show(status->plugin), Show(Sorted(status->reasons))});
}

std::map<std::string, std::string> ShowFilter(const std::vector<record::FilteredNode>& filter) {
  std::map<std::string, std::string> by_node;
  for (const record::FilteredNode& node : filter) {
    by_node[std::string(node.node)] = List({Show(node.code.empty() ? Text("Success") : node.code),
                                            Show(node.plugin), Show(Sorted(node.reasons))});
  }
  return by_node;
}

// The groups of pods that were tried in the cycle of one, by pod.
using Groups = std::map<Text, Text>;

// Victims that follow each other and are of one group, in the order of their names: the recorder puts them
// into an order of its own.
Texts InOrder(Texts victims, const Groups& groups) {
  const auto group_of = [&groups](Text pod) {
    const auto found = groups.find(pod);
    return found == groups.end() ? Text() : found->second;
  };
  for (auto first = victims.begin(); first != victims.end();) {
    const Text group = group_of(*first);
    auto end = std::next(first);
    while (!group.empty() && end != victims.end() && group_of(*end) == group) ++end;
    std::sort(first, end);
    first = end;
  }
  return victims;
}

std::map<std::string, std::string> ShowDryRuns(const std::vector<record::DryRun>& runs,
                                               const Groups& groups) {
  std::map<std::string, std::string> by_node;
  for (const record::DryRun& run : runs) {
    // The recorder looks before it becomes an error that no victim was found.
    if (record::DryRun::Helps(run) && run.victims.empty()) {
      const std::string error = absl::StrCat("expected at least one victim pod on node \"", run.node, "\"");
      by_node[std::string(run.node)] = List({Show(Text("Error")), Show(Texts{error})});
      continue;
    }
    by_node[std::string(run.node)] = record::DryRun::Helps(run)
                                         ? List({Show(InOrder(run.victims, groups)), Show(run.violations)})
                                         : List({Show(run.code), Show(Sorted(run.reasons))});
  }
  return by_node;
}

// Shape: `values[i]` belongs to `nodes[i]`; what has no partner is dropped.
std::map<std::string, std::string> ByNode(const Texts& nodes, record::Column values) {
  std::map<std::string, std::string> by_node;
  for (size_t i = 0; i < std::min(nodes.size(), values.size()); ++i) {
    by_node[std::string(nodes[i])] = Show(values[i]);
  }
  return by_node;
}

// "a.b", for a field of a part.
template <typename Outer, typename Inner>
std::string Path(Outer outer, Inner inner) {
  return absl::StrCat(NameOf(outer), ".", NameOf(inner));
}

std::string WeightedPath() { return absl::StrCat(Path(&Attempt::scores, &record::Scores::weighted), "."); }

void AddScores(const record::Scores& scores, View& view) {
  const std::string raw = absl::StrCat(Path(&Attempt::scores, &record::Scores::raw), ".");
  for (const auto& [plugin, column] : scores.raw) {
    view.push_back({.field = absl::StrCat(raw, plugin), .value = {}, .values = ByNode(scores.nodes, column)});
  }
  for (const auto& [plugin, column] : scores.weighted) {
    view.push_back(
        {.field = absl::StrCat(WeightedPath(), plugin), .value = {}, .values = ByNode(scores.nodes, column)});
  }
  view.push_back({.field = Path(&Attempt::scores, &record::Scores::total),
                  .value = {},
                  .values = ByNode(scores.nodes, scores.total)});
  const std::string by_extender = absl::StrCat(Path(&Attempt::scores, &record::Scores::extenders), ".");
  for (const auto& [extender, column] : scores.extenders) {
    std::map<std::string, std::string> by_node;
    for (size_t i = 0; i < std::min(scores.nodes.size(), column.size()); ++i) {
      by_node[std::string(scores.nodes[i])] = column[i].has_value() ? Show(*column[i]) : "null";
    }
    view.push_back({.field = absl::StrCat(by_extender, extender), .value = {}, .values = std::move(by_node)});
  }
  if (scores.final_total.has_value()) {
    view.push_back({.field = Path(&Attempt::scores, &record::Scores::final_total),
                    .value = {},
                    .values = ByNode(scores.nodes, *scores.final_total)});
  }
}

View ViewOf(const Attempt& attempt, const Groups& groups) {
  View view;
  const auto add = [&view](absl::string_view field, std::optional<std::string> value) {
    view.push_back({.field = std::string(field), .value = std::move(value)});
  };
  const auto add_map = [&view](absl::string_view field, std::map<std::string, std::string> values) {
    view.push_back({.field = std::string(field), .value = {}, .values = std::move(values)});
  };
  add(NameOf(&Attempt::pod), Show(attempt.pod));
  add(NameOf(&Attempt::attempts), Show(attempt.attempts));
  add(NameOf(&Attempt::profile), Show(attempt.profile));
  add(NameOf(&Attempt::start), Show(attempt.start));
  add(NameOf(&Attempt::group), Show(attempt.group));
  add(NameOf(&Attempt::phase), Show(attempt.phase));
  if (attempt.pre_filter.has_value()) {
    const record::PreFilter& pre_filter = *attempt.pre_filter;
    const bool narrowed = pre_filter.nodes.has_value() && !pre_filter.nodes->empty();
    add(Path(&Attempt::pre_filter, &record::PreFilter::status), ShowStatus(pre_filter.status));
    add(Path(&Attempt::pre_filter, &record::PreFilter::nodes),
        narrowed ? std::optional(Show(Sorted(*pre_filter.nodes))) : std::nullopt);
  }
  add(NameOf(&Attempt::hint), Show(attempt.hint.value_or("")));
  if (!attempt.filter.empty()) add_map(NameOf(&Attempt::filter), ShowFilter(attempt.filter));
  if (attempt.scores.has_value()) AddScores(*attempt.scores, view);
  add(NameOf(&Attempt::best), Show(attempt.best));
  add(NameOf(&Attempt::host), Show(attempt.host));
  add(NameOf(&Attempt::error), Show(attempt.error));
  add(NameOf(&Attempt::unschedulable_plugins), Show(attempt.unschedulable_plugins));
  if (attempt.post_filter.has_value()) {
    add(Path(&Attempt::post_filter, &record::PostFilter::status), ShowStatus(attempt.post_filter->status));
    add(Path(&Attempt::post_filter, &record::PostFilter::nominate),
        Show(attempt.post_filter->nominate.value_or("")));
  }
  if (!attempt.dry_run.empty()) add_map(NameOf(&Attempt::dry_run), ShowDryRuns(attempt.dry_run, groups));
  add(Path(&Attempt::failure, &record::Failure::error),
      Show(attempt.failure.has_value() ? attempt.failure->error : Text()));
  return view;
}

std::string NameAttempt(const Record& record) {
  const Attempt& attempt = *record.As<Attempt>();
  return absl::StrCat("attempt ", attempt.attempts, " of ", attempt.pod, " at ", SecondsText(record.time),
                      " s");
}

Difference DifferenceOfAttempts(const Record& expected, const Record& actual, const Groups& groups) {
  if (absl::AbsDuration(expected.time - actual.time) > kTimeTolerance) {
    return absl::StrCat(NameAttempt(expected), ": time: expected ", SecondsText(expected.time), ", got ",
                        SecondsText(actual.time), " for ", NameAttempt(actual));
  }
  const View expected_view = ViewOf(*expected.As<Attempt>(), groups);
  const View actual_view = ViewOf(*actual.As<Attempt>(), groups);
  for (const Part& part : expected_view) {
    const Part* found = FindPart(actual_view, part.field);
    const Part actual_part = found == nullptr ? Part{.field = part.field, .value = {}} : *found;
    if (!part.SameAs(actual_part)) {
      return absl::StrCat(NameAttempt(expected), ": ", part.field, ": ", ShowDifference(part, actual_part));
    }
  }
  for (const Part& part : actual_view) {
    const bool is_weighted = absl::StartsWith(part.field, WeightedPath());
    if (is_weighted && FindPart(expected_view, part.field) == nullptr) {
      return absl::StrCat(NameAttempt(expected), ": ", part.field, ": not expected, got ", ShowPart(part));
    }
  }
  return std::nullopt;
}

// ---- Effects: what a cycle does to the API; those of one kind and time come in no particular order ----

// The event of a preemption names the preemptor by a uid that the API server made up.
std::string WithoutPreemptor(absl::string_view note) {
  constexpr absl::string_view kAfter = " on node";
  std::string kept;
  while (true) {
    absl::string_view before = "by pod ";
    size_t found = note.find(before);
    if (found == absl::string_view::npos) {
      before = "by podgroup ";
      found = note.find(before);
    }
    if (found == absl::string_view::npos) return absl::StrCat(kept, note);
    const absl::string_view rest = note.substr(found + before.size());
    const auto* word_end = std::find_if(rest.begin(), rest.end(), absl::ascii_isspace);
    const size_t word_size = static_cast<size_t>(word_end - rest.begin());
    const bool is_preemptor = word_size > 0 && absl::StartsWith(rest.substr(word_size), kAfter);
    absl::StrAppend(&kept, note.substr(0, found + before.size()), is_preemptor ? "*" : "");
    note = is_preemptor ? rest.substr(word_size) : rest;
  }
}

// What tells apart two records of one kind and time.
std::string ShowEffect(const record::Bind& bind) { return List({Show(bind.pod), Show(bind.node)}); }
std::string ShowEffect(const record::Delete& deletion) { return List({Show(deletion.pod)}); }

std::string ShowEffect(const record::BindFailure& failure) {
  return List({Show(failure.pod), Show(failure.error)});
}

std::string ShowRequirements(const std::vector<record::NodeRequirement>& requirements) {
  std::vector<std::string> shown;
  for (const record::NodeRequirement& requirement : requirements) {
    shown.push_back(List({Show(requirement.key), Show(requirement.operator_), Show(requirement.values)}));
  }
  return List(shown);
}

std::string ShowClaim(const record::ClaimView& claim) {
  std::vector<std::string> parts;
  for (const record::ClaimDevice& device : claim.devices) {
    std::string text = absl::StrCat(device.request, " ", device.device, device.admin_access ? " admin" : "",
                                    device.shared ? " shared" : "", " ", device.tolerations);
    for (const auto& [name, amount] : device.consumed) absl::StrAppend(&text, " ", name, "=", amount);
    absl::StrAppend(&text, " ", Show(device.binding_conditions), Show(device.binding_failure_conditions));
    parts.push_back(text);
  }
  if (claim.node_selector.has_value()) {
    for (const record::NodeTerm& term : claim.node_selector->terms) {
      parts.push_back(absl::StrCat("nodes ", ShowRequirements(term.match_expressions),
                                   ShowRequirements(term.match_fields)));
    }
  }
  for (const record::ClaimConfig& config : claim.config) {
    parts.push_back(absl::StrCat("config ", config.source, Show(config.requests), config.driver));
  }
  parts.push_back(Show(claim.reserved_for));
  parts.push_back(Show(claim.finalizers));
  if (claim.deleting) parts.emplace_back("deleting");
  return List(parts);
}

std::string ShowEffect(const record::Update& update) {
  return List({Show(update.resource), Show(update.name), Show(update.volume_name.value_or("")),
               Show(update.selected_node.value_or("")), Show(update.claim.value_or("")), Show(update.verb),
               Show(update.requests), Show(update.conditions), ShowClaim(update)});
}

std::string ShowEffect(const record::Claim& claim) {
  return List({Show(claim.verb), Show(claim.name), Show(claim.pod), Show(claim.set), ShowClaim(claim)});
}

std::string ShowEffect(const record::GroupCycle& cycle) {
  return List({Show(cycle.group), Show(cycle.attempts.value_or(0)), Show(cycle.priority.value_or(0)),
               Show(cycle.pods)});
}

std::string ShowEffect(const record::Placements& placements) {
  return List(
      {Show(placements.group), Show(placements.names), ShowStatus(placements.status).value_or("nothing")});
}

std::string ShowEffect(const record::PlacementScores& scores) {
  std::vector<std::string> parts = {Show(scores.group), Show(scores.best), Show(scores.taken)};
  for (const auto& [name, total] : scores.total) parts.push_back(absl::StrCat(name, "=", total));
  return List(std::move(parts));
}

std::string ShowEffect(const record::GroupPostFilter& post_filter) {
  std::vector<std::string> parts = {Show(post_filter.group),
                                    ShowStatus(post_filter.status).value_or("nothing")};
  std::vector<std::string> nominations;
  for (const auto& [pod, node] : post_filter.nominate) nominations.push_back(absl::StrCat(pod, "=", node));
  std::sort(nominations.begin(), nominations.end());
  parts.insert(parts.end(), nominations.begin(), nominations.end());
  return List(std::move(parts));
}

std::string ShowEffect(const record::GroupFailure& failure) {
  return List({Show(failure.pod), Show(failure.group), Show(failure.error),
               Show(failure.nominate.value_or("-")), ShowStatus(failure.status).value_or("nothing")});
}

std::string ShowEffect(const record::PluginNote& note) {
  return List({Show(note.pod), Show(note.plugin), Show(note.point), Show(note.node), Show(note.code),
               Show(note.reasons)});
}

std::string ShowEffect(const record::ExtenderCall& call) {
  std::vector<std::string> parts = {Show(call.extender), Show(call.verb), Show(call.pod), Show(call.error)};
  // What was not sent is not on record.
  const bool was_sent = !absl::EndsWith(call.error, "connect: connection refused");
  if (!was_sent || !call.request.has_value()) return List(std::move(parts));
  const record::ExtenderRequest& request = *call.request;
  const auto add = [&parts](absl::string_view name, const std::string& text) {
    parts.push_back(absl::StrCat(name, " ", text));
  };
  if (request.nodes.has_value()) add("Nodes", Show(*request.nodes));
  if (request.node_names.has_value()) add("NodeNames", Show(*request.node_names));
  for (const auto& [node, victims] : request.victims.value_or(record::Map<record::RequestVictims>())) {
    add(node, absl::StrCat(Show(victims.pods), Show(victims.violations), Show(victims.pod_digests)));
  }
  for (const auto& [node, victims] :
       request.meta_victims.value_or(record::Map<record::RequestMetaVictims>())) {
    Texts uids;
    for (const record::RequestMetaPod& pod : victims.pods) uids.push_back(pod.uid);
    add(node, absl::StrCat(Show(uids), Show(victims.violations)));
  }
  if (call.verb == "bind") add(request.node, Show(request.pod_uid));
  parts.push_back(Show(request.pod_digest));
  parts.push_back(Show(request.node_digests));
  return List(std::move(parts));
}

std::string ShowEffect(const record::Event& event) {
  return List(
      {Show(event.pod), Show(event.type), Show(event.reason), Show(Text(WithoutPreemptor(event.note)))});
}

std::string ShowEffect(const record::PodStatus& status) {
  const record::Disruption disruption = status.disruption.value_or(record::Disruption());
  const record::ExtendedClaim extended = status.extended_claim.value_or(record::ExtendedClaim());
  return List({Show(status.pod), Show(status.reason.value_or("")), Show(status.message.value_or("")),
               Show(status.nominated), Show(disruption.reason), Show(disruption.message), Show(extended.name),
               Show(extended.mappings)});
}

// Unit: 10 ms, rounded as the recorder's own comparison does: by the decimal value, ties to even.
int64_t RoundTime(absl::Duration time) {
  char buffer[64];
  const double seconds = static_cast<double>(absl::ToInt64Microseconds(time)) / 1e6;
  const auto end = std::to_chars(std::begin(buffer), std::end(buffer), seconds, std::chars_format::fixed, 2);
  const std::string digits(buffer, static_cast<size_t>(end.ptr - buffer));
  int64_t rounded = 0;
  (void)absl::SimpleAtoi(digits.substr(0, digits.size() - 3) + digits.substr(digits.size() - 2), &rounded);
  return rounded;
}

using EffectsByTime = std::map<int64_t, std::vector<std::string>>;

// The recorder's clock is set when the scheduler starts and the queue is first on record: what was before has
// other times.
template <typename Effect>
EffectsByTime CollectEffects(const Records& trace) {
  EffectsByTime effects;
  bool is_started = false;
  for (const Record& record : trace.list) {
    is_started = is_started || record.As<Queue>() != nullptr;
    const Effect* effect = record.As<Effect>();
    if (effect == nullptr || (!is_started && std::is_same_v<Effect, record::Claim>)) continue;
    effects[RoundTime(record.time)].push_back(ShowEffect(*effect));
  }
  for (auto& [time, shown] : effects) std::sort(shown.begin(), shown.end());
  return effects;
}

// At most this many effects are named in a message.
constexpr ptrdiff_t kEffectsShown = 2;

std::string Without(const std::vector<std::string>& some, const std::vector<std::string>& others) {
  std::vector<std::string> rest;
  std::set_difference(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(rest));
  rest.erase(rest.begin() + std::min<ptrdiff_t>(kEffectsShown, std::ssize(rest)), rest.end());
  return List(rest);
}

template <typename Effect>
Difference DifferenceOfEffects(const Records& expected, const Records& actual) {
  EffectsByTime expected_effects = CollectEffects<Effect>(expected);
  EffectsByTime actual_effects = CollectEffects<Effect>(actual);
  for (const auto& [time, shown] : actual_effects) expected_effects[time];
  for (const auto& [time, shown] : expected_effects) {
    const std::vector<std::string>& actual_shown = actual_effects[time];
    if (shown == actual_shown) continue;
    return absl::StrCat(Effect::kKind, " at ", static_cast<double>(time) / 100, " s: missing ",
                        Without(shown, actual_shown), ", not expected ", Without(actual_shown, shown));
  }
  return std::nullopt;
}

// ---- Queue and end ----

View ViewOf(const Queue& queue) {
  std::map<std::string, std::string> info;
  for (const auto& [pod, known] : queue.info) {
    info[std::string(pod)] = List({Show(known.attempts), Show(known.unschedulable_plugins),
                                   Show(known.pending_plugins), Show(known.gated_by)});
  }
  const auto part = [&queue](Texts Queue::*pods) {
    return Part{.field = std::string(NameOf(pods)), .value = Show(Sorted(queue.*pods))};
  };
  std::map<std::string, std::string> groups;
  for (const auto& [group, known] : queue.groups) {
    groups[std::string(group)] = List({Show(known.attempts), Show(known.gated_by)});
  }
  View view = {part(&Queue::active), part(&Queue::backoff), part(&Queue::unschedulable),
               part(&Queue::incomplete), part(&Queue::pending)};
  view.push_back({.field = std::string(NameOf(&Queue::info)), .value = {}, .values = std::move(info)});
  view.push_back({.field = std::string(NameOf(&Queue::groups)), .value = {}, .values = std::move(groups)});
  return view;
}

// The first part that differs; nothing where none does.
Difference DifferenceOfQueues(const Record& expected, const Record& actual) {
  const View expected_view = ViewOf(*expected.As<Queue>());
  const View actual_view = ViewOf(*actual.As<Queue>());
  for (size_t i = 0; i < expected_view.size(); ++i) {
    if (expected_view[i].SameAs(actual_view[i])) continue;
    return absl::StrCat(expected_view[i].field, ": ", ShowDifference(expected_view[i], actual_view[i]));
  }
  return std::nullopt;
}

// Of the records of one kind.
template <typename R>
std::vector<const Record*> OfKind(const Records& trace) {
  std::vector<const Record*> records;
  for (const Record& record : trace.list) {
    if (record.As<R>() != nullptr) records.push_back(&record);
  }
  return records;
}

Difference DifferenceOfAllQueues(const Records& expected, const Records& actual) {
  const auto expected_states = OfKind<Queue>(expected);
  const auto actual_states = OfKind<Queue>(actual);
  for (size_t i = 0; i < expected_states.size(); ++i) {
    const Record& state = *expected_states[i];
    const std::string name = absl::StrCat("queue state ", i, " at ", SecondsText(state.time), " s: ");
    if (i >= actual_states.size()) {
      std::vector<std::string> parts;
      for (const Part& part : ViewOf(*state.As<Queue>())) {
        parts.push_back(absl::StrCat(part.field, " ", ShowPart(part)));
      }
      return absl::StrCat(name, "missing, expected ", absl::StrJoin(parts, ", "));
    }
    const Difference difference = DifferenceOfQueues(state, *actual_states[i]);
    if (difference.has_value()) return absl::StrCat(name, *difference);
  }
  return std::nullopt;
}

View ViewOf(const record::Final& final_record) {
  std::map<std::string, std::string> pods;
  for (const auto& [pod, end] : final_record.pods) {
    pods[std::string(pod)] = List({Show(end.node), Show(end.phase), Show(end.nominated), Show(end.reason),
                                   Show(end.message), end.deleted ? "true" : "false"});
  }
  std::map<std::string, std::string> claims;
  for (const auto& [name, claim] : final_record.claims) claims[std::string(name)] = ShowClaim(claim);
  return {{.field = "", .value = {}, .values = std::move(pods)},
          {.field = "claims: ", .value = {}, .values = std::move(claims)}};
}

Difference DifferenceOfFinals(const Records& expected, const Records& actual) {
  const auto expected_final = OfKind<record::Final>(expected);
  if (expected_final.empty()) return std::nullopt;
  const auto actual_final = OfKind<record::Final>(actual);
  if (actual_final.empty()) return absl::StrCat(record::Final::kKind, ": missing");
  const View expected_view = ViewOf(*expected_final.front()->As<record::Final>());
  const View actual_view = ViewOf(*actual_final.front()->As<record::Final>());
  for (size_t i = 0; i < expected_view.size(); ++i) {
    if (expected_view[i].SameAs(actual_view[i])) continue;
    return absl::StrCat(record::Final::kKind, ": ", expected_view[i].field,
                        ShowDifference(expected_view[i], actual_view[i]));
  }
  return std::nullopt;
}

Groups GroupsOf(const Records& records) {
  Groups groups;
  for (const Record* record : OfKind<Attempt>(records)) {
    const Attempt& attempt = *record->As<Attempt>();
    if (!attempt.group.empty()) groups[attempt.pod] = attempt.group;
  }
  return groups;
}

Difference DifferenceOfAllAttempts(const Records& expected, const Records& actual) {
  const Groups groups = GroupsOf(expected);
  const auto expected_attempts = OfKind<Attempt>(expected);
  const auto actual_attempts = OfKind<Attempt>(actual);
  for (size_t i = 0; i < expected_attempts.size(); ++i) {
    if (i >= actual_attempts.size()) return absl::StrCat(NameAttempt(*expected_attempts[i]), ": missing");
    Difference difference = DifferenceOfAttempts(*expected_attempts[i], *actual_attempts[i], groups);
    if (difference.has_value()) return difference;
  }
  if (actual_attempts.size() > expected_attempts.size()) {
    return absl::StrCat(NameAttempt(*actual_attempts[expected_attempts.size()]), ": not expected");
  }
  return std::nullopt;
}

// When the first record of a kind differs; infinite where none does.
template <typename R>
absl::Duration FirstDifferenceTime(const Records& expected, const Records& actual,
                                   absl::FunctionRef<Difference(const Record&, const Record&)> difference) {
  const auto expected_records = OfKind<R>(expected);
  const auto actual_records = OfKind<R>(actual);
  for (size_t i = 0; i < std::max(expected_records.size(), actual_records.size()); ++i) {
    if (i >= actual_records.size()) return expected_records[i]->time;
    if (i >= expected_records.size()) return actual_records[i]->time;
    if (!difference(*expected_records[i], *actual_records[i]).has_value()) continue;
    return std::min(expected_records[i]->time, actual_records[i]->time);
  }
  return absl::InfiniteDuration();
}

}  // namespace

absl::Duration AgreesUntil(const Records& expected, const Records& actual) {
  const Groups groups = GroupsOf(expected);
  const auto of_attempts = [&groups](const Record& one, const Record& other) {
    return DifferenceOfAttempts(one, other, groups);
  };
  return std::min(FirstDifferenceTime<Attempt>(expected, actual, of_attempts),
                  FirstDifferenceTime<Queue>(expected, actual, DifferenceOfQueues));
}

std::optional<std::string> FirstDifference(const Records& expected, const Records& actual) {
  for (const auto difference_of :
       {DifferenceOfAllAttempts, DifferenceOfEffects<record::Bind>, DifferenceOfEffects<record::PodStatus>,
        DifferenceOfEffects<record::Delete>, DifferenceOfEffects<record::Update>,
        DifferenceOfEffects<record::Claim>, DifferenceOfEffects<record::BindFailure>,
        DifferenceOfEffects<record::Event>, DifferenceOfEffects<record::PluginNote>,
        DifferenceOfEffects<record::ExtenderCall>, DifferenceOfEffects<record::GroupCycle>,
        DifferenceOfEffects<record::Placements>, DifferenceOfEffects<record::PlacementScores>,
        DifferenceOfEffects<record::GroupPostFilter>, DifferenceOfEffects<record::GroupFailure>,
        DifferenceOfAllQueues, DifferenceOfFinals}) {
    Difference difference = difference_of(expected, actual);
    if (difference.has_value()) return difference;
  }
  return std::nullopt;
}

absl::StatusOr<std::optional<std::string>> FirstDifference(absl::Span<const std::string> expected,
                                                           absl::Span<const std::string> actual) {
  ASSIGN_OR_RETURN(const Records expected_records, ReadRecords(expected, "the expected trace"));
  ASSIGN_OR_RETURN(const Records actual_records, ReadRecords(actual, "the actual trace"));
  return FirstDifference(expected_records, actual_records);
}

}  // namespace schedsim::sim
