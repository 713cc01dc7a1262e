#include "sim/whatif/what_if_text.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "absl/strings/str_cat.h"
#include "core/base/printable.h"
#include "core/codec/text/json_writer.h"

namespace schedsim::sim {
namespace {

constexpr size_t kNodesShown = 10;
constexpr size_t kPodsShown = 5;

std::string Shown(absl::string_view text) { return Printable(text, kShownBytesMax); }

std::string Pods(int64_t count) { return absl::StrCat(count, count == 1 ? " pod" : " pods"); }

// How many of the pods each node has, the most first.
std::string ByNodeText(const std::vector<PlacedPod>& bound) {
  std::map<std::string, int64_t> counts;
  for (const PlacedPod& pod : bound) ++counts[pod.node];
  std::vector<std::pair<std::string, int64_t>> nodes(counts.begin(), counts.end());
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (size_t i = 0; i < std::min(nodes.size(), kNodesShown); ++i)
    absl::StrAppend(&text, "  ", nodes[i].second, " on ", Shown(nodes[i].first), "\n");
  if (nodes.size() > kNodesShown) {
    int64_t rest = 0;
    for (size_t i = kNodesShown; i < nodes.size(); ++i) rest += nodes[i].second;
    absl::StrAppend(&text, "  ", rest, " on ", nodes.size() - kNodesShown, " more nodes\n");
  }
  return text;
}

std::string MessagesText(const std::vector<MessageSum>& messages) {
  std::string text;
  for (const MessageSum& message : messages)
    absl::StrAppend(&text, "  ", message.count, " x  ", Printable(message.message), "\n");
  return text;
}

// The first few, a line each. `margin` stands in front of each, and `what` behind it.
std::string NamesText(const std::vector<std::string>& names, absl::string_view margin = "  ",
                      absl::string_view what = "") {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kPodsShown); ++i)
    absl::StrAppend(&text, margin, Shown(names[i]), what, "\n");
  if (names.size() > kPodsShown) absl::StrAppend(&text, margin, "and ", names.size() - kPodsShown, " more\n");
  return text;
}

std::string CutOffText(bool is_cut_off) {
  return is_cut_off ? "The run ended at --until before each pod was tried.\n" : "";
}

std::string CirclesText(bool is_in_circles, absl::string_view margin = "") {
  return is_in_circles
             ? absl::StrCat(margin, "Pods are made anew in circles, so this is how it was at one time.\n")
             : "";
}

std::string DisplacedText(const std::vector<std::string>& displaced) {
  if (displaced.empty()) return "";
  return absl::StrCat(Pods(static_cast<int64_t>(displaced.size())),
                      " of the cluster would lose their node:\n", NamesText(displaced));
}

void WritePlaced(absl::string_view key, const std::vector<PlacedPod>& pods, codec::JsonWriter& json) {
  json.Key(key).BeginArray();
  for (const PlacedPod& pod : pods)
    json.BeginObject().Field("pod", pod.pod).Field("node", pod.node).EndObject();
  json.EndArray();
}

void WriteMessages(absl::string_view key, const std::vector<MessageSum>& messages, codec::JsonWriter& json) {
  json.Key(key).BeginArray();
  for (const MessageSum& message : messages)
    json.BeginObject().Field("message", message.message).Field("count", message.count).EndObject();
  json.EndArray();
}

void WriteNames(absl::string_view key, const std::vector<std::string>& names, codec::JsonWriter& json) {
  json.Key(key).BeginArray();
  for (const std::string& name : names) json.String(name);
  json.EndArray();
}

void Begin(absl::string_view question, codec::JsonWriter& json) {
  json.BeginObject().Field("apiVersion", "schedsim/v1").Field("kind", "WhatIf").Field("question", question);
}

