#include "sim/diff/diff.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/api/go_text.h"
#include "core/base/lookup_map.h"
#include "core/base/status_macros.h"

namespace schedsim::sim {
namespace {

// For how many pods the cause is looked for. Each needs what was said of every node in two attempts.
constexpr size_t kCausesMax = 2000;

// Texts of both sides, numbered, so that decisions are small and compare fast.
class Texts {
 public:
  static constexpr int32_t kNone = 0;  // The number of "".

  Texts() { texts_.emplace_back(); }

  int32_t NumberOf(absl::string_view text) {
    if (text.empty()) return kNone;
    if (const int32_t* number = numbers_.Find(text)) return *number;
    const auto number = static_cast<int32_t>(texts_.size());
    texts_.emplace_back(text);
    numbers_[texts_.back()] = number;
    return number;
  }
  const std::string& Of(int32_t number) const { return texts_[static_cast<size_t>(number)]; }

 private:
  std::vector<std::string> texts_;
  LookupMap<std::string, int32_t> numbers_;
};

// An attempt.
struct Decision {
  absl::Duration time;
  int32_t pod = Texts::kNone;
  int32_t node = Texts::kNone;
  int32_t message = Texts::kNone;
  int32_t nominated = Texts::kNone;
  // With which the pod stays behind, though it found a node.
  int32_t group = Texts::kNone;

  // Whether the other decides the same, whatever the words. Victims are no part of it: they are deleted some
  // time later, and no record says for which attempt.
  bool IsLike(const Decision& other) const {
    return pod == other.pod && node == other.node && nominated == other.nominated &&
           (group == Texts::kNone) == (other.group == Texts::kNone);
  }
};

// What became of a pod.
struct End {
  int32_t node = Texts::kNone;
  int32_t message = Texts::kNone;
  bool is_gone = false;
  bool is_of_other_scheduler = false;  // It waits, and no profile is responsible for it.
  // The attempt that bound it, and else its last one, from 1 on; 0: it made none.
  int64_t attempt = 0;
};

// All that is kept of one side.
struct Side {
  std::vector<Decision> decisions;
  std::map<std::string, End> ends;
  int64_t evicted_count = 0;
  bool has_final = false;
};

// Gathers the decisions of one side from its records.
class SideReader {
 public:
  SideReader(Texts& texts, Side& side) : texts_(texts), side_(side) {}

  absl::Status Add(const record::Record& record) {
    if (const auto* attempt = record.As<record::Attempt>()) {
      AddAttempt(record.time, *attempt);
    } else if (const auto* failure = record.As<record::GroupFailure>()) {
      AddGroupFailure(*failure);
    } else if (record.As<record::Delete>() != nullptr) {
      ++side_.evicted_count;
    } else if (const auto* final = record.As<record::Final>()) {
      for (const auto& [key, pod] : final->pods) {
        End& end = side_.ends[std::string(key)];
        end.node = texts_.NumberOf(pod.node);
        end.message = texts_.NumberOf(pod.message);
        end.is_gone = pod.deleted;
        end.is_of_other_scheduler = !pod.scheduler.empty();
      }
      side_.has_final = true;
    }
    return absl::OkStatus();
  }

 private:
  void AddAttempt(absl::Duration time, const record::Attempt& attempt) {
    Decision decision = {
        .time = time, .pod = texts_.NumberOf(attempt.pod), .node = texts_.NumberOf(attempt.host)};
    if (attempt.failure.has_value()) {
      decision.message = texts_.NumberOf(attempt.failure->error);
      decision.nominated = texts_.NumberOf(attempt.failure->nominate.value_or(""));
    }
    side_.decisions.push_back(decision);
    End& end = side_.ends[std::string(attempt.pod)];
    end.attempt = static_cast<int64_t>(side_.decisions.size());
  }

  // Comes behind the attempt of the pod.
  void AddGroupFailure(const record::GroupFailure& failure) {
    const auto end = side_.ends.find(std::string(failure.pod));
    if (end == side_.ends.end() || end->second.attempt == 0) return;
    Decision& decision = side_.decisions[static_cast<size_t>(end->second.attempt) - 1];
    if (decision.node == Texts::kNone) return;
    decision.group = texts_.NumberOf(failure.group);
    decision.message = texts_.NumberOf(failure.error);
    decision.nominated = texts_.NumberOf(failure.nominate.value_or(""));
  }

