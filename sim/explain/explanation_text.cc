#include "sim/explain/explanation_text.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/base/printable.h"
#include "core/base/wrapped_text.h"
#include "sim/report/pod_story_text.h"

namespace schedsim::sim {
namespace {

// So many names of nodes stand in a list.
constexpr size_t kNamesShown = 5;

std::string NamesText(const std::vector<std::string>& names) {
  std::string text = absl::StrJoin(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kNamesShown, names.size())), ", ");
  if (names.size() > kNamesShown) absl::StrAppend(&text, " and ", names.size() - kNamesShown, " more");
  return text;
}

std::string MissText(const Miss& miss) {
  if (miss.changes.empty()) return absl::StrCat("no change of pod or node helps: ", miss.why_not);
  std::vector<std::string> parts;
  for (const Change& change : miss.changes) parts.push_back(ChangeText(change));
  return absl::StrJoin(parts, "; ");
}

// The places of the scored nodes, the best first; among equals the one that was taken, then in their order.
std::vector<size_t> ByTotal(const CapturedAttempt& attempt) {
  std::vector<size_t> order(attempt.totals.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (attempt.totals[a] != attempt.totals[b]) return attempt.totals[a] > attempt.totals[b];
    return attempt.scored_nodes[a] == attempt.host && attempt.scored_nodes[b] != attempt.host;
  });
  return order;
}

// As normalising left them; the weight is never zero.
int64_t Normalized(const CapturedAttempt::Scores& scores, size_t place) {
  return scores.weight == 0 ? 0 : scores.weighted[place] / scores.weight;
}

bool SameOnAll(const CapturedAttempt::Scores& scores) {
  return std::all_of(scores.weighted.begin(), scores.weighted.end(),
                     [&](int64_t points) { return points == scores.weighted[0]; });
}

class TextWriter {
 public:
  TextWriter(const Explanation& explanation, const ExplanationView& view)
      : explanation_(explanation), attempt_(explanation.attempt), view_(view) {}

  std::string Write() {
    absl::StrAppend(&out_, Printable(explanation_.pod), "\n\n");
    if (!explanation_.no_attempt.empty()) {
      Line(explanation_.no_attempt, 0, 0);
      WriteNamesakes(0);
      return std::move(out_);
    }
    WriteHead();
    if (!attempt_.message.empty())
      absl::StrAppend(&out_, "\nThe scheduler's message:\n", Printable(attempt_.message), "\n");
    if (!explanation_.node.empty()) {
      WriteOneNode();
      return std::move(out_);
    }
    if (!attempt_.host.empty()) WriteChoice();
    if (explanation_.preemption.has_value()) WritePreemption(*explanation_.preemption);
    if (!explanation_.refused.empty()) WriteRefused();
    return std::move(out_);
  }

 private:
  void Line(absl::string_view text, size_t first, size_t hanging) {
    AppendWrapped(Printable(text), first, hanging, kTextColumns, out_);
  }

  void WriteHead() {
    Line(absl::StrFormat("%12s s  %s", TimeText(attempt_.time), AttemptText(explanation_.fact)), 0, 16);
    for (const RejectionFact& rejection : explanation_.fact.rejections)
      Line(RejectionText(rejection), 18, 31);
    for (const CapturedAttempt::Wait& wait : attempt_.waits)
      Line(
          absl::StrCat("then waits on Permit: ", wait.plugin, ", for at most ", TimeText(wait.timeout), " s"),
          18, 20);
    if (!attempt_.bind_failure.empty())
      Line(absl::StrCat("could not be bound: ", attempt_.bind_failure), 18, 20);
    if (!attempt_.group_failure.empty())
      Line(absl::StrCat("stays behind with its group ", attempt_.group, ": ", attempt_.group_failure), 18,
           20);
    if (!explanation_.end.empty()) Line(explanation_.end, 16, 16);
    if (attempt_.number < explanation_.attempt_count)
      Line(absl::StrCat("It is one of ", explanation_.attempt_count, " attempts; --attempt chooses."), 16,
           16);
    WriteNamesakes(16);
  }

  void WriteNamesakes(size_t indent) {
    const int64_t count = explanation_.namesake_count;
    if (count == 0) return;
    Line(count == 1 ? "Another pod had its name before, which is not looked at."
                    : absl::StrCat(count, " pods had its name before, which are not looked at."),
         indent, indent);
  }

  // Why this node.
  void WriteChoice() {
    WriteWindow();
    if (attempt_.FitsWhereTriedFirst()) return;
    if (attempt_.totals.empty()) {
      Line(absl::StrCat(attempt_.host, " is the only one of them that fits, so no node is scored."), 0, 0);
      return;
    }
    WriteTie();
    if (attempt_.scores.empty()) return;
    const std::vector<size_t> order = ByTotal(attempt_);
    const size_t shown = std::min<size_t>(static_cast<size_t>(view_.top), order.size());
    absl::StrAppend(&out_, "\nScores: raw, normalised, times weight, points\n");
    for (size_t i = 0; i < shown; ++i) WriteScores(order[i], /*leaves_out_equal=*/true);
    WriteEqualScores();
    if (shown < order.size())
      Line(absl::StrCat(order.size() - shown, " more nodes that fit; --top N shows more"), 2, 2);
  }

