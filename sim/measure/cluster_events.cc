#include "sim/measure/cluster_events.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/api/go_text.h"
#include "core/base/printable.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/table.h"

namespace schedsim::sim {
namespace {

// How often the recorder writes what it counted, and for how long an event may come again.
// Source: client-go v0.37, tools/events/event_broadcaster.go.
constexpr absl::Duration kFinishTime = absl::Minutes(6);
constexpr absl::Duration kRefreshTime = absl::Minutes(30);

constexpr char kTaintEviction[] = "DeletionByTaintManager";

// A time that has passed, for people.
// Source: apimachinery v0.37, util/duration/duration.go, HumanDuration.
std::string HumanDuration(absl::Duration span) {
  const int64_t seconds = absl::ToInt64Seconds(span);
  const int64_t minutes = seconds / 60;
  const int64_t hours = minutes / 60;
  const int64_t days = hours / 24;
  const auto both = [](int64_t large, const char* unit, int64_t small, const char* small_unit) {
    return absl::StrCat(large, unit, small == 0 ? "" : absl::StrCat(small, small_unit));
  };
  if (seconds < 120) return absl::StrCat(seconds, "s");
  if (minutes < 10) return both(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return absl::StrCat(minutes, "m");
  if (hours < 8) return both(hours, "h", minutes % 60, "m");
  if (hours < 48) return absl::StrCat(hours, "h");
  if (days < 8) return both(days, "d", hours % 24, "h");
  if (days < 365 * 2) return absl::StrCat(days, "d");
  if (days < 365 * 8) return both(days / 365, "y", days % 365, "d");
  return absl::StrCat(days / 365, "y");
}

bool IsTaintEviction(const api::Pod& pod) {
  const api::PodCondition* const condition = pod.FindCondition("DisruptionTarget");
  return condition != nullptr && condition->status == "True" && condition->reason == kTaintEviction;
}

absl::string_view TextOf(const codec::Value& value, absl::string_view key) {
  const codec::Value* const found = value.Find(key);
  return found != nullptr && (found->is_string() || found->type == codec::Value::Type::kNumber)
             ? found->text
             : absl::string_view();
}

// The first of the fields that has a time.
std::optional<absl::Time> TimeOf(const codec::Value& value, std::initializer_list<absl::string_view> keys) {
  for (const absl::string_view key : keys) {
    const std::optional<absl::Time> time = api::ParseRfc3339(TextOf(value, key));
    if (time.has_value()) return time;
  }
  return std::nullopt;
}

// An Event object of v1 or events.k8s.io/v1.
ClusterEvent EventOf(const codec::Value& root, absl::Time created) {
  ClusterEvent event;
  event.type = std::string(TextOf(root, "type"));
  event.reason = std::string(TextOf(root, "reason"));
  const bool has_note = root.Find("note") != nullptr;
  event.message = std::string(absl::StripAsciiWhitespace(TextOf(root, has_note ? "note" : "message")));
  for (const char* key : {"involvedObject", "regarding"}) {
    const codec::Value* const about = root.Find(key);
    if (about == nullptr) continue;
    event.kind = std::string(TextOf(*about, "kind"));
    event.name = std::string(TextOf(*about, "name"));
  }
  const codec::Value* const source = root.Find("source");
  event.source =
      std::string(source == nullptr ? TextOf(root, "reportingController") : TextOf(*source, "component"));
  event.first = TimeOf(root, {"firstTimestamp", "deprecatedFirstTimestamp", "eventTime"}).value_or(created);
  event.last = TimeOf(root, {"lastTimestamp", "deprecatedLastTimestamp"}).value_or(event.first);
  const codec::Value* const series = root.Find("series");
  if (series != nullptr) event.last = TimeOf(*series, {"lastObservedTime"}).value_or(event.last);
  const absl::string_view count = TextOf(series == nullptr ? root : *series, "count");
  if (!absl::SimpleAtoi(count, &event.count)) event.count = 1;
  return event;
}

}  // namespace

void ClusterEvents::Attach(Simulation& simulation) {
  simulation_ = &simulation;
  next_finish_ = simulation.zero() + kFinishTime;
  next_refresh_ = simulation.zero() + kRefreshTime;
  simulation.trace().set_event_listener([this](const api::Pod& pod, const framework::PodEvent& event,
                                               absl::string_view source) { OnEvent(pod, event, source); });
  simulation.server().Watch([this](const WatchEvent& event) { OnChange(event); });
}

// The second event that is alike begins a series, which is written at once; later ones are counted, and
// written from time to time.
void ClusterEvents::OnEvent(const api::Pod& pod, const framework::PodEvent& event, absl::string_view source) {
  const absl::Time now = simulation_->now();
  Catch(now);
  // The message does not count. That of a victim names the other pod that the event is about, which does.
  const std::string related = event.reason == "Preempted" ? event.note : "";
  const std::string key = absl::StrCat(pod.metadata.uid, "/", pod.metadata.resource_version, "/", event.type,
                                       "/", event.reason, "/", event.action, "/", related);
  const auto [found, is_new] = series_.try_emplace(key, Series{.place = events_.size(), .last = now});
  Series& series = found->second;
  if (is_new) {
    events_.push_back({.name_space = pod.metadata.namespace_,
                       .type = event.type,
                       .reason = event.reason,
                       .kind = "Pod",
                       .name = pod.metadata.name,
                       .message = event.note,
                       .source = source.empty() ? pod.spec->scheduler_name : std::string(source),
                       .first = now,
                       .last = now});
    return;
  }
  ++series.count;
  series.last = now;
  if (series.count > 2) return;
  events_[series.place].count = series.count;
  events_[series.place].last = now;
}

void ClusterEvents::Catch(absl::Time now) {
  const auto write = [this](const Series& series) {
    events_[series.place].count = series.count;
    events_[series.place].last = series.last;
  };
  while (std::min(next_finish_, next_refresh_) <= now) {
    if (next_refresh_ <= next_finish_) {
      for (const auto& [key, series] : series_) write(series);
      next_refresh_ += kRefreshTime;
      continue;
    }
    for (auto series = series_.begin(); series != series_.end();) {
      const bool is_over = series->second.last < next_finish_ - kFinishTime;
      if (is_over) write(series->second);
      series = is_over ? series_.erase(series) : std::next(series);
    }
    next_finish_ += kFinishTime;
  }
}

// The controller says so before it marks the pod.
// Source: kubernetes v1.37, pkg/controller/tainteviction/taint_eviction.go, emitPodDeletionEvent.
void ClusterEvents::OnChange(const WatchEvent& event) {
  if (event.new_object == nullptr || event.old_object == nullptr) return;
  if (event.new_object->kind != api::Kind::kPod) return;
  const auto& pod = static_cast<const api::Pod&>(*event.new_object);
  if (!IsTaintEviction(pod) || IsTaintEviction(static_cast<const api::Pod&>(*event.old_object))) return;
  const absl::Time now = simulation_->now();
  if (now < simulation_->zero()) return;
  events_.push_back({.name_space = pod.metadata.namespace_,
                     .type = "Normal",
                     .reason = "TaintManagerEviction",
                     .kind = "Pod",
                     .name = pod.metadata.name,
                     .message = absl::StrCat("Marking for deletion Pod ", pod.Key()),
                     .source = "taint-eviction-controller",
                     .first = now,
                     .last = now});
}

// Those of the input, and of stages.
void ClusterEvents::AddObjects() {
  for (const auto& [key, object] : simulation_->server().List(api::Kind::kOther)) {
    if (object->kind_name != "Event" || object->json == nullptr) continue;
    const absl::Time created = object->metadata.creation_timestamp.value_or(simulation_->zero());
    codec::ReadText(object->json->ToString(), "event.json", {}, [&](const codec::Document& document) {
      ClusterEvent event = EventOf(document.root, created);
      event.name_space = object->metadata.namespace_;
      events_.push_back(std::move(event));
      return absl::OkStatus();
    }).IgnoreError();
  }
}

void ClusterEvents::Finish() {
  end_ = simulation_->now();
  Catch(end_);
  AddObjects();
  std::stable_sort(events_.begin(), events_.end(),
                   [](const ClusterEvent& a, const ClusterEvent& b) { return a.first < b.first; });
}

std::string EventsText(const ClusterEvents& events) {
  std::set<std::string> name_spaces;
  for (const ClusterEvent& event : events.events()) name_spaces.insert(event.name_space);
  const bool has_name_spaces = name_spaces.size() > 1;
  std::vector<std::vector<std::string>> rows = {
      {"NAMESPACE", "LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"}};
  for (const ClusterEvent& event : events.events()) {
    rows.push_back({Printable(event.name_space), HumanDuration(events.end() - event.last),
                    Printable(event.type), Printable(event.reason),
                    Printable(absl::StrCat(absl::AsciiStrToLower(event.kind), "/", event.name)),
                    Printable(event.message)});
  }
  if (rows.size() == 1) return "No resources found\n";
  std::vector<size_t> widths(rows[0].size());
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = has_name_spaces ? 0 : 1; i + 1 < row.size(); ++i)
      absl::StrAppendFormat(&text, "%-*s", static_cast<int>(widths[i]) + 3, row[i]);
    absl::StrAppend(&text, row.back(), "\n");
  }
  return text;
}

std::string EventsJson(const ClusterEvents& events, absl::Time zero) {
  codec::Table table("EventTable", {"namespace", "type", "reason", "object_kind", "object_name", "message",
                                    "source", "first_microseconds", "last_microseconds", "count"});
  for (const ClusterEvent& event : events.events()) {
    table.Add({event.name_space, event.type, event.reason, event.kind, event.name, event.message,
               event.source, absl::ToInt64Microseconds(event.first - zero),
               absl::ToInt64Microseconds(event.last - zero), event.count});
  }
  return table.Json();
}

}  // namespace schedsim::sim
