#include "sim/report/follow_report.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "core/api/go_text.h"
#include "core/base/printable.h"
#include "core/codec/objects/object_writer.h"
#include "sim/report/duration_text.h"

namespace schedsim::sim {
namespace {

constexpr size_t kTextBytesMax = 1000;
constexpr size_t kBestShown = 3;
constexpr size_t kOthersShown = 10;
constexpr int64_t kUnknownShown = 100;

absl::string_view CauseName(OddBinding::Cause cause) {
  switch (cause) {
    case OddBinding::Cause::kWindow:
      return "window";
    case OddBinding::Cause::kOrder:
      return "order";
    case OddBinding::Cause::kBurst:
      return "burst";
    case OddBinding::Cause::kUnknown:
      break;
  }
  return "unknown";
}

std::string BestText(const OddBinding& odd) {
  if (odd.best.empty()) return "none fits here";
  const size_t shown = std::min(odd.best.size(), kBestShown);
  std::string text = absl::StrJoin(absl::MakeConstSpan(odd.best).subspan(0, shown), ", ");
  const int64_t more = odd.best_count - static_cast<int64_t>(shown);
  if (more > 0) absl::StrAppend(&text, " and ", more, " more");
  return absl::StrCat("best here: ", text, " with ", odd.best_score);
}

std::string OddText(const OddBinding& odd, absl::Time zero) {
  std::string text = absl::StrCat("  ", DurationText(odd.at - zero), "  ", odd.pod, " on ", odd.node,
                                  " (line ", odd.line, "): ", BestText(odd));
  if (odd.score.has_value()) {
    absl::StrAppend(&text, ", ", odd.node, " with ", *odd.score, ", ", odd.best_score - *odd.score, " less");
  } else {
    absl::StrAppend(&text, ", ", odd.node, " is not feasible", odd.why_not.empty() ? "" : ": ", odd.why_not);
  }
  return Printable(text, kTextBytesMax);
}

void WriteLatencies(absl::string_view key, const RecordingComparison::Latencies& latencies,
                    codec::JsonWriter& json) {
  json.Key(key).BeginObject();
  json.Field("p50", absl::ToInt64Microseconds(latencies.p50));
  json.Field("p90", absl::ToInt64Microseconds(latencies.p90));
  json.Field("p99", absl::ToInt64Microseconds(latencies.p99));
  json.Field("max", absl::ToInt64Microseconds(latencies.max)).EndObject();
}

std::string LatenciesText(const RecordingComparison::Latencies& latencies) {
  return absl::StrCat("p50 ", DurationText(latencies.p50), "  p90 ", DurationText(latencies.p90), "  p99 ",
                      DurationText(latencies.p99), "  max ", DurationText(latencies.max));
}

void WriteOdd(const OddBinding& odd, absl::Time zero, codec::JsonWriter& json) {
  json.BeginObject().Field("pod", odd.pod).Field("node", odd.node).Field("cause", CauseName(odd.cause));
  json.Field("atMicroseconds", absl::ToInt64Microseconds(odd.at - zero)).Field("line", int64_t{odd.line});
  json.Field("feasible", odd.feasible_count).Key("bestNodes").BeginArray();
  for (const std::string& node : odd.best) json.String(node);
  json.EndArray().Field("bestNodeCount", odd.best_count).Field("bestScore", odd.best_score).Key("score");
  if (odd.score.has_value()) {
    json.Int(*odd.score);
  } else {
    json.Null();
  }
  json.Field("whyNot", odd.why_not).EndObject();
}

std::string UnknownText(const FollowResult& result) {
  std::string text = absl::StrCat("  unknown       ", result.unknown_count);
  if (result.unsearched_count > 0) {
    absl::StrAppend(&text, ", ", result.unsearched_count,
                    " of them not searched: an explanation is looked for\n                for the first ",
                    static_cast<int64_t>(result.odd.size()) - result.unsearched_count,
                    " only that are neither of the first two");
  }
  absl::StrAppend(&text, "\n");
  int64_t shown = 0;
  for (const OddBinding& odd : result.odd) {
    if (odd.cause != OddBinding::Cause::kUnknown) continue;
    if (++shown > kUnknownShown) break;
    absl::StrAppend(&text, "  ", OddText(odd, result.zero), "\n");
  }
  if (result.unknown_count > kUnknownShown)
    absl::StrAppend(&text, "    … and ", result.unknown_count - kUnknownShown, " more\n");
  return text;
}

}  // namespace

std::string FollowText(const FollowResult& result) {
  std::string text;
  absl::StrAppend(&text, "Recording       ", result.object_count, " objects, then ", result.change_count,
                  " changes in ", DurationText(result.length), "\n");
  absl::StrAppend(&text, "Bindings        ", result.binding_count);
  if (result.other_binding_count > 0)
    absl::StrAppend(&text, " (and ", result.other_binding_count, " of schedulers that no profile names)");
  absl::StrAppend(&text, "\n  only node     ", result.only_count,
                  ": the recorded node is the only feasible one\n");
  absl::StrAppend(&text, "  best          ", result.best_count,
                  ": it is one of the nodes with the highest score\n");
  absl::StrAppend(&text, "  other window  ", result.window_count,
                  ": it is one of the best of another part of the nodes\n");
  absl::StrAppend(&text, "  other order   ", result.order_count,
                  ": it is one of the best without changes, or ",
                  "with bindings,\n                that are at most ",
                  absl::FormatDuration(result.order_window), " away\n");
  absl::StrAppend(
      &text, "  burst         ", result.burst_count,
      ": it is one of the best with a few bindings in another order\n                that are at most ",
      absl::FormatDuration(result.burst_window), " away\n");
  absl::StrAppend(&text, UnknownText(result));
  absl::StrAppend(&text, "At the end      ", result.node_count, " nodes, ", result.pod_count,
                  " pods: ", result.bound_count, " bound, ", result.pending_count, " pending, ",
                  result.finished_count, " finished\n");
  if (result.contradictions.empty()) {
    absl::StrAppend(&text, "Contradictions  none between statuses and pods\n");
    return text;
  }
  absl::StrAppend(&text, "Contradictions  ", result.contradictions.size(), "\n");
  for (const std::string& what : result.contradictions)
    absl::StrAppend(&text, "  ", Printable(what, kTextBytesMax), "\n");
  return text;
}

std::string FollowJson(const FollowResult& result) {
  codec::JsonWriter json;
  json.BeginObject().Field("apiVersion", "schedsim/v1").Field("kind", "FollowReport");
  json.Field("objects", result.object_count).Field("changes", result.change_count);
  json.Field("lengthMicroseconds", absl::ToInt64Microseconds(result.length));
  json.Key("bindings").BeginObject().Field("all", result.binding_count);
  json.Field("otherSchedulers", result.other_binding_count).Field("onlyNode", result.only_count);
  json.Field("best", result.best_count).Field("window", result.window_count);
  json.Field("order", result.order_count)
      .Field("burst", result.burst_count)
      .Field("unknown", result.unknown_count)
      .Field("notSearched", result.unsearched_count)
      .EndObject();
  json.Field("orderWindowMicroseconds", absl::ToInt64Microseconds(result.order_window));
  json.Field("burstWindowMicroseconds", absl::ToInt64Microseconds(result.burst_window));
  json.Key("notBest").BeginArray();
  for (const OddBinding& odd : result.odd) WriteOdd(odd, result.zero, json);
  json.EndArray().Key("end").BeginObject().Field("nodes", result.node_count).Field("pods", result.pod_count);
  json.Field("bound", result.bound_count).Field("pending", result.pending_count);
  json.Field("finished", result.finished_count).EndObject().Key("contradictions").BeginArray();
  for (const std::string& what : result.contradictions) json.String(what);
  json.EndArray().Field("virtualZero", api::FormatRfc3339(result.zero)).EndObject();
  return json.text() + "\n";
}

std::string FollowObjects(const FollowResult& result) {
  std::string text = "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[";
  absl::string_view separator = "\n";
  for (const api::ObjectPtr& object : result.objects) {
    absl::StrAppend(&text, separator, codec::ServedJson(*object));
    separator = ",\n";
  }
  absl::StrAppend(&text, "\n]}\n");
  return text;
}

std::string ComparisonText(const RecordingComparison& comparison) {
  std::string text;
  absl::StrAppend(&text, "Recorded        ", comparison.pod_count, " pods waited for a node\n");
  absl::StrAppend(&text, "  both bound    ", comparison.same_node_count + comparison.other_node_count, ", ",
                  comparison.same_node_count, " of them on the same node\n");
  absl::StrAppend(&text, "  one only      ", comparison.recorded_only_count, " bound in the recording only, ",
                  comparison.here_only_count, " here only, ", comparison.neither_count, " in neither\n");
  for (size_t i = 0, shown = 0; i < comparison.others.size() && shown < kOthersShown; ++i) {
    const RecordingComparison::Pod& pod = comparison.others[i];
    if (!pod.recorded_node.empty() && !pod.node.empty()) continue;
    ++shown;
    absl::StrAppend(
        &text, "                ",
        Printable(absl::StrCat(pod.pod,
                               pod.node.empty() ? ": not bound here, recorded on " : ": bound here only, on ",
                               pod.node.empty() ? pod.recorded_node : pod.node),
                  kTextBytesMax),
        "\n");
  }
  absl::StrAppend(&text, "  victims       ", comparison.recorded_victim_count, " in the recording\n");
  absl::StrAppend(&text, "  latency       recorded ", LatenciesText(comparison.recorded), "\n");
  absl::StrAppend(&text, "                here     ", LatenciesText(comparison.here), "\n");
  absl::StrAppend(&text, "  changes       ", comparison.applied_count, " applied, ",
                  comparison.left_out_count, " left to scheduler and nodes, ", comparison.failed_count,
                  " not possible here",
                  comparison.failed_count > 0
                      ? absl::StrCat(", the first: ", Printable(comparison.first_failed, kTextBytesMax))
                      : "",
                  "\n");
  return text;
}

void WriteComparison(const RecordingComparison& comparison, codec::JsonWriter& json) {
  json.BeginObject().Field("pods", comparison.pod_count).Field("sameNode", comparison.same_node_count);
  json.Field("otherNode", comparison.other_node_count);
  json.Field("boundInRecordingOnly", comparison.recorded_only_count);
  json.Field("boundHereOnly", comparison.here_only_count).Field("boundInNeither", comparison.neither_count);
  json.Field("victims", comparison.recorded_victim_count);
  json.Key("creationToBindingMicroseconds").BeginObject();
  WriteLatencies("recorded", comparison.recorded, json);
  WriteLatencies("here", comparison.here, json);
  json.EndObject().Key("changes").BeginObject().Field("applied", comparison.applied_count);
  json.Field("leftOut", comparison.left_out_count).Field("notPossible", comparison.failed_count);
  json.Field("firstNotPossible", comparison.first_failed).EndObject().Key("others").BeginArray();
  for (const RecordingComparison::Pod& pod : comparison.others) {
    json.BeginObject().Field("pod", pod.pod).Field("recordedNode", pod.recorded_node);
    json.Field("node", pod.node).EndObject();
  }
  json.EndArray().EndObject();
}

}  // namespace schedsim::sim