  // Which nodes were looked at.
  void WriteWindow() {
    out_ += "\n";
    if (attempt_.FitsWhereTriedFirst()) {
      const std::string why = attempt_.pod->status.nominated_node_name.empty()
                                  ? absl::StrCat("An equal pod just before had found ", attempt_.host,
                                                 " next best: it was tried first, and it fits.")
                                  : absl::StrCat("The pod was nominated to ", attempt_.host,
                                                 ": it was tried first, and it fits.");
      Line(absl::StrCat(why, " No other node was looked at."), 0, 0);
      return;
    }
    const int64_t count = explanation_.node_count;
    if (attempt_.pre_filter_nodes.has_value()) {
      Line(
          absl::StrCat("Looked at: the ", NodesText(static_cast<int64_t>(attempt_.pre_filter_nodes->size())),
                       " of ", count, " that ", absl::StrJoin(attempt_.pre_filter_plugins, ", "), " leaves."),
          0, 0);
      return;
    }
    if (attempt_.evaluated_count >= count) {
      Line(absl::StrCat("Looked at: all of ", NodesText(count), "."), 0, 0);
      return;
    }
    Line(absl::StrCat("Looked at: ", attempt_.evaluated_count, " of ", NodesText(count), ", from number ",
                      attempt_.start_index + 1, " of the scheduler's list on; the search ends when ",
                      attempt_.wanted_count, " fit (percentageOfNodesToScore)."),
         0, 0);
  }

  void WriteTie() {
    const int64_t best = *std::max_element(attempt_.totals.begin(), attempt_.totals.end());
    std::vector<std::string> tied;
    for (size_t i = 0; i < attempt_.totals.size(); ++i) {
      if (attempt_.totals[i] == best) tied.push_back(attempt_.scored_nodes[i]);
    }
    if (tied.size() == 1) {
      Line(absl::StrCat(attempt_.host, " has the highest total, ", best, "."), 0, 0);
      return;
    }
    std::sort(tied.begin(), tied.end());
    Line(absl::StrCat(NodesText(static_cast<int64_t>(tied.size())), " share the highest total, ", best, ": ",
                      NamesText(tied), ". ", attempt_.host,
                      explanation_.draws_ties
                          ? " was drawn; another --seed draws another."
                          : " was taken: it comes first in the heap that the scheduler keeps nodes in."),
         0, 0);
  }

  void WriteScores(size_t place, bool leaves_out_equal) {
    const std::string& node = attempt_.scored_nodes[place];
    Line(absl::StrCat(node, "  ", attempt_.totals[place], node == attempt_.host ? "  taken" : ""), 2, 4);
    for (const CapturedAttempt::Scores& scores : attempt_.scores) {
      if (leaves_out_equal && SameOnAll(scores)) continue;
      absl::StrAppendFormat(&out_, "    %-34s %8d %8d  x%-3d %8d\n", scores.plugin, scores.raw[place],
                            Normalized(scores, place), scores.weight, scores.weighted[place]);
    }
  }

  void WriteEqualScores() {
    std::vector<std::string> equal;
    for (const CapturedAttempt::Scores& scores : attempt_.scores) {
      if (SameOnAll(scores)) equal.push_back(absl::StrCat(scores.plugin, " ", scores.weighted[0]));
    }
    if (!equal.empty()) Line(absl::StrCat("the same for all: ", absl::StrJoin(equal, ", ")), 2, 4);
  }

  void WritePreemption(const PreemptionChoice& choice) {
    const PreemptionChoice::Candidate& taken = choice.taken;
    out_ += "\n";
    Line(absl::StrCat("Preemption makes room on ", taken.node,
                      ". Victims: ", absl::StrJoin(taken.victims, ", "), "."),
         0, 2);
    const int64_t spared = taken.lower_count - taken.victim_count;
    Line(absl::StrCat("Of ", taken.lower_count, taken.lower_count == 1 ? " pod" : " pods",
                      " there with a lower priority, ", spared,
                      " can stay: all are taken away, then put back as long as the pod still fits, those "
                      "that disruption budgets protect first, then the most important ones."),
         2, 2);
    if (!choice.next.has_value()) {
      Line("It is the only node where preemption helps.", 2, 2);
      return;
    }
    Line(absl::StrCat("Next best of ", NodesText(choice.candidate_count),
                      " that it could take: ", choice.next->node, ". ", CriterionText(choice)),
         2, 2);
  }

