#include "sim/expect/evaluate.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/numeric/int128.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/api/go_text.h"
#include "core/base/printable.h"
#include "sim/report/duration_text.h"

namespace schedsim::sim {
namespace {

// How many pods a verdict names.
constexpr size_t kNamedMax = 5;

bool IsChosen(const ObjectChoice& choice, const std::string& name_space, const std::string& name,
              const api::StringMap& labels) {
  return choice.name_space.value_or(name_space) == name_space && choice.name.value_or(name) == name &&
         (!choice.labels.has_value() || choice.labels->Matches(labels));
}

// Where the pod is, for messages.
std::string StateText(const Outcome::Pod& pod) {
  if (!pod.row.node.empty()) return absl::StrCat("is on ", pod.row.node);
  return absl::StrCat("is ", pod.row.status, pod.row.message.empty() ? "" : ": ", Printable(pod.row.message));
}

class Evaluator {
 public:
  Evaluator(const Expectation& expectation, const Outcome& outcome)
      : expectation_(expectation), outcome_(outcome) {
    verdict_.name = expectation.name;
    verdict_.position = expectation.position;
    for (const Outcome::Pod& pod : outcome.pods) {
      if (IsChosen(expectation.pods, pod.row.name_space, pod.row.name, pod.labels)) pods_.push_back(&pod);
    }
  }

  Verdict Run() && {
    CheckCount();
    for (const Outcome::Pod* pod : pods_) CheckPod(*pod);
    if (expectation_.per_node_max.has_value() || expectation_.skew.has_value()) CheckPlaces();
    CheckRun();
    if (left_out_ > 0) verdict_.failures.push_back(absl::StrCat("and ", left_out_, " more pods"));
    return std::move(verdict_);
  }

 private:
  // What holds of no pod at all was hardly meant.
  void CheckCount() {
    const auto count = static_cast<int64_t>(pods_.size());
    if (expectation_.count.has_value()) {
      if (count != *expectation_.count)
        verdict_.failures.push_back(absl::StrCat("expected ", *expectation_.count, " pods, got ", count));
    } else if (expectation_.AsksOfPods() && count == 0) {
      verdict_.failures.push_back("no pod is chosen, expected at least one");
    }
  }

  void Fail(const Outcome::Pod& pod, absl::string_view what) {
    if (verdict_.pod.empty()) verdict_.pod = pod.row.Key();
    if (named_ == kNamedMax) {
      ++left_out_;
      return;
    }
    ++named_;
    verdict_.failures.push_back(absl::StrCat(pod.row.Key(), " ", what));
  }

  // Of the pods that are one too many, the first is to blame.
  void Blame(absl::FunctionRef<bool(const Outcome::Pod& pod)> is_one) {
    for (const Outcome::Pod* pod : pods_)
      if (verdict_.pod.empty() && is_one(*pod)) verdict_.pod = pod->row.Key();
  }

  void CheckPod(const Outcome::Pod& pod) {
    const bool is_bound = !pod.row.node.empty();
    if (expectation_.bound.has_value() && is_bound != *expectation_.bound)
      Fail(pod, absl::StrCat(StateText(pod), ", expected it ", *expectation_.bound ? "bound" : "on no node"));
    if (expectation_.bound_within.has_value()) CheckLatency(pod, *expectation_.bound_within);
    if (expectation_.node.has_value()) CheckNode(pod, *expectation_.node);
    if (expectation_.pending_reason.has_value() &&
        (pod.row.status != "Pending" || !absl::StrContains(pod.row.message, *expectation_.pending_reason))) {
      Fail(pod, absl::StrCat(StateText(pod), ", expected it pending with ",
                             api::GoQuote(*expectation_.pending_reason)));
    }
    if (expectation_.attempts_max.has_value() && pod.attempts > *expectation_.attempts_max) {
      Fail(pod,
           absl::StrCat("took ", pod.attempts, " attempts, expected at most ", *expectation_.attempts_max));
    }
  }