std::string DrainText(const DrainAnswer& answer) {
  std::string text = absl::StrCat(answer.IsFree() ? "yes  " : "no   ", Shown(answer.drain.node), "\n");
  int64_t placed = 0;
  int64_t asked = 0;
  for (const DrainedPod& pod : answer.drain.pods) {
    // A pod that came to its end needs no place.
    if (!pod.was_over) ++asked;
    if (answer.IsPlacedElsewhere(pod)) {
      ++placed;
    } else if (!pod.successor_node.empty()) {
      absl::StrAppend(&text, "       ", Shown(pod.successor), " in the place of ", Shown(pod.pod),
                      " is on it again\n");
    } else if (!pod.evicted.has_value()) {
      absl::StrAppend(&text, "       ", Shown(pod.pod), " stays",
                      pod.budget.empty() ? "" : absl::StrCat(": budget ", Shown(pod.budget)),
                      pod.cause.empty() ? "" : absl::StrCat(": ", Printable(pod.cause)),
                      pod.error.empty() ? "" : absl::StrCat(": ", Printable(pod.error)), "\n");
    }
  }
  absl::StrAppend(&text, "       ", placed, " of ", Pods(asked), " placed again\n");
  if (!answer.drain.message.empty()) absl::StrAppend(&text, "       ", Printable(answer.drain.message), "\n");
  absl::StrAppend(&text, NamesText(answer.lost, "       ", " is not made anew"),
                  NamesText(answer.displaced, "       ", " would lose its node"),
                  CirclesText(answer.is_in_circles, "       "));
  for (const MessageSum& message : answer.pending)
    absl::StrAppend(&text, "       ", message.count, " x  ", Printable(message.message), "\n");
  return text;
}

}  // namespace

std::string FitText(const FitAnswer& answer) {
  const auto bound = static_cast<int64_t>(answer.bound.size());
  std::string text;
  if (bound == 0 && answer.pending_count == 0) {
    absl::StrAppend(&text, answer.running_count == 0 ? "No pod was made of it.\n"
                           : answer.Fits()           ? "It fits: no pod is to be made.\n"
                                                     : "Not all is known.\n");
  } else {
    const bool is_open = answer.is_in_circles || (answer.pending_count == 0 && !answer.Fits());
    absl::StrAppend(&text,
                    answer.Fits() ? "It fits: "
                    : is_open     ? "Not all is known: "
                                  : "It does not fit: ",
                    bound, " of ", Pods(bound + answer.pending_count), " find a node.\n",
                    ByNodeText(answer.bound));
  }
  if (answer.running_count > 0) absl::StrAppend(&text, "On nodes before ", answer.running_count, "\n");
  if (answer.pending_count > 0)
    absl::StrAppend(&text, "Without a node ", answer.pending_count, "\n", MessagesText(answer.pending));
  for (const std::string& object : answer.unanswered) absl::StrAppend(&text, Printable(object), ".\n");
  for (const std::string& object : answer.asking_for_none)
    absl::StrAppend(&text, Printable(object), " asks for no pod.\n");
  return absl::StrCat(text, CutOffText(answer.is_cut_off), CirclesText(answer.is_in_circles),
                      DisplacedText(answer.displaced));
}

std::string CountText(const CountAnswer& answer) {
  const bool has_more = answer.is_cut_off || answer.message.empty();
  std::string text =
      absl::StrCat(has_more ? "At least " : "", answer.count, " more of it fit.\n", ByNodeText(answer.bound));
  if (answer.is_cut_off) {
    absl::StrAppend(&text, CutOffText(true));
  } else if (answer.message.empty()) {
    absl::StrAppend(&text, "No more of it were tried.\n");
  } else {
    absl::StrAppend(&text, "The next one does not:\n  ", Printable(answer.message), "\n");
  }
  return absl::StrCat(text, CirclesText(answer.is_in_circles), DisplacedText(answer.displaced));
}