  static std::string CriterionText(const PreemptionChoice& choice) {
    const PreemptionChoice::Candidate& a = choice.taken;
    const PreemptionChoice::Candidate& b = *choice.next;
    const auto compared = [](absl::string_view what, int64_t x, int64_t y) {
      return absl::StrCat("What decided: ", what, ", ", x, " against ", y, ".");
    };
    if (choice.criterion == "violations")
      return compared("fewer victims beyond disruption budgets", a.violations, b.violations);
    if (choice.criterion == "highestPriority")
      return compared("the lower of the highest priorities of victims", a.highest_priority,
                      b.highest_priority);
    if (choice.criterion == "prioritySum")
      return compared("the smaller sum of the victims' priorities, each counted from -2147483648",
                      a.priority_sum, b.priority_sum);
    if (choice.criterion == "victimCount") return compared("fewer victims", a.victim_count, b.victim_count);
    if (choice.criterion == "startTime") {
      return absl::StrCat("What decided: the victims of the highest priority run for a shorter time, since ",
                          a.earliest_start.empty() ? "no time" : a.earliest_start, " against ",
                          b.earliest_start.empty() ? "no time" : b.earliest_start, ".");
    }
    return "They are equal by all criteria: one of them is drawn.";
  }

  bool HasMisses() const { return explanation_.refused[0].miss.has_value(); }

  void WriteRefused() {
    const std::vector<RefusedNode>& refused = explanation_.refused;
    const size_t shown = std::min<size_t>(static_cast<size_t>(view_.top), refused.size());
    if (explanation_.refused_by_pre_filter) {
      out_ += "\n";
      Line(absl::StrCat("No node was looked at: ", refused[0].plugin, " refuses the pod before that."), 0, 0);
      for (const Fact& fact : refused[0].facts) Line(fact.text, 2, 4);
      return;
    }
    if (HasMisses()) {
      WriteMisses();
      return;
    }
    for (size_t i = 0; i < shown; ++i) WriteNode(refused[i]);
    if (shown == refused.size()) return;
    out_ += "\n";
    Line(absl::StrCat(refused.size() - shown, " more of ", NodesText(static_cast<int64_t>(refused.size())),
                      " that refused the pod; --top N shows more, --node NAME one"),
         0, 0);
  }

  // Nodes of one miss stand together, and the first of them stands for the others.
  void WriteMisses() {
    std::vector<std::pair<std::string, std::vector<std::string>>> groups;
    std::vector<const RefusedNode*> firsts;
    std::map<std::string, size_t> places;
    for (const RefusedNode& refused : explanation_.refused) {
      const std::string text = MissText(*refused.miss);
      const auto [place, is_new] = places.emplace(text, groups.size());
      if (is_new) {
        groups.push_back({text, {}});
        firsts.push_back(&refused);
      }
      groups[place->second].second.push_back(refused.node);
    }
    // Those for which nothing helps come last.
    const bool has_some = !explanation_.refused[0].miss->changes.empty();
    absl::StrAppend(&out_, "\nNearest misses: ",
                    has_some ? "with this, and nothing less, the pod fits\n" : "there are none\n");
    const size_t shown = std::min(static_cast<size_t>(view_.top), groups.size());
    for (size_t i = 0; i < shown; ++i) {
      const std::vector<std::string>& nodes = groups[i].second;
      Line(groups[i].first, 2, 4);
      Line(absl::StrCat(nodes.size() == 1 ? "on " : absl::StrCat("on ", nodes.size(), " nodes: "),
                        NamesText(nodes)),
           6, 8);
    }
    if (shown < groups.size()) Line(absl::StrCat(groups.size() - shown, " more; --top N shows more"), 2, 2);
    for (size_t i = 0; i < shown; ++i) WriteNode(*firsts[i]);
    if (shown == explanation_.refused.size()) return;
    out_ += "\n";
    Line("One node stands for all of a miss here; --node NAME shows another.", 0, 0);
  }

  void WriteNode(const RefusedNode& refused) {
    out_ += "\n";
    Line(absl::StrCat(refused.node, ": ", absl::StrJoin(refused.reasons, ", "), " (", refused.plugin, ")"), 0,
         4);
    for (const Fact& fact : refused.facts) Line(fact.text, 2, 4);
  }

  void WriteOneNode() {
    const std::string& node = explanation_.node;
    if (!explanation_.refused.empty()) {
      const RefusedNode& refused = explanation_.refused[0];
      WriteNode(refused);
      if (refused.miss.has_value()) Line(absl::StrCat("nearest miss: ", MissText(*refused.miss)), 2, 4);
      return;
    }
    if (node == attempt_.host && attempt_.totals.empty()) {
      WriteChoice();
      return;
    }
    out_ += "\n";
    const auto scored = std::find(attempt_.scored_nodes.begin(), attempt_.scored_nodes.end(), node);
    if (scored != attempt_.scored_nodes.end()) {
      Line("Scores: raw, normalised, times weight, points", 0, 0);
      WriteScores(static_cast<size_t>(scored - attempt_.scored_nodes.begin()), /*leaves_out_equal=*/false);
      return;
    }
    const bool fits = std::any_of(attempt_.answers.begin(), attempt_.answers.end(),
                                  [&](const CapturedAttempt::Answer& answer) { return answer.node == node; });
    Line(absl::StrCat(node, fits ? " fits, and was not scored." : " was not looked at."), 0, 0);
  }

  const Explanation& explanation_;
  const CapturedAttempt& attempt_;
  const ExplanationView& view_;
  std::string out_;
};

}  // namespace

std::string ExplanationText(const Explanation& explanation, const ExplanationView& view) {
  return TextWriter(explanation, view).Write();
}

}  // namespace schedsim::sim
