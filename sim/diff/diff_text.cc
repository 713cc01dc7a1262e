#include "sim/diff/diff_text.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "core/base/printable.h"
#include "core/codec/text/json_writer.h"
#include "sim/report/duration_text.h"

namespace schedsim::sim {
namespace {

using Kind = PodDifference::Kind;

constexpr size_t kMessagesShown = 10;

struct KindName {
  Kind kind;
  absl::string_view name;  // Of JSON.
  absl::string_view text;
};
constexpr KindName kKinds[] = {
    {Kind::kMoved, "moved", "on another node"}, {Kind::kPending, "pending", "pending in B only"},
    {Kind::kBound, "bound", "bound in B only"}, {Kind::kGone, "gone", "gone in B only"},
    {Kind::kBack, "there", "gone in A only"},   {Kind::kOnlyA, "onlyA", "made in A only"},
    {Kind::kOnlyB, "onlyB", "made in B only"},
};

absl::string_view NameOf(Kind kind) {
  const auto* const found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                         [kind](const KindName& row) { return row.kind == kind; });
  return found->name;
}

absl::string_view NameOf(DiffCause::Kind kind) {
  switch (kind) {
    case DiffCause::Kind::kEquals:
      return "equals";
    case DiffCause::Kind::kScore:
      return "score";
    case DiffCause::Kind::kFilter:
      return "filter";
    case DiffCause::Kind::kNotSeen:
      return "notSeen";
    case DiffCause::Kind::kQueue:
      return "queue";
    case DiffCause::Kind::kPreemption:
      return "preemption";
    case DiffCause::Kind::kGroup:
      return "group";
    case DiffCause::Kind::kUnknown:
      break;
  }
  return "unknown";
}

int64_t CountOf(const DiffResult& diff, Kind kind) {
  const auto found = diff.kinds.find(kind);
  return found == diff.kinds.end() ? 0 : found->second;
}

std::string Shown(absl::string_view text) { return Printable(text, kShownBytesMax); }

// What the side did: "takes node-1" or "finds no node".
std::string DidText(const DiffDecision& decision) {
  if (decision.attempt == 0) return "makes no attempt";
  if (!decision.group.empty())
    return absl::StrCat("finds ", Shown(decision.node), " and stays behind with its group ",
                        Shown(decision.group));
  if (!decision.node.empty()) return absl::StrCat("takes ", Shown(decision.node));
  return absl::StrCat("finds no node", decision.nominated.empty()
                                           ? ""
                                           : absl::StrCat(", nominates ", Shown(decision.nominated)));
}

std::string CauseText(const DiffCause& cause) {
  return cause.kind == DiffCause::Kind::kUnknown ? "the traces do not say what was said of each node"
                                                 : Printable(cause.text);
}

// One row for each number that both sides have.
struct Sum {
  std::string name;
  std::string a;
  std::string b;
};

std::vector<Sum> SumsOf(const DiffResult& diff) {
  std::vector<Sum> sums;
  const auto add = [&sums](absl::string_view name, int64_t a, int64_t b) {
    sums.push_back({.name = std::string(name), .a = absl::StrCat(a), .b = absl::StrCat(b)});
  };
  add("Attempts", diff.a.attempt_count, diff.b.attempt_count);
  add("Bound", diff.a.bound_count, diff.b.bound_count);
  add("Pending", diff.a.pending_count, diff.b.pending_count);
  add("Evicted", diff.a.evicted_count, diff.b.evicted_count);
  add("Nodes taken", diff.a.used_node_count, diff.b.used_node_count);
  if (!diff.a.report.has_value() || !diff.b.report.has_value()) return sums;
  const auto add_time = [&sums](absl::string_view name, absl::Duration a, absl::Duration b) {
    sums.push_back({.name = std::string(name), .a = DurationText(a), .b = DurationText(b)});
  };
  add_time("Latency p50", diff.a.report->latency_p50, diff.b.report->latency_p50);
  add_time("Latency p99", diff.a.report->latency_p99, diff.b.report->latency_p99);
  return sums;
}

std::string MovedText(const DiffResult& diff) {
  const int64_t moved = CountOf(diff, Kind::kMoved);
  if (moved == 0) return "";
  const int64_t unknown = diff.unknown_count;
  return absl::StrCat(": ", moved - diff.equals_count - unknown, " for a reason, ", diff.equals_count,
                      " among equals", unknown == 0 ? "" : absl::StrCat(", ", unknown, " unknown why"));
}

std::string PodText(const PodDifference& pod) {
  const auto node = [](const std::string& name) { return name.empty() ? std::string("-") : Shown(name); };
  return absl::StrCat("  ", Shown(pod.pod), "  ", node(pod.a_node), " -> ", node(pod.b_node), "\n",
                      pod.cause.kind == DiffCause::Kind::kUnknown
                          ? ""
                          : absl::StrCat("      ", Printable(pod.cause.text), "\n"));
}

std::string FirstText(const FirstDifference& first) {
  const DiffDecision& known = first.a.attempt > 0 ? first.a : first.b;
  std::string text =
      absl::StrCat("First difference: attempt ", known.attempt, " at ", DurationText(known.time));
  if (first.a.pod == first.b.pod) {
    absl::StrAppend(&text, ", pod ", Shown(first.a.pod), "\n  A ", DidText(first.a), "\n  B ",
                    DidText(first.b), "\n");
  } else {
    for (const auto& [side, decision] : {std::pair("A", &first.a), std::pair("B", &first.b)}) {
      absl::StrAppend(&text, "\n  ", side, " ",
                      decision->pod.empty() ? "" : absl::StrCat("tries ", Shown(decision->pod), " and "),
                      DidText(*decision));
    }
    absl::StrAppend(&text, "\n");
  }
  absl::StrAppend(&text, "  ", CauseText(first.cause), "\n");
  if (first.scores.empty()) return text;
  constexpr size_t kNameMax = 40;
  absl::StrAppend(
      &text, "\n  ",
      absl::StrFormat("%-*s %8s %8s %8s %8s\n", kNameMax, "points", "A: A's", "A: B's", "B: A's", "B: B's"));
  for (const DiffScore& score : first.scores) {
    absl::StrAppend(&text, "  ",
                    absl::StrFormat("%-*s %8d %8d %8d %8d\n", kNameMax, score.plugin, score.a_of_a,
                                    score.a_of_b, score.b_of_a, score.b_of_b));
  }
  return text;
}

std::string MessageText(const MessageDifference& message) {
  return absl::StrCat("  ", message.count, message.count == 1 ? " pod" : " pods", " (",
                      Shown(message.first_pod), message.count == 1 ? "" : ", …", ")\n    A  ",
                      Printable(message.a), "\n    B  ", Printable(message.b), "\n");
}

void WriteCause(const DiffCause& cause, codec::JsonWriter& json) {
  json.Key("cause").BeginObject().Field("kind", NameOf(cause.kind)).Field("plugin", cause.plugin);
  json.Field("text", cause.text).EndObject();
}

void WriteDecision(absl::string_view key, const DiffDecision& decision, codec::JsonWriter& json) {
  json.Key(key);
  if (decision.attempt == 0) {
    json.Null();
    return;
  }
  json.BeginObject().Field("attempt", decision.attempt);
  json.Field("timeMicroseconds", absl::ToInt64Microseconds(decision.time));
  json.Field("pod", decision.pod).Field("node", decision.node).Field("message", decision.message);
  json.Field("nominated", decision.nominated);
  if (!decision.group.empty()) json.Field("group", decision.group);
  json.EndObject();
}

void WriteSide(absl::string_view key, const DiffSide& side, codec::JsonWriter& json) {
  json.Key(key).BeginObject().Field("label", side.label).Field("attempts", side.attempt_count);
  json.Field("bound", side.bound_count).Field("pending", side.pending_count);
  json.Field("evicted", side.evicted_count).Field("nodesTaken", side.used_node_count);
  if (side.report.has_value()) {
    json.Field("latencyP50Microseconds", absl::ToInt64Microseconds(side.report->latency_p50));
    json.Field("latencyP99Microseconds", absl::ToInt64Microseconds(side.report->latency_p99));
    json.Field("decisionDigest", side.report->digest);
  }
  json.EndObject();
}

void WriteFirst(const std::optional<FirstDifference>& first, codec::JsonWriter& json) {
  json.Key("firstDifference");
  if (!first.has_value()) {
    json.Null();
    return;
  }
  json.BeginObject();
  WriteDecision("a", first->a, json);
  WriteDecision("b", first->b, json);
  WriteCause(first->cause, json);
  json.Key("scores").BeginArray();
  for (const DiffScore& score : first->scores) {
    json.BeginObject().Field("plugin", score.plugin);
    json.Field("nodeOfAInA", score.a_of_a).Field("nodeOfBInA", score.a_of_b);
    json.Field("nodeOfAInB", score.b_of_a).Field("nodeOfBInB", score.b_of_b).EndObject();
  }
  json.EndArray().EndObject();
}

}  // namespace