std::string NodesText(const NodesAnswer& answer, const std::string& node) {
  std::string text =
      absl::StrCat(answer.node_count, answer.node_count == 1 ? " node" : " nodes", " more like ", Shown(node),
                   ": ", answer.pending_before, " pending before, ", answer.pending_count, " then");
  if (answer.pending_with_one_less >= 0)
    absl::StrAppend(&text, "; with one node less ", answer.pending_with_one_less);
  absl::StrAppend(&text, ".\n", CirclesText(answer.is_in_circles), ByNodeText(answer.bound));
  if (answer.pending_count > 0) absl::StrAppend(&text, "Pending\n", MessagesText(answer.pending));
  if (!answer.unhelped.empty())
    absl::StrAppend(&text, "More nodes like it help none of these:\n", NamesText(answer.unhelped));
  return text;
}

std::string DrainAnswersText(const std::vector<DrainAnswer>& answers) {
  std::string text;
  int64_t free = 0;
  for (const DrainAnswer& answer : answers) {
    absl::StrAppend(&text, DrainText(answer));
    free += answer.IsFree() ? 1 : 0;
  }
  absl::StrAppend(&text, free, " of ", answers.size(), answers.size() == 1 ? " node" : " nodes",
                  " can be drained", answers.size() == 1 ? "" : ", one at a time", ".\n");
  return text;
}

std::string FitJson(const FitAnswer& answer) {
  codec::JsonWriter json;
  Begin("fit", json);
  json.Key("fits").Bool(answer.Fits()).Field("pendingCount", answer.pending_count);
  json.Field("runningCount", answer.running_count);
  WritePlaced("bound", answer.bound, json);
  WriteMessages("pending", answer.pending, json);
  WriteNames("unanswered", answer.unanswered, json);
  WriteNames("askingForNone", answer.asking_for_none, json);
  WriteNames("displaced", answer.displaced, json);
  json.Key("cutOff").Bool(answer.is_cut_off);
  json.Key("inCircles").Bool(answer.is_in_circles).EndObject();
  return json.text() + "\n";
}

std::string CountJson(const CountAnswer& answer) {
  codec::JsonWriter json;
  Begin("count", json);
  json.Field("count", answer.count).Field("message", answer.message);
  WritePlaced("bound", answer.bound, json);
  WriteNames("displaced", answer.displaced, json);
  json.Key("cutOff").Bool(answer.is_cut_off);
  json.Key("inCircles").Bool(answer.is_in_circles).EndObject();
  return json.text() + "\n";
}

std::string NodesJson(const NodesAnswer& answer, const std::string& node) {
  codec::JsonWriter json;
  Begin("nodes", json);
  json.Field("like", node).Field("nodes", answer.node_count).Field("pendingBefore", answer.pending_before);
  json.Field("pendingCount", answer.pending_count);
  if (answer.pending_with_one_less >= 0) json.Field("pendingWithOneLess", answer.pending_with_one_less);
  WritePlaced("bound", answer.bound, json);
  WriteMessages("pending", answer.pending, json);
  WriteNames("unhelped", answer.unhelped, json);
  json.Key("inCircles").Bool(answer.is_in_circles).EndObject();
  return json.text() + "\n";
}

std::string DrainAnswersJson(const std::vector<DrainAnswer>& answers) {
  codec::JsonWriter json;
  Begin("drain", json);
  json.Key("nodes").BeginArray();
  for (const DrainAnswer& answer : answers) {
    json.BeginObject().Field("node", answer.drain.node).Key("free").Bool(answer.IsFree());
    json.Key("inCircles").Bool(answer.is_in_circles);
    json.Field("message", answer.drain.message).Field("pendingBefore", answer.pending_before);
    json.Field("pendingCount", answer.pending_count).Key("pods").BeginArray();
    for (const DrainedPod& pod : answer.drain.pods) {
      json.BeginObject().Field("pod", pod.pod).Key("evicted").Bool(pod.evicted.has_value());
      json.Field("budget", pod.budget).Field("successor", pod.successor).Field("node", pod.successor_node);
      json.EndObject();
    }
    json.EndArray();
    WriteNames("lost", answer.lost, json);
    WriteNames("displaced", answer.displaced, json);
    WriteMessages("pending", answer.pending, json);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.text() + "\n";
}

}  // namespace schedsim::sim