  Texts& texts_;
  Side& side_;
};

// What a detailed attempt says of one node.
struct NodeView {
  enum class Answer : uint8_t { kNotSeen, kRefused, kFits };
  Answer answer = Answer::kNotSeen;
  std::string plugin;   // Of a refusal.
  std::string reasons;  // The same.
  int64_t total = 0;
  std::map<std::string, int64_t> points;  // By plugin, weighted.
};

// What a detailed attempt says of two nodes.
struct Look {
  // Whether it says what became of each node, or of all at once.
  bool is_detailed = false;

  NodeView at_a;
  NodeView at_b;
  int64_t evaluated = 0;
};

// Whether PreFilter refused the pod, so that no node was looked at.
bool RefusesAll(const record::Attempt& attempt) {
  return attempt.pre_filter.has_value() && attempt.pre_filter->status.has_value();
}

NodeView ViewOf(const record::Attempt& attempt, absl::string_view node) {
  NodeView view;
  if (RefusesAll(attempt)) {
    const record::Status& status = *attempt.pre_filter->status;
    view.answer = NodeView::Answer::kRefused;
    view.plugin = std::string(status.plugin);
    view.reasons = absl::StrJoin(status.reasons, ", ");
    return view;
  }
  if (attempt.pre_filter.has_value() && attempt.pre_filter->nodes.has_value()) {
    const record::Texts& left = *attempt.pre_filter->nodes;
    if (std::find(left.begin(), left.end(), node) == left.end()) {
      view.answer = NodeView::Answer::kRefused;
      view.plugin = absl::StrJoin(attempt.pre_filter->plugins, ", ");
      view.reasons = "its PreFilter leaves the node out";
    }
  }
  for (const record::FilteredNode& filtered : attempt.filter) {
    if (filtered.node != node) continue;
    view.answer = filtered.code.empty() ? NodeView::Answer::kFits : NodeView::Answer::kRefused;
    view.plugin = std::string(filtered.plugin);
    view.reasons = absl::StrJoin(filtered.reasons, ", ");
  }
  if (!attempt.scores.has_value()) return view;
  const record::Scores& scores = *attempt.scores;
  const auto found = std::find(scores.nodes.begin(), scores.nodes.end(), node);
  if (found == scores.nodes.end()) return view;
  const auto place = static_cast<size_t>(found - scores.nodes.begin());
  view.answer = NodeView::Answer::kFits;
  view.total = scores.total[place];
  for (const auto& [plugin, points] : scores.weighted) view.points[std::string(plugin)] = points[place];
  return view;
}

std::vector<DiffScore> ScoresOf(const Look& a, const Look& b) {
  std::vector<DiffScore> scores;
  std::set<std::string> plugins;
  for (const Look* look : {&a, &b}) {
    for (const auto& [plugin, points] : look->at_a.points) plugins.insert(plugin);
  }
  const auto points_of = [](const NodeView& view, const std::string& plugin) {
    const auto found = view.points.find(plugin);
    return found == view.points.end() ? 0 : found->second;
  };
  for (const std::string& plugin : plugins) {
    scores.push_back({.plugin = plugin,
                      .a_of_a = points_of(a.at_a, plugin),
                      .a_of_b = points_of(a.at_b, plugin),
                      .b_of_a = points_of(b.at_a, plugin),
                      .b_of_b = points_of(b.at_b, plugin)});
  }
  std::stable_sort(scores.begin(), scores.end(), [](const DiffScore& left, const DiffScore& right) {
    return std::abs(left.Pull()) > std::abs(right.Pull());
  });
  return scores;
}

// `side`: "A" or "B".
DiffCause Refusal(absl::string_view side, const std::string& node, const NodeView& view) {
  return {
      .kind = DiffCause::Kind::kFilter,
      .plugin = view.plugin,
      .text = absl::StrCat(side, " refuses ", node, ": ", view.reasons.empty() ? view.plugin : view.reasons)};
}

DiffCause NotSeen(absl::string_view side, const std::string& node, const Look& look) {
  return {.kind = DiffCause::Kind::kNotSeen,
          .plugin = "",
          .text = absl::StrCat(side, " did not look at ", node, ": it looked at ", look.evaluated, " nodes")};
}

// Why A took `a_node` and B took `b_node`.
DiffCause CauseOfNodes(const std::string& a_node, const std::string& b_node, const Look& a, const Look& b) {
  using Answer = NodeView::Answer;
  if (!a.is_detailed || !b.is_detailed) return {};
  if (a.at_b.answer == Answer::kRefused) return Refusal("A", b_node, a.at_b);
  if (b.at_a.answer == Answer::kRefused) return Refusal("B", a_node, b.at_a);
  if (a.at_b.answer == Answer::kNotSeen) return NotSeen("A", b_node, a);
  if (b.at_a.answer == Answer::kNotSeen) return NotSeen("B", a_node, b);
  if (a.at_a.total == a.at_b.total && b.at_a.total == b.at_b.total) {
    return {.kind = DiffCause::Kind::kEquals,
            .plugin = "",
            .text = absl::StrCat("both nodes have the same total, ", a.at_a.total, " in A and ", b.at_a.total,
                                 " in B")};
  }
  const std::vector<DiffScore> scores = ScoresOf(a, b);
  const auto strongest = std::max_element(
      scores.begin(), scores.end(),
      [](const DiffScore& left, const DiffScore& right) { return left.Pull() < right.Pull(); });
  if (strongest == scores.end() || strongest->Pull() <= 0) return {};
  return {.kind = DiffCause::Kind::kScore,
          .plugin = strongest->plugin,
          .text = absl::StrCat(strongest->plugin, " gives ", a_node, " ", strongest->a_of_a, " and ", b_node,
                               " ", strongest->a_of_b, " in A, ", strongest->b_of_a, " and ",
                               strongest->b_of_b, " in B")};
}

// Why a pod that found a node on `side` did not get it there.
DiffCause StaysBehind(absl::string_view side, const DiffDecision& decision) {
  return {.kind = DiffCause::Kind::kGroup,
          .plugin = "",
          .text = absl::StrCat("in ", side, " it finds ", decision.node, " and stays behind with its group ",
                               decision.group, ": ", decision.message)};
}

// Why one side found `node` and the other, `side`, none.
DiffCause CauseOfNone(absl::string_view side, const std::string& node, const Look& look,
                      const NodeView& view) {
  if (!look.is_detailed) return {};
  if (view.answer == NodeView::Answer::kRefused) return Refusal(side, node, view);
  return NotSeen(side, node, look);
}

DiffCause CauseOf(const std::string& a_node, const std::string& b_node, const Look& a, const Look& b) {
  if (a_node.empty()) return CauseOfNone("A", b_node, a, a.at_b);
  if (b_node.empty()) return CauseOfNone("B", a_node, b, b.at_a);
  return CauseOfNodes(a_node, b_node, a, b);
}

// Which attempts are looked at closely, and at which nodes.
class CloseLook {
 public:
  struct Wanted {
    std::string a_node;
    std::string b_node;
  };