std::string DiffText(const DiffResult& diff, size_t pods_max) {
  std::string text = absl::StrCat("A  ", Printable(diff.a.label), "\nB  ", Printable(diff.b.label), "\n\n");
  absl::StrAppend(&text, diff.first.has_value() ? FirstText(*diff.first) : "Both make the same decisions.\n");
  absl::StrAppend(&text, "\n", absl::StrFormat("%-16s%16s%16s\n", "", "A", "B"));
  for (const Sum& sum : SumsOf(diff))
    absl::StrAppend(&text, absl::StrFormat("%-16s%16s%16s\n", sum.name, sum.a, sum.b));
  absl::StrAppend(&text, "\nPods that end alike  ", diff.same_count, "\n");
  for (const KindName& row : kKinds) {
    const int64_t count = CountOf(diff, row.kind);
    if (count == 0) continue;
    absl::StrAppend(&text, absl::StrFormat("%-19s  %d%s\n", row.text, count,
                                           row.kind == Kind::kMoved ? MovedText(diff) : ""));
  }
  if (diff.ignored_count > 0)
    absl::StrAppend(&text, absl::StrFormat("%-19s  %d\n", "ignored", diff.ignored_count));
  for (const auto& [plugin, count] : diff.plugins) absl::StrAppend(&text, "  by ", plugin, "  ", count, "\n");
  if (diff.pods.size() > 1)
    absl::StrAppend(&text, "What differs behind the first difference may follow from it.\n");
  const size_t shown = std::min(diff.pods.size(), pods_max);
  if (shown > 0) absl::StrAppend(&text, "\n");
  for (size_t i = 0; i < shown; ++i) absl::StrAppend(&text, PodText(diff.pods[i]));
  if (shown < diff.pods.size()) absl::StrAppend(&text, "  … and ", diff.pods.size() - shown, " more pods\n");
  if (!diff.messages.empty()) absl::StrAppend(&text, "\nMessages of pending pods that read otherwise\n");
  for (size_t i = 0; i < std::min(diff.messages.size(), kMessagesShown); ++i)
    absl::StrAppend(&text, MessageText(diff.messages[i]));
  return text;
}

