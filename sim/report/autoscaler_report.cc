#include "sim/report/autoscaler_report.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/base/percentile.h"
#include "core/base/printable.h"
#include "sim/report/duration_text.h"

namespace schedsim::sim {
namespace {

constexpr size_t kTextBytesMax = 10'000;
constexpr size_t kNamesShown = 3;

// Hours with two digits, rounded to the nearest.
std::string HoursText(absl::Duration time) {
  const int64_t hundredths = (absl::ToInt64Seconds(time) + 18) / 36;
  return absl::StrFormat("%d.%02d", hundredths / 100, hundredths % 100);
}

// Things that have a text in common, by it.
class ByText {
 public:
  void Add(const std::string& text, const std::string& name) { names_[text].push_back(name); }

  // The most frequent first: "  5 x  TEXT", and a line with the first few names.
  std::string Text() const {
    std::vector<std::pair<std::string, std::vector<std::string>>> entries(names_.begin(), names_.end());
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
    std::string text;
    for (auto& [what, names] : entries) {
      const size_t count = names.size();
      names.resize(std::min(count, kNamesShown));
      absl::StrAppendFormat(&text, "  %5d x  %s\n           ", count, Printable(what, kTextBytesMax));
      absl::StrAppend(&text, Printable(absl::StrJoin(names, ", "), kTextBytesMax),
                      count > kNamesShown ? absl::StrCat(" and ", count - kNamesShown, " more") : "", "\n");
    }
    return text;
  }

 private:
  std::map<std::string, std::vector<std::string>> names_;
};

struct Percentiles {
  absl::Duration p50, p99, max;
};

// Of `times`, which has some.
Percentiles PercentilesOf(std::vector<absl::Duration> times) {
  std::sort(times.begin(), times.end());
  return {.p50 = Percentile(times, 50), .p99 = Percentile(times, 99), .max = times.back()};
}

int64_t CountOf(const AutoscalerRecord& record, int64_t PoolRecord::*member) {
  int64_t sum = 0;
  for (const PoolRecord& pool : record.pools) sum += pool.*member;
  return sum;
}

void WriteTimes(const AutoscalerRecord& record, codec::JsonWriter& json) {
  const auto& times = record.times_to_capacity;
  const Percentiles percentiles = times.empty() ? Percentiles() : PercentilesOf(times);
  json.Key("timeToCapacityMicroseconds").BeginObject();
  json.Field("pods", static_cast<int64_t>(times.size())).Field("waiting", record.waiting_count);
  json.Field("p50", absl::ToInt64Microseconds(percentiles.p50));
  json.Field("p99", absl::ToInt64Microseconds(percentiles.p99));
  json.Field("max", absl::ToInt64Microseconds(percentiles.max)).EndObject();
}

void WriteScaleDowns(const AutoscalerRecord& record, absl::Time zero, codec::JsonWriter& json) {
  json.Key("scaleDowns").BeginArray();
  for (const ScaleDownRecord& down : record.scale_downs) {
    json.BeginObject().Field("node", down.node).Field("pool", down.pool);
    json.Field("beginMicroseconds", absl::ToInt64Microseconds(down.begun - zero)).Key("endMicroseconds");
    if (down.ended.has_value()) {
      json.Int(absl::ToInt64Microseconds(*down.ended - zero));
    } else {
      json.Null();
    }
    json.Field("pods", down.pod_count).Field("failure", down.failure).EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string AutoscalerText(const AutoscalerRecord& record, absl::Time zero) {
  std::string text =
      absl::StrCat("Autoscaler      ", CountOf(record, &PoolRecord::added_count), " nodes added, ",
                   CountOf(record, &PoolRecord::removed_count), " removed; expander ", record.expander, "\n");
  absl::StrAppendFormat(&text, "  %-26s %5s %5s %6s %6s %6s %8s %11s\n", "Node pool", "min", "max", "start",
                        "end", "added", "removed", "node-hours");
  for (const PoolRecord& pool : record.pools) {
    absl::StrAppendFormat(&text, "  %-26s %5d %5d %6d %6d %6d %8d %11s\n", pool.name, pool.min, pool.max,
                          pool.start_count, pool.end_count, pool.added_count, pool.removed_count,
                          HoursText(pool.node_time));
  }
  text += "Time to capacity  ";
  if (!record.times_to_capacity.empty()) {
    const Percentiles times = PercentilesOf(record.times_to_capacity);
    absl::StrAppend(&text, "p50 ", DurationText(times.p50), "  p99 ", DurationText(times.p99), "  max ",
                    DurationText(times.max), " over ", record.times_to_capacity.size(),
                    " pods that were unschedulable first; ");
  }
  absl::StrAppend(&text, record.waiting_count, " wait still\n");
  if (!record.helpless_pods.empty()) {
    absl::StrAppend(&text, "No pool helps   ", record.helpless_pods.size(), "\n");
    ByText by_message;
    for (const HelplessPodRecord& pod : record.helpless_pods) by_message.Add(pod.message, pod.pod);
    text += by_message.Text();
  }
  ByText failures;
  int64_t failure_count = 0;
  for (const ScaleDownRecord& down : record.scale_downs) {
    if (down.failure.empty()) continue;
    ++failure_count;
    failures.Add(down.failure,
                 absl::StrCat(down.node, " at ", absl::FormatDuration(down.ended.value_or(zero) - zero)));
  }
  if (failure_count > 0) absl::StrAppend(&text, "Scale-downs failed  ", failure_count, "\n", failures.Text());
  if (record.kept_nodes.empty()) return text;
  absl::StrAppend(&text, "Nodes kept      ", record.kept_nodes.size(), " below the utilization threshold\n");
  ByText by_reason;
  for (const KeptNodeRecord& node : record.kept_nodes) by_reason.Add(node.reason, node.node);
  return text + by_reason.Text();
}

void WriteAutoscaler(const AutoscalerRecord& record, absl::Time zero, codec::JsonWriter& json) {
  json.BeginObject().Field("expander", record.expander).Key("nodePools").BeginArray();
  for (const PoolRecord& pool : record.pools) {
    json.BeginObject().Field("name", pool.name).Field("min", pool.min).Field("max", pool.max);
    json.Field("start", pool.start_count).Field("end", pool.end_count).Field("added", pool.added_count);
    json.Field("removed", pool.removed_count).Field("nodeHours", HoursText(pool.node_time));
    json.Field("nodeSeconds", absl::ToInt64Seconds(pool.node_time)).EndObject();
  }
  json.EndArray();
  WriteTimes(record, json);
  json.Key("scaleUps").BeginArray();
  for (const ScaleUpRecord& up : record.scale_ups) {
    json.BeginObject().Field("atMicroseconds", absl::ToInt64Microseconds(up.at - zero));
    json.Field("pool", up.pool).Field("from", up.from).Field("to", up.to).Key("pods").BeginArray();
    for (const std::string& pod : up.pods) json.String(pod);
    json.EndArray().EndObject();
  }
  json.EndArray();
  WriteScaleDowns(record, zero, json);
  json.Key("notTriggered").BeginArray();
  for (const HelplessPodRecord& pod : record.helpless_pods) {
    json.BeginObject().Field("pod", pod.pod).Field("message", pod.message).EndObject();
  }
  json.EndArray().Key("keptNodes").BeginArray();
  for (const KeptNodeRecord& node : record.kept_nodes) {
    json.BeginObject().Field("node", node.node).Field("pool", node.pool).Field("reason", node.reason);
    json.EndObject();
  }
  json.EndArray().EndObject();
}

}  // namespace schedsim::sim