  void Want(int64_t attempt, const Wanted& nodes) {
    if (attempt > 0) wanted_[attempt] = nodes;
  }

  absl::Status Read(DecisionSource& source) {
    if (wanted_.empty()) return absl::OkStatus();
    std::set<int64_t> attempts;
    for (const auto& [attempt, nodes] : wanted_) attempts.insert(attempt);
    int64_t count = 0;
    return source.Read(attempts, [&](const record::Record& record) {
      const auto* attempt = record.As<record::Attempt>();
      if (attempt == nullptr) return absl::OkStatus();
      const auto found = wanted_.find(++count);
      if (found == wanted_.end()) return absl::OkStatus();
      looks_[count] = {.is_detailed = !attempt->filter.empty() || RefusesAll(*attempt),
                       .at_a = ViewOf(*attempt, found->second.a_node),
                       .at_b = ViewOf(*attempt, found->second.b_node),
                       .evaluated = static_cast<int64_t>(attempt->filter.size())};
      return absl::OkStatus();
    });
  }

  Look At(int64_t attempt) const {
    const auto found = looks_.find(attempt);
    return found == looks_.end() ? Look() : found->second;
  }

 private:
  std::map<int64_t, Wanted> wanted_;
  std::map<int64_t, Look> looks_;
};

class Differ {
 public:
  Differ(DecisionSource& a, DecisionSource& b, const DiffIgnore& ignore) : a_(a), b_(b), ignore_(ignore) {}

