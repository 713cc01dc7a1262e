#include "sim/report/drain_report.h"

#include "absl/strings/str_cat.h"
#include "core/base/printable.h"

namespace schedsim::sim {
namespace {

constexpr size_t kTextBytesMax = 1000;

absl::string_view StateText(DrainedNode::State state) {
  switch (state) {
    case DrainedNode::State::kWaiting:
      return "Waiting";
    case DrainedNode::State::kDraining:
      return "Draining";
    case DrainedNode::State::kDrained:
      return "Drained";
    case DrainedNode::State::kFailed:
      return "Failed";
  }
  return "";
}

// What became of a pod: "evicted at 5s, default/web-7 on n2 in its place".
std::string PodText(const DrainedPod& pod, absl::Time zero) {
  std::string text;
  if (pod.evicted.has_value()) {
    absl::StrAppend(&text, "evicted at ", absl::FormatDuration(*pod.evicted - zero));
    if (!pod.gone.has_value()) absl::StrAppend(&text, ", still terminating");
  } else if (pod.gone.has_value()) {
    absl::StrAppend(&text, "gone at ", absl::FormatDuration(*pod.gone - zero), " without an eviction");
  } else {
    absl::StrAppend(&text, "still there");
  }
  if (!pod.successor.empty()) {
    absl::StrAppend(&text, ", ", pod.successor, " in its place ");
    if (pod.successor_is_gone) {
      absl::StrAppend(&text, "is gone since");
    } else if (pod.successor_node.empty()) {
      absl::StrAppend(&text, "is on no node");
    } else {
      absl::StrAppend(&text, "on ", pod.successor_node);
    }
  } else if (pod.was_over) {
    text += ", was over or being deleted before";
  } else if (pod.evicted.has_value()) {
    absl::StrAppend(
        &text, pod.owner.empty() ? ", without a controller: nothing in its place" : ", nothing in its place");
  }
  if (pod.refusal_count > 0) {
    absl::StrAppend(&text, "; refused ", pod.refusal_count, pod.refusal_count == 1 ? " time" : " times",
                    " by budget ", pod.budget, ": ", pod.cause);
  }
  if (!pod.error.empty()) absl::StrAppend(&text, "; ", pod.error);
  return text;
}

void WriteTime(absl::string_view key, const std::optional<absl::Time>& time, absl::Time zero,
               codec::JsonWriter& json) {
  json.Key(key);
  if (time.has_value()) {
    json.Int(absl::ToInt64Microseconds(*time - zero));
  } else {
    json.Null();
  }
}

}  // namespace

std::string DrainsText(const std::vector<DrainedNode>& drains, absl::Time zero) {
  std::string text;
  for (const DrainedNode& drain : drains) {
    std::string line = absl::StrCat("node ", drain.node, ": ", StateText(drain.state));
    if (drain.begun.has_value() && drain.ended.has_value()) {
      absl::StrAppend(&line, " in ", absl::FormatDuration(*drain.ended - *drain.begun));
    }
    if (!drain.message.empty()) absl::StrAppend(&line, ", ", drain.message);
    absl::StrAppend(&text, "Drain           ", Printable(line, kTextBytesMax), "\n");
    for (const DrainedPod& pod : drain.pods) {
      const std::string pod_line = absl::StrCat(pod.pod, ": ", PodText(pod, zero));
      absl::StrAppend(&text, "  ", Printable(pod_line, kTextBytesMax), "\n");
    }
  }
  return text;
}

void WriteDrains(const std::vector<DrainedNode>& drains, absl::Time zero, codec::JsonWriter& json) {
  json.BeginArray();
  for (const DrainedNode& drain : drains) {
    json.BeginObject().Field("node", drain.node).Field("state", StateText(drain.state));
    json.Field("message", drain.message);
    WriteTime("beginMicroseconds", drain.begun, zero, json);
    WriteTime("endMicroseconds", drain.ended, zero, json);
    json.Key("pods").BeginArray();
    for (const DrainedPod& pod : drain.pods) {
      json.BeginObject().Field("pod", pod.pod).Field("owner", pod.owner);
      WriteTime("evictedMicroseconds", pod.evicted, zero, json);
      WriteTime("goneMicroseconds", pod.gone, zero, json);
      json.Field("refusals", pod.refusal_count).Field("budget", pod.budget).Field("cause", pod.cause);
      json.Field("error", pod.error).Field("successor", pod.successor);
      json.Field("successorNode", pod.successor_node).EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray();
}

}  // namespace schedsim::sim