std::string DiffJson(const DiffResult& diff) {
  codec::JsonWriter json;
  json.BeginObject().Field("apiVersion", "schedsim/v1").Field("kind", "Diff");
  WriteSide("a", diff.a, json);
  WriteSide("b", diff.b, json);
  WriteFirst(diff.first, json);
  json.Key("counts").BeginObject().Field("same", diff.same_count);
  for (const KindName& row : kKinds) json.Field(row.name, CountOf(diff, row.kind));
  json.Field("movedAmongEquals", diff.equals_count).Field("movedUnknown", diff.unknown_count);
  json.Field("ignored", diff.ignored_count).EndObject().Key("unusedRules").BeginArray();
  for (const std::string& rule : diff.unused_rules) json.String(rule);
  json.EndArray();
  json.Key("plugins").BeginObject();
  for (const auto& [plugin, count] : diff.plugins) json.Field(plugin, count);
  json.EndObject().Key("pods").BeginArray();
  for (const PodDifference& pod : diff.pods) {
    json.BeginObject().Field("pod", pod.pod).Field("difference", NameOf(pod.kind));
    json.Field("nodeInA", pod.a_node).Field("nodeInB", pod.b_node).Field("message", pod.message);
    WriteCause(pod.cause, json);
    json.EndObject();
  }
  json.EndArray().Key("messages").BeginArray();
  for (const MessageDifference& message : diff.messages) {
    json.BeginObject().Field("a", message.a).Field("b", message.b).Field("pods", message.count);
    json.Field("firstPod", message.first_pod).EndObject();
  }
  json.EndArray().EndObject();
  return json.text() + "\n";
}

std::string DiffMarkdown(const DiffResult& diff, size_t pods_max) {
  // What Markdown would act on within a cell.
  const auto cell = [](absl::string_view text) {
    return absl::StrReplaceAll(Printable(text), {{"|", "\\|"}, {"\n", " "}});
  };
  std::string text =
      absl::StrCat("### Placements: ", cell(diff.a.label), " against ", cell(diff.b.label), "\n\n");
  if (diff.pods.empty()) {
    absl::StrAppend(&text, "No pod ends otherwise.\n\n");
  } else {
    std::vector<std::string> parts;
    for (const KindName& row : kKinds) {
      const int64_t count = CountOf(diff, row.kind);
      if (count == 0) continue;
      parts.push_back(
          absl::StrCat("**", count, "** ", row.text, row.kind == Kind::kMoved ? MovedText(diff) : ""));
    }
    absl::StrAppend(&text, absl::StrJoin(parts, "; "), "; ", diff.same_count, " alike.\n\n");
  }
  if (diff.first.has_value()) {
    absl::StrAppend(&text, "First difference: `",
                    cell(diff.first->a.pod.empty() ? diff.first->b.pod : diff.first->a.pod), "`: A ",
                    cell(DidText(diff.first->a)), ", B ", cell(DidText(diff.first->b)), "; ",
                    cell(CauseText(diff.first->cause)), ".\n\n");
  }
  absl::StrAppend(&text, "| | A | B |\n| --- | --- | --- |\n");
  for (const Sum& sum : SumsOf(diff))
    absl::StrAppend(&text, "| ", sum.name, " | ", sum.a, " | ", sum.b, " |\n");
  const size_t shown = std::min(diff.pods.size(), pods_max);
  if (shown > 0) absl::StrAppend(&text, "\n| pod | A | B | why |\n| --- | --- | --- | --- |\n");
  for (size_t i = 0; i < shown; ++i) {
    const PodDifference& pod = diff.pods[i];
    absl::StrAppend(&text, "| ", cell(pod.pod), " | ", cell(pod.a_node), " | ", cell(pod.b_node), " | ",
                    cell(pod.cause.text.empty() ? pod.message : pod.cause.text), " |\n");
  }
  if (shown < diff.pods.size()) absl::StrAppend(&text, "\n… and ", diff.pods.size() - shown, " more pods.\n");
  return text;
}

}  // namespace schedsim::sim