  absl::StatusOr<DiffResult> Run() {
    RETURN_IF_ERROR(ReadSide(a_, side_a_));
    RETURN_IF_ERROR(ReadSide(b_, side_b_));
    SumUp(a_, side_a_, result_.a);
    SumUp(b_, side_b_, result_.b);
    FindFirst();
    CompareEnds();
    RETURN_IF_ERROR(FindCauses());
    Count();
    return std::move(result_);
  }

 private:
  absl::Status ReadSide(DecisionSource& source, Side& side);
  void SumUp(const DecisionSource& source, const Side& side, DiffSide& sums) const;
  void FindFirst();
  DiffDecision DecisionAt(const Side& side, size_t index) const;
  DiffCause CauseOfEnds(const PodDifference& pod, const CloseLook& at_a, const CloseLook& at_b) const;
  void CompareEnds();
  void Compare(const std::string& pod, const End* a, const End* b);
  void NoteMessages(const std::string& pod, int32_t a, int32_t b);
  absl::Status FindCauses();
  void SetFirstCause(const CloseLook& at_a, const CloseLook& at_b);
  std::string IgnoredBy(const PodDifference& pod) const;
  void Count();

  DecisionSource& a_;
  DecisionSource& b_;
  const DiffIgnore& ignore_;
  Texts texts_;
  Side side_a_;
  Side side_b_;
  std::map<std::pair<int32_t, int32_t>, MessageDifference> messages_;
  DiffResult result_;
};

absl::Status Differ::ReadSide(DecisionSource& source, Side& side) {
  SideReader reader(texts_, side);
  RETURN_IF_ERROR(source.Read({}, [&reader](const record::Record& record) { return reader.Add(record); }));
  if (side.has_final) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(source.label(), ": the trace has no last record (`final`): it was cut off"));
}

void Differ::SumUp(const DecisionSource& source, const Side& side, DiffSide& sums) const {
  sums.label = source.label();
  sums.attempt_count = static_cast<int64_t>(side.decisions.size());
  sums.evicted_count = side.evicted_count;
  std::set<int32_t> nodes;
  for (const auto& [pod, end] : side.ends) {
    if (end.is_gone || end.is_of_other_scheduler) continue;
    ++(end.node == Texts::kNone ? sums.pending_count : sums.bound_count);
    if (end.node != Texts::kNone && end.attempt > 0) nodes.insert(end.node);
  }
  sums.used_node_count = static_cast<int64_t>(nodes.size());
  if (source.report() != nullptr) sums.report = *source.report();
}

DiffDecision Differ::DecisionAt(const Side& side, size_t index) const {
  if (index >= side.decisions.size()) return {};
  const Decision& decision = side.decisions[index];
  return {.attempt = static_cast<int64_t>(index) + 1,
          .time = decision.time,
          .pod = texts_.Of(decision.pod),
          .node = texts_.Of(decision.node),
          .message = texts_.Of(decision.message),
          .nominated = texts_.Of(decision.nominated),
          .group = texts_.Of(decision.group)};
}

void Differ::FindFirst() {
  const std::vector<Decision>& a = side_a_.decisions;
  const std::vector<Decision>& b = side_b_.decisions;
  const auto [at_a, at_b] =
      std::mismatch(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Decision& left, const Decision& right) { return left.IsLike(right); });
  if (at_a == a.end() && at_b == b.end()) return;
  const auto index = static_cast<size_t>(at_a - a.begin());
  result_.first = FirstDifference{
      .a = DecisionAt(side_a_, index), .b = DecisionAt(side_b_, index), .cause = {}, .scores = {}};
}

void Differ::NoteMessages(const std::string& pod, int32_t a, int32_t b) {
  if (a == b) return;
  MessageDifference& difference = messages_[{a, b}];
  if (difference.count++ > 0) return;
  difference.a = texts_.Of(a);
  difference.b = texts_.Of(b);
  difference.first_pod = pod;
}