  void CheckLatency(const Outcome::Pod& pod, absl::Duration most) {
    const absl::Duration latency = pod.row.queue_latency;
    if (latency < absl::ZeroDuration()) {
      Fail(pod, absl::StrCat(StateText(pod), ", expected it bound in this run within ", DurationText(most)));
    } else if (latency > most) {
      Fail(pod, absl::StrCat("was bound after ", DurationText(latency), ", expected at most ",
                             DurationText(most)));
    }
  }

  void CheckNode(const Outcome::Pod& pod, const ObjectChoice& choice) {
    const auto node = outcome_.nodes.find(pod.row.node);
    const bool is_right = node != outcome_.nodes.end() && IsChosen(choice, "", node->first, node->second);
    if (!is_right) Fail(pod, absl::StrCat(StateText(pod), ", expected another node"));
  }

  // What holds of pods on nodes holds of none at all as well, which was hardly meant.
  void CheckPlaces() {
    const bool is_any_bound = std::any_of(pods_.begin(), pods_.end(),
                                          [](const Outcome::Pod* pod) { return !pod->row.node.empty(); });
    if (!is_any_bound) {
      if (!pods_.empty()) verdict_.failures.push_back("none of the pods is on a node, expected at least one");
      return;
    }
    if (expectation_.per_node_max.has_value()) CheckPerNode();
    if (expectation_.skew.has_value()) CheckSkew();
  }

  void CheckPerNode() {
    std::map<std::string, int64_t> counts;
    for (const Outcome::Pod* pod : pods_)
      if (!pod->row.node.empty()) ++counts[pod->row.node];
    for (const auto& [node, count] : counts) {
      if (count <= *expectation_.per_node_max) continue;
      Blame([&node = node](const Outcome::Pod& pod) { return pod.row.node == node; });
      verdict_.failures.push_back(absl::StrCat(
          "node ", node, " has ", count, " of the pods, expected at most ", *expectation_.per_node_max));
    }
  }

  // Domains without a pod count as well.
  void CheckSkew() {
    std::map<std::string, int64_t> counts;
    for (const auto& [name, labels] : outcome_.nodes) {
      if (const std::string* domain = labels.Find(expectation_.skew->topology_key))
        counts.emplace(*domain, 0);
    }
    for (const Outcome::Pod* pod : pods_) {
      const auto node = outcome_.nodes.find(pod->row.node);
      if (node == outcome_.nodes.end()) continue;
      if (const std::string* domain = node->second.Find(expectation_.skew->topology_key)) ++counts[*domain];
    }
    if (counts.empty()) {
      verdict_.failures.push_back(
          absl::StrCat("no node has the label ", expectation_.skew->topology_key, ", expected one at least"));
      return;
    }
    const auto has_pods = [](const auto& domain) { return domain.second > 0; };
    if (std::none_of(counts.begin(), counts.end(), has_pods)) {
      verdict_.failures.push_back(absl::StrCat("none of the pods is on a node with the label ",
                                               expectation_.skew->topology_key, ", expected one at least"));
      return;
    }
    const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end(), by_count);
    if (most->second - least->second <= expectation_.skew->max) return;
    Blame([&, domain = most->first](const Outcome::Pod& pod) {
      const auto node = outcome_.nodes.find(pod.row.node);
      const std::string* found =
          node == outcome_.nodes.end() ? nullptr : node->second.Find(expectation_.skew->topology_key);
      return found != nullptr && *found == domain;
    });
    verdict_.failures.push_back(absl::StrCat(
        expectation_.skew->topology_key, " ", most->first, " has ", most->second, " of the pods and ",
        least->first, " has ", least->second, ", expected a difference of at most ", expectation_.skew->max));
  }

