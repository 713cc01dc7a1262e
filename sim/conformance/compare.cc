#include "sim/conformance/compare.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace schedsim::sim {
namespace {

using Json = nlohmann::json;
using Difference = std::optional<std::string>;

// Unit: seconds.
constexpr double kTimeTolerance = 1.5e-3;
constexpr double kTimeMax = 1e12;

// Records of what a cycle does to the API; those of one kind and time come in no particular order.
constexpr absl::string_view kEffectKinds[] = {"bind", "status", "delete", "update", "bindFailure", "event"};

struct Record {
  const std::string* text;
  Json fields;
  std::string kind;
  double time_seconds;  // 0 where no time is compared.
};

// A record reduced to what is compared, the telling fields first. null: absent.
using View = std::vector<std::pair<std::string, Json>>;

// Throws Json::exception when `object` is not one, as all functions here do with what is malformed.
Json Get(const Json& object, const char* key, const Json& if_missing = nullptr) {
  const auto& members = object.get_ref<const Json::object_t&>();
  const auto found = members.find(key);
  return found == members.end() ? if_missing : found->second;
}

// Traces leave out what is empty, or write it as null, "" or []: all mean the same.
bool IsEmpty(const Json& value) {
  return value.is_null() || (value.is_string() ? value.get_ref<const std::string&>().empty() : value.empty());
}

Json Sorted(Json list) {
  if (IsEmpty(list)) return Json::array();
  std::sort(list.begin(), list.end());
  return list;
}

Json ListOrEmpty(const Json& list) { return IsEmpty(list) ? Json::array() : list; }

Json ViewStatus(const Json& status) {
  if (IsEmpty(status)) return nullptr;
  return Json::array({Get(status, "code"), Get(status, "plugin", ""), Sorted(Get(status, "reasons"))});
}

Json ViewFilter(const Json& filter) {
  Json view = Json::object();
  for (const Json& entry : filter) {
    view[entry.at("node").get<std::string>()] =
        Json::array({Get(entry, "code", "Success"), Get(entry, "plugin", ""), Sorted(Get(entry, "reasons"))});
  }
  return view;
}

Json ViewDryRun(const Json& dry_run) {
  Json view = Json::object();
  for (const Json& entry : dry_run) {
    const bool has_victims = entry.contains("victims");
    view[entry.at("node").get<std::string>()] =
        has_victims ? Json::array({entry.at("victims"), entry.at("violations")})
                    : Json::array({Get(entry, "code"), Sorted(Get(entry, "reasons"))});
  }
  return view;
}

// Shape: `values[i]` belongs to `nodes[i]`; what has no partner is dropped.
Json ByNode(const Json& nodes, const Json& values) {
  Json view = Json::object();
  for (size_t i = 0; i < std::min(nodes.size(), values.size()); ++i) {
    view[nodes[i].get<std::string>()] = values[i];
  }
  return view;
}

void AddScores(const Json& scores, View& view) {
  if (IsEmpty(scores)) return;
  const Json& nodes = scores.at("nodes");
  for (const char* kind : {"raw", "weighted"}) {
    const Json plugins = Get(scores, kind);
    for (const auto& [plugin, values] : plugins.items()) {
      view.emplace_back(absl::StrCat("scores.", kind, ".", plugin), ByNode(nodes, values));
    }
  }
  view.emplace_back("scores.total", ByNode(nodes, scores.at("total")));
}

View ViewAttempt(const Json& attempt) {
  View view = {{"pod", attempt.at("pod")},
               {"attempts", attempt.at("attempts")},
               {"profile", Get(attempt, "profile")},
               {"start", Get(attempt, "start")}};
  const Json pre_filter = Get(attempt, "preFilter");
  if (!pre_filter.is_null()) {
    view.emplace_back("preFilter.status", ViewStatus(Get(pre_filter, "status")));
    const Json nodes = Get(pre_filter, "nodes");
    view.emplace_back("preFilter.nodes", IsEmpty(nodes) ? Json() : Sorted(nodes));
  }
  view.emplace_back("hint", Get(attempt, "hint", ""));
  if (attempt.contains("filter")) view.emplace_back("filter", ViewFilter(attempt.at("filter")));
  AddScores(Get(attempt, "scores"), view);
  const Json best = Get(attempt, "best");
  view.emplace_back("best", IsEmpty(best) ? Json() : best);
  view.emplace_back("host", Get(attempt, "host", ""));
  view.emplace_back("error", Get(attempt, "error", ""));
  view.emplace_back("unschedulablePlugins", ListOrEmpty(Get(attempt, "unschedulablePlugins")));
  const Json post_filter = Get(attempt, "postFilter");
  if (!post_filter.is_null()) {
    view.emplace_back("postFilter.status", ViewStatus(Get(post_filter, "status")));
    view.emplace_back("postFilter.nominate", Get(post_filter, "nominate", ""));
  }
  if (attempt.contains("dryRun")) view.emplace_back("dryRun", ViewDryRun(attempt.at("dryRun")));
  const Json failure = Get(attempt, "failure");
  view.emplace_back("failure.error", IsEmpty(failure) ? Json("") : Get(failure, "error", ""));
  return view;
}

const Json* FindField(const View& view, absl::string_view name) {
  for (const auto& [field, value] : view) {
    if (field == name) return &value;
  }
  return nullptr;
}

std::string Show(const Json& value) {
  if (value.is_null()) return "nothing";
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Names the first key that differs when both are maps.
std::string ShowDifference(const Json& expected, const Json& actual) {
  if (expected.is_object() && actual.is_object()) {
    Json either = expected;
    either.update(actual);
    for (const auto& item : either.items()) {
      const Json was_expected = Get(expected, item.key().c_str());
      const Json is = Get(actual, item.key().c_str());
      if (was_expected != is) {
        return absl::StrCat(item.key(), ": expected ", Show(was_expected), ", got ", Show(is));
      }
    }
  }
  return absl::StrCat("expected ", Show(expected), ", got ", Show(actual));
}

std::string NameAttempt(const Json& attempt) {
  return absl::StrCat("attempt ", Show(attempt.at("attempts")), " of ", attempt.at("pod").get<std::string>(),
                      " at ", Show(attempt.at("t")), " s");
}

Difference DifferenceOfAttempts(const Record& expected, const Record& actual) {
  if (*expected.text == *actual.text) return std::nullopt;
  if (std::abs(expected.time_seconds - actual.time_seconds) > kTimeTolerance) {
    return absl::StrCat(NameAttempt(expected.fields), ": time: expected ", Show(expected.fields.at("t")),
                        ", got ", Show(actual.fields.at("t")), " for ", NameAttempt(actual.fields));
  }
  const View expected_view = ViewAttempt(expected.fields);
  const View actual_view = ViewAttempt(actual.fields);
  for (const auto& [field, value] : expected_view) {
    const Json* found = FindField(actual_view, field);
    const Json actual_value = found == nullptr ? Json() : *found;
    if (value != actual_value) {
      return absl::StrCat(NameAttempt(expected.fields), ": ", field, ": ",
                          ShowDifference(value, actual_value));
    }
  }
  for (const auto& [field, value] : actual_view) {
    if (absl::StartsWith(field, "scores.weighted.") && FindField(expected_view, field) == nullptr) {
      return absl::StrCat(NameAttempt(expected.fields), ": ", field, ": not expected, got ", Show(value));
    }
  }
  return std::nullopt;
}

// The event of a preemption names the preemptor by a uid that the API server made up.
std::string WithoutPreemptor(absl::string_view note) {
  constexpr absl::string_view kBefore = "by pod ";
  constexpr absl::string_view kAfter = " on node";
  std::string kept;
  while (true) {
    const size_t found = note.find(kBefore);
    if (found == absl::string_view::npos) return absl::StrCat(kept, note);
    const absl::string_view rest = note.substr(found + kBefore.size());
    const auto* word_end = std::find_if(rest.begin(), rest.end(), absl::ascii_isspace);
    const size_t word_size = static_cast<size_t>(word_end - rest.begin());
    const bool is_preemptor = word_size > 0 && absl::StartsWith(rest.substr(word_size), kAfter);
    absl::StrAppend(&kept, note.substr(0, found + kBefore.size()), is_preemptor ? "*" : "");
    note = is_preemptor ? rest.substr(word_size) : rest;
  }
}

// What tells apart two records of one kind and time.
Json ViewEffect(const Record& record) {
  const Json& fields = record.fields;
  if (record.kind == "bind") return Json::array({fields.at("pod"), fields.at("node")});
  if (record.kind == "delete") return Json::array({fields.at("pod")});
  if (record.kind == "bindFailure") return Json::array({fields.at("pod"), Get(fields, "error", "")});
  if (record.kind == "update") {
    return Json::array({fields.at("resource"), fields.at("name"), Get(fields, "volumeName", ""),
                        Get(fields, "selectedNode", ""), Get(fields, "claim", "")});
  }
  if (record.kind == "event") {
    return Json::array({Get(fields, "pod", ""), fields.at("type"), fields.at("reason"),
                        WithoutPreemptor(fields.at("note").get_ref<const std::string&>())});
  }
  Json disruption = Get(fields, "disruption");  // Of a status.
  if (IsEmpty(disruption)) disruption = Json::object();
  return Json::array({fields.at("pod"), Get(fields, "reason", ""), Get(fields, "message", ""),
                      Get(fields, "nominated", ""), Get(disruption, "reason", ""),
                      Get(disruption, "message", "")});
}

// Unit: 10 ms, rounded by the decimal value, ties to even.
int64_t RoundTime(double time_seconds) {
  char buffer[64];
  const auto end =
      std::to_chars(std::begin(buffer), std::end(buffer), time_seconds, std::chars_format::fixed, 2);
  const std::string digits(buffer, static_cast<size_t>(end.ptr - buffer));
  int64_t rounded = 0;
  (void)absl::SimpleAtoi(digits.substr(0, digits.size() - 3) + digits.substr(digits.size() - 2), &rounded);
  return rounded;
}

using EffectsByTime = std::map<int64_t, std::vector<Json>>;

EffectsByTime CollectEffects(const std::vector<Record>& trace, absl::string_view kind) {
  EffectsByTime effects;
  for (const Record& record : trace) {
    if (record.kind == kind) effects[RoundTime(record.time_seconds)].push_back(ViewEffect(record));
  }
  for (auto& [time, views] : effects) std::sort(views.begin(), views.end());
  return effects;
}

// At most this many effects are named in a message.
constexpr ptrdiff_t kEffectsShown = 2;

Json Without(const std::vector<Json>& some, const std::vector<Json>& others) {
  std::vector<Json> rest;
  std::set_difference(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(rest));
  rest.erase(rest.begin() + std::min<ptrdiff_t>(kEffectsShown, std::ssize(rest)), rest.end());
  return rest;
}

Difference DifferenceOfEffects(const std::vector<Record>& expected, const std::vector<Record>& actual,
                               absl::string_view kind) {
  EffectsByTime expected_effects = CollectEffects(expected, kind);
  EffectsByTime actual_effects = CollectEffects(actual, kind);
  for (const auto& [time, views] : actual_effects) expected_effects[time];
  for (const auto& [time, views] : expected_effects) {
    const std::vector<Json>& actual_views = actual_effects[time];
    if (views == actual_views) continue;
    return absl::StrCat(kind, " at ", static_cast<double>(time) / 100, " s: missing ",
                        Show(Without(views, actual_views)), ", not expected ",
                        Show(Without(actual_views, views)));
  }
  return std::nullopt;
}

View ViewQueue(const Json& queue) {
  Json info = Json::object();
  const Json pods = Get(queue, "info");
  for (const auto& [pod, known] : pods.items()) {
    info[pod] = Json::array({Get(known, "attempts", 0), ListOrEmpty(Get(known, "unschedulablePlugins")),
                             ListOrEmpty(Get(known, "pendingPlugins")), Get(known, "gatedBy", "")});
  }
  View view;
  for (const char* part : {"active", "backoff", "unschedulable"}) {
    view.emplace_back(part, Sorted(queue.at(part).get_ref<const Json::array_t&>()));
  }
  view.emplace_back("info", std::move(info));
  return view;
}

std::vector<const Record*> OfKind(const std::vector<Record>& trace, absl::string_view kind) {
  std::vector<const Record*> records;
  for (const Record& record : trace) {
    if (record.kind == kind) records.push_back(&record);
  }
  return records;
}

Difference DifferenceOfQueues(const std::vector<Record>& expected, const std::vector<Record>& actual) {
  const auto expected_states = OfKind(expected, "queue");
  const auto actual_states = OfKind(actual, "queue");
  for (size_t i = 0; i < expected_states.size(); ++i) {
    const std::string name =
        absl::StrCat("queue state ", i, " at ", Show(expected_states[i]->fields.at("t")), " s");
    if (i >= actual_states.size()) {
      return absl::StrCat(name, ": missing, expected ", Show(expected_states[i]->fields));
    }
    const View expected_view = ViewQueue(expected_states[i]->fields);
    const View actual_view = ViewQueue(actual_states[i]->fields);
    for (size_t part = 0; part < expected_view.size(); ++part) {
      if (expected_view[part] == actual_view[part]) continue;
      return absl::StrCat(name, ": ", expected_view[part].first, ": ",
                          ShowDifference(expected_view[part].second, actual_view[part].second));
    }
  }
  return std::nullopt;
}

Json ViewFinal(const Json& final_record) {
  Json view = Json::object();
  for (const auto& [pod, end] : final_record.at("pods").items()) {
    for (const char* field : {"node", "phase", "nominated", "reason", "message", "deleted"}) {
      view[pod].push_back(Get(end, field, ""));
    }
  }
  return view;
}

Difference DifferenceOfFinals(const std::vector<Record>& expected, const std::vector<Record>& actual) {
  const auto expected_final = OfKind(expected, "final");
  if (expected_final.empty()) return std::nullopt;
  const auto actual_final = OfKind(actual, "final");
  if (actual_final.empty()) return "final: missing";
  const Json expected_view = ViewFinal(expected_final.front()->fields);
  const Json actual_view = ViewFinal(actual_final.front()->fields);
  if (expected_view == actual_view) return std::nullopt;
  return absl::StrCat("final: ", ShowDifference(expected_view, actual_view));
}

Difference DifferenceOfAllAttempts(const std::vector<Record>& expected, const std::vector<Record>& actual) {
  const auto expected_attempts = OfKind(expected, "attempt");
  const auto actual_attempts = OfKind(actual, "attempt");
  for (size_t i = 0; i < expected_attempts.size(); ++i) {
    if (i >= actual_attempts.size()) {
      return absl::StrCat(NameAttempt(expected_attempts[i]->fields), ": missing");
    }
    Difference difference = DifferenceOfAttempts(*expected_attempts[i], *actual_attempts[i]);
    if (difference.has_value()) return difference;
  }
  if (actual_attempts.size() > expected_attempts.size()) {
    return absl::StrCat(NameAttempt(actual_attempts[expected_attempts.size()]->fields), ": not expected");
  }
  return std::nullopt;
}

Difference DifferenceOfTraces(const std::vector<Record>& expected, const std::vector<Record>& actual) {
  Difference difference = DifferenceOfAllAttempts(expected, actual);
  if (difference.has_value()) return difference;
  for (absl::string_view kind : kEffectKinds) {
    difference = DifferenceOfEffects(expected, actual, kind);
    if (difference.has_value()) return difference;
  }
  difference = DifferenceOfQueues(expected, actual);
  if (difference.has_value()) return difference;
  return DifferenceOfFinals(expected, actual);
}

bool IsTimed(absl::string_view kind) {
  return kind == "attempt" || kind == "queue" || absl::c_linear_search(kEffectKinds, kind);
}

std::vector<Record> ParseRecords(absl::Span<const std::string> trace) {
  std::vector<Record> records;
  records.reserve(trace.size());
  for (const std::string& text : trace) {
    Record record = {.text = &text, .fields = Json::parse(text), .kind = "", .time_seconds = 0};
    record.kind = record.fields.at("ev").get<std::string>();
    if (IsTimed(record.kind)) {
      record.time_seconds = std::clamp(record.fields.at("t").get<double>(), -kTimeMax, kTimeMax);
    }
    records.push_back(std::move(record));
  }
  return records;
}

// When the first record of a kind differs; infinity where none does.
double FirstDifferenceTime(const std::vector<Record>& expected, const std::vector<Record>& actual,
                           absl::string_view kind, bool (*differs)(const Record&, const Record&)) {
  const auto expected_records = OfKind(expected, kind);
  const auto actual_records = OfKind(actual, kind);
  for (size_t i = 0; i < std::max(expected_records.size(), actual_records.size()); ++i) {
    if (i >= actual_records.size()) return expected_records[i]->time_seconds;
    if (i >= expected_records.size()) return actual_records[i]->time_seconds;
    if (!differs(*expected_records[i], *actual_records[i])) continue;
    return std::min(expected_records[i]->time_seconds, actual_records[i]->time_seconds);
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace

absl::StatusOr<double> AgreesUntil(absl::Span<const std::string> expected,
                                   absl::Span<const std::string> actual) {
  try {
    const std::vector<Record> expected_records = ParseRecords(expected);
    const std::vector<Record> actual_records = ParseRecords(actual);
    const auto attempts_differ = [](const Record& a, const Record& b) {
      return DifferenceOfAttempts(a, b).has_value();
    };
    const auto queues_differ = [](const Record& a, const Record& b) {
      return ViewQueue(a.fields) != ViewQueue(b.fields);
    };
    return std::min(FirstDifferenceTime(expected_records, actual_records, "attempt", attempts_differ),
                    FirstDifferenceTime(expected_records, actual_records, "queue", queues_differ));
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("a record of a trace: ", error.what()));
  }
}

absl::StatusOr<std::optional<std::string>> FirstDifference(absl::Span<const std::string> expected,
                                                           absl::Span<const std::string> actual) {
  if (expected == actual) return std::optional<std::string>();
  try {
    return DifferenceOfTraces(ParseRecords(expected), ParseRecords(actual));
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("a record of a trace: ", error.what()));
  }
}

}  // namespace schedsim::sim