void Differ::Compare(const std::string& pod, const End* a, const End* b) {
  PodDifference difference = {.pod = pod};
  if (a != nullptr && !a->is_gone) difference.a_node = texts_.Of(a->node);
  if (b != nullptr && !b->is_gone) difference.b_node = texts_.Of(b->node);
  using Kind = PodDifference::Kind;
  if (a == nullptr) {
    difference.kind = Kind::kOnlyB;
  } else if (b == nullptr) {
    difference.kind = Kind::kOnlyA;
  } else if (a->is_gone != b->is_gone) {
    difference.kind = b->is_gone ? Kind::kGone : Kind::kBack;
  } else if (a->is_gone || a->node == b->node) {
    ++result_.same_count;
    if (a->node == Texts::kNone) NoteMessages(pod, a->message, b->message);
    return;
  } else if (a->node == Texts::kNone) {
    difference.kind = Kind::kBound;
    difference.message = texts_.Of(a->message);
  } else if (b->node == Texts::kNone) {
    difference.kind = Kind::kPending;
    difference.message = texts_.Of(b->message);
  }
  result_.pods.push_back(std::move(difference));
}

void Differ::CompareEnds() {
  auto a = side_a_.ends.begin();
  auto b = side_b_.ends.begin();
  while (a != side_a_.ends.end() || b != side_b_.ends.end()) {
    const bool has_a = a != side_a_.ends.end() && (b == side_b_.ends.end() || a->first <= b->first);
    const bool has_b = b != side_b_.ends.end() && (a == side_a_.ends.end() || b->first <= a->first);
    Compare(has_a ? a->first : b->first, has_a ? &a->second : nullptr, has_b ? &b->second : nullptr);
    if (has_a) ++a;
    if (has_b) ++b;
  }
}

void Differ::SetFirstCause(const CloseLook& at_a, const CloseLook& at_b) {
  FirstDifference& first = *result_.first;
  if (first.a.attempt == 0 || first.b.attempt == 0 || first.a.pod != first.b.pod) {
    first.cause = {.kind = DiffCause::Kind::kQueue,
                   .plugin = "",
                   .text = first.a.attempt == 0   ? "A makes no more attempts"
                           : first.b.attempt == 0 ? "B makes no more attempts"
                                                  : "another pod is at the head of the queue"};
    return;
  }
  if (first.a.group.empty() != first.b.group.empty()) {
    first.cause = first.b.group.empty() ? StaysBehind("A", first.a) : StaysBehind("B", first.b);
    return;
  }
  if (first.a.node == first.b.node) {
    const auto node = [](const std::string& name) { return name.empty() ? std::string("no node") : name; };
    first.cause = {.kind = DiffCause::Kind::kPreemption,
                   .plugin = "",
                   .text = absl::StrCat("preemption takes ", node(first.a.nominated), " in A and ",
                                        node(first.b.nominated), " in B")};
    return;
  }
  const Look a = at_a.At(first.a.attempt);
  const Look b = at_b.At(first.b.attempt);
  first.cause = CauseOf(first.a.node, first.b.node, a, b);
  const bool has_scores =
      a.at_a.answer == NodeView::Answer::kFits && a.at_b.answer == NodeView::Answer::kFits &&
      b.at_a.answer == NodeView::Answer::kFits && b.at_b.answer == NodeView::Answer::kFits;
  if (has_scores && !first.a.node.empty() && !first.b.node.empty()) first.scores = ScoresOf(a, b);
}

absl::Status Differ::FindCauses() {
  CloseLook at_a;
  CloseLook at_b;
  std::vector<PodDifference*> wanted;
  // A rule about causes must not rest on how many pods there are.
  const bool needs_all = ignore_.equals || !ignore_.plugins.empty();
  for (PodDifference& pod : result_.pods) {
    using Kind = PodDifference::Kind;
    const bool has_cause = pod.kind == Kind::kMoved || pod.kind == Kind::kPending || pod.kind == Kind::kBound;
    if (has_cause && (needs_all || wanted.size() < kCausesMax)) wanted.push_back(&pod);
  }
  for (const PodDifference* pod : wanted) {
    const CloseLook::Wanted nodes = {.a_node = pod->a_node, .b_node = pod->b_node};
    at_a.Want(side_a_.ends[pod->pod].attempt, nodes);
    at_b.Want(side_b_.ends[pod->pod].attempt, nodes);
  }
  if (result_.first.has_value()) {
    const CloseLook::Wanted nodes = {.a_node = result_.first->a.node, .b_node = result_.first->b.node};
    at_a.Want(result_.first->a.attempt, nodes);
    at_b.Want(result_.first->b.attempt, nodes);
  }
  RETURN_IF_ERROR(at_a.Read(a_));
  RETURN_IF_ERROR(at_b.Read(b_));
  if (result_.first.has_value()) SetFirstCause(at_a, at_b);
  for (PodDifference* pod : wanted) {
    pod->cause = CauseOfEnds(*pod, at_a, at_b);
  }
  return absl::OkStatus();
}

