#include "sim/report/wakeups_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/report/duration_text.h"

namespace schedsim::sim {
namespace {

constexpr size_t kEventsInText = 3;

std::string EventText(const MissedWakeup::Event& event) {
  std::vector<std::string> answers;
  for (const auto& [plugin, answer] : event.answers) {
    answers.push_back(answer == "not registered" ? absl::StrCat(plugin, " is not registered for it")
                      : answer == "none"         ? absl::StrCat(plugin, " takes every such event")
                                                 : absl::StrCat(plugin, " says ", answer));
  }
  return absl::StrCat(event.label, event.object.empty() ? "" : " of ", event.object, " at ",
                      DurationText(event.at), ": ", absl::StrJoin(answers, ", "));
}

void AppendFinding(const MissedWakeup& missed, std::string& text) {
  const size_t alike = missed.pods.size() - 1;
  absl::StrAppend(&text, "  ", missed.pods[0], alike == 0 ? "" : absl::StrCat(" and ", alike, " more alike"),
                  ": would fit on ", missed.node, " at ", DurationText(missed.at), "; rejected by ",
                  absl::StrJoin(missed.rejectors, ", "), " in attempt ", missed.attempts, " at ",
                  DurationText(missed.rejected_at), "\n");
  const char* title = missed.event_count == 1 ? "    should have woken it:  " : "    one of these should:   ";
  for (size_t i = 0; i < std::min(kEventsInText, missed.events.size()); ++i) {
    absl::StrAppend(&text, i == 0 ? title : "                           ", EventText(missed.events[i]), "\n");
  }
  const int64_t more =
      missed.event_count - static_cast<int64_t>(std::min(kEventsInText, missed.events.size()));
  if (more > 0)
    absl::StrAppend(&text, "                           and ", more,
                    " more since it was last known not to fit\n");
  if (missed.events.empty()) {
    absl::StrAppend(
        &text, "    no event reached the queue; what changed: ",
        missed.changes.empty() ? "nothing in the API server" : absl::StrJoin(missed.changes, ", "), "\n");
  }
  absl::StrAppend(&text, "    woken:                 ",
                  missed.woken_at.has_value()
                      ? absl::StrCat("at ", DurationText(*missed.woken_at), " by ", missed.woken_by)
                      : std::string("not in this run"),
                  "\n");
}

void WriteEvent(const MissedWakeup::Event& event, codec::JsonWriter& json) {
  json.BeginObject().Field("atMicroseconds", absl::ToInt64Microseconds(event.at)).Field("event", event.label);
  json.Field("object", event.object).Key("answers").BeginObject();
  for (const auto& [plugin, answer] : event.answers) json.Field(plugin, answer);
  json.EndObject().EndObject();
}

void WriteTexts(absl::string_view key, const std::vector<std::string>& texts, codec::JsonWriter& json) {
  json.Key(key).BeginArray();
  for (const std::string& text : texts) json.String(text);
  json.EndArray();
}

}  // namespace

std::string MissedWakeupsText(const std::vector<MissedWakeup>& findings) {
  std::string text = absl::StrCat("Missed wake-ups ", findings.size(), "\n");
  for (const MissedWakeup& missed : findings) AppendFinding(missed, text);
  return text;
}

void WriteMissedWakeups(const std::vector<MissedWakeup>& findings, codec::JsonWriter& json) {
  json.BeginArray();
  for (const MissedWakeup& missed : findings) {
    json.BeginObject();
    WriteTexts("pods", missed.pods, json);
    json.Field("atMicroseconds", absl::ToInt64Microseconds(missed.at)).Field("node", missed.node);
    json.Field("attempts", missed.attempts);
    json.Field("rejectedAtMicroseconds", absl::ToInt64Microseconds(missed.rejected_at));
    WriteTexts("rejectedBy", missed.rejectors, json);
    json.Key("events").BeginArray();
    for (const MissedWakeup::Event& event : missed.events) WriteEvent(event, json);
    json.EndArray().Field("eventCount", missed.event_count);
    WriteTexts("changes", missed.changes, json);
    json.Key("wokenAtMicroseconds");
    if (missed.woken_at.has_value()) {
      json.Int(absl::ToInt64Microseconds(*missed.woken_at));
    } else {
      json.Null();
    }
    json.Field("wokenBy", missed.woken_by).EndObject();
  }
  json.EndArray();
}

}  // namespace schedsim::sim