  void CheckRun() {
    const int64_t evicted = outcome_.report.evicted_count;
    if (expectation_.preemptions_max.has_value() && evicted > *expectation_.preemptions_max) {
      verdict_.failures.push_back(absl::StrCat(evicted, " pods were evicted by preemption, expected at most ",
                                               *expectation_.preemptions_max));
    }
    if (expectation_.utilization.has_value()) CheckUtilization(*expectation_.utilization);
  }

  void CheckUtilization(const Expectation::Utilization& expected) {
    const std::vector<Report::Resource>& totals = outcome_.report.totals;
    const auto found = std::find_if(totals.begin(), totals.end(), [&](const Report::Resource& resource) {
      return resource.name == expected.resource;
    });
    if (found == totals.end() || found->allocatable == 0) {
      verdict_.failures.push_back(absl::StrCat("no node has ", expected.resource, ", expected one at least"));
      return;
    }
    const auto percent = static_cast<int64_t>(found->requested * 100 / found->allocatable);
    if (percent < expected.min.value_or(percent)) {
      verdict_.failures.push_back(absl::StrCat(percent, " percent of ", expected.resource,
                                               " are requested, expected at least ", *expected.min));
    }
    // A part of a percent beyond the bound is beyond it.
    const bool has_more = found->requested * 100 > found->allocatable * expected.max.value_or(100);
    if (expected.max.has_value() && has_more) {
      verdict_.failures.push_back(absl::StrCat(has_more && percent == *expected.max ? "more than " : "",
                                               percent, " percent of ", expected.resource,
                                               " are requested, expected at most ", *expected.max));
    }
  }

  const Expectation& expectation_;
  const Outcome& outcome_;
  std::vector<const Outcome::Pod*> pods_;
  Verdict verdict_;
  size_t named_ = 0;
  int64_t left_out_ = 0;
};

// Lines by what stands in front of the first two blanks, the pod.
std::map<std::string, std::string> LinesByPod(absl::string_view text) {
  std::map<std::string, std::string> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipWhitespace())) {
    const size_t end = std::min(line.find("  "), line.size());
    lines[std::string(line.substr(0, end))] = std::string(line.substr(std::min(end + 2, line.size())));
  }
  return lines;
}

}  // namespace

std::vector<Verdict> Evaluate(const TestFile& test, const Outcome& outcome) {
  std::vector<Verdict> verdicts;
  if (!outcome.report.failures.empty())
    verdicts.push_back({.name = "run", .position = {}, .failures = outcome.report.failures});
  if (!outcome.problems.empty()) {
    verdicts.push_back(
        {.name = "nothing is lost, and no pod is bound twice", .position = {}, .failures = outcome.problems});
  }
  for (const Expectation& expectation : test.expectations)
    verdicts.push_back(Evaluator(expectation, outcome).Run());
  return verdicts;
}

Verdict ComparePlacements(absl::string_view expected, const Outcome& outcome) {
  Verdict verdict = {.name = "placements", .position = {}, .failures = {}};
  const std::map<std::string, std::string> wanted = LinesByPod(expected);
  const std::map<std::string, std::string> got = LinesByPod(PlacementsText(outcome));
  size_t count = 0;
  const auto differ = [&](const std::string& pod, absl::string_view before, absl::string_view now) {
    if (verdict.pod.empty()) verdict.pod = pod;
    if (count++ < kNamedMax)
      verdict.failures.push_back(absl::StrCat(pod, ": expected ", before, ", got ", now));
  };
  for (const auto& [pod, place] : wanted) {
    const auto found = got.find(pod);
    if (found == got.end()) {
      differ(pod, place, "no such pod");
    } else if (found->second != place) {
      differ(pod, place, found->second);
    }
  }
  for (const auto& [pod, place] : got)
    if (wanted.count(pod) == 0) differ(pod, "no such pod", place);
  if (count > kNamedMax) verdict.failures.push_back(absl::StrCat("and ", count - kNamedMax, " more pods"));
  return verdict;
}

}  // namespace schedsim::sim