DiffCause Differ::CauseOfEnds(const PodDifference& pod, const CloseLook& at_a, const CloseLook& at_b) const {
  const int64_t a = side_a_.ends.at(pod.pod).attempt;
  const int64_t b = side_b_.ends.at(pod.pod).attempt;
  if (pod.a_node.empty() && a > 0) {
    const DiffDecision last = DecisionAt(side_a_, static_cast<size_t>(a) - 1);
    if (!last.group.empty()) return StaysBehind("A", last);
  }
  if (pod.b_node.empty() && b > 0) {
    const DiffDecision last = DecisionAt(side_b_, static_cast<size_t>(b) - 1);
    if (!last.group.empty()) return StaysBehind("B", last);
  }
  return CauseOf(pod.a_node, pod.b_node, at_a.At(a), at_b.At(b));
}

// The first rule that the pod falls under, as the user wrote it; "": none.
std::string Differ::IgnoredBy(const PodDifference& pod) const {
  if (ignore_.equals && pod.kind == PodDifference::Kind::kMoved && pod.cause.kind == DiffCause::Kind::kEquals)
    return "equals";
  const std::string name_space = pod.pod.substr(0, pod.pod.find('/'));
  if (ignore_.namespaces.count(name_space) > 0) return absl::StrCat("namespace=", name_space);
  if (ignore_.pods.count(pod.pod) > 0) return absl::StrCat("pod=", pod.pod);
  if (ignore_.plugins.count(pod.cause.plugin) > 0) return absl::StrCat("plugin=", pod.cause.plugin);
  return "";
}

void Differ::Count() {
  std::set<std::string> unused = ignore_.Rules();
  const auto end = std::remove_if(result_.pods.begin(), result_.pods.end(), [&](const PodDifference& pod) {
    const std::string rule = IgnoredBy(pod);
    unused.erase(rule);
    return !rule.empty();
  });
  result_.ignored_count = std::distance(end, result_.pods.end());
  result_.pods.erase(end, result_.pods.end());
  result_.unused_rules.assign(unused.begin(), unused.end());
  for (const PodDifference& pod : result_.pods) {
    ++result_.kinds[pod.kind];
    if (pod.kind == PodDifference::Kind::kMoved) {
      result_.equals_count += pod.cause.kind == DiffCause::Kind::kEquals ? 1 : 0;
      result_.unknown_count += pod.cause.kind == DiffCause::Kind::kUnknown ? 1 : 0;
    }
    if (!pod.cause.plugin.empty()) ++result_.plugins[pod.cause.plugin];
  }
  for (auto& [key, difference] : messages_) result_.messages.push_back(std::move(difference));
  std::stable_sort(result_.messages.begin(), result_.messages.end(),
                   [](const auto& left, const auto& right) { return left.count > right.count; });
}

}  // namespace

std::set<std::string> DiffIgnore::Rules() const {
  std::set<std::string> rules;
  if (equals) rules.insert("equals");
  for (const std::string& name : namespaces) rules.insert(absl::StrCat("namespace=", name));
  for (const std::string& name : pods) rules.insert(absl::StrCat("pod=", name));
  for (const std::string& name : plugins) rules.insert(absl::StrCat("plugin=", name));
  return rules;
}

absl::Status AddIgnore(absl::string_view rule, DiffIgnore& ignore) {
  absl::string_view name = rule;
  if (rule == "equals") {
    ignore.equals = true;
  } else if (absl::ConsumePrefix(&name, "namespace=") && !name.empty()) {
    ignore.namespaces.emplace(name);
  } else if (absl::ConsumePrefix(&name, "pod=") && absl::StrContains(name, '/')) {
    ignore.pods.emplace(name);
  } else if (absl::ConsumePrefix(&name, "plugin=") && !name.empty()) {
    ignore.plugins.emplace(name);
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat(api::GoQuote(rule),
                     " is no rule, expected equals, namespace=NAME, pod=NAMESPACE/NAME or plugin=NAME"));
  }
  return absl::OkStatus();
}

absl::StatusOr<DiffResult> Diff(DecisionSource& a, DecisionSource& b, const DiffIgnore& ignore) {
  return Differ(a, b, ignore).Run();
}

}  // namespace schedsim::sim
